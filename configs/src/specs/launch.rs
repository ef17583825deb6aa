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
            /// From the last acknowledgement of a store or atomic to the last work-group's end as the launch sees it: a launch
            /// ends when what it wrote can be seen everywhere.
            fence: u32 ["cycles"] = 0..=1000000,
            /// Cycles between two work-groups that the dispatcher hands out.
            group_interval: f64 ["cycles"] = 0.0..=10000.0,
            /// Least time between two work-groups handed to the same compute unit.
            unit_interval: f64 ["cycles"] = 0.0..=10000.0,
            /// The same for each warp of a group.
            unit_warp_interval: f64 ["cycles"] = 0.0..=10000.0,
            /// Time for which the end of a work-group keeps the dispatcher from taking note of another one's.
            end_interval: f64 ["cycles"] = 0.0..=10000.0,
            /// From the dispatcher to the start of a group's first warp on a compute unit, and from a group's end to the
            /// dispatcher's knowing of it.
            group_latency: u32 ["cycles"] = 1..=100000,
            /// Cycles between the starts of two warps on a compute unit.
            warp_interval: u32 ["cycles"] = 0..=1000,
            /// Cycles between the ends of two warps on a compute unit.
            warp_end_interval: u32 ["cycles"] = 0..=1000,
            /// Sectors that a launch itself reads from the L2: descriptor, code, constants.
            read_sectors: u32 ["sectors"] = 0..=1000000,
            /// Sectors of every kind that a launch itself brings to the L2 and that are found there.
            l2_hits: u32 ["sectors"] = 0..=1000000,
            /// Sectors of every kind that a launch itself brings to the L2 and that are not found there.
            l2_misses: u32 ["sectors"] = 0..=1000000,
            /// Hits that the profiler counts besides reads and writes: for each sector stored.
            l2_hits_stored: f64 [""] = 0.0..=100.0,
            /// The same for each sector loaded past the L1.
            l2_hits_loaded: f64 [""] = 0.0..=100.0,
            /// Most of both in a launch.
            l2_hits_most: u32 ["sectors"] = 0..=1000000000,
            /// Bytes read from DRAM for what the launch itself reads, by the first launch after the caches were emptied.
            read_bytes: u32 ["B"] = 0..=1000000,
            /// Dirty data of others in the L2 when its caches were emptied before a launch: what the profiler wrote last.
            dirty_bytes: u32 ["B"] = 0..=1000000000,
            /// Registers and special registers are set up for this long before a warp's first instruction.
            warp_setup: u32 ["cycles"] = 0..=10000,
            /// Plain stores become visible to other compute units, and atomics take effect, at multiples of this; a
            /// longer one than the way to the L2 and back, or to the dispatcher and back, counts as that.
            epoch: u32 ["cycles"] = 1..=4096,
        }
    }
}
