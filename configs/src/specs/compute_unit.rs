//! What a compute unit holds and how its sub-cores issue.
use crate::spec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a sub-core's warp scheduler picks among the warps that can issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerPolicy {
    /// Greedy then oldest: stay with the same warp while it can issue, else the oldest.
    GreedyThenOldest,
    /// Greedy then youngest.
    GreedyThenYoungest,
    /// Loose round robin.
    LooseRoundRobin,
    /// Oldest first.
    OldestFirst,
    /// Warps of the group that started first, in turns.
    OldestGroupFirst,
    /// Two-level: a small active set, refilled when its warps wait for memory.
    TwoLevel,
}

spec! {
    /// Limits and resources of one compute unit.
    pub struct ComputeUnitSpec {
        keys {
            /// Sub-cores (warp schedulers) in a compute unit.
            sub_cores: u32 [""] = 1..=16,
            /// Warps resident at once.
            max_warps: u32 ["warps"] = 1..=256,
            /// Work-groups resident at once.
            max_groups: u32 ["groups"] = 1..=256,
            /// Work-items resident at once.
            max_work_items: u32 ["work-items"] = 8..=16384,
            /// Work-items in the largest work-group.
            max_group_size: u32 ["work-items"] = 1..=4096,
            /// 32-bit registers (each one lane wide) in a compute unit.
            registers: u32 ["registers"] = 256..=4194304,
            /// Most registers that one work-item can have.
            max_registers_per_work_item: u32 ["registers"] = 8..=1023,
            /// Registers are handed to a warp in units of this many.
            register_granularity: u32 ["registers"] = 1..=65536,
            /// As many warps as registers suffice for, in units of this many; a group must fit when its own are rounded up to it.
            warp_granularity: u32 ["warps"] = 1..=64,
            /// Scheduling policy of each sub-core.
            scheduler: SchedulerPolicy [""],
            /// Size of the active set of the two-level scheduler.
            two_level_active: u32 ["warps"] = 1..=64,
            /// Instructions that a sub-core can issue in one cycle (to different warps or the same one in order).
            issue_width: u32 ["instructions"] = 1..=4,
        }
        sections {
            /// Register-file ports and banks.
            register_file: RegisterFileSpec,
            /// Queues in front of the units that the sub-cores share.
            queues: QueueSpec,
            /// Work-group barriers.
            barrier: BarrierSpec,
            /// Execution pipes of a sub-core (or shared by the compute unit), by name.
            pipes: BTreeMap<String, PipeSpec>,
            /// Latency and pipes of each operation class; the names are those of `OpClass`.
            classes: BTreeMap<String, ClassSpec>,
        }
    }
}

spec! {
    /// Register-file ports and banks of a sub-core.
    pub struct RegisterFileSpec {
        keys {
            /// Banks; register r lies in bank r modulo this.
            banks: u32 [""] = 1..=64,
            /// Reads that a bank serves each cycle.
            read_ports: u32 [""] = 1..=8,
            /// Whether operands that the compiler marks for reuse skip the bank read.
            reuse_cache: bool [""],
            /// Extra latency where a result is used in another forwarding group than the one that made it.
            crossing: u32 ["cycles"] = 0..=64,
            /// Extra latency where a predicate guards an instruction or decides a branch instead of being an operand.
            guard: u32 ["cycles"] = 0..=64,
        }
    }
}

spec! {
    /// Queues in front of the units that the sub-cores share.
    pub struct QueueSpec {
        keys {
            /// Global and private memory instructions that a sub-core can have waiting for the load/store unit.
            lg: u32 ["instructions"] = 1..=256,
            /// Local memory and other instructions for shared units that a sub-core can have waiting.
            mio: u32 ["instructions"] = 1..=256,
            /// Cycles that each vector register which an instruction reads keeps its sub-core's way to the load/store unit.
            register_cycles: u32 ["cycles"] = 0..=64,
        }
    }
}

spec! {
    /// Work-group barriers.
    pub struct BarrierSpec {
        keys {
            /// Cycles that the barrier of a group takes for each arriving warp.
            interval: u32 ["cycles"] = 0..=1000,
            /// Cycles that the barrier unit of a compute unit takes for each arriving warp of any group.
            unit_interval: u32 ["cycles"] = 0..=1000,
            /// Whether a warp that has arrived goes on up to its next access to memory, barrier or end.
            deferred: bool [""],
            /// From the last arrival to the first instruction behind the barrier.
            latency: u32 ["cycles"] = 1..=10000,
        }
    }
}

spec! {
    /// One execution pipe.
    pub struct PipeSpec {
        keys {
            /// Lanes: a warp of W work-items occupies the pipe for W / lanes cycles.
            lanes: u32 ["lanes"] = 1..=128,
            /// Whether one pipe is shared by all sub-cores of the compute unit.
            shared: bool [""],
            /// Instructions that can wait in front of it after they have issued.
            queue: u32 ["instructions"] = 0..=64,
            /// Cycles from an instruction of a warp to the next one of the same warp that goes through it.
            spacing: u32 ["cycles"] = 1..=64,
            /// Forwarding group; 0: none. Results that cross groups cost `register_file.crossing` more.
            forwarding: u32 [""] = 0..=15,
        }
    }
}

spec! {
    /// Timing of one class of operations.
    pub struct ClassSpec {
        keys {
            /// Pipes that can take it; the first free one is used.
            pipes: Vec<String> [""],
            /// Issue to dependent issue, without contention (memory classes: the part before the LSU).
            latency: u32 ["cycles"] = 0..=10000,
            /// Multiplies the pipe's occupancy (2 = half rate).
            passes: u32 [""] = 1..=64,
            /// Cycles to the warp's next instruction, whatever that is (a branch that is taken: at least its latency).
            hold: u32 ["cycles"] = 1..=64,
        }
    }
}
