//! Out of SSA: block parameters become copies, most of which coalescing removes.
use super::cfg::Cfg;
use super::liveness::{Ranges, Segment, merge, overlap};
use super::mir::{Edge, File, MBlock, MFunc, MInst, Opd, Term, Units, VReg};
use warpscope_exec::program::SourceLine;

/// Replaces block parameters by copies at the ends of the predecessors.
pub(super) fn eliminate(f: &mut MFunc) {
    split_critical_edges(f);
    let cfg = Cfg::of(f);
    let mut classes = Classes::new(f, Ranges::of(f, &cfg));
    let mut edges: Vec<(usize, Edge)> = f
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(b, m)| m.term.edges().into_iter().map(move |e| (b, e.clone())))
        .collect();
    edges.retain(|e| !e.1.args.is_empty());
    edges.sort_by_key(|(b, _)| std::cmp::Reverse(cfg.depth[*b]));
    for (_, e) in &edges {
        for (&param, &arg) in f.blocks[e.block].params.iter().zip(&e.args) {
            classes.try_join(f, param, arg);
        }
    }
    for v in (0..f.vregs.len() as u32).map(VReg) {
        let (uniform, class) = (f.info(v).uniform, classes.find(v));
        f.vregs[class.0 as usize].uniform &= uniform;
    }
    for b in 0..f.blocks.len() {
        let block = &mut f.blocks[b];
        for i in &mut block.insts {
            i.rename(|v| classes.find(v));
        }
        block.term.rename(|v| classes.find(v));
        for p in &mut block.params {
            *p = classes.find(*p);
        }
    }
    for b in 0..f.blocks.len() {
        let mut term = f.blocks[b].term.clone();
        for e in term.edges_mut() {
            let params = f.blocks[e.block].params.clone();
            let args = std::mem::take(&mut e.args);
            let loc = f.blocks[b].loc;
            let copies = sequence(f, params.into_iter().zip(args).collect(), loc);
            f.blocks[b].insts.extend(copies);
        }
        f.blocks[b].term = term;
    }
    for block in &mut f.blocks {
        block.params.clear();
    }
}

/// Gives every edge with arguments that leaves a branching block a block of its own.
fn split_critical_edges(f: &mut MFunc) {
    for b in 0..f.blocks.len() {
        let mut term = f.blocks[b].term.clone();
        let branches = term.edges().len() > 1 || matches!(term, Term::ExitIf(..));
        if !branches {
            continue;
        }
        let loc = f.blocks[b].loc;
        let mut made: Vec<(Edge, usize)> = Vec::new();
        for e in term.edges_mut() {
            if !e.args.is_empty() {
                if let Some((_, block)) = made.iter().find(|(m, _)| m.block == e.block && m.args == e.args) {
                    *e = Edge { block: *block, args: Vec::new() };
                    continue;
                }
                made.push((e.clone(), f.blocks.len()));
                let edge = std::mem::replace(e, Edge { block: f.blocks.len(), args: Vec::new() });
                f.blocks.push(MBlock {
                    params: Vec::new(),
                    insts: Vec::new(),
                    term: Term::Jump(edge),
                    loc,
                    divergent: false,
                    partial: f.blocks[b].divergent || f.blocks[b].partial,
                });
            }
        }
        f.blocks[b].term = term;
    }
}

/// Sets of registers that share one register, with their joint live range.
struct Classes {
    parent: Vec<u32>,
    units: Units,
    /// By unit.
    segments: Vec<Vec<Segment>>,
}

impl Classes {
    fn new(f: &MFunc, ranges: Ranges) -> Classes {
        Classes { parent: (0..f.vregs.len() as u32).collect(), units: ranges.units, segments: ranges.segments }
    }

    fn find(&mut self, v: VReg) -> VReg {
        let mut root = v.0;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = v.0;
        while self.parent[at as usize] != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        VReg(root)
    }

    fn try_join(&mut self, f: &MFunc, param: VReg, arg: Opd) {
        let arg = match arg {
            Opd::Reg(v, 0) | Opd::Pred(v, false) => v,
            _ => return,
        };
        let (a, b) = (f.info(param), f.info(arg));
        if a.file != b.file || a.size != b.size || a.file == File::Uniform && b.file != File::Uniform {
            return;
        }
        let (p, q) = (self.find(param), self.find(arg));
        let words: Vec<(usize, usize)> =
            self.units.all(p).zip(self.units.all(q)).map(|(x, y)| (x as usize, y as usize)).collect();
        if p == q || words.iter().any(|&(x, y)| overlap(&self.segments[x], &self.segments[y])) {
            return;
        }
        for (x, y) in words {
            let other = std::mem::take(&mut self.segments[y]);
            self.segments[x] = merge(&self.segments[x], &other);
        }
        self.parent[q.0 as usize] = p.0;
    }
}

/// Orders copies that happen at once, breaking cycles with a temporary.
fn sequence(f: &mut MFunc, mut copies: Vec<(VReg, Opd)>, loc: SourceLine) -> Vec<MInst> {
    let mut insts = Vec::new();
    copies.retain(|&(d, s)| !matches!(s, Opd::Reg(v, 0) | Opd::Pred(v, false) if v == d));
    while !copies.is_empty() {
        let free = copies.iter().position(|&(d, _)| copies.iter().all(|&(other, s)| s.vreg() != Some(d) || other == d));
        match free {
            Some(n) => {
                let (d, s) = copies.remove(n);
                insts.push(f.copy(d, s, loc));
            }
            None => {
                // Every destination is still read by another copy: save one in a temporary.
                let d = copies[0].0;
                let info = f.info(d);
                let temp = f.new_vreg(info.file, info.size as u32);
                let source = if info.file == File::Predicate { Opd::Pred(d, false) } else { Opd::Reg(d, 0) };
                insts.push(f.copy(temp, source, loc));
                for (_, s) in &mut copies {
                    if s.vreg() == Some(d) {
                        *s = s.with_vreg(temp);
                    }
                }
            }
        }
    }
    insts
}
