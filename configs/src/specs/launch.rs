//! Dispatch of work-groups, head and tail of a launch.
use crate::spec;

spec! {
    /// Dispatch of work-groups, head and tail of a launch.
    pub struct LaunchSpec {
        keys {
            /// From the start of the launch to the first work-group's dispatch.
            head: u32 ["cycles"] = 0..=1000000,
            /// From the last work-group's end to the end of the launch.
            tail: u32 ["cycles"] = 0..=1000000,
            /// Cycles between two work-groups that the dispatcher hands out.
            group_interval: f64 ["cycles"] = 0.0..=10000.0,
            /// From the dispatcher to the start of a group's first warp on a compute unit, and from a group's end to the
            /// dispatcher's knowing of it.
            group_latency: u32 ["cycles"] = 1..=100000,
            /// Cycles between the starts of two warps on a compute unit.
            warp_interval: u32 ["cycles"] = 0..=1000,
            /// Registers and special registers are set up for this long before a warp's first instruction.
            warp_setup: u32 ["cycles"] = 0..=10000,
            /// Plain stores become visible to other compute units, and atomics take effect, at multiples of this; a
            /// longer one than the way to the L2 and back, or to the dispatcher and back, counts as that.
            epoch: u32 ["cycles"] = 1..=4096,
        }
    }
}
