//! Blocks: parameters with one incoming edge, empty blocks, chains of blocks.
use super::mir::{MFunc, Opd, Term, VReg};
use std::collections::HashMap;

/// Replaces parameters of blocks that have one predecessor edge by the edge's arguments, where these are whole
/// registers of the same kind.
pub(super) fn drop_parameters_of_single_edges(f: &mut MFunc) {
    let preds = f.predecessors();
    let mut replaced: HashMap<VReg, VReg> = HashMap::new();
    for b in 0..f.blocks.len() {
        let [p] = preds[b][..] else { continue };
        if f.blocks[b].params.is_empty() {
            continue;
        }
        let args = match f.blocks[p].term.edges().into_iter().find(|e| e.block == b) {
            Some(e) => e.args.clone(),
            None => continue,
        };
        let params = f.blocks[b].params.clone();
        let mut keep = Vec::new();
        for (n, (&param, arg)) in params.iter().zip(args).enumerate() {
            match arg {
                Opd::Reg(v, 0) | Opd::Pred(v, false)
                    if f.info(v).size == f.info(param).size && f.info(v).file == f.info(param).file =>
                {
                    // What is uniform where it is computed may differ behind a loop that lanes leave one by one.
                    f.vregs[v.0 as usize].uniform &= f.info(param).uniform;
                    replaced.insert(param, v);
                }
                _ => keep.push(n),
            }
        }
        f.blocks[b].params = keep.iter().map(|&n| params[n]).collect();
        for e in f.blocks[p].term.edges_mut() {
            if e.block == b {
                e.args = keep.iter().map(|&n| e.args[n]).collect();
            }
        }
    }
    let resolve = |mut v: VReg| {
        while let Some(&r) = replaced.get(&v) {
            v = r;
        }
        v
    };
    for block in &mut f.blocks {
        block.insts.iter_mut().for_each(|i| i.rename(resolve));
        block.term.rename(resolve);
    }
}

/// Sends edges past empty blocks, joins blocks with their only successor, and drops what is not reached.
/// Needs blocks without parameters.
pub(super) fn merge_blocks(f: &mut MFunc) {
    let target: Vec<usize> = (0..f.blocks.len()).map(|b| final_target(f, b)).collect();
    for block in &mut f.blocks {
        for e in block.term.edges_mut() {
            e.block = target[e.block];
        }
        if let Term::Branch(_, _, a, b) = &block.term
            && a.block == b.block
        {
            block.term = Term::Jump(a.clone());
        }
    }
    for b in 0..f.blocks.len() {
        let Term::Branch(p, negated, yes, no) = f.blocks[b].term.clone() else { continue };
        // A branch to nothing but the end is a guarded exit.
        let ends = |b: usize| f.blocks[b].insts.is_empty() && matches!(f.blocks[b].term, Term::Exit);
        if ends(yes.block) {
            f.blocks[b].term = Term::ExitIf(p, negated, no);
        } else if ends(no.block) {
            f.blocks[b].term = Term::ExitIf(p, !negated, yes);
        }
    }
    drop_unreached(f);
    let preds = f.predecessors();
    let mut gone = vec![false; f.blocks.len()];
    for b in 0..f.blocks.len() {
        if gone[b] {
            continue;
        }
        while let Term::Jump(e) = &f.blocks[b].term {
            let next = e.block;
            if next == b || next == 0 || preds[next].len() != 1 {
                break;
            }
            let tail = &mut f.blocks[next];
            gone[next] = true;
            let insts = std::mem::take(&mut tail.insts);
            let (term, loc, divergent) = (std::mem::replace(&mut tail.term, Term::Exit), tail.loc, tail.divergent);
            let block = &mut f.blocks[b];
            block.insts.extend(insts);
            block.term = term;
            block.loc = loc;
            block.divergent = divergent;
        }
    }
    drop_unreached(f);
}

/// Where a jump to a block ends up.
fn final_target(f: &MFunc, mut b: usize) -> usize {
    for _ in 0..f.blocks.len() {
        match &f.blocks[b].term {
            Term::Jump(e) if f.blocks[b].insts.is_empty() && e.block != b => b = e.block,
            _ => break,
        }
    }
    b
}

fn drop_unreached(f: &mut MFunc) {
    let mut reached = vec![false; f.blocks.len()];
    let mut work = vec![0];
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut reached[b], true) {
            work.extend(f.blocks[b].term.edges().iter().map(|e| e.block));
        }
    }
    let mut new = vec![0; f.blocks.len()];
    let mut count = 0;
    for (b, &r) in reached.iter().enumerate() {
        new[b] = count;
        count += r as usize;
    }
    let mut b = 0;
    f.blocks.retain(|_| {
        b += 1;
        reached[b - 1]
    });
    for block in &mut f.blocks {
        for e in block.term.edges_mut() {
            e.block = new[e.block];
        }
    }
}
