//! What only code behind a loop reads is computed there, where no more registers are live over the loop for it.
use super::LARGE;
use super::constants::dominators;
use super::liveness::{BitSet, live_in, live_out};
use super::mir::{File, MFunc, MInst, Opd, Units, VReg, is_memory};
use std::collections::BTreeMap;
use warpscope_exec::ops::OpClass;

/// A natural loop.
struct Loop {
    header: usize,
    inside: Vec<bool>,
    /// Blocks that can be reached from its header.
    behind: Vec<bool>,
    /// Words that are live at its header.
    live: BitSet,
}

/// Moves operations over loops; needs registers that are defined once, and blocks with parameters.
pub(super) fn sink(f: &mut MFunc) {
    if f.blocks.iter().map(|b| b.insts.len()).sum::<usize>() > LARGE {
        return;
    }
    let idom = dominators(f);
    let units = Units::of(f);
    let mut loops = loops(f, &idom, &units);
    if loops.is_empty() {
        return;
    }
    let mut uses = Uses::of(f);
    for b in (0..f.blocks.len()).rev() {
        let ahead: Vec<usize> =
            (0..loops.len()).filter(|&l| !loops[l].inside[b] && dominates(&idom, b, loops[l].header)).collect();
        if ahead.is_empty() {
            continue;
        }
        for n in (0..f.blocks[b].insts.len()).rev() {
            let Some(v) = movable(f, &uses, &f.blocks[b].insts[n]) else { continue };
            let Some(to) = destination(&loops, &idom, &uses.blocks[&v], b) else { continue };
            let over: Vec<usize> =
                ahead.iter().copied().filter(|&l| !loops[l].inside[to] && loops[l].behind[to]).collect();
            if over.is_empty() || !over.iter().all(|&l| pays(f, &units, &loops[l].live, &f.blocks[b].insts[n], v)) {
                continue;
            }
            let inst = f.blocks[b].insts.remove(n);
            for u in inst.uses() {
                let readers = uses.blocks.entry(u).or_default();
                if let Some(here) = readers.iter_mut().find(|r| **r == b) {
                    *here = to;
                }
                over.iter().for_each(|&l| units.all(u).for_each(|w| loops[l].live.insert(w)));
            }
            over.iter().for_each(|&l| units.all(v).for_each(|w| loops[l].live.remove(w)));
            f.vregs[v.0 as usize].uniform &= !f.blocks[to].partial;
            f.blocks[to].insts.insert(0, inst);
        }
    }
}

/// Blocks that read each register, and how often each is defined.
struct Uses {
    blocks: BTreeMap<VReg, Vec<usize>>,
    definitions: BTreeMap<VReg, u32>,
}

impl Uses {
    fn of(f: &MFunc) -> Uses {
        let mut uses = Uses { blocks: BTreeMap::new(), definitions: BTreeMap::new() };
        for (b, block) in f.blocks.iter().enumerate() {
            let arguments = block.term.edges().into_iter().flat_map(|e| &e.args).filter_map(|o| o.vreg());
            let read = block.insts.iter().flat_map(|i| i.uses()).chain(block.term.operand()).chain(arguments);
            read.for_each(|v| uses.blocks.entry(v).or_default().push(b));
            let written = block.insts.iter().flat_map(|i| i.defs()).chain(block.params.iter().copied());
            written.for_each(|v| *uses.definitions.entry(v).or_default() += 1);
        }
        uses
    }
}

/// What an operation defines, if it can be computed anywhere and all that it reads stays what it is.
fn movable(f: &MFunc, uses: &Uses, i: &MInst) -> Option<VReg> {
    use OpClass::*;
    let cheap = matches!(i.class, Alu | IMad | IMadWide | Move) && !is_memory(i.op);
    let v = i.dst.vreg()?;
    let whole = i.dst == Opd::Reg(v, 0) && i.words().dst[0] == f.info(v).size && i.dst2.is_none();
    let plain = i.guard.is_none() && i.flags == 0 && !i.shadow && !i.pseudo;
    let once = |v: VReg| uses.definitions.get(&v) == Some(&1);
    let fits = cheap && whole && plain && f.info(v).file == File::Vector && once(v) && i.uses().all(once);
    (fits && uses.blocks.contains_key(&v)).then_some(v)
}

/// The nearest block that dominates all readers and is in no loop that the definition is not in.
fn destination(loops: &[Loop], idom: &[Option<usize>], readers: &[usize], from: usize) -> Option<usize> {
    let mut to = readers.iter().copied().reduce(|a, b| common(idom, a, b))?;
    while loops.iter().any(|l| l.inside[to] && !l.inside[from]) {
        to = idom[to]?;
    }
    (to != from && dominates(idom, from, to)).then_some(to)
}

/// Whether no more words are live over a loop when an operation moves behind it.
fn pays(f: &MFunc, units: &Units, live: &BitSet, i: &MInst, v: VReg) -> bool {
    let mut read: Vec<VReg> = i.uses().collect();
    read.sort_unstable();
    read.dedup();
    let new = read.into_iter().flat_map(|u| units.all(u)).filter(|&u| !live.contains(u)).count();
    new <= f.info(v).size as usize
}

fn dominates(idom: &[Option<usize>], a: usize, mut b: usize) -> bool {
    while a != b {
        match idom[b] {
            Some(up) => b = up,
            None => return false,
        }
    }
    true
}

/// The nearest block that dominates two.
fn common(idom: &[Option<usize>], mut a: usize, b: usize) -> usize {
    while !dominates(idom, a, b) {
        match idom[a] {
            Some(up) => a = up,
            None => break,
        }
    }
    a
}

fn loops(f: &MFunc, idom: &[Option<usize>], units: &Units) -> Vec<Loop> {
    let preds = f.predecessors();
    let out = live_out(f, units);
    let mut found = Vec::new();
    for header in 0..f.blocks.len() {
        let mut work: Vec<usize> = preds[header].iter().copied().filter(|&p| dominates(idom, header, p)).collect();
        if work.is_empty() {
            continue;
        }
        let mut inside = vec![false; f.blocks.len()];
        inside[header] = true;
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut inside[b], true) {
                work.extend(&preds[b]);
            }
        }
        let mut behind = vec![false; f.blocks.len()];
        let mut work = vec![header];
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut behind[b], true) {
                work.extend(f.blocks[b].term.edges().iter().map(|e| e.block));
            }
        }
        found.push(Loop { header, inside, behind, live: live_in(f, units, header, &out[header]) });
    }
    found
}
