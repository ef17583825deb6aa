//! Instruction and constant fetch.
use crate::spec;

spec! {
    /// Instruction and constant fetch: sub-core cache, compute unit's cache, shared cache, then L2.
    pub struct FrontendSpec {
        keys {
            /// Size of an encoded instruction.
            instruction_bytes: u32 ["B"] = 1..=64,
            /// Decoded instructions that a warp can hold.
            instruction_buffer: u32 ["instructions"] = 1..=64,
        }
    }
}
