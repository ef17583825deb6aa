//! Moves constants out of address arithmetic, so that they become immediate offsets and the rest is shared:
//! `base + 4 * (i + 3)` becomes `(base + 4 * i) + 12`.
use crate::ir::{Block, Cfg, Function, IBin, Inst, InstData, Opcode, Ty, Value, flag};
use crate::passes::facts::{is_moved_id, significant_bits};
use crate::passes::rewrite::count_uses;
use std::collections::HashMap;

/// Constants beyond this stay where they are: no immediate offset holds them.
const LARGEST: i64 = (1 << 23) - 1;
/// How deep constants are looked for.
const DEPTH: u32 = 6;

/// Rewrites all pointer additions.
/// `wide_ids`: constants that are added to the global id itself stay (`target.wide_global_ids`).
pub(super) fn separate_constants(f: &mut Function, wide_ids: bool) {
    let uses = if wide_ids { count_uses(f) } else { Vec::new() };
    for b in Cfg::new(f).rpo {
        let old = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        // A value without its constant, in this block.
        let mut known: HashMap<Value, Option<(Value, i64)>> = HashMap::new();
        for i in old {
            if matches!(f.inst(i).op, Opcode::PtrAdd { .. }) {
                rewrite(f, b, i, &uses, &mut known);
            }
            f.blocks[b.0 as usize].insts.push(i);
        }
    }
}

type Known = HashMap<Value, Option<(Value, i64)>>;

fn rewrite(f: &mut Function, b: Block, i: Inst, uses: &[u32], known: &mut Known) {
    let (mut base, offset) = (f.inst(i).args[0], f.inst(i).args[1]);
    let ty = f.ty(base);
    let width = if ty.bits() == 32 { Ty::I32 } else { Ty::I64 };
    if f.as_const(offset).is_some() {
        return;
    }
    let mut constant = 0;
    if let Some(d) = f.def_inst(base)
        && let (Opcode::PtrAdd { .. }, Some(c)) = (&d.op, d.args.get(1).and_then(|&c| f.as_const(c)))
    {
        constant = signed(c, width);
        base = d.args[0];
    }
    let mut rest = offset;
    if let Some((r, c)) = peel(f, b, offset, DEPTH, uses, known) {
        rest = r;
        constant = constant.wrapping_add(c);
    }
    if constant == 0 || constant.abs() > LARGEST || rest == offset && base == f.inst(i).args[0] {
        return;
    }
    let op = f.inst(i).op.clone();
    let loc = f.inst(i).loc;
    let inner = f.append(b, op, &[base, rest], &[ty], loc);
    let c = f.append(b, Opcode::Const(constant as u64 & mask(width)), &[], &[width], loc);
    let (inner, c) = (f.inst(inner).results[0], f.inst(c).results[0]);
    let d = f.inst_mut(i);
    d.args[0] = inner;
    d.args[1] = c;
}

fn mask(ty: Ty) -> u64 {
    if ty == Ty::I64 { u64::MAX } else { u32::MAX as u64 }
}

fn signed(c: u64, ty: Ty) -> i64 {
    if ty == Ty::I64 { c as i64 } else { c as u32 as i32 as i64 }
}

/// `v` as another value plus a constant; new operations go to the end of `b`, before what is being rewritten.
fn peel(f: &mut Function, b: Block, v: Value, depth: u32, uses: &[u32], known: &mut Known) -> Option<(Value, i64)> {
    if let Some(&k) = known.get(&v) {
        return k;
    }
    let result = if depth == 0 { None } else { peel_new(f, b, v, depth, uses, known) };
    known.insert(v, result);
    result
}

fn peel_new(f: &mut Function, b: Block, v: Value, depth: u32, uses: &[u32], known: &mut Known) -> Option<(Value, i64)> {
    let d = f.def_inst(v)?.clone();
    let ty = f.ty(v);
    let constant = |f: &Function, n: usize| d.args.get(n).and_then(|&c| f.as_const(c)).map(|c| signed(c, ty));
    let make = |f: &mut Function, op: Opcode, args: &[Value]| {
        let i = f.append(b, op, args, &[ty], d.loc);
        f.inst(i).results[0]
    };
    match d.op {
        Opcode::IBin(IBin::Add) => {
            for (a, c) in [(0, 1), (1, 0)] {
                if let Some(c) = constant(f, c) {
                    let (rest, more) = peel(f, b, d.args[a], depth - 1, uses, known).unwrap_or((d.args[a], 0));
                    return Some((rest, c.wrapping_add(more)));
                }
            }
            let x = peel(f, b, d.args[0], depth - 1, uses, known);
            let y = peel(f, b, d.args[1], depth - 1, uses, known);
            let c = x.map_or(0, |x| x.1).wrapping_add(y.map_or(0, |y| y.1));
            if x.is_none() && y.is_none() {
                return None;
            }
            let (x, y) = (x.map_or(d.args[0], |x| x.0), y.map_or(d.args[1], |y| y.0));
            Some((make(f, Opcode::IBin(IBin::Add), &[x, y]), c))
        }
        Opcode::IBin(IBin::Sub) => {
            let c = constant(f, 1)?;
            let (rest, more) = peel(f, b, d.args[0], depth - 1, uses, known).unwrap_or((d.args[0], 0));
            Some((rest, more.wrapping_sub(c)))
        }
        Opcode::IBin(op @ (IBin::Shl | IBin::Mul)) => {
            let k = constant(f, 1)?;
            let (rest, c) = peel(f, b, d.args[0], depth - 1, uses, known)?;
            let factor = if op == IBin::Mul { k } else { 1i64.checked_shl(u32::try_from(k).ok()?)? };
            let scaled = c.checked_mul(factor)?;
            Some((make(f, Opcode::IBin(op), &[rest, d.args[1]]), scaled))
        }
        Opcode::Sext | Opcode::Zext if ty == Ty::I64 && f.ty(d.args[0]) == Ty::I32 => {
            let alone = uses.get(d.args[0].0 as usize).is_some_and(|&n| n == 1);
            if alone && d.op == Opcode::Sext && is_moved_id(f, d.args[0]) {
                return None;
            }
            let (rest, c) = extended(f, d.args[0], d.op == Opcode::Sext)?;
            Some((make(f, d.op, &[rest]), c))
        }
        _ => None,
    }
}

/// `x + c` of 32 bits whose sum is known not to wrap in the sense of the extension around it.
fn extended(f: &Function, v: Value, sign: bool) -> Option<(Value, i64)> {
    let d: &InstData = f.def_inst(v)?;
    let c = |n: usize| f.as_const(d.args[n]).map(|c| c as u32);
    match d.op {
        Opcode::IBin(IBin::Add) => {
            let (rest, c) = match (c(1), c(0)) {
                (Some(c), _) => (d.args[0], c),
                (None, Some(c)) => (d.args[1], c),
                _ => return None,
            };
            let bits = significant_bits(f, v);
            if sign {
                (d.flags & flag::NSW != 0 || bits <= 31).then_some((rest, c as i32 as i64))
            } else {
                (d.flags & flag::NUW != 0 || bits <= 32).then_some((rest, c as i64))
            }
        }
        Opcode::IBin(IBin::Sub) if sign && d.flags & flag::NSW != 0 => Some((d.args[0], -(c(1)? as i32 as i64))),
        // Disjoint bits: an addition.
        _ => None,
    }
}
