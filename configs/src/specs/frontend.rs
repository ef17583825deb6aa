//! Instruction and constant fetch.
use crate::spec;

spec! {
    /// Instruction and constant fetch: sub-core cache, compute unit's cache, second-level cache, then the L2.
    pub struct FrontendSpec {
        keys {
            /// Size of an encoded instruction: a whole number of them fill a line of the sub-core's cache.
            instruction_bytes: u32 ["B"] = 1..=64,
            /// Lines that the stream buffer of a sub-core runs ahead of the line in use; 0: no prefetch.
            prefetch_lines: u32 ["lines"] = 0..=64,
            /// From a taken branch that is resolved, or one over rare code, to the first instruction out of the sub-core's cache.
            refill: u32 ["cycles"] = 0..=1000,
            /// Bytes of code, from the program's start, that a launch brings into the second-level cache before its first
            /// warp begins. The launch's constant bank is brought there too.
            launch_preload: u32 ["B"] = 0..=1048576,
            /// Compute units that share the second-level cache's ports. A launch spreads evenly over such sets; the units
            /// of a set that it uses get equal parts of the ports, one after the other.
            shared_units: u32 [""] = 1..=1024,
            /// Cycles of the instructions' port for a line.
            shared_interval: f64 ["cycles"] = 0.0..=1000.0,
            /// Lines that a unit gets in a row when its turn comes first in a launch.
            shared_burst: u32 ["lines"] = 1..=1024,
            /// What a launch's first line of instructions takes longer than others from the second-level cache.
            first_fetch: u32 ["cycles"] = 0..=10000,
            /// From a miss of a constant cache to the line's arrival from the second-level cache.
            constant_latency: u32 ["cycles"] = 0..=10000,
            /// Cycles of the constants' port for a line.
            constant_interval: f64 ["cycles"] = 0.0..=1000.0,
            /// What each further word that a warp's lanes want adds to the latency of an indexed constant load; the words
            /// of different warps take `l1_constant.interval`.
            constant_replay: u32 ["cycles"] = 0..=1000,
        }
        sections {
            /// Instruction cache of a sub-core.
            l0_instruction: FetchCacheSpec,
            /// Instruction cache of a compute unit.
            l1_instruction: FetchCacheSpec,
            /// Cache for constants used as operands, one for each sub-core.
            l0_constant: FetchCacheSpec,
            /// Cache for indexed constant loads, one for each compute unit.
            l1_constant: FetchCacheSpec,
            /// Second-level cache for instructions and constants: one for each compute unit in this model, but for its port.
            l2_fetch: FetchCacheSpec,
        }
    }
}

spec! {
    /// A read-only cache on the fetch path, least recently used.
    pub struct FetchCacheSpec {
        keys {
            /// Capacity.
            capacity: u32 ["B"] = 64..=67108864,
            /// Line: a power of two. Every level's line must be a multiple of the one's before.
            line: u32 ["B"] = 4..=1024,
            /// Ways of a set; more than there are lines count as that many.
            ways: u32 [""] = 1..=1024,
            /// From a request that hits to its data at the level before.
            latency: u32 ["cycles"] = 0..=10000,
            /// Cycles between two lines that it can deliver.
            interval: u32 ["cycles"] = 1..=1000,
        }
    }
}
