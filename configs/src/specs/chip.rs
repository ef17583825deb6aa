//! Identity, clocks and size of the chip.
use crate::spec;

spec! {
    /// Identity, clocks and size of the chip. All `cycles` in this project are core cycles unless a key says otherwise.
    pub struct ChipSpec {
        keys {
            /// Name of the device, reported as CL_DEVICE_NAME.
            name: String [""],
            /// Vendor of the modelled device.
            vendor: String [""],
            /// One sentence on what is modelled and where the parameters come from.
            description: String [""],
            /// Number of compute units.
            compute_units: u32 [""] = 1..=4096,
            /// Core (compute-unit) clock.
            core_mhz: f64 ["MHz"] = 1.0..=10000.0,
            /// Clock of the L2 slices.
            l2_mhz: f64 ["MHz"] = 1.0..=10000.0,
            /// Command clock of the DRAM.
            dram_mhz: f64 ["MHz"] = 1.0..=20000.0,
            /// Sub-group sizes that the machine can run, smallest first.
            sub_group_sizes: Vec<u32> ["lanes"],
            /// Sub-group size used when a kernel does not ask for one.
            sub_group_size: u32 ["lanes"] = 1..=64,
            /// Device memory that the device reports.
            global_memory: u64 ["B"] = 1048576..=1099511627776,
        }
    }
}
