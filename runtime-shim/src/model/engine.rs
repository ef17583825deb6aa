//! What executes commands: the machine with its memory, and the times that moving bytes takes.
use super::capture::{Before, Capture};
use super::clock::{NANOSECOND, Time};
use super::command::Done;
use super::nominal::{Nominal, Shape};
use super::selection::{Rules, Selection};
use super::{Device, Kernel};
use crate::cl::errors::CL_OUT_OF_RESOURCES;
use crate::error::{ClError, Result};
use std::sync::Arc;
use warpscope_memory::device_memory::DeviceMemory;
use warpscope_sim::{Launch, Machine, Mode};

/// The executing side of a context.
pub struct Engine {
    machine: Machine,
    rules: Rules,
    selection: Selection,
    nominal: Nominal,
    capture: Option<Capture>,
}

impl Engine {
    /// A machine with empty memory and cold caches.
    pub fn new(device: &Device) -> Engine {
        Engine {
            machine: Machine::new(device.spec.clone()),
            rules: device.rules.clone(),
            selection: Selection::default(),
            nominal: Nominal::new(&device.spec, device.mode),
            capture: None,
        }
    }

    /// Its memory.
    pub fn memory(&self) -> &Arc<DeviceMemory> {
        self.machine.memory()
    }

    /// Runs a kernel; one that the rules leave out runs functionally and takes a nominal time.
    pub fn launch(&mut self, launch: &mut Launch, kernel: &Kernel) -> Result<Done> {
        let shape = Shape::of(launch);
        let taken = self.selection.takes(&self.rules, &shape);
        if !taken {
            launch.mode = Mode::Functional;
        }
        let before = if taken { self.begin_capture(launch, kernel) } else { None };
        let launched = self.machine.launch(launch);
        if let (Some(capture), Some(before), true) = (&mut self.capture, before, launched.is_ok()) {
            capture.end(before, kernel, self.machine.memory());
        }
        // "When the event that is associated with a particular kernel invocation is completed, the output of all printf()
        // calls executed by this kernel invocation is flushed" (OpenCL C 3.0, 6.15.14): before the event is set.
        super::stdio::print(&self.machine.take_printed());
        let record = launched.map_err(|e| ClError::new(CL_OUT_OF_RESOURCES, e.to_string()))?;
        let work = &record.counters.work;
        let duration = match record.mode {
            Mode::Functional => self.nominal.time(&shape, work),
            Mode::Timing => {
                let time = (record.counters.time.nanoseconds * NANOSECOND as f64) as Time;
                self.nominal.measured(shape, time, work);
                time
            }
        };
        Ok(Done { duration, bytes: 0, launch: Some(Box::new(record)) })
    }
}

impl Engine {
    /// A transfer has written to device memory.
    pub fn transferred(&mut self, address: u64, bytes: u64) {
        self.machine.transferred(address, bytes);
    }

    fn begin_capture(&mut self, launch: &Launch, kernel: &Kernel) -> Option<Before> {
        if self.selection.first_taken() {
            self.capture = Capture::from_environment();
        }
        self.capture.as_mut()?.begin(launch, kernel, self.machine.memory())
    }
}

/// Times of transfers, from the `host` section of the machine.
#[derive(Copy, Clone, Debug)]
pub struct Link {
    latency: Time,
    to_device: f64,
    from_device: f64,
    on_device: f64,
}

impl Link {
    /// The link of a machine.
    pub fn new(host: &warpscope_configs::specs::HostSpec) -> Link {
        Link {
            latency: (host.transfer_latency * 1e6) as Time,
            // 1 GB/s is one byte a nanosecond.
            to_device: 1000.0 / host.to_device,
            from_device: 1000.0 / host.from_device,
            on_device: 1000.0 / host.on_device,
        }
    }
    /// Host to device.
    pub fn write(&self, bytes: usize) -> Time {
        self.latency + (bytes as f64 * self.to_device) as Time
    }
    /// Device to host.
    pub fn read(&self, bytes: usize) -> Time {
        self.latency + (bytes as f64 * self.from_device) as Time
    }
    /// Inside device memory: bytes read and bytes written count.
    pub fn inside(&self, read: usize, written: usize) -> Time {
        self.latency + ((read + written) as f64 * self.on_device) as Time
    }
}
