//! Control flow: constant branches, unreachable blocks, straight lines, empty blocks, parameters that are always the
//! same value.
use super::rewrite::{Replacements, count_uses, remove_params};
use crate::ir::{Block, Cfg, Def, Function, Inst, Opcode, Target, UnrollHint, Value};

/// Simplifies until nothing changes; gives whether anything did.
pub fn run(f: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let mut again = fold_branches(f);
        again |= remove_unreachable(f);
        again |= trivial_params(f);
        again |= forward_empty(f);
        again |= merge_lines(f);
        changed |= again;
        if !again {
            break;
        }
    }
    changed
}

/// Empty endless loops could be forwarded for ever.
const MAX_ROUNDS: usize = 64;

/// Branches and switches whose outcome is known, or whose targets are all the same.
fn fold_branches(f: &mut Function) -> bool {
    let mut changed = false;
    for b in f.block_ids() {
        let Some(t) = f.terminator(b) else { continue };
        changed |= f.inst(t).op == Opcode::Branch && swap_negated(f, t);
        let d = f.inst(t);
        let taken = match &d.op {
            Opcode::Branch => match f.as_const(d.args[0]) {
                Some(c) => Some(if c != 0 { 0 } else { 1 }),
                None if d.targets[0] == d.targets[1] => Some(0),
                None => None,
            },
            Opcode::Switch(cases) => match f.as_const(d.args[0]) {
                Some(c) => Some(cases.iter().position(|&k| k == c).map_or(0, |n| n + 1)),
                None if d.targets.iter().all(|x| *x == d.targets[0]) => Some(0),
                None => None,
            },
            _ => None,
        };
        if let Some(n) = taken {
            let target = d.targets[n].clone();
            let d = f.inst_mut(t);
            d.op = Opcode::Jump;
            d.args.clear();
            d.targets = smallvec::smallvec![target];
            changed = true;
        }
    }
    changed
}

/// A branch on `not c` is a branch on `c` with its targets exchanged.
fn swap_negated(f: &mut Function, t: Inst) -> bool {
    let Some(d) = f.def_inst(f.inst(t).args[0]) else { return false };
    if d.op != Opcode::BoolNot {
        return false;
    }
    let c = d.args[0];
    let d = f.inst_mut(t);
    d.args[0] = c;
    d.targets.swap(0, 1);
    true
}

/// Empties blocks that control cannot reach.
fn remove_unreachable(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let mut changed = false;
    for b in f.block_ids() {
        let data = &mut f.blocks[b.0 as usize];
        if !cfg.reachable(b) && !(data.insts.is_empty() && data.params.is_empty()) {
            data.insts.clear();
            data.params.clear();
            changed = true;
        }
    }
    changed
}

/// Removes parameters whose arguments are all one value (or themselves).
pub fn trivial_params(f: &mut Function) -> bool {
    let mut changed = false;
    let mut r = Replacements::new(f);
    loop {
        let mut same: Vec<Vec<Option<Option<Value>>>> = f.blocks.iter().map(|b| vec![None; b.params.len()]).collect();
        for b in f.block_ids() {
            let Some(t) = f.terminator(b) else { continue };
            for target in &f.inst(t).targets {
                let params = &f.block(target.block).params;
                for (n, (&a, &p)) in target.args.iter().zip(params).enumerate() {
                    let a = r.resolve(a);
                    let slot = &mut same[target.block.0 as usize][n];
                    if a == p {
                        continue;
                    }
                    *slot = match *slot {
                        None => Some(Some(a)),
                        Some(Some(x)) if x == a => Some(Some(x)),
                        _ => Some(None),
                    };
                }
            }
        }
        let mut removals = Vec::new();
        for b in f.block_ids().skip(1) {
            let mut keep = vec![true; f.block(b).params.len()];
            for (n, k) in keep.iter_mut().enumerate() {
                if let Some(Some(v)) = same[b.0 as usize][n] {
                    let p = f.block(b).params[n];
                    // Constants are the same where their bits are; others must be the same value.
                    let v = r.resolve(v);
                    if v != p {
                        r.replace(p, v);
                        *k = false;
                    }
                }
            }
            if keep.contains(&false) {
                removals.push((b, keep));
            }
        }
        if removals.is_empty() {
            break;
        }
        remove_params(f, &removals);
        changed = true;
    }
    r.apply(f);
    changed
}

/// Edges to a block that only jumps on go straight to its target.
fn forward_empty(f: &mut Function) -> bool {
    let mut changed = false;
    let cfg = Cfg::new(f);
    let uses = count_uses(f);
    for b in f.block_ids().skip(1) {
        let data = f.block(b);
        let [only] = data.insts[..] else { continue };
        let d = f.inst(only);
        if d.op != Opcode::Jump || d.targets[0].block == b || data.unroll != UnrollHint::None || !cfg.reachable(b) {
            continue;
        }
        let next = d.targets[0].clone();
        // The block's parameters must be used by nothing but this jump.
        let params = data.params.clone();
        let own = |p: &Value| next.args.iter().filter(|a| *a == p).count();
        if params.iter().any(|p| uses[p.0 as usize] as usize != own(p)) {
            continue;
        }
        // Forwarding a loop's only latch with several predecessors would give the loop several latches.
        if cfg.reachable(next.block) && cfg.dominates(next.block, b) && cfg.preds(b).len() > 1 {
            continue;
        }
        for &p in cfg.preds(b) {
            let Some(t) = f.terminator(p) else { continue };
            for n in 0..f.inst(t).targets.len() {
                if f.inst(t).targets[n].block != b {
                    continue;
                }
                let passed = f.inst(t).targets[n].args.clone();
                let map = |v: &Value| match params.iter().position(|q| q == v) {
                    Some(k) => passed[k],
                    None => *v,
                };
                let args = next.args.iter().map(map).collect();
                f.inst_mut(t).targets[n] = Target { block: next.block, args };
                changed = true;
            }
        }
    }
    changed
}

/// A block whose only successor has no other predecessor is joined with it.
fn merge_lines(f: &mut Function) -> bool {
    let mut changed = false;
    let cfg = Cfg::new(f);
    let mut r = Replacements::new(f);
    for &b in &cfg.rpo {
        loop {
            let Some(t) = f.terminator(b) else { break };
            if f.inst(t).op != Opcode::Jump {
                break;
            }
            let target = f.inst(t).targets[0].clone();
            let s = target.block;
            if s == b || s == Function::ENTRY || cfg.preds(s).len() != 1 {
                break;
            }
            for (&p, &a) in f.block(s).params.iter().zip(&target.args) {
                r.replace(p, a);
            }
            let next = std::mem::take(&mut f.blocks[s.0 as usize]);
            let data = &mut f.blocks[b.0 as usize];
            data.insts.pop();
            data.insts.extend(next.insts);
            if data.unroll == UnrollHint::None {
                data.unroll = next.unroll;
            }
            changed = true;
        }
    }
    r.apply(f);
    changed
}

/// Renumbers blocks in reverse postorder without the unreachable ones.
pub fn compact(f: &mut Function) {
    let rpo = Cfg::new(f).rpo;
    let mut number = vec![u32::MAX; f.blocks.len()];
    for (n, b) in rpo.iter().enumerate() {
        number[b.0 as usize] = n as u32;
    }
    let mut old = std::mem::take(&mut f.blocks);
    f.blocks = rpo.iter().map(|b| std::mem::take(&mut old[b.0 as usize])).collect();
    for b in 0..f.blocks.len() {
        for n in 0..f.blocks[b].params.len() {
            let p = f.blocks[b].params[n];
            f.values[p.0 as usize].def = Def::Param(Block(b as u32), n as u16);
        }
        if let Some(t) = f.terminator(Block(b as u32)) {
            for target in &mut f.insts[t.0 as usize].targets {
                target.block = Block(number[target.block.0 as usize]);
            }
        }
    }
}
