//! Loop rotation: a loop tested at its top becomes one tested at its bottom behind a test of its own, so that an
//! iteration takes one branch and values that do not change can be hoisted safely.
use super::loops::{self, Loop};
use crate::ir::{Block, Cfg, Function, Opcode, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Headers with more instructions than this are not copied.
const HEADER_LIMIT: usize = 40;

/// Rotates every loop that can be. Returns whether any was.
pub fn run(f: &mut Function) -> bool {
    let mut done: BTreeSet<Block> = BTreeSet::new();
    loops::change_each(f, |f, cfg, all, index| {
        let l = &all[index];
        !done.contains(&l.header) && is_candidate(f, cfg, l) && done.insert(l.header) && rotate(f, cfg, l)
    })
}

/// Tested at the top, and its latch does not test.
fn is_candidate(f: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let [latch] = l.latches(cfg)[..] else { return false };
    latch != l.header
        && loops::targets(f, latch).len() == 1
        && inner_and_outer(f, l).is_some()
        && f.block(l.header).insts.len() <= HEADER_LIMIT
        && !f.block(l.header).insts.iter().any(|&i| matches!(f.inst(i).op, Opcode::Barrier { .. }))
}

/// The header's two targets, as indices: the one inside, the one outside.
fn inner_and_outer(f: &Function, l: &Loop) -> Option<(usize, usize)> {
    let [a, b] = loops::targets(f, l.header) else { return None };
    match (l.contains(a.block), l.contains(b.block)) {
        (true, false) => Some((0, 1)),
        (false, true) => Some((1, 0)),
        _ => None,
    }
}

fn rotate(f: &mut Function, cfg: &Cfg, l: &Loop) -> bool {
    let Some((inner, outer)) = inner_and_outer(f, l) else { return false };
    let [entry] = l.entries(cfg)[..] else { return false };
    // Blocks of their own behind both edges, so that the header's values can go there as parameters.
    let first = loops::split_edge(f, l.header, inner);
    // Several exits that meet there keep one place for what they hand on.
    let leaves_to = loops::targets(f, l.header)[outer].block;
    if cfg.preds(leaves_to).iter().filter(|p| l.contains(**p)).count() == 1 {
        loops::split_edge(f, l.header, outer);
    }
    let mut l = l.clone();
    l.add(first);
    if !loops::close(f, &l) {
        return false;
    }
    hoist_constants(f, l.header, entry);
    let (Some(jump), Some(test)) = (f.terminator(entry), f.terminator(l.header)) else { return false };
    let arguments = f.inst(jump).targets[0].args.clone();
    let header = l.header;
    let values: BTreeMap<Value, Value> =
        f.block(header).params.iter().copied().zip(arguments.iter().copied()).collect();
    let copy = loops::copy_blocks(f, &[header], &[header], values);
    let copied = copy.blocks[&header];
    // The copy's instructions take the place of the entry's jump.
    let moved = std::mem::take(&mut f.blocks[copied.0 as usize].insts);
    let entry_insts = &mut f.blocks[entry.0 as usize].insts;
    entry_insts.pop();
    entry_insts.extend(moved);
    carry_values(f, &l, first, entry, test, inner, &copy);
    f.blocks[first.0 as usize].unroll = std::mem::take(&mut f.blocks[header.0 as usize].unroll);
    true
}

/// Values of the header that the rest of the loop uses become parameters of the new first block.
fn carry_values(
    f: &mut Function,
    l: &Loop,
    first: Block,
    entry: Block,
    test: crate::ir::Inst,
    inner: usize,
    copy: &loops::Copy,
) {
    let header = l.header;
    let mut defined: Vec<Value> = f.block(header).params.clone();
    for &i in &f.block(header).insts {
        defined.extend(&f.inst(i).results);
    }
    let mut new: BTreeMap<Value, Value> = BTreeMap::new();
    for &b in l.blocks.iter().filter(|&&b| b != header) {
        for &i in &f.block(b).insts {
            for v in loops::uses(f, i) {
                if defined.contains(&v) {
                    new.insert(v, v);
                }
            }
        }
    }
    let Some(entry_test) = f.terminator(entry) else { return };
    for (&old, fresh) in &mut new {
        let ty = f.ty(old);
        *fresh = f.add_param(first, ty);
        f.inst_mut(test).targets[inner].args.push(old);
        f.inst_mut(entry_test).targets[inner].args.push(copy.value(old));
    }
    for &b in l.blocks.iter().filter(|&&b| b != header) {
        for i in f.block(b).insts.clone() {
            loops::map_uses(f, i, |v| new.get(&v).copied().unwrap_or(v));
        }
    }
    // The copied test's inner target is the first block itself.
    f.inst_mut(entry_test).targets[inner].block = first;
}

/// Moves a block's constants to the end of another block, before its terminator.
pub(super) fn hoist_constants(f: &mut Function, from: Block, to: Block) {
    let insts = std::mem::take(&mut f.blocks[from.0 as usize].insts);
    let (constants, rest): (Vec<_>, Vec<_>) =
        insts.into_iter().partition(|&i| matches!(f.inst(i).op, Opcode::Const(_) | Opcode::Undef));
    f.blocks[from.0 as usize].insts = rest;
    let at = &mut f.blocks[to.0 as usize].insts;
    let end = at.len().saturating_sub(1);
    at.splice(end..end, constants);
}
