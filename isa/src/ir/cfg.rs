//! Control-flow facts of a function: predecessors, reverse postorder, dominators, loop depth.
use super::{Block, Function};

/// A step of a walk over the dominator tree.
#[derive(Copy, Clone, Debug)]
pub enum Visit {
    /// The block comes before all that it dominates.
    Enter(Block),
    /// All that the block last entered and not yet left dominates is behind.
    Leave,
}

/// Predecessors, orders and dominators; computed once, stale after the function's blocks change.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Reachable blocks in reverse postorder; the entry first.
    pub rpo: Vec<Block>,
    /// Position in `rpo`, `u32::MAX` where unreachable.
    pub order: Vec<u32>,
    /// Predecessors of all blocks one after the other (reachable ones only; one entry for each edge).
    preds: Vec<Block>,
    /// Where each block's predecessors begin.
    first_pred: Vec<u32>,
    /// Immediate dominator; the entry's is itself. Meaningless where unreachable.
    pub idom: Vec<Block>,
    /// Depth in the dominator tree.
    depth: Vec<u32>,
}

impl Cfg {
    /// Analyses a function.
    pub fn new(f: &Function) -> Cfg {
        let n = f.blocks.len();
        let rpo = reverse_postorder(f);
        let mut order = vec![u32::MAX; n];
        for (i, b) in rpo.iter().enumerate() {
            order[b.0 as usize] = i as u32;
        }
        let (first_pred, preds) = predecessors(f, &rpo);
        let mut cfg = Cfg { rpo, order, preds, first_pred, idom: Vec::new(), depth: vec![0; n] };
        cfg.idom = dominators(&cfg);
        for &b in cfg.rpo.iter().skip(1) {
            cfg.depth[b.0 as usize] = cfg.depth[cfg.idom[b.0 as usize].0 as usize] + 1;
        }
        cfg
    }
    /// Whether control can reach `b`.
    pub fn reachable(&self, b: Block) -> bool {
        self.order[b.0 as usize] != u32::MAX
    }
    /// Whether every path to `b` passes through `a` (both reachable).
    pub fn dominates(&self, a: Block, mut b: Block) -> bool {
        while self.depth[b.0 as usize] > self.depth[a.0 as usize] {
            b = self.idom[b.0 as usize];
        }
        a == b
    }
    /// Children in the dominator tree, in reverse postorder.
    pub fn dominator_children(&self) -> Vec<Vec<Block>> {
        let mut children = vec![Vec::new(); self.order.len()];
        for &b in self.rpo.iter().skip(1) {
            children[self.idom[b.0 as usize].0 as usize].push(b);
        }
        children
    }
    /// The dominator tree from the entry on, siblings in reverse postorder.
    pub fn dominator_walk(&self) -> Vec<Visit> {
        let children = self.dominator_children();
        let mut walk = Vec::with_capacity(2 * self.rpo.len());
        let mut todo: Vec<Visit> = self.rpo.first().map(|&b| Visit::Enter(b)).into_iter().collect();
        while let Some(visit) = todo.pop() {
            walk.push(visit);
            if let Visit::Enter(b) = visit {
                todo.push(Visit::Leave);
                todo.extend(children[b.0 as usize].iter().rev().map(|&c| Visit::Enter(c)));
            }
        }
        walk
    }
    /// Predecessors of `b`.
    pub fn preds(&self, b: Block) -> &[Block] {
        let b = b.0 as usize;
        &self.preds[self.first_pred[b] as usize..self.first_pred[b + 1] as usize]
    }
}

fn predecessors(f: &Function, rpo: &[Block]) -> (Vec<u32>, Vec<Block>) {
    let mut first = vec![0; f.blocks.len() + 1];
    for s in rpo.iter().flat_map(|&b| f.successors(b)) {
        first[s.0 as usize + 1] += 1;
    }
    for b in 0..f.blocks.len() {
        first[b + 1] += first[b];
    }
    let mut next = first.clone();
    let mut preds = vec![Function::ENTRY; first[f.blocks.len()] as usize];
    for &b in rpo {
        for s in f.successors(b) {
            let at = &mut next[s.0 as usize];
            preds[*at as usize] = b;
            *at += 1;
        }
    }
    (first, preds)
}

fn reverse_postorder(f: &Function) -> Vec<Block> {
    let mut seen = vec![false; f.blocks.len()];
    let mut post = Vec::with_capacity(f.blocks.len());
    if f.blocks.is_empty() {
        return post;
    }
    let mut stack: Vec<(Block, usize)> = vec![(Function::ENTRY, 0)];
    seen[0] = true;
    while let Some((b, i)) = stack.last_mut() {
        let targets = f.terminator(*b).map_or(&[][..], |t| &f.inst(t).targets[..]);
        // The last target is visited first, so that a branch's first target comes first in the order.
        if let Some(t) = targets.len().checked_sub(*i + 1).map(|k| targets[k].block) {
            *i += 1;
            if (t.0 as usize) < seen.len() && !seen[t.0 as usize] {
                seen[t.0 as usize] = true;
                stack.push((t, 0));
            }
        } else {
            post.push(*b);
            stack.pop();
        }
    }
    post.reverse();
    post
}

/// Cooper, Harvey and Kennedy's iteration.
fn dominators(cfg: &Cfg) -> Vec<Block> {
    let mut idom: Vec<Option<Block>> = vec![None; cfg.order.len()];
    if !idom.is_empty() {
        idom[0] = Some(Function::ENTRY);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.rpo.iter().skip(1) {
            let mut new: Option<Block> = None;
            for &p in cfg.preds(b) {
                if idom[p.0 as usize].is_some() {
                    new = Some(new.map_or(p, |q| intersect(p, q, &idom, &cfg.order)));
                }
            }
            if new != idom[b.0 as usize] {
                idom[b.0 as usize] = new;
                changed = true;
            }
        }
    }
    idom.into_iter().map(|d| d.unwrap_or(Function::ENTRY)).collect()
}

fn intersect(mut a: Block, mut b: Block, idom: &[Option<Block>], order: &[u32]) -> Block {
    while a != b {
        while order[a.0 as usize] > order[b.0 as usize] {
            a = idom[a.0 as usize].unwrap_or(Function::ENTRY);
        }
        while order[b.0 as usize] > order[a.0 as usize] {
            b = idom[b.0 as usize].unwrap_or(Function::ENTRY);
        }
    }
    a
}
