//! L1, local memory, interconnect, L2 and DRAM.
use crate::spec;

spec! {
    /// The memory hierarchy.
    pub struct MemorySpec {
        keys {
            /// Bytes in a sector, the unit of transfer.
            sector: u32 ["B"] = 4..=256,
            /// Bytes in a cache line.
            line: u32 ["B"] = 4..=1024,
        }
        sections {
            /// Local (work-group) memory.
            local: LocalMemorySpec,
        }
    }
}

spec! {
    /// Local (work-group) memory and its split with the L1.
    pub struct LocalMemorySpec {
        keys {
            /// L1 and local memory together, per compute unit.
            combined: u32 ["B"] = 1024..=16777216,
            /// Most local memory that one work-group may use.
            max_per_group: u32 ["B"] = 0..=16777216,
            /// Local memory reserved for each work-group beyond what it asks for; local addresses start there.
            reserved_per_group: u32 ["B"] = 16..=65536,
            /// Local memory is handed out in units of this many bytes.
            granularity: u32 ["B"] = 1..=65536,
            /// Splits that the hardware can choose: bytes of local memory, smallest first.
            carve_outs: Vec<u32> ["B"],
            /// Banks.
            banks: u32 [""] = 1..=256,
            /// Bytes a bank delivers each cycle.
            bank_width: u32 ["B"] = 1..=64,
        }
    }
}
