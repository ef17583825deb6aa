//! Which values are the same for all work-items of a sub-group that compute them together, and which blocks may run
//! with only some of them (divergence analysis: data dependence, joins of divergent branches, divergent loop exits).
use super::loops;
use crate::ir::{Block, Cfg, Function, Inst, Opcode, ShuffleKind, Ty, Value, WarpFn};
use warpscope_exec::program::{AtomicOp, Special};

/// The result of [`analyse`].
#[derive(Clone, Debug)]
pub struct Uniformity {
    divergent: Vec<bool>,
    partial: Vec<bool>,
}

impl Uniformity {
    /// Whether all work-items of a sub-group that compute `v` together get the same.
    pub fn is_uniform(&self, v: Value) -> bool {
        !self.divergent[v.0 as usize]
    }
    /// Whether `b` may run while only some of the sub-group's live work-items are active.
    pub fn is_divergent_block(&self, b: Block) -> bool {
        self.partial[b.0 as usize]
    }
}

/// Analyses a function (a kernel with everything inlined).
pub fn analyse(f: &Function) -> Uniformity {
    let cfg = Cfg::new(f);
    let mut spread = Spread::new(f, &cfg);
    let mut u = Uniformity { divergent: vec![false; f.values.len()], partial: vec![false; f.blocks.len()] };
    loop {
        let before = count(&u);
        for &b in &cfg.rpo {
            for &i in &f.block(b).insts {
                if !u.divergent_inst(f, i) {
                    continue;
                }
                for &r in &f.inst(i).results {
                    u.divergent[r.0 as usize] = true;
                }
            }
            spread_arguments(f, &mut u, b);
            if branches_apart(f, &u, b) {
                spread.branch(&mut u, b);
            }
        }
        if count(&u) == before {
            return u;
        }
    }
}

fn count(u: &Uniformity) -> usize {
    u.divergent.iter().chain(&u.partial).filter(|&&d| d).count()
}

impl Uniformity {
    fn divergent_inst(&self, f: &Function, i: Inst) -> bool {
        let inst = f.inst(i);
        let any = inst.args.iter().any(|v| self.divergent[v.0 as usize]);
        match inst.op {
            Opcode::Special(s) => matches!(
                s,
                Special::LocalIdX
                    | Special::LocalIdY
                    | Special::LocalIdZ
                    | Special::SubGroupLocalId
                    | Special::LinearLocalId
            ),
            // Another work-item's private memory lies behind the same offset.
            Opcode::Load(_) => any || matches!(f.ty(inst.args[0]), Ty::PtrPrivate | Ty::PtrGeneric),
            Opcode::Atomic { op, .. } => op != AtomicOp::Load || any,
            Opcode::Vote(_) => false,
            Opcode::Warp(w) => matches!(w, WarpFn::ScanAdd | WarpFn::Elect),
            Opcode::Shuffle(ShuffleKind::Index) => self.divergent[inst.args[1].0 as usize],
            Opcode::Shuffle(_) => any,
            Opcode::Alloca { .. } => false,
            Opcode::Call(_) => true,
            _ => any,
        }
    }
}

/// Divergent arguments make divergent parameters.
fn spread_arguments(f: &Function, u: &mut Uniformity, b: Block) {
    for t in loops::targets(f, b) {
        for (&arg, &param) in t.args.iter().zip(&f.block(t.block).params) {
            if u.divergent[arg.0 as usize] {
                u.divergent[param.0 as usize] = true;
            }
        }
    }
}

fn branches_apart(f: &Function, u: &Uniformity, b: Block) -> bool {
    f.terminator(b).is_some_and(|t| {
        let inst = f.inst(t);
        let apart = inst.targets.len() > 1 && inst.args.first().is_some_and(|v| u.divergent[v.0 as usize]);
        // Work-items that only end are no longer there: the others stay together.
        // (Both ways may lead to one block, with other arguments.)
        apart && inst.targets.iter().filter(|t| !only_ends(f, t.block)).count() > 1
    })
}

fn only_ends(f: &Function, b: Block) -> bool {
    let block = f.block(b);
    block.insts.len() == 1 && block.params.is_empty() && f.inst(block.insts[0]).op == Opcode::Return
}

/// What divergent branches make divergent, by the shape of the function.
struct Spread<'a> {
    f: &'a Function,
    cfg: &'a Cfg,
    post: PostDominators,
    loops: Vec<loops::Loop>,
    /// The innermost loop around each block.
    inner: Vec<Option<usize>>,
    /// For each loop the values that come from it and are used, or arrive as parameters, outside.
    leaving: Vec<Vec<Value>>,
    /// Branches that are done: what they spread does not depend on anything else.
    done: Vec<bool>,
    /// Number of the last walk that came to each block.
    seen: Vec<u32>,
    walks: u32,
}

impl<'a> Spread<'a> {
    fn new(f: &'a Function, cfg: &'a Cfg) -> Spread<'a> {
        let loops = loops::find(f, cfg);
        let mut inner = vec![None; f.blocks.len()];
        for (n, l) in loops.iter().enumerate() {
            for b in &l.blocks {
                inner[b.0 as usize].get_or_insert(n);
            }
        }
        let mut s = Spread {
            f,
            cfg,
            post: PostDominators::new(f, cfg),
            leaving: vec![Vec::new(); loops.len()],
            loops,
            inner,
            done: vec![false; f.blocks.len()],
            seen: vec![0; f.blocks.len()],
            walks: 0,
        };
        s.find_leaving();
        s
    }

    fn find_leaving(&mut self) {
        let f = self.f;
        let at = loops::definition_blocks(f);
        for &b in &self.cfg.rpo {
            for &i in &f.block(b).insts {
                let inst = f.inst(i);
                for &v in &inst.args {
                    self.leave(f, &at, v, b, v);
                }
                for t in &inst.targets {
                    for (&v, &p) in t.args.iter().zip(&f.block(t.block).params) {
                        self.leave(f, &at, v, b, p);
                        self.leave(f, &at, v, t.block, p);
                    }
                }
            }
        }
    }

    /// `v` is used in `at_block`: it leaves the loops around its definition that are not around its use, as `result`.
    fn leave(&mut self, f: &Function, at: &[Option<Block>], v: Value, used: Block, result: Value) {
        let Some(from) = at[v.0 as usize] else { return };
        let mut around = self.inner[from.0 as usize];
        if around == self.inner[used.0 as usize] || f.as_const(v).is_some() {
            return;
        }
        while let Some(n) = around.filter(|&n| !self.loops[n].contains(used)) {
            self.leaving[n].push(result);
            around = self.loops[n].parent;
        }
    }

    /// A divergent branch at the end of `b`: blocks up to its immediate post-dominator run with some work-items only,
    /// joins there choose by work-item, and what a loop that work-items leave at different times computes differs
    /// outside.
    fn branch(&mut self, u: &mut Uniformity, b: Block) {
        if std::mem::replace(&mut self.done[b.0 as usize], true) {
            return;
        }
        let f = self.f;
        let end = self.post.immediate(b);
        self.walks += 1;
        let mut work: Vec<Block> = f.successors(b).collect();
        while let Some(x) = work.pop() {
            if std::mem::replace(&mut self.seen[x.0 as usize], self.walks) == self.walks {
                continue;
            }
            if self.cfg.preds(x).len() > 1 {
                for &p in &f.block(x).params {
                    u.divergent[p.0 as usize] = true;
                }
            }
            if Some(x) != end {
                u.partial[x.0 as usize] = true;
                work.extend(f.successors(x));
            }
        }
        let mut around = self.inner[b.0 as usize];
        while let Some(n) = around {
            let l = &self.loops[n];
            if f.successors(b).any(|s| !l.contains(s)) {
                for v in &self.leaving[n] {
                    u.divergent[v.0 as usize] = true;
                }
            }
            around = l.parent;
        }
    }
}

/// Immediate post-dominators; also the reconvergence points of lowering.
#[derive(Clone, Debug)]
pub struct PostDominators {
    immediate: Vec<Option<Block>>,
}

impl PostDominators {
    /// Analyses a function. Blocks that cannot reach an exit have none.
    pub fn new(f: &Function, cfg: &Cfg) -> PostDominators {
        // Over the reversed graph with a virtual exit, numbered n.
        let n = f.blocks.len();
        let mut post: Vec<usize> = Vec::new();
        let mut seen = vec![false; n];
        let exits: Vec<usize> =
            cfg.rpo.iter().filter(|&&b| f.successors(b).next().is_none()).map(|b| b.0 as usize).collect();
        for &e in &exits {
            let mut stack = vec![(e, 0usize)];
            if std::mem::replace(&mut seen[e], true) {
                continue;
            }
            while let Some((b, k)) = stack.last_mut() {
                if let Some(p) = cfg.preds(Block(*b as u32)).get(*k) {
                    *k += 1;
                    let p = p.0 as usize;
                    if !std::mem::replace(&mut seen[p], true) {
                        stack.push((p, 0));
                    }
                } else {
                    post.push(*b);
                    stack.pop();
                }
            }
        }
        let mut number = vec![usize::MAX; n + 1];
        number[n] = post.len();
        for (i, &b) in post.iter().enumerate() {
            number[b] = i;
        }
        let mut idom: Vec<Option<usize>> = vec![None; n + 1];
        idom[n] = Some(n);
        let mut changed = true;
        while changed {
            changed = false;
            for &b in post.iter().rev() {
                let mut new = exits.contains(&b).then_some(n);
                for s in f.successors(Block(b as u32)) {
                    let s = s.0 as usize;
                    if idom[s].is_some() {
                        new = Some(new.map_or(s, |x| meet(x, s, &idom, &number)));
                    }
                }
                if new != idom[b] {
                    idom[b] = new;
                    changed = true;
                }
            }
        }
        let immediate = idom[..n].iter().map(|d| d.filter(|&d| d < n).map(|d| Block(d as u32))).collect();
        PostDominators { immediate }
    }
    /// The nearest block that every path from `b` to an exit passes, other than `b`.
    pub fn immediate(&self, b: Block) -> Option<Block> {
        self.immediate[b.0 as usize]
    }
}

fn meet(mut a: usize, mut b: usize, idom: &[Option<usize>], number: &[usize]) -> usize {
    while a != b {
        while number[a] < number[b] {
            match idom[a] {
                Some(x) => a = x,
                None => return b,
            }
        }
        while number[b] < number[a] {
            match idom[b] {
                Some(x) => b = x,
                None => return a,
            }
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Cond, Loc, verify_function};

    /// `if (id == 0) x = id; else x = 7;` with both ways straight to the join: they differ by the argument alone.
    #[test]
    fn two_ways_to_one_block_choose_by_work_item() {
        const LOC: Loc = Loc { file: 0, line: 0 };
        let mut f = Function { name: "choice".into(), results: vec![Ty::I32], ..Function::default() };
        let (b, join) = (f.add_block(), f.add_block());
        let value = |f: &mut Function, op, args: &[Value], ty| {
            let i = f.append(b, op, args, &[ty], LOC);
            f.inst(i).results[0]
        };
        let id = value(&mut f, Opcode::Special(Special::LocalIdX), &[], Ty::I32);
        let zero = value(&mut f, Opcode::Const(0), &[], Ty::I32);
        let seven = value(&mut f, Opcode::Const(7), &[], Ty::I32);
        let first = value(&mut f, Opcode::ICmp(Cond::Eq), &[id, zero], Ty::Bool);
        let x = f.add_param(join, Ty::I32);
        let branch = f.append(b, Opcode::Branch, &[first], &[], LOC);
        f.inst_mut(branch).targets = vec![(join, &[zero][..]), (join, &[seven][..])]
            .into_iter()
            .map(|(block, args)| crate::ir::Target { block, args: args.into() })
            .collect();
        f.append(join, Opcode::Return, &[x], &[], LOC);
        verify_function(&f).expect("built right");
        assert!(!analyse(&f).is_uniform(x));
    }
}
