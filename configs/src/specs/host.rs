//! The host side of an OpenCL program: what an enqueue costs, the link to the device, which clock timers show.
use crate::spec;
use serde::{Deserialize, Serialize};

/// What the profiling counters and both device timers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostClock {
    /// Simulated time: the same in every run; polling and the program's own work cost nothing.
    Virtual,
    /// The host's monotonic clock, for programs that need wall time.
    Real,
}

/// What becomes of the L2's lines when a transfer writes to the memory behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferEffect {
    /// They stay, as if the transfer went through the L2 and found them there; others do not come in.
    Keep,
    /// They are dropped: the next kernel reads what was written from DRAM.
    Drop,
}

spec! {
    /// The host side of an OpenCL program and its link to the device.
    pub struct HostSpec {
        keys {
            /// Which clock the profiling counters and the device timers show.
            clock: HostClock [""],
            /// Time that a host thread spends in one enqueue.
            enqueue: f64 ["us"] = 0.0..=1000000.0,
            /// Time that a host thread spends in reading a timer (clGetHostTimer, clGetDeviceAndHostTimer), so that a
            /// program that reads it until some time has passed gets there.
            timer_read: f64 ["us"] = 0.0..=1000000.0,
            /// From CL_PROFILING_COMMAND_QUEUED to CL_PROFILING_COMMAND_SUBMIT.
            submit: f64 ["us"] = 0.0..=1000000.0,
            /// Bandwidth of writes from the host to the device.
            to_device: f64 ["GB/s"] = 0.001..=100000.0,
            /// Bandwidth of reads from the device to the host.
            from_device: f64 ["GB/s"] = 0.001..=100000.0,
            /// Bandwidth of copies and fills inside device memory (bytes read and written together).
            on_device: f64 ["GB/s"] = 0.001..=100000.0,
            /// Fixed part of each transfer's time.
            transfer_latency: f64 ["us"] = 0.0..=1000000.0,
            /// Warp instructions that a sub-core is taken to issue in a cycle where a launch runs without timing. Its
            /// events take a nominal time: the launch's head and tail, and its instructions at this rate on as many
            /// compute units as it has work-groups. Nothing in it is simulated; it is there so that programs that
            /// measure themselves end. 0: no time. It is used in timing mode, for launches that are left out.
            nominal_ipc: f64 ["instructions"] = 0.0..=64.0,
            /// Warp instructions that a launch is taken to execute in a microsecond in functional mode. Its events take
            /// the launch's head and tail, and its instructions at this rate: about as long as the simulator needs for
            /// them, so that programs that repeat or enlarge their launches until some time has passed get there in
            /// about that time of the user's. 0: no time.
            functional_rate: f64 ["instructions/us"] = 0.0..=1000000000.0,
            /// What writes, copies, fills and unmaps do to the L2 lines of the memory that they write. Reads leave the
            /// L2 alone.
            transfer_l2: TransferEffect [""],
            /// Most device memory that the OpenCL device reports and hands out, whatever the machine has: the
            /// program's buffers occupy the memory of the computer that simulates.
            memory_cap: u64 ["B"] = 16777216..=1099511627776,
            /// Whether the OpenCL device offers images and samplers: objects, transfers, queries. Kernels cannot use them
            /// yet (a kernel with image functions does not build), so programs that ask the device are told the truth
            /// with `false`.
            images: bool [""],
            /// Whether the OpenCL device offers pipes. They are objects only: kernels cannot use them yet.
            pipes: bool [""],
            /// Whether the OpenCL device offers command-queues on the device. They are objects only: kernels cannot
            /// enqueue yet.
            device_queues: bool [""],
            /// Room for what the kernels of a program print in one launch (CL_DEVICE_PRINTF_BUFFER_SIZE): the records of
            /// `printf` calls before they are formatted. A call that finds no room returns -1.
            printf_buffer: u64 ["B"] = 1024..=1073741824,
        }
    }
}
