//! Which machine operation an IR operation of a given type is.
use crate::ir::{FBin, FUn, IBin, IUn, Ty};
use warpscope_exec::ops::Op;

/// Picks by width: 8, 16, 32, 64 bits.
macro_rules! width {
    ($bits:expr, $a:ident, $b:ident, $c:ident, $d:ident) => {
        match $bits {
            8 => Op::$a,
            16 => Op::$b,
            32 => Op::$c,
            _ => Op::$d,
        }
    };
}

/// Picks by float type: half, single, double.
macro_rules! float {
    ($ty:expr, $a:ident, $b:ident, $c:ident) => {
        match $ty {
            Ty::F16 => Op::$a,
            Ty::F64 => Op::$c,
            _ => Op::$b,
        }
    };
}

pub(super) fn int_binary(op: IBin, bits: u32) -> Op {
    match op {
        IBin::Add => width!(bits, IAdd8, IAdd16, IAdd32, IAdd64),
        IBin::Sub => width!(bits, ISub8, ISub16, ISub32, ISub64),
        IBin::Mul => width!(bits, IMul8, IMul16, IMul32, IMul64),
        IBin::SMulHi => width!(bits, SMulHi8, SMulHi16, SMulHi32, SMulHi64),
        IBin::UMulHi => width!(bits, UMulHi8, UMulHi16, UMulHi32, UMulHi64),
        IBin::SDiv => width!(bits, SDiv8, SDiv16, SDiv32, SDiv64),
        IBin::UDiv => width!(bits, UDiv8, UDiv16, UDiv32, UDiv64),
        IBin::SRem => width!(bits, SRem8, SRem16, SRem32, SRem64),
        IBin::URem => width!(bits, URem8, URem16, URem32, URem64),
        IBin::And => width!(bits, And32, And32, And32, And64),
        IBin::Or => width!(bits, Or32, Or32, Or32, Or64),
        IBin::Xor => width!(bits, Xor32, Xor32, Xor32, Xor64),
        IBin::Shl => width!(bits, Shl8, Shl16, Shl32, Shl64),
        IBin::LShr => width!(bits, LShr8, LShr16, LShr32, LShr64),
        IBin::AShr => width!(bits, AShr8, AShr16, AShr32, AShr64),
        IBin::Rotl => width!(bits, Rotl8, Rotl16, Rotl32, Rotl64),
        IBin::SMin => width!(bits, SMin8, SMin16, SMin32, SMin64),
        IBin::SMax => width!(bits, SMax8, SMax16, SMax32, SMax64),
        IBin::UMin => width!(bits, UMin8, UMin16, UMin32, UMin64),
        IBin::UMax => width!(bits, UMax8, UMax16, UMax32, UMax64),
    }
}

/// Whether the second operand is a 32-bit count whatever the width.
pub(super) fn takes_count(op: IBin) -> bool {
    matches!(op, IBin::Shl | IBin::LShr | IBin::AShr | IBin::Rotl)
}

pub(super) fn int_unary(op: IUn, bits: u32) -> Op {
    match op {
        IUn::Neg => width!(bits, INeg8, INeg16, INeg32, INeg64),
        IUn::Not => width!(bits, Not8, Not16, Not32, Not64),
        IUn::Abs => width!(bits, IAbs8, IAbs16, IAbs32, IAbs64),
        IUn::Popc => width!(bits, Popc32, Popc32, Popc32, Popc64),
        IUn::Clz => width!(bits, Clz8, Clz16, Clz32, Clz64),
        IUn::Ctz => width!(bits, Ctz8, Ctz16, Ctz32, Ctz64),
        IUn::BitReverse => width!(bits, BitRev8, BitRev16, BitRev32, BitRev64),
    }
}

pub(super) fn int_compare(bits: u32) -> Op {
    width!(bits, ICmp8, ICmp16, ICmp32, ICmp64)
}

pub(super) fn float_binary(op: FBin, ty: Ty) -> Op {
    match op {
        FBin::Add | FBin::Sub => float!(ty, FAddF16, FAddF32, FAddF64),
        FBin::Mul => float!(ty, FMulF16, FMulF32, FMulF64),
        FBin::Div => float!(ty, FDivF16, FDivF32, FDivF64),
        FBin::Rem => float!(ty, FRemF16, FRemF32, FRemF64),
        FBin::Min => float!(ty, FMinF16, FMinF32, FMinF64),
        FBin::Max => float!(ty, FMaxF16, FMaxF32, FMaxF64),
    }
}

pub(super) fn float_unary(op: FUn, ty: Ty) -> Op {
    match op {
        FUn::Neg => float!(ty, FNegF16, FNegF32, FNegF64),
        FUn::Abs => float!(ty, FAbsF16, FAbsF32, FAbsF64),
        FUn::Sqrt => float!(ty, FSqrtF16, FSqrtF32, FSqrtF64),
        FUn::Round(_) => float!(ty, FRoundF16, FRoundF32, FRoundF64),
    }
}

pub(super) fn fused(ty: Ty) -> Op {
    float!(ty, FFmaF16, FFmaF32, FFmaF64)
}

pub(super) fn math(ty: Ty) -> Op {
    float!(ty, MathF16, MathF32, MathF64)
}

pub(super) fn float_compare(ty: Ty) -> Op {
    float!(ty, FCmpF16, FCmpF32, FCmpF64)
}
