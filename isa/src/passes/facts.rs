//! Simple facts about values.
use crate::ir::{Function, IBin, IUn, Opcode, Ty, Value, eval, flag};
use warpscope_exec::program::{LaunchConstant, Special};

/// How deep facts are looked for.
const DEPTH: u32 = 6;

/// Whether an integer's sign bit is known to be clear.
pub fn non_negative(f: &Function, v: Value) -> bool {
    known_non_negative(f, v, DEPTH)
}

fn known_non_negative(f: &Function, v: Value, depth: u32) -> bool {
    let Some(d) = f.def_inst(v) else { return false };
    let bits = f.ty(v).bits();
    let rec = |v: Value| depth > 0 && known_non_negative(f, v, depth - 1);
    match &d.op {
        Opcode::Const(k) => eval::signed(*k, bits) >= 0,
        // Ids and sizes in a work-group, numbers of groups: the device reports limits far below 2^31.
        Opcode::Special(_) => true,
        Opcode::Launch(c) => !matches!(c, LaunchConstant::GlobalSize { .. } | LaunchConstant::GlobalOffset { .. }),
        Opcode::Zext => true,
        Opcode::IUn(IUn::Popc | IUn::Clz | IUn::Ctz) => bits > 8,
        Opcode::IBin(IBin::And | IBin::UMin) => rec(d.args[0]) || rec(d.args[1]),
        Opcode::IBin(IBin::LShr) => f.as_const(d.args[1]).is_some_and(|k| k % u64::from(bits) > 0) || rec(d.args[0]),
        Opcode::IBin(IBin::URem) => rec(d.args[1]),
        Opcode::IBin(IBin::UDiv | IBin::AShr) => rec(d.args[0]),
        Opcode::IBin(IBin::Or | IBin::Xor | IBin::SMin | IBin::UMax | IBin::SDiv) => rec(d.args[0]) && rec(d.args[1]),
        Opcode::IBin(IBin::SMax) => rec(d.args[0]) || rec(d.args[1]),
        Opcode::IBin(IBin::SRem) => rec(d.args[0]),
        Opcode::IBin(IBin::Add | IBin::Mul) if d.flags & flag::NSW != 0 => rec(d.args[0]) && rec(d.args[1]),
        Opcode::Select => rec(d.args[1]) && rec(d.args[2]),
        _ => false,
    }
}

/// Number of low bits that a value may have set (an upper bound of its significant bits).
pub fn significant_bits(f: &Function, v: Value) -> u32 {
    bits_of(f, v, DEPTH)
}

fn bits_of(f: &Function, v: Value, depth: u32) -> u32 {
    let bits = f.ty(v).bits();
    let Some(d) = f.def_inst(v) else { return bits };
    let rec = |v: Value| if depth > 0 { bits_of(f, v, depth - 1) } else { f.ty(v).bits() };
    let n = match &d.op {
        Opcode::Const(k) => 64 - k.leading_zeros(),
        Opcode::Special(_) => 31,
        Opcode::Zext => rec(d.args[0]),
        Opcode::IBin(IBin::And) => rec(d.args[0]).min(rec(d.args[1])),
        Opcode::IBin(IBin::Or | IBin::Xor | IBin::UMax) => rec(d.args[0]).max(rec(d.args[1])),
        Opcode::IBin(IBin::UMin) => rec(d.args[0]).min(rec(d.args[1])),
        Opcode::IBin(IBin::Add) => rec(d.args[0]).max(rec(d.args[1])) + 1,
        Opcode::IBin(IBin::Mul) => rec(d.args[0]) + rec(d.args[1]),
        Opcode::IBin(IBin::URem) => rec(d.args[1]),
        Opcode::IBin(IBin::UDiv) => rec(d.args[0]),
        Opcode::IBin(IBin::LShr) => match f.as_const(d.args[1]) {
            Some(k) if k < u64::from(bits) => rec(d.args[0]).saturating_sub(k as u32),
            _ => rec(d.args[0]),
        },
        Opcode::Select => rec(d.args[1]).max(rec(d.args[2])),
        Opcode::Trunc => rec(d.args[0]),
        _ => bits,
    };
    n.min(bits)
}

/// Whether a value is an integer of 8 to 64 bits.
pub fn is_integer(ty: Ty) -> bool {
    matches!(ty, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
}

/// Whether a value is the global id in 32 bits, in whatever order its sum was written.
pub fn is_global_id(f: &Function, v: Value) -> bool {
    let mut terms = vec![v];
    let (mut product, mut local, mut count) = (false, false, 0);
    while let Some(t) = terms.pop() {
        count += 1;
        let Some(d) = f.def_inst(t) else { return false };
        match d.op {
            Opcode::IBin(IBin::Add) if count < 6 => terms.extend(&d.args),
            Opcode::IBin(IBin::Mul) => {
                let special = |v: Value| {
                    f.def_inst(v).is_some_and(|d| {
                        matches!(
                            d.op,
                            Opcode::Special(Special::GroupIdX | Special::GroupIdY | Special::GroupIdZ)
                                | Opcode::Launch(LaunchConstant::EnqueuedLocalSize(_))
                        )
                    })
                };
                if product || !special(d.args[0]) || !special(d.args[1]) {
                    return false;
                }
                product = true;
            }
            Opcode::Special(Special::LocalIdX | Special::LocalIdY | Special::LocalIdZ) => local = true,
            Opcode::Launch(LaunchConstant::GlobalOffset { .. }) | Opcode::Trunc => {}
            Opcode::Bitcast => terms.push(d.args[0]),
            _ => return false,
        }
    }
    product && local
}

/// Whether a value is the global id in 32 bits moved by a constant. The vendor's compiler extends such an index before
/// it adds, and so does not see that the constant could be an offset (sass jacobi1d, bfs, spmv).
pub fn is_moved_id(f: &Function, v: Value) -> bool {
    let sum = f.def_inst(v).filter(|d| d.op == Opcode::IBin(IBin::Add));
    sum.is_some_and(|d| f.as_const(d.args[1]).is_some() && is_global_id(f, d.args[0]))
}
