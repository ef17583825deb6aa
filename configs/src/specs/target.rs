//! What the compiler's back end may use: native operations, recipes for the others, the launch ABI.
use crate::spec;

spec! {
    /// What the compiler's back end may use.
    pub struct TargetSpec {
        keys {
            /// Predicate registers that a warp has.
            predicates: u32 ["registers"] = 1..=64,
            /// Uniform (one value a warp) registers; 0 where the machine has no uniform datapath.
            uniform_registers: u32 ["registers"] = 0..=255,
            /// Whether the machine's compiler contracts a multiply and an add across statements.
            contract: bool [""],
        }
    }
}
