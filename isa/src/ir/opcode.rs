//! Opcodes of the IR.
use super::{Cond, Conversion, FCond, IntFn, MathFn, Rounding, Ty};
use warpscope_exec::program::{AtomicOp, LaunchConstant, Special};

/// Two-operand integer arithmetic; type from the result.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum IBin {
    Add,
    Sub,
    Mul,
    SMulHi,
    UMulHi,
    SDiv,
    UDiv,
    SRem,
    URem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    Rotl,
    SMin,
    SMax,
    UMin,
    UMax,
}

/// One-operand integer arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum IUn {
    Neg,
    Not,
    Abs,
    Popc,
    Clz,
    Ctz,
    BitReverse,
}

/// Two-operand float arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FBin {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
}

/// One-operand float arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FUn {
    Neg,
    Abs,
    Sqrt,
    Round(Rounding),
}

/// Memory order of an atomic, fence or barrier.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Scope of an atomic, fence or barrier.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Scope {
    WorkItem,
    SubGroup,
    WorkGroup,
    Device,
    AllDevices,
}

/// What an instruction does. Operand and result counts are part of the contract of each variant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Opcode {
    /// Constant bits (low-aligned); type from the result. Floats as their bit pattern, Bool 0 or 1.
    Const(u64),
    /// Any value.
    Undef,
    /// Address of module-scope variable (index in `Module::globals`).
    GlobalAddress(usize),
    /// (a, b) -> integer. Shift counts have the type of `a`.
    IBin(IBin),
    /// (a) -> integer.
    IUn(IUn),
    /// (a[, b[, c]]) -> integer.
    IntFn(IntFn),
    /// (a, b) -> float.
    FBin(FBin),
    /// (a) -> float.
    FUn(FUn),
    /// (a, b, c) -> a * b + c, one rounding (`fma`).
    Fma,
    /// (a, b, c) -> a * b + c, fused or not as the target likes (`mad`, contracted expressions).
    Mad,
    /// Math built-in. (args) -> result[, second result].
    Math(MathFn),
    /// (a, b) -> Bool; also pointers of the same space.
    ICmp(Cond),
    /// (a, b) -> Bool.
    FCmp(FCond),
    /// (cond: Bool, a, b) -> cond ? a : b; any type, Bool too.
    Select,
    /// Bool logic. (a, b) -> Bool
    BoolAnd,
    /// (a, b) -> Bool
    BoolOr,
    /// (a, b) -> Bool
    BoolXor,
    /// (a) -> Bool
    BoolNot,
    /// (a) -> wider or narrower integer: sign-extended, zero-extended or truncated by the types. Bool sources allowed
    /// (sign-extended Bool is 0 or -1).
    Sext,
    /// See `Sext`.
    Zext,
    /// See `Sext`. To Bool: lowest bit.
    Trunc,
    /// (a) -> number of another kind.
    Convert(Conversion),
    /// (a) -> the same bits as another type of the same width (also pointer to integer and back).
    Bitcast,
    /// (ptr) -> pointer in another space: to generic or from it. From generic there is no check.
    CastSpace,
    /// (ptr: generic) -> Bool: whether it points into this space (to_global, to_local, to_private).
    IsSpace(Ty),
    /// (ptr, offset in bytes) -> ptr. `inbounds`: no wrap-around (NoSignedWrap in 64 bits).
    PtrAdd {
        /// Arithmetic stays inside the object.
        inbounds: bool,
    },
    /// Private memory of the function: () -> PtrPrivate. Only in the entry block.
    Alloca {
        /// Bytes.
        size: u32,
        /// Alignment in bytes.
        align: u32,
    },
    /// (ptr) -> `count` values of the result type, consecutive in memory.
    Load(Access),
    /// (ptr, values...) -> nothing.
    Store(Access),
    /// (ptr to, ptr from) -> nothing: copies `bytes`, no overlap.
    Copy {
        /// Bytes.
        bytes: u32,
        /// Common alignment.
        align: u32,
    },
    /// (ptr[, value[, compare]]) -> old value (absent when unused). `Load` has no value, `Store` no result.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Order.
        order: Order,
        /// Scope.
        scope: Scope,
    },
    /// () -> nothing. Work-group barrier.
    Barrier {
        /// `fence` flags.
        flags: u8,
        /// WorkGroup or SubGroup.
        scope: Scope,
    },
    /// () -> nothing.
    Fence {
        /// `fence` flags.
        flags: u8,
        /// Order.
        order: Order,
        /// Scope.
        scope: Scope,
    },
    /// () -> I32: differs between work-items or groups.
    Special(Special),
    /// () -> I32: the same for the whole launch.
    Launch(LaunchConstant),
    /// () -> the kernel parameter's leaf: word(s) at this byte offset of the block, type from the result.
    Parameter(u32),
    /// () -> PtrLocal: local-pointer parameter number.
    LocalParameter(u32),
    /// (Bool) -> Bool / I32x4: sub-group votes.
    Vote(VoteKind),
    /// (value, lane: I32) -> value.
    Shuffle(ShuffleKind),
    /// What the active work-items of a sub-group compute together.
    Warp(WarpFn),
    /// (args) -> results. Gone after inlining.
    Call(usize),
    /// Terminator: jump.
    Jump,
    /// Terminator: (cond: Bool), two targets: true, false.
    Branch,
    /// Terminator: (value), targets: default first, then one for each case.
    Switch(Vec<u64>),
    /// Terminator: (results).
    Return,
    /// Terminator.
    Unreachable,
}

/// How a load or store accesses memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Elements, each of the value's type, consecutive (1..=16).
    pub count: u8,
    /// Known alignment in bytes.
    pub align: u32,
    /// Volatile.
    pub volatile: bool,
}

/// Votes over the active work-items of a sub-group.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum VoteKind {
    Any,
    All,
    Ballot,
}

/// Functions of all active work-items of a sub-group.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum WarpFn {
    /// (I32) -> I32: all values combined as an integer atomic of this kind would; `Sub` adds them.
    Reduce(AtomicOp),
    /// (I32) -> I32: the sum of the values up to the own one.
    ScanAdd,
    /// (I32) -> Bool: the own value is the highest (unsigned).
    Elect,
    /// () -> Bool: all work-items that a sub-group can have are active.
    Full,
}

/// Shuffles.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum ShuffleKind {
    Index,
    Xor,
    Up,
    Down,
}

impl Opcode {
    /// Whether it ends a block.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Opcode::Jump | Opcode::Branch | Opcode::Switch(_) | Opcode::Return | Opcode::Unreachable)
    }
    /// Whether it must stay even if its results are unused (writes memory, synchronises or ends a block).
    pub const fn has_effect(&self) -> bool {
        match self {
            Opcode::Store(_)
            | Opcode::Copy { .. }
            | Opcode::Atomic { .. }
            | Opcode::Barrier { .. }
            | Opcode::Fence { .. }
            | Opcode::Call(_) => true,
            Opcode::Load(a) => a.volatile,
            _ => self.is_terminator(),
        }
    }
    /// Type that the opcode alone determines, if any (for building).
    pub const fn fixed_type(&self) -> Option<Ty> {
        match self {
            Opcode::ICmp(_)
            | Opcode::FCmp(_)
            | Opcode::BoolAnd
            | Opcode::BoolOr
            | Opcode::BoolXor
            | Opcode::BoolNot
            | Opcode::IsSpace(_) => Some(Ty::Bool),
            Opcode::Special(_) | Opcode::Launch(_) => Some(Ty::I32),
            Opcode::Alloca { .. } => Some(Ty::PtrPrivate),
            Opcode::LocalParameter(_) => Some(Ty::PtrLocal),
            _ => None,
        }
    }
}
