//! Addresses of neighbouring rows: `base + ((k + 1) * n + c) * s` is one row behind `base + (k * n + c) * s`, and
//! `base + (i + n) * s` one stride behind `base + i * s`.
//!
//! In unrolled loops over rows each address is then one addition (of the row's length) to the one before, instead of
//! a multiplication and two additions. Both indices are exact sums, so their difference is exact too.
use super::loops::definition_blocks;
use crate::ir::{Block, Cfg, Function, IBin, Inst, Opcode, Ty, Value, eval, flag};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Rows further apart start a chain of their own.
const MAX_STEP: i64 = 64;
/// Terms of an index that are looked at.
const MAX_TERMS: usize = 8;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    base: Value,
    scale: u64,
    row: Value,
    length: Value,
    others: SmallVec<[Value; 4]>,
}

/// The addresses that a block begins with, or ends with.
#[derive(Clone, Default)]
struct Known {
    /// Number of the row, and address.
    rows: HashMap<Key, (i64, Value)>,
    strides: HashMap<Scaled, Value>,
}

/// Addresses that a block hands on to those that it dominates; more are forgotten.
const MAX_KNOWN: usize = 64;

/// Chains addresses, each to one that is computed before it on every path; gives whether any changed.
pub fn run(f: &mut Function) -> bool {
    let mut changed = false;
    let at = definition_blocks(f);
    let cfg = Cfg::new(f);
    let mut ends: Vec<Known> = vec![Known::default(); f.blocks.len()];
    for &b in &cfg.rpo {
        let mut known = match b {
            Function::ENTRY => Known::default(),
            _ => ends[cfg.idom[b.0 as usize].0 as usize].clone(),
        };
        let old = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            if let Some((key, number)) = row_address(f, i) {
                let own = f.inst(i).results[0];
                if let Some(&(before, pointer)) = known.rows.get(&key)
                    && (1..=MAX_STEP).contains(&(number - before))
                {
                    step(f, i, pointer, &key, number - before, &mut new);
                    changed = true;
                }
                known.rows.insert(key, (number, own));
            } else if let Some(scaled) = scaled_address(f, i) {
                let own = f.inst(i).results[0];
                if let Some((pointer, stride)) = earlier(f, &at, b, &scaled, &known.strides) {
                    advance(f, i, pointer, stride, scaled.scale, &mut new);
                    changed = true;
                }
                known.strides.insert(scaled, own);
            }
            new.push(i);
        }
        f.blocks[b.0 as usize].insts = new;
        if known.rows.len() + known.strides.len() <= MAX_KNOWN {
            ends[b.0 as usize] = known;
        }
    }
    changed
}

/// An address `base + sext(index) * scale`.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Scaled {
    base: Value,
    scale: u64,
    index: Value,
}

fn scaled_address(f: &Function, i: Inst) -> Option<Scaled> {
    let d = f.inst(i);
    if !matches!(d.op, Opcode::PtrAdd { .. }) || f.ty(d.args[0]).bits() != 64 {
        return None;
    }
    let offset = f.def_inst(d.args[1])?;
    let (extended, scale) = match offset.op {
        Opcode::IBin(IBin::Mul) => (f.def_inst(offset.args[0])?, f.as_const(offset.args[1])?),
        _ => (offset, 1),
    };
    let plain = extended.op == Opcode::Sext && f.ty(extended.args[0]) == Ty::I32 && (1..1 << 16).contains(&scale);
    plain.then(|| Scaled { base: d.args[0], scale, index: extended.args[0] })
}

/// The address that lies one stride before, and the stride: something that the block itself does not compute.
fn earlier(
    f: &Function,
    at: &[Option<Block>],
    b: Block,
    s: &Scaled,
    strides: &HashMap<Scaled, Value>,
) -> Option<(Value, Value)> {
    let sum = f.def_inst(s.index).filter(|t| t.op == Opcode::IBin(IBin::Add) && t.flags & flag::NSW != 0)?;
    [(sum.args[0], sum.args[1]), (sum.args[1], sum.args[0])].into_iter().find_map(|(index, stride)| {
        let outside = at.get(stride.0 as usize).copied().flatten().is_some_and(|d| d != b);
        let before = strides.get(&Scaled { base: s.base, scale: s.scale, index })?;
        (outside && f.as_const(stride).is_none()).then_some((*before, stride))
    })
}

/// `base + sext((row + number) * length + others) * scale`, with sums and product that do not wrap around.
fn row_address(f: &Function, i: Inst) -> Option<(Key, i64)> {
    let d = f.inst(i);
    if !matches!(d.op, Opcode::PtrAdd { .. }) || f.ty(d.args[0]).bits() != 64 {
        return None;
    }
    let product = f.def_inst(d.args[1]).filter(|p| p.op == Opcode::IBin(IBin::Mul))?;
    let scale = f.as_const(product.args[1]).filter(|&s| s > 0 && s < 1 << 16)?;
    let extended = f.def_inst(product.args[0]).filter(|e| e.op == Opcode::Sext && f.ty(e.args[0]) == Ty::I32)?;
    let mut work: SmallVec<[Value; 8]> = SmallVec::from_slice(&extended.args);
    let mut rows = None;
    let mut others: SmallVec<[Value; 4]> = SmallVec::new();
    while let Some(v) = work.pop() {
        let exact = f.def_inst(v).filter(|t| t.flags & flag::NSW != 0);
        match exact.map(|t| (&t.op, &t.args)) {
            Some((Opcode::IBin(IBin::Add), args)) if others.len() + work.len() < MAX_TERMS => {
                work.extend(args.iter().copied())
            }
            Some((Opcode::IBin(IBin::Mul), args)) if rows.is_none() && f.as_const(args[1]).is_none() => {
                rows = Some((args[0], args[1]));
            }
            _ => others.push(v),
        }
    }
    let (row, length) = rows?;
    others.sort_unstable();
    let (row, number) = match f.def_inst(row) {
        Some(t) if t.op == Opcode::IBin(IBin::Add) && t.flags & flag::NSW != 0 => match f.as_const(t.args[1]) {
            Some(k) => (t.args[0], eval::signed(k, 32)),
            None => (row, 0),
        },
        _ => (row, 0),
    };
    Some((Key { base: d.args[0], scale, row, length, others }, number))
}

/// Makes an address the one of an earlier row plus `rows` times the row's length.
fn step(f: &mut Function, i: Inst, pointer: Value, key: &Key, rows: i64, new: &mut Vec<Inst>) {
    advance(f, i, pointer, key.length, key.scale * rows as u64, new);
}

/// Makes an address `pointer + sext(length) * scale`.
fn advance(f: &mut Function, i: Inst, pointer: Value, length: Value, scale: u64, new: &mut Vec<Inst>) {
    let loc = f.inst(i).loc;
    let mut emit = |f: &mut Function, op: Opcode, args: &[Value]| {
        let n = f.make_inst(op, args, &[Ty::I64], loc);
        new.push(n);
        f.inst(n).results[0]
    };
    let length = emit(f, Opcode::Sext, &[length]);
    let bytes = emit(f, Opcode::Const(scale), &[]);
    let offset = emit(f, Opcode::IBin(IBin::Mul), &[length, bytes]);
    f.inst_mut(i).args = [pointer, offset].into_iter().collect();
}
