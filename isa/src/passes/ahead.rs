//! Loads that happen in any case move in front of arms that stand before them: `if (c) …; x = *p` loads first, whatever
//! the arm does, as long as it does not write there or leave (H200: arms of 12 to 96 operations, with arms and loops
//! inside, with stores to local memory or through other `restrict` pointers; not behind `if … else …`).
use super::memory::Place;
use super::speculate::is_address_arithmetic;
use crate::ir::{Block, Cfg, Function, Inst, Opcode, Ty, Value};
use std::collections::HashSet;

/// Most blocks of an arm.
const ARM_BLOCKS: usize = 64;
/// Most loads that move in front of an arm: they all wait in registers.
const LOADS: usize = 16;

/// Moves loads; gives whether any moved.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let mut changed = false;
    // The last first: what has come to the end of one arm may go on over the one before it.
    for &join in cfg.rpo.iter().rev() {
        for &before in &cfg.preds(join).to_vec() {
            if let Some(arm) = arm(f, &cfg, before, join)
                && let Some(written) = written(f, &arm)
            {
                changed |= hoist(f, before, join, written);
            }
        }
    }
    changed
}

/// The blocks between a branch and the block that it goes to otherwise, if nothing else leads into or out of them.
fn arm(f: &Function, cfg: &Cfg, before: Block, join: Block) -> Option<Vec<Block>> {
    let targets: Vec<Block> = f.successors(before).collect();
    let [a, b] = targets[..] else { return None };
    let first = match (a == join, b == join) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    let mut blocks = vec![first];
    let mut next = 0;
    while let Some(&b) = blocks.get(next) {
        next += 1;
        if b == before || b == Function::ENTRY || blocks.len() > ARM_BLOCKS || f.successors(b).next().is_none() {
            return None;
        }
        for s in f.successors(b).filter(|&s| s != join) {
            if !blocks.contains(&s) {
                blocks.push(s);
            }
        }
    }
    let from_arm = |p: &Block| blocks.contains(p);
    let enclosed = blocks.iter().all(|&b| cfg.preds(b).iter().all(|p| from_arm(p) || *p == before && b == first));
    let joined = cfg.preds(join).iter().all(|p| from_arm(p) || *p == before);
    (enclosed && joined && cfg.preds(join).len() > 1).then_some(blocks)
}

/// What an arm writes; nothing if that is not known or others wait for it.
fn written(f: &Function, arm: &[Block]) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    for &i in arm.iter().flat_map(|&b| &f.block(b).insts) {
        effect(f, i, &mut places)?;
    }
    Some(places)
}

/// Adds what an instruction writes; nothing comes back where accesses may not cross it.
fn effect(f: &Function, i: Inst, places: &mut Vec<Place>) -> Option<()> {
    let d = f.inst(i);
    match &d.op {
        Opcode::Store(a) if !a.volatile => places.push(Place::of(f, i)),
        Opcode::Load(a) if !a.volatile => {}
        Opcode::Load(_) => return None,
        op if op.has_effect() && !op.is_terminator() => return None,
        _ => {}
    }
    Some(())
}

fn hoist(f: &mut Function, before: Block, join: Block, mut written: Vec<Place>) -> bool {
    let insts = f.block(join).insts.clone();
    let mut stays: HashSet<Value> = f.block(join).params.iter().copied().collect();
    let mut loads: Vec<Inst> = Vec::new();
    for &i in &insts {
        let d = f.inst(i);
        let ready = !d.args.iter().any(|a| stays.contains(a));
        let moves = match d.op {
            Opcode::Load(a) if !a.volatile && loads.len() < LOADS => {
                let global = matches!(f.ty(d.args[0]), Ty::PtrGlobal | Ty::PtrConstant);
                let place = Place::of(f, i);
                let free = ready && global && written.iter().all(|w| w.apart(&place));
                if free {
                    loads.push(i);
                }
                false
            }
            ref op => ready && is_address_arithmetic(op),
        };
        if effect(f, i, &mut written).is_none() {
            break;
        }
        if !moves {
            stays.extend(&d.results);
        }
    }
    if loads.is_empty() {
        return false;
    }
    let mut wanted: HashSet<Value> = HashSet::new();
    let mut moved: HashSet<Inst> = HashSet::new();
    for &i in insts.iter().rev() {
        let d = f.inst(i);
        if loads.contains(&i) || d.results.iter().any(|r| wanted.contains(r)) {
            moved.insert(i);
            wanted.extend(&d.args);
        }
    }
    let (go, stay): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(|i| moved.contains(i));
    f.blocks[join.0 as usize].insts = stay;
    let insts = &mut f.blocks[before.0 as usize].insts;
    let end = insts.len().saturating_sub(1);
    insts.splice(end..end, go);
    true
}
