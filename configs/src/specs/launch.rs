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
        }
    }
}
