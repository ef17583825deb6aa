//! How far the addresses of a loop move in a trip.
use super::loops::{self, Loop};
use super::trip::Counted;
use super::unroll::Shape;
use crate::ir::{Block, Function, IBin, Opcode, Value};

/// Whether an access moves by a constant distance or one that is a 32-bit value: loops that only go down columns of a
/// width taken from a `size_t` get no larger factors (H200: 75 probe loops over `a[k * (int)get_global_size(0) + i]`,
/// none; with a parameter for the width, all).
pub(super) fn steps_evenly(f: &Function, l: &Loop, s: &Shape, counted: &Counted) -> bool {
    let at = loops::definition_blocks(f);
    let counter = f.block(s.header).params[counted.param];
    let moves = |pointer: Value| {
        let (mut p, mut indexed, mut narrow) = (pointer, false, true);
        while let Some(d) = f.def_inst(p).filter(|d| matches!(d.op, Opcode::PtrAdd { .. })) {
            if !loops::invariant(f, l, &at, d.args[1]) {
                indexed = true;
                narrow &= factors_are_narrow(f, l, &at, counter, d.args[1]);
            }
            p = d.args[0];
        }
        // A pointer that is carried on itself.
        let next = loops::param_index(f, s.header, p)
            .and_then(|n| f.terminator(s.latch).map(|t| f.inst(t).targets[0].args[n]))
            .and_then(|v| f.def_inst(v));
        let carried = next.map(|d| d.args.first() == Some(&p) && is_narrow(f, d.args[1]));
        carried.unwrap_or(indexed) && narrow
    };
    l.blocks.iter().flat_map(|&b| &f.block(b).insts).map(|&i| f.inst(i)).any(|d| match d.op {
        Opcode::Load(_) | Opcode::Store(_) => moves(d.args[0]),
        _ => false,
    })
}

/// Whether what a counter is multiplied by in an index are 32-bit values.
fn factors_are_narrow(f: &Function, l: &Loop, at: &[Option<Block>], counter: Value, v: Value) -> bool {
    if v == counter || loops::invariant(f, l, at, v) {
        return true;
    }
    let Some(d) = f.def_inst(v) else { return false };
    let of = |n: usize| factors_are_narrow(f, l, at, counter, d.args[n]);
    match d.op {
        Opcode::IBin(IBin::Add | IBin::Sub) => of(0) && of(1),
        Opcode::IBin(IBin::Mul | IBin::Shl) => {
            (0..2).all(|n| of(n) && (!loops::invariant(f, l, at, d.args[n]) || is_narrow(f, d.args[n])))
        }
        Opcode::Sext | Opcode::Zext | Opcode::Trunc => of(0),
        _ => false,
    }
}

/// Whether a distance is a constant or made of a 32-bit value.
fn is_narrow(f: &Function, v: Value) -> bool {
    match f.def_inst(v) {
        Some(d) => match d.op {
            Opcode::Const(_) => true,
            Opcode::IBin(IBin::Mul | IBin::Shl) if f.as_const(d.args[1]).is_some() => is_narrow(f, d.args[0]),
            Opcode::Sext | Opcode::Zext => is_narrow(f, d.args[0]),
            Opcode::Trunc | Opcode::Launch(_) => false,
            _ => f.ty(v).bits() <= 32,
        },
        None => f.ty(v).bits() <= 32,
    }
}
