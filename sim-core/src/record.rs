//! The record of a launch: data from which every report is made. Nothing in it depends on the host.
use crate::{Limiter, Mode, Occupancy, Resources};
use serde::{Deserialize, Serialize};
use warpscope_configs::{CounterInfo, Counters, counted_enum, counters};
use warpscope_exec::ops::OpClass;
use warpscope_memory::counters::{CuCounters, DramCounters, L2Counters};

/// Version of [`LaunchRecord`]'s format; changes when a field changes its meaning or goes.
pub const RECORD_VERSION: u32 = 1;

/// Warp instructions by timing class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCounts(pub [u64; OpClass::ALL.len()]);
warpscope_configs::count_array!(ClassCounts, OpClass, "instructions");

counters! {
    /// What was executed; the same in every mode.
    pub struct WorkCounters {
        counters {
            /// Warp instructions executed.
            warp_instructions: u64 ["instructions"],
            /// Sum over warp instructions of the lanes that took part.
            thread_instructions: u64 ["instructions"],
            /// Work-groups run.
            groups: u64 ["groups"],
            /// Warps run.
            warps: u64 ["warps"],
            /// Work-items run.
            work_items: u64 ["work-items"],
            /// Branch instructions executed.
            branches: u64 ["instructions"],
            /// Branches whose lanes went different ways.
            divergent_branches: u64 ["instructions"],
            /// Work-group barriers that warps arrived at.
            barrier_arrivals: u64 ["instructions"],
        }
        sections {
            /// Warp instructions by timing class.
            classes: ClassCounts,
        }
    }
}

counted_enum! {
    /// What a scheduler, or a warp, spent a cycle on. Every cycle has exactly one cause.
    pub enum Cause;
    /// Cycles by cause.
    pub struct CauseCycles ["cycles"] {
        /// An instruction was issued.
        Issued = "issued",
        /// No warp was resident.
        NoWarp = "no-warp",
        /// The next instruction was not there: instruction cache miss or empty instruction buffer.
        Fetch = "fetch",
        /// An immediate constant had to be fetched into the constant cache.
        ConstantMiss = "constant-miss",
        /// A result of fixed latency (arithmetic) was awaited.
        Wait = "wait",
        /// Data of a global or private memory access was awaited.
        LongScoreboard = "long-scoreboard",
        /// Data of local memory, the constant bank, a special-function unit or another shared unit was awaited.
        ShortScoreboard = "short-scoreboard",
        /// The execution pipe was occupied.
        PipeThrottle = "pipe-throttle",
        /// The queue for global and private memory accesses was full.
        LgThrottle = "lg-throttle",
        /// The queue for local memory and other shared units was full.
        MioThrottle = "mio-throttle",
        /// The warp waited at a work-group barrier.
        Barrier = "barrier",
        /// A memory fence, or an access ordered after atomics, waited for outstanding accesses.
        Membar = "membar",
        /// A branch target was being resolved.
        Branch = "branch",
        /// The dispatch stage was held by the operands of an earlier instruction: register-bank conflicts.
        Dispatch = "dispatch",
        /// The warp had ended and waited for its stores to leave.
        Drain = "drain",
        /// The warp was ready, but the scheduler chose another one (warps only).
        NotSelected = "not-selected",
    }
}

counters! {
    /// Where time went. Zero in functional mode.
    pub struct TimeCounters {
        counters {
            /// From the start of the launch to its end, launch head and tail included.
            cycles_elapsed: u64 ["cycles"],
            /// Cycles with a resident warp, of the busiest compute unit.
            cycles_active_max: u64 ["cycles"],
            /// Cycles with a resident warp, averaged over all compute units.
            cycles_active_avg: f64 ["cycles"],
            /// From the start of the launch to the first work-group's dispatch.
            head_cycles: u64 ["cycles"],
            /// From the last work-group's end to the end of the launch.
            tail_cycles: u64 ["cycles"],
            /// Simulated duration.
            nanoseconds: f64 ["ns"],
            /// Warp instructions per compute unit and active cycle.
            ipc_active: f64 [""],
            /// Warp instructions per cycle elapsed, on the whole machine.
            ipc_elapsed: f64 [""],
            /// Warps resident on a compute unit, averaged over its active cycles.
            warps_active: f64 ["warps"],
            /// Warps resident as a share of the warp slots, averaged over active cycles: achieved occupancy.
            occupancy_achieved: f64 [""],
            /// Cycles that resident warps spent, all warps together.
            warp_cycles: u64 ["cycles"],
            /// Cycles with a resident warp, all compute units together.
            active_unit_cycles: u64 ["cycles"],
        }
        sections {
            /// Cycles of the warp schedulers of active compute units, by cause.
            schedulers: CauseCycles,
            /// Cycles of resident warps, by cause.
            warps: CauseCycles,
        }
    }
}

counters! {
    /// Instruction and constant fetch. Zero in functional mode.
    pub struct FetchCounters {
        counters {
            /// Look-ups in the sub-cores' instruction caches.
            l0_requests: u64 ["requests"],
            /// Misses there.
            l0_misses: u64 ["requests"],
            /// Look-ups in the compute units' instruction caches, prefetches included.
            l1_requests: u64 ["requests"],
            /// Misses there.
            l1_misses: u64 ["requests"],
            /// Look-ups in the shared instruction and constant caches.
            shared_requests: u64 ["requests"],
            /// Misses there.
            shared_misses: u64 ["requests"],
            /// Look-ups in the compute units' constant caches.
            constant_requests: u64 ["requests"],
            /// Misses there.
            constant_misses: u64 ["requests"],
        }
    }
}

counters! {
    /// The memory hierarchy. Zero in functional mode.
    pub struct MemoryCounters {
        sections {
            /// Load/store units, L1 caches and local memory.
            unit: CuCounters,
            /// L2.
            l2: L2Counters,
            /// DRAM.
            dram: DramCounters,
        }
    }
}

counters! {
    /// All counters of a launch.
    pub struct LaunchCounters {
        sections {
            /// What was executed.
            work: WorkCounters,
            /// Where time went.
            time: TimeCounters,
            /// Instruction and constant fetch.
            fetch: FetchCounters,
            /// The memory hierarchy.
            memory: MemoryCounters,
        }
    }
}

/// Shape of a launch.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Geometry {
    /// Dimensions.
    pub work_dim: u32,
    /// Global offset.
    pub offset: [u64; 3],
    /// Work-items.
    pub global: [u64; 3],
    /// Work-group size.
    pub local: [u32; 3],
    /// Work-groups.
    pub groups: [u64; 3],
}

/// State of the caches when the launch began.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// Caches were empty.
    Cold,
    /// Caches held what earlier launches and transfers left.
    Warm,
}

/// What the compiler's back end made of the kernel.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Machine operations.
    pub operations: u32,
    /// Vector registers a work-item.
    pub registers: u32,
    /// Uniform registers a warp.
    pub uniform_registers: u32,
    /// Static local memory of a group.
    pub local_bytes: u32,
    /// Private memory of a work-item.
    pub private_bytes: u32,
    /// Bytes of private memory that are register spills.
    pub spill_bytes: u32,
}

/// What a launch did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// [`RECORD_VERSION`].
    pub version: u32,
    /// Machine name.
    pub machine: String,
    /// Digest of the machine's whole configuration.
    pub configuration: String,
    /// Kernel name.
    pub kernel: String,
    /// Number of the launch on this machine, from 0.
    pub index: u64,
    /// Mode.
    pub mode: Mode,
    /// Cold or warm caches.
    pub convention: Convention,
    /// Shape.
    pub geometry: Geometry,
    /// What the compiler made of the kernel.
    pub program: ProgramFacts,
    /// What a work-group needs.
    pub resources: Resources,
    /// Theoretical occupancy.
    pub occupancy: Occupancy,
    /// Counters.
    pub counters: LaunchCounters,
}

impl LaunchRecord {
    /// Every counter with its definition and value.
    pub fn counters(&self) -> Vec<(CounterInfo, f64)> {
        let (mut infos, mut values) = (Vec::new(), Vec::new());
        LaunchCounters::describe("", &mut infos);
        self.counters.values(&mut values);
        infos.into_iter().zip(values).collect()
    }

    /// The cause on which resident warps spent most cycles without issuing, with its share of their time.
    pub fn top_stall(&self) -> Option<(Cause, f64)> {
        let warps = &self.counters.time.warps;
        let total = warps.total();
        Cause::ALL
            .iter()
            .filter(|c| !matches!(c, Cause::Issued | Cause::NoWarp))
            .map(|c| (*c, warps[*c]))
            .max_by_key(|(c, cycles)| (*cycles, std::cmp::Reverse(*c)))
            .filter(|(_, cycles)| *cycles > 0)
            .map(|(c, cycles)| (c, cycles as f64 / total as f64))
    }

    /// The resource that limits occupancy.
    pub fn limiter(&self) -> Limiter {
        self.occupancy.limiter
    }
}
