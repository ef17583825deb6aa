//! Timing classes: what the machine's `compute_unit.classes` gives latency and pipes for.

macro_rules! classes {
    ($( $(#[doc = $doc:literal])+ $name:ident = $key:literal, )*) => {
        /// Timing class of an operation. A ghost operation may have any class.
        #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum OpClass { $( $(#[doc = $doc])+ $name, )* }
        impl OpClass {
            /// Every class.
            pub const ALL: &[OpClass] = &[$( OpClass::$name, )*];
            /// The key in the machine's TOML.
            pub const fn key(self) -> &'static str { match self { $( OpClass::$name => $key, )* } }
            /// Description.
            pub const fn doc(self) -> &'static str { match self { $( OpClass::$name => concat!($($doc),+), )* } }
        }
    };
}

classes! {
    /// Single-precision add, multiply, multiply-add.
    Fp32 = "fp32",
    /// Half-precision arithmetic.
    Fp16 = "fp16",
    /// Double-precision arithmetic.
    Fp64 = "fp64",
    /// 32-bit integer multiply and multiply-add; also moves and adds that the compiler puts on that pipe.
    IMad = "imad",
    /// Widening multiply-add (64-bit result).
    IMadWide = "imad-wide",
    /// High half of a multiply-add.
    IMadHigh = "imad-high",
    /// Integer add, logic, shift, min/max, select, byte permute.
    Alu = "alu",
    /// Compares and predicate logic.
    Compare = "compare",
    /// Register moves.
    Move = "move",
    /// Transcendental and reciprocal unit (approximate results).
    Xu = "xu",
    /// Conversions, population count, leading zeros on that unit.
    Convert = "convert",
    /// Uniform datapath.
    Uniform = "uniform",
    /// Read of a special register.
    ReadSpecial = "read-special",
    /// Indexed load from the constant bank.
    LoadConstant = "load-constant",
    /// Uniform load from the constant bank into uniform registers.
    LoadUniform = "load-uniform",
    /// Global load.
    LoadGlobal = "load-global",
    /// Global store.
    StoreGlobal = "store-global",
    /// Global atomic with a result.
    AtomicGlobal = "atomic-global",
    /// Global atomic without a result (reduction).
    ReduceGlobal = "reduce-global",
    /// Local-memory load.
    LoadLocal = "load-local",
    /// Local-memory store.
    StoreLocal = "store-local",
    /// Local-memory atomic.
    AtomicLocal = "atomic-local",
    /// Private-memory load (spills, private arrays).
    LoadPrivate = "load-private",
    /// Private-memory store.
    StorePrivate = "store-private",
    /// Cross-lane shuffle.
    Shuffle = "shuffle",
    /// Vote, ballot.
    Vote = "vote",
    /// Warp-wide reduction.
    WarpReduce = "reduce",
    /// Branch, end of a region that may diverge.
    Branch = "branch",
    /// Start of a region that may diverge.
    Converge = "converge",
    /// Work-group barrier.
    Barrier = "barrier",
    /// Memory fence.
    Fence = "fence",
    /// End of a work-item.
    Exit = "exit",
}
