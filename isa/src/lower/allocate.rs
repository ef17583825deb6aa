//! Register allocation: live ranges in order of their start, first fit with hints; what does not fit is spilled.
use super::cfg::Cfg;
use super::liveness::{Ranges, Segment};
use super::mir::{File, MFunc, Opd, VReg};
use std::collections::BTreeMap;

/// Registers that a program may use.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits<'a> {
    /// Vector registers, those that are taken included.
    pub vector: u32,
    /// Vector registers that are taken for good.
    pub fixed: &'a [u32],
    /// Vector registers up to which none is saved at the price of bank conflicts.
    pub roomy: u32,
    pub uniform: u32,
    pub predicates: u32,
    /// Register-file banks of vector registers.
    pub banks: u32,
}

/// Physical register of each virtual register, and how many each file needs.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub physical: Vec<u16>,
    pub vector: u32,
    pub uniform: u32,
}

/// Free registers among which the one with the fewest bank conflicts is chosen.
const BANK_CHOICES: usize = 7;

const UNASSIGNED: u16 = u16::MAX;
/// Whose the fixed registers are.
const NOBODY: VReg = VReg(u32::MAX);

/// Either an assignment or the registers to spill first.
pub(super) fn allocate(f: &MFunc, cfg: &Cfg, limits: Limits<'_>) -> Result<Assignment, Vec<VReg>> {
    let mut ranges = Ranges::of(f, cfg);
    ranges.widen_uniform(f, cfg);
    let problem =
        Problem { f, limits, weights: spill_weights(f, cfg, &ranges), hints: Hints::of(f, limits.banks), ranges };
    let mut order: Vec<(u32, VReg)> =
        (0..f.vregs.len() as u32).map(VReg).filter_map(|v| problem.ranges.start(v).map(|start| (start, v))).collect();
    order.sort_unstable();
    let order: Vec<VReg> = order.into_iter().map(|o| o.1).collect();
    // Vectors want aligned groups that single registers break up: where that costs registers, they get their places
    // before those, and then bank conflicts do not count where another register would be taken.
    let mut by_size = order.clone();
    by_size.sort_by_key(|&v| std::cmp::Reverse(f.info(v).size));
    let few = limits.roomy.max(problem.most_live() + limits.fixed.len() as u32);
    let mut best: Option<Result<Assignment, Vec<VReg>>> = None;
    for (order, roomy) in [(&order, limits.roomy), (&by_size, limits.roomy), (&order, 0), (&by_size, 0)] {
        if roomy < limits.roomy && matches!(best, Some(Err(_))) {
            break;
        }
        let colored = problem.color(order, roomy);
        let better = match (&best, &colored) {
            (None, _) | (Some(Err(_)), Ok(_)) => true,
            (Some(Ok(a)), Ok(b)) => b.vector < a.vector,
            (Some(_), Err(_)) => false,
        };
        if better {
            best = Some(colored);
        }
        if best.as_ref().is_some_and(|b| b.as_ref().is_ok_and(|a| a.vector <= few)) {
            break;
        }
    }
    best.unwrap_or(Err(Vec::new()))
}

/// What the choice of registers depends on.
struct Problem<'a> {
    f: &'a MFunc,
    limits: Limits<'a>,
    ranges: Ranges,
    weights: Vec<f64>,
    hints: Hints,
}

impl Problem<'_> {
    /// Gives registers places in the order given, each the first that is free all its life, or one of the first
    /// `roomy` that causes fewer bank conflicts.
    fn color(&self, order: &[VReg], roomy: u32) -> Result<Assignment, Vec<VReg>> {
        let Problem { f, limits, ranges, weights, hints } = self;
        let mut files = [Rows::new(limits.vector), Rows::new(limits.uniform), Rows::new(limits.predicates)];
        files[File::Vector as usize].fix(limits, roomy);
        let mut physical = vec![UNASSIGNED; f.vregs.len()];
        let mut spilled = Vec::new();
        for &v in order {
            let rows = &mut files[f.info(v).file as usize];
            let words = ranges.words(v);
            loop {
                if let Some(at) = rows.place(f, v, words, hints, &physical) {
                    rows.occupy(at, words, v);
                    physical[v.0 as usize] = at;
                    break;
                }
                // Evict the cheapest of the registers in the way, this one included.
                let mut candidates = rows.occupants(words);
                candidates.push(v);
                candidates.retain(|c| !f.info(*c).pinned);
                let Some(victim) = candidates
                    .into_iter()
                    .min_by(|a, b| weights[a.0 as usize].total_cmp(&weights[b.0 as usize]).then(a.cmp(b)))
                else {
                    break;
                };
                spilled.push(victim);
                if victim == v {
                    break;
                }
                rows.free(physical[victim.0 as usize], ranges.words(victim));
                physical[victim.0 as usize] = UNASSIGNED;
            }
        }
        if !spilled.is_empty() || order.iter().any(|v| physical[v.0 as usize] == UNASSIGNED) {
            return Err(spilled);
        }
        let count = |file: File| {
            let used = order.iter().filter(|v| f.info(**v).file == file);
            used.map(|v| physical[v.0 as usize] as u32 + f.info(*v).size as u32).max().unwrap_or(0)
        };
        let fixed = limits.fixed.iter().filter(|&&f| f < limits.vector).max().map_or(0, |f| f + 1);
        Ok(Assignment { vector: count(File::Vector).max(fixed), uniform: count(File::Uniform), physical })
    }

    /// Most words of vector registers that are live at once.
    fn most_live(&self) -> u32 {
        let vectors = (0..self.f.vregs.len() as u32).map(VReg).filter(|&v| self.f.info(v).file == File::Vector);
        let mut changes: Vec<(u32, i32)> = vectors
            .flat_map(|v| self.ranges.words(v))
            .flatten()
            .flat_map(|&(from, to)| [(from, 1), (to, -1)])
            .collect();
        changes.sort_unstable();
        let mut live = 0;
        let most = changes.into_iter().map(|(_, d)| {
            live += d;
            live
        });
        most.max().unwrap_or(0) as u32
    }
}

/// Cost of spilling: reads and writes, weighted by loop depth, for each slot of life.
fn spill_weights(f: &MFunc, cfg: &Cfg, ranges: &Ranges) -> Vec<f64> {
    let mut weights = vec![0.0; f.vregs.len()];
    for (b, block) in f.blocks.iter().enumerate() {
        let cost = 10f64.powi(cfg.depth[b].min(8) as i32);
        for i in &block.insts {
            for v in i.uses().chain(i.defs()) {
                weights[v.0 as usize] += cost;
            }
        }
        if let Some(v) = block.term.operand() {
            weights[v.0 as usize] += cost;
        }
    }
    for (v, w) in weights.iter_mut().enumerate() {
        let words = ranges.words(VReg(v as u32));
        let length: u32 = words.iter().flatten().map(|s| s.1 - s.0).sum();
        // All of a vector is spilled together.
        *w /= (length / words.len().max(1) as u32).max(1) as f64;
    }
    weights
}

/// Registers that a register would like to share a place with (the other ends of copies), and those that it would
/// not like to share a bank with (read by the same operation).
struct Hints {
    copies: BTreeMap<VReg, Vec<(VReg, i32)>>,
    apart: Vec<Vec<VReg>>,
    banks: u16,
}

impl Hints {
    fn of(f: &MFunc, banks: u32) -> Hints {
        let mut apart = vec![Vec::new(); if banks > 1 { f.vregs.len() } else { 0 }];
        for i in f.blocks.iter().flat_map(|b| &b.insts).filter(|i| !i.is_ghost() && banks > 1) {
            let mut read: Vec<VReg> = i.src.iter().filter_map(|o| o.vreg()).collect();
            read.retain(|&v| f.info(v).file == File::Vector && f.info(v).size == 1);
            read.dedup();
            if read.len() < 2 {
                continue;
            }
            for &a in &read {
                apart[a.0 as usize].extend(read.iter().copied().filter(|&b| b != a));
            }
        }
        let mut hints: BTreeMap<VReg, Vec<(VReg, i32)>> = BTreeMap::new();
        for i in f.blocks.iter().flat_map(|b| &b.insts) {
            if !matches!(
                i.op,
                warpscope_exec::ops::Op::Mov32 | warpscope_exec::ops::Op::Mov64 | warpscope_exec::ops::Op::PMov
            ) {
                continue;
            }
            let (d, s) = (i.dst, i.src[0]);
            let word = |o: Opd| if let Opd::Reg(_, w) = o { w as i32 } else { 0 };
            if let (Some(a), Some(b)) = (d.vreg(), s.vreg())
                && f.info(a).file == f.info(b).file
            {
                hints.entry(a).or_default().push((b, word(s) - word(d)));
                hints.entry(b).or_default().push((a, word(d) - word(s)));
            }
        }
        Hints { copies: hints, apart, banks: banks.max(1) as u16 }
    }
}

/// Occupation of one register file.
struct Rows {
    /// For each register: start of a segment to its end and owner.
    taken: Vec<BTreeMap<u32, (u32, VReg)>>,
    /// Registers in use so far, or those of which none is saved.
    high: usize,
}

impl Rows {
    fn new(limit: u32) -> Rows {
        Rows { taken: vec![BTreeMap::new(); limit as usize], high: 0 }
    }

    /// Takes the fixed registers; none of the first `roomy` is saved.
    fn fix(&mut self, limits: &Limits<'_>, roomy: u32) {
        for &r in limits.fixed {
            if let Some(row) = self.taken.get_mut(r as usize) {
                row.insert(0, (u32::MAX, NOBODY));
            }
        }
        self.high = roomy as usize;
    }

    fn fits(&self, at: usize, words: &[Vec<Segment>]) -> bool {
        let end = at + words.len();
        end <= self.taken.len()
            && self.taken[at..end].iter().zip(words).all(|(row, segments)| {
                segments.iter().all(|s| row.range(..s.1).next_back().is_none_or(|(_, &(until, _))| until <= s.0))
            })
    }

    fn place(&self, f: &MFunc, v: VReg, words: &[Vec<Segment>], hints: &Hints, physical: &[u16]) -> Option<u16> {
        let info = f.info(v);
        for &(other, shift) in hints.copies.get(&v).into_iter().flatten() {
            let p = physical[other.0 as usize];
            if p == UNASSIGNED {
                continue;
            }
            let at = p as i32 + shift;
            if at >= 0 && at % info.align as i32 == 0 && self.fits(at as usize, words) {
                return Some(at as u16);
            }
        }
        let mut free = (0..self.taken.len()).step_by(info.align as usize).filter(|&r| self.fits(r, words));
        let first = free.next()?;
        let apart = hints.apart.get(v.0 as usize).filter(|a| !a.is_empty() && info.file == File::Vector);
        let Some(apart) = apart else { return Some(first as u16) };
        // Among registers that are in use anyway, the one with the fewest bank conflicts.
        let conflicts = |r: usize| {
            let bank = r as u16 % hints.banks;
            let taken = apart.iter().map(|o| physical[o.0 as usize]).filter(|&p| p != UNASSIGNED);
            taken.filter(|p| p % hints.banks == bank).count()
        };
        let others = free.take_while(|&r| r < self.high).take(BANK_CHOICES);
        std::iter::once(first).chain(others).min_by_key(|&r| (conflicts(r), r)).map(|r| r as u16)
    }

    fn occupy(&mut self, at: u16, words: &[Vec<Segment>], v: VReg) {
        for (row, segments) in self.taken[at as usize..].iter_mut().zip(words) {
            for s in segments {
                row.insert(s.0, (s.1, v));
            }
        }
        self.high = self.high.max(at as usize + words.len());
    }

    fn free(&mut self, at: u16, words: &[Vec<Segment>]) {
        for (row, segments) in self.taken[at as usize..].iter_mut().zip(words) {
            for s in segments {
                row.remove(&s.0);
            }
        }
    }

    /// Registers whose ranges overlap those of these words.
    fn occupants(&self, words: &[Vec<Segment>]) -> Vec<VReg> {
        let mut found: Vec<VReg> = Vec::new();
        for row in &self.taken {
            for s in words.iter().flatten() {
                found.extend(row.range(..s.1).rev().take_while(|(_, e)| e.0 > s.0).map(|(_, e)| e.1));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&v| v != NOBODY);
        found
    }
}
