//! Register allocation: live ranges in order of their start, first fit with hints; what does not fit is spilled.
use super::cfg::Cfg;
use super::liveness::{Ranges, Segment};
use super::mir::{File, MFunc, Opd, VReg};
use std::collections::BTreeMap;

/// Registers that a program may use.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits {
    pub vector: u32,
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

/// Either an assignment or the registers to spill first.
pub(super) fn allocate(f: &MFunc, cfg: &Cfg, limits: Limits) -> Result<Assignment, Vec<VReg>> {
    let mut ranges = Ranges::of(f, cfg);
    ranges.widen_uniform(f, cfg);
    let weights = spill_weights(f, cfg, &ranges);
    let hints = Hints::of(f, limits.banks);
    let mut order: Vec<VReg> =
        (0..f.vregs.len() as u32).map(VReg).filter(|v| !ranges.segments[v.0 as usize].is_empty()).collect();
    order.sort_by_key(|v| (ranges.segments[v.0 as usize][0].0, v.0));
    let mut files = [Rows::new(limits.vector), Rows::new(limits.uniform), Rows::new(limits.predicates)];
    let mut physical = vec![UNASSIGNED; f.vregs.len()];
    let mut spilled = Vec::new();
    for &v in &order {
        let info = f.info(v);
        let rows = &mut files[info.file as usize];
        let segments = &ranges.segments[v.0 as usize];
        loop {
            if let Some(at) = rows.place(f, v, segments, &hints, &physical) {
                rows.occupy(at, info.size, segments, v);
                physical[v.0 as usize] = at;
                break;
            }
            // Evict the cheapest of the registers in the way, this one included.
            let mut candidates = rows.occupants(segments);
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
            rows.free(physical[victim.0 as usize], f.info(victim).size, &ranges.segments[victim.0 as usize]);
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
    Ok(Assignment { vector: count(File::Vector), uniform: count(File::Uniform), physical })
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
        for v in block.term.uses() {
            weights[v.0 as usize] += cost;
        }
    }
    for (v, w) in weights.iter_mut().enumerate() {
        let length: u32 = ranges.segments[v].iter().map(|s| s.1 - s.0).sum();
        *w /= length.max(1) as f64;
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
    /// Registers in use so far.
    high: usize,
}

impl Rows {
    fn new(limit: u32) -> Rows {
        Rows { taken: vec![BTreeMap::new(); limit as usize], high: 0 }
    }

    fn fits(&self, at: usize, size: u8, segments: &[Segment]) -> bool {
        let end = at + size as usize;
        end <= self.taken.len()
            && self.taken[at..end].iter().all(|row| {
                segments.iter().all(|s| row.range(..s.1).next_back().is_none_or(|(_, &(until, _))| until <= s.0))
            })
    }

    fn place(&self, f: &MFunc, v: VReg, segments: &[Segment], hints: &Hints, physical: &[u16]) -> Option<u16> {
        let info = f.info(v);
        for &(other, shift) in hints.copies.get(&v).into_iter().flatten() {
            let p = physical[other.0 as usize];
            if p == UNASSIGNED {
                continue;
            }
            let at = p as i32 + shift;
            if at >= 0 && at % info.align as i32 == 0 && self.fits(at as usize, info.size, segments) {
                return Some(at as u16);
            }
        }
        let mut free =
            (0..self.taken.len()).step_by(info.align as usize).filter(|&r| self.fits(r, info.size, segments));
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

    fn occupy(&mut self, at: u16, size: u8, segments: &[Segment], v: VReg) {
        for row in &mut self.taken[at as usize..at as usize + size as usize] {
            for s in segments {
                row.insert(s.0, (s.1, v));
            }
        }
        self.high = self.high.max(at as usize + size as usize);
    }

    fn free(&mut self, at: u16, size: u8, segments: &[Segment]) {
        for row in &mut self.taken[at as usize..at as usize + size as usize] {
            for s in segments {
                row.remove(&s.0);
            }
        }
    }

    /// Registers whose ranges overlap these segments.
    fn occupants(&self, segments: &[Segment]) -> Vec<VReg> {
        let mut found: Vec<VReg> = Vec::new();
        for row in &self.taken {
            for s in segments {
                found.extend(row.range(..s.1).rev().take_while(|(_, e)| e.0 > s.0).map(|(_, e)| e.1));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
