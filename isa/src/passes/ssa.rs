//! SSA construction for variables that live in several blocks (pruned; Cytron et al.).
use super::loops::{map_uses, uses};
use crate::ir::{Block, Cfg, Function, Ty, Value};

/// What an instruction does to a variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Read,
    /// Gives it a value.
    Write,
}

/// The blocks where each variable needs a parameter.
pub struct Placement {
    /// For each block: variables, in the order of the parameters added.
    pub params: Vec<Vec<(usize, Value)>>,
}

/// Adds block parameters for `types.len()` variables. `accesses[block]`: the accesses in order.
pub fn place(f: &mut Function, cfg: &Cfg, types: &[Ty], accesses: &[Vec<(usize, Access)>]) -> Placement {
    let frontier = frontiers(cfg);
    let n = f.blocks.len();
    let mut params = vec![Vec::new(); n];
    // Accesses by variable: blocks that read before writing, blocks that write.
    let mut reads: Vec<Vec<Block>> = vec![Vec::new(); types.len()];
    let mut writes: Vec<Vec<Block>> = vec![Vec::new(); types.len()];
    for &b in &cfg.rpo {
        let mut seen: Vec<usize> = Vec::new();
        for &(var, access) in &accesses[b.0 as usize] {
            if access == Access::Write {
                if writes[var].last() != Some(&b) {
                    writes[var].push(b);
                }
                seen.push(var);
            } else if !seen.contains(&var) && reads[var].last() != Some(&b) {
                reads[var].push(b);
            }
        }
    }
    for (var, &ty) in types.iter().enumerate() {
        let live = live_in(cfg, &reads[var], &writes[var], n);
        let mut placed = vec![false; n];
        let mut work = writes[var].clone();
        while let Some(b) = work.pop() {
            for &d in &frontier[b.0 as usize] {
                if live[d.0 as usize] && !std::mem::replace(&mut placed[d.0 as usize], true) {
                    work.push(d);
                }
            }
        }
        for &b in &cfg.rpo {
            if placed[b.0 as usize] {
                let v = f.add_param(b, ty);
                params[b.0 as usize].push((var, v));
            }
        }
    }
    Placement { params }
}

/// Gives a value that `at` defines a second definition, at the end of another block: uses behind both see either.
pub fn second_definition(f: &mut Function, cfg: &Cfg, value: Value, at: Block, second: (Block, Value)) {
    let mut accesses = vec![Vec::new(); f.blocks.len()];
    for &b in cfg.rpo.iter().filter(|&&b| b != at && b != second.0) {
        if f.block(b).insts.iter().any(|&i| uses(f, i).any(|v| v == value)) {
            accesses[b.0 as usize].push((0, Access::Read));
        }
    }
    if accesses.iter().all(Vec::is_empty) {
        return;
    }
    for b in [at, second.0] {
        accesses[b.0 as usize].push((0, Access::Write));
    }
    let ty = f.ty(value);
    let placed: Vec<Option<Value>> =
        place(f, cfg, &[ty], &accesses).params.iter().map(|p| p.first().map(|x| x.1)).collect();
    let ends = |b: Block| match b {
        _ if b == at => value,
        _ if b == second.0 => second.1,
        _ => placed[b.0 as usize].unwrap_or(value),
    };
    // What a block begins with: its own parameter, or what the nearest dominator with a definition ends with.
    let reaching = |from: Block| {
        let mut b = from;
        while b != at && b != second.0 && placed[b.0 as usize].is_none() && b != Function::ENTRY {
            b = cfg.idom[b.0 as usize];
        }
        ends(b)
    };
    for &b in &cfg.rpo {
        let seen = reaching(b);
        for i in f.block(b).insts.clone() {
            if b != at && b != second.0 {
                map_uses(f, i, |v| if v == value { seen } else { v });
            }
            for n in 0..f.inst(i).targets.len() {
                if placed[f.inst(i).targets[n].block.0 as usize].is_some() {
                    f.inst_mut(i).targets[n].args.push(seen);
                }
            }
        }
    }
}

fn live_in(cfg: &Cfg, reads: &[Block], writes: &[Block], n: usize) -> Vec<bool> {
    let mut kills = vec![false; n];
    for b in writes {
        kills[b.0 as usize] = true;
    }
    let mut live = vec![false; n];
    let mut work = reads.to_vec();
    while let Some(b) = work.pop() {
        if std::mem::replace(&mut live[b.0 as usize], true) {
            continue;
        }
        work.extend(cfg.preds(b).iter().copied().filter(|p| !kills[p.0 as usize]));
    }
    live
}

fn frontiers(cfg: &Cfg) -> Vec<Vec<Block>> {
    let mut frontier = vec![Vec::new(); cfg.order.len()];
    for &b in &cfg.rpo {
        let preds = cfg.preds(b);
        if preds.len() < 2 {
            continue;
        }
        for &p in preds {
            let mut at = p;
            while at != cfg.idom[b.0 as usize] {
                let list: &mut Vec<Block> = &mut frontier[at.0 as usize];
                if list.last() != Some(&b) {
                    list.push(b);
                }
                at = cfg.idom[at.0 as usize];
            }
        }
    }
    frontier
}
