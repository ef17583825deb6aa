//! What the compiler's back end may use: native operations, recipes for the others, the launch ABI.
use crate::spec;
use std::collections::BTreeMap;

spec! {
    /// What the compiler's back end may use.
    pub struct TargetSpec {
        keys {
            /// Predicate registers that a warp has.
            predicates: u32 ["registers"] = 1..=16,
            /// Uniform (one value a warp) registers; 0 where the machine has no uniform datapath.
            uniform_registers: u32 ["registers"] = 0..=255,
            /// Operations (by mnemonic) that the uniform datapath has; without any, it holds constants only.
            uniform_operations: Vec<String> [""],
            /// Registers that a kernel takes at least.
            minimum_registers: u32 ["registers"] = 1..=64,
            /// Bits of the signed immediate offset of memory operations.
            memory_offset_bits: u32 ["bits"] = 1..=32,
            /// Registers that every work-item has beyond those that its code uses (convergence state).
            reserved_registers: u32 ["registers"] = 0..=16,
            /// Numbers of registers that code leaves alone (stack pointer), in ascending order.
            fixed_registers: Vec<u32> [""],
            /// Whether instructions can read an operand straight from the constant bank; else it is loaded first.
            bank_operands: bool [""],
            /// Operands of one instruction that can be literals, uniform registers or constant-bank reads; 4: any.
            constant_operands: u32 [""] = 0..=4,
            /// Whether address arithmetic is narrowed to 32 bits and its constants become immediate offsets.
            optimise_addresses: bool [""],
            /// Whether 64-bit offsets from `get_global_id` are built as the machine's compiler does: the id shifted as a
            /// 64-bit value and shared by all arrays that it indexes, instead of a widening multiply-add for each.
            wide_global_ids: bool [""],
            /// Arms of a branch up to this many operations run under a guard instead; 0: never.
            predication: u32 ["operations"] = 0..=256,
            /// The same for arms in loops.
            predication_in_loops: u32 ["operations"] = 0..=256,
            /// The same for arms in loops that store.
            predication_storing: u32 ["operations"] = 0..=256,
            /// Whether regions that may diverge are opened and closed by instructions.
            convergence_barriers: bool [""],
            /// Fused operations that the machine has, by mnemonic (`imad`, `imad.wide`, `lea`, `lop3`, `iadd3` …).
            forms: Vec<String> [""],
            /// Operations (by mnemonic) that can run as multiply-adds too, and do where that balances the pipes.
            multiply_pipe: Vec<String> [""],
            /// What operations without a single machine instruction cost: mnemonic to steps (see `docs/recipes.md`).
            recipes: BTreeMap<String, Vec<String>> [""],
            /// What functions of the OpenCL library and long divisions cost, in the same form; a recipe of the same name in
            /// `recipes` goes first.
            library: BTreeMap<String, Vec<String>> [""],
            /// Whether the compiler combines the atomics of a sub-group to one address into one: additions and other
            /// integer operations without a result always, additions with one where all work-items are active.
            aggregate_atomics: bool [""],
            /// Whether the machine's compiler contracts a multiply and an add across statements.
            contract: bool [""],
        }
        sections {
            /// Where kernel parameters and quantities of the launch lie in the constant bank.
            constant_bank: ConstantBankSpec,
            /// What the launch ABI adds to every kernel.
            abi: AbiSpec,
            /// Instruction scheduling inside basic blocks.
            schedule: ScheduleSpec,
        }
    }
}

spec! {
    /// Instructions that the launch ABI adds, as recipe steps (see `docs/recipes.md`).
    pub struct AbiSpec {
        keys {
            /// At the start of every kernel.
            entry: Vec<String> [""],
            /// Once before the first global accesses.
            global_access: Vec<String> [""],
            /// Once before the first local-memory accesses.
            local_access: Vec<String> [""],
            /// Once more for each further local variable.
            local_variable: Vec<String> [""],
        }
    }
}

spec! {
    /// How the compiler schedules instructions: what it takes the latencies to be, and how many registers it spends.
    pub struct ScheduleSpec {
        keys {
            /// Whether operations are reordered at all.
            enabled: bool [""],
            /// Live registers up to which long-latency operations are started early.
            register_budget: u32 ["registers"] = 4..=1023,
            /// Assumed latency of a global load.
            global_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of a local load or shuffle.
            local_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of a private load.
            private_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of a load from the constant bank.
            constant_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of special-register reads, conversions and transcendental functions.
            unit_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of double-precision arithmetic.
            double_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency from a compare to what its predicate guards; a branch takes `latency` more.
            predicate_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed cycles from a barrier to the next one or access to memory.
            barrier_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of operations of the uniform datapath.
            uniform_latency: u32 ["cycles"] = 1..=10000,
            /// Assumed latency of everything else.
            latency: u32 ["cycles"] = 1..=10000,
        }
    }
}

spec! {
    /// Byte offsets in the constant bank from which a program reads parameters and quantities of the launch.
    pub struct ConstantBankSpec {
        keys {
            /// Parameter block.
            parameters: u32 ["B"] = 0..=65535,
            /// Offsets of local-pointer parameters, 4 bytes each by parameter number.
            local_arguments: u32 ["B"] = 0..=65535,
            /// Enqueued work-group size, 4 bytes a dimension.
            local_size: u32 ["B"] = 0..=65535,
            /// Work-group counts, 4 bytes a dimension.
            group_count: u32 ["B"] = 0..=65535,
            /// Global offset, low words of the three dimensions, high words 16 bytes further.
            global_offset: u32 ["B"] = 0..=65535,
            /// Global size, low words of the three dimensions, high words 16 bytes further.
            global_size: u32 ["B"] = 0..=65535,
            /// Other quantities of the launch.
            launch: u32 ["B"] = 0..=65535,
        }
    }
}
