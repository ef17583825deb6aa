//! How many consecutive registers each operand of an operation takes.
use super::{Conversion, Op, Ty};
use crate::program::{AccessShape, MachineOp, flags};

/// Registers that an operation's operands take (meaningless for predicates and absent operands).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Words {
    /// First and second destination.
    pub dst: [u8; 2],
    /// Sources.
    pub src: [u8; 4],
}

/// The registers that the operands of `op` take. A ghost's operands are single registers.
pub fn words(op: &MachineOp) -> Words {
    if op.flags & flags::GHOST != 0 {
        return Words { dst: [1; 2], src: [1; 4] };
    }
    let data = AccessShape::unpack(op.imm2).registers() as u8;
    let (dst, src) = match op.op {
        Op::LdGlobal | Op::LdConstant | Op::LdGeneric => ([data, 0], [2, 0, 0, 0]),
        Op::LdLocal | Op::LdPrivate => ([data, 0], [1, 0, 0, 0]),
        Op::StGlobal | Op::StGeneric => ([0, 0], [2, data, 0, 0]),
        Op::StLocal | Op::StPrivate => ([0, 0], [1, data, 0, 0]),
        Op::AtomGlobal | Op::AtomGeneric => ([data, 0], [2, data, data, 0]),
        Op::AtomLocal => ([data, 0], [1, data, data, 0]),
        Op::Ballot => ([4, 0], [1, 0, 0, 0]),
        Op::IMadWideS | Op::IMadWideU => ([2, 0], [1, 1, 2, 1]),
        Op::LeaSext | Op::LeaZext | Op::IAddSext | Op::IAddZext => ([2, 0], [1, 2, 1, 1]),
        Op::Sext32To64 | Op::Zext32To64 => ([2, 0], [1, 1, 1, 1]),
        Op::Shl64 | Op::LShr64 | Op::AShr64 | Op::Rotl64 => ([2, 0], [2, 1, 1, 1]),
        Op::ICmp64 | Op::FCmpF64 => ([1, 0], [2, 2, 1, 1]),
        Op::Sel64 => ([2, 0], [2, 2, 1, 1]),
        Op::Convert => {
            let conversion = Conversion::unpack(op.imm);
            ([conversion.to.registers() as u8, 0], [conversion.from.registers() as u8, 1, 1, 1])
        }
        Op::IntFn if op.imm2 == Ty::I64 as u32 => ([2, 0], [2, 2, 2, 1]),
        op if all_pairs(op) => ([2, 2], pair_sources(op)),
        _ => ([1, 1], [1; 4]),
    };
    Words { dst, src }
}

/// Sources beyond an operation's own are dependences of its recipe, single registers.
fn pair_sources(op: Op) -> [u8; 4] {
    match op {
        Op::IMad64 | Op::FFmaF64 | Op::MathF64 => [2, 2, 2, 1],
        Op::Mov64
        | Op::INeg64
        | Op::IAbs64
        | Op::Not64
        | Op::Popc64
        | Op::Clz64
        | Op::Ctz64
        | Op::BitRev64
        | Op::FSqrtF64
        | Op::FNegF64
        | Op::FAbsF64
        | Op::FRoundF64 => [2, 1, 1, 1],
        _ => [2, 2, 1, 1],
    }
}

/// Whether every operand is a 64-bit value.
fn all_pairs(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Mov64
            | IAdd64
            | ISub64
            | IMul64
            | IMad64
            | Lea64
            | SMulHi64
            | UMulHi64
            | SDiv64
            | UDiv64
            | SRem64
            | URem64
            | INeg64
            | IAbs64
            | And64
            | Or64
            | Xor64
            | Not64
            | SMin64
            | SMax64
            | UMin64
            | UMax64
            | Popc64
            | Clz64
            | Ctz64
            | BitRev64
            | FAddF64
            | FMulF64
            | FFmaF64
            | FDivF64
            | FRemF64
            | FMinF64
            | FMaxF64
            | FSqrtF64
            | FNegF64
            | FAbsF64
            | FRoundF64
            | MathF64
    )
}
