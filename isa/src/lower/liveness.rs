//! Live ranges of virtual registers over the linear order.
//!
//! A lane has registers of its own, and operations write active lanes only, so the liveness of one work-item's
//! control flow is exact for vector registers and predicates, divergent or not. Uniform registers are shared by the
//! lanes: [`Ranges::widen_uniform`] makes their ranges safe against the other side of a divergent branch.
use super::cfg::Cfg;
use super::mir::{File, MFunc, VReg};

/// Half-open range of slots: slot `2 i` is where operation `i` reads, `2 i + 1` where it writes.
pub(super) type Segment = (u32, u32);

/// Live ranges of every virtual register.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    /// Sorted, disjoint segments.
    pub segments: Vec<Vec<Segment>>,
    /// Head and end position of each block.
    pub spans: Vec<(u32, u32)>,
    live_out: Vec<BitSet>,
}

/// A set of virtual registers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    pub fn new(n: usize) -> BitSet {
        BitSet(vec![0; n.div_ceil(64)])
    }
    pub fn insert(&mut self, v: VReg) {
        self.0[v.0 as usize / 64] |= 1 << (v.0 % 64);
    }
    pub fn remove(&mut self, v: VReg) {
        self.0[v.0 as usize / 64] &= !(1 << (v.0 % 64));
    }
    pub fn contains(&self, v: VReg) -> bool {
        self.0[v.0 as usize / 64] >> (v.0 % 64) & 1 != 0
    }
    /// Adds all of `other`; whether anything was new.
    fn union(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
    pub fn iter(&self) -> impl Iterator<Item = VReg> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &w)| {
            std::iter::successors((w != 0).then_some(w), |w| (w & (w - 1) != 0).then_some(w & (w - 1)))
                .map(move |w| VReg(i as u32 * 64 + w.trailing_zeros()))
        })
    }
}

/// Registers live at the end of each block.
pub(super) fn live_out(f: &MFunc) -> Vec<BitSet> {
    let n = f.vregs.len();
    let mut reads = Vec::with_capacity(f.blocks.len());
    let mut kills = Vec::with_capacity(f.blocks.len());
    for block in &f.blocks {
        let (mut read, mut kill) = (BitSet::new(n), BitSet::new(n));
        for v in block.term.uses() {
            read.insert(v);
        }
        for i in block.insts.iter().rev() {
            if i.kills() {
                for v in i.defs() {
                    read.remove(v);
                    kill.insert(v);
                }
            }
            for v in i.uses() {
                read.insert(v);
            }
        }
        for &p in &block.params {
            read.remove(p);
            kill.insert(p);
        }
        reads.push(read);
        kills.push(kill);
    }
    let preds = f.predecessors();
    let mut live_in = reads;
    let mut out = vec![BitSet::new(n); f.blocks.len()];
    let mut work: Vec<usize> = (0..f.blocks.len()).collect();
    let mut queued = vec![true; f.blocks.len()];
    while let Some(b) = work.pop() {
        queued[b] = false;
        for &p in &preds[b] {
            if out[p].union(&live_in[b]) {
                let mut through = out[p].clone();
                for (t, k) in through.0.iter_mut().zip(&kills[p].0) {
                    *t &= !k;
                }
                if live_in[p].union(&through) && !queued[p] {
                    queued[p] = true;
                    work.push(p);
                }
            }
        }
    }
    out
}

impl Ranges {
    pub fn of(f: &MFunc, cfg: &Cfg) -> Ranges {
        let out = live_out(f);
        let mut spans = vec![(0, 0); f.blocks.len()];
        let mut at = 0;
        for &b in &cfg.order {
            let end = at + f.blocks[b].insts.len() as u32 + 1;
            spans[b] = (at, end);
            at = end + 1;
        }
        let mut segments: Vec<Vec<Segment>> = vec![Vec::new(); f.vregs.len()];
        // End slot of the segment that is open; 0 where none is.
        let mut open = vec![0u32; f.vregs.len()];
        let mut live: Vec<VReg> = Vec::new();
        for &b in cfg.order.iter().rev() {
            let (head, end) = spans[b];
            let block = &f.blocks[b];
            for v in out[b].iter() {
                open[v.0 as usize] = 2 * (end + 1);
                live.push(v);
            }
            let mut read = |open: &mut Vec<u32>, v: VReg, at: u32| {
                if open[v.0 as usize] == 0 {
                    open[v.0 as usize] = 2 * at + 1;
                    live.push(v);
                }
            };
            let mut write = |open: &mut Vec<u32>, v: VReg, at: u32| {
                let slot = 2 * at + 1;
                let until = std::mem::take(&mut open[v.0 as usize]).max(slot + 1);
                push_front(&mut segments[v.0 as usize], (slot, until));
            };
            for v in block.term.uses() {
                read(&mut open, v, end);
            }
            for (n, i) in block.insts.iter().enumerate().rev() {
                let at = head + 1 + n as u32;
                if i.kills() {
                    for v in i.defs() {
                        write(&mut open, v, at);
                    }
                }
                for v in i.uses() {
                    read(&mut open, v, at);
                }
                if !i.kills() {
                    // The old contents flow through; a result that nothing reads still needs its register here.
                    for v in i.defs() {
                        let o = &mut open[v.0 as usize];
                        *o = (*o).max(2 * at + 2);
                    }
                }
            }
            for &p in &block.params {
                write(&mut open, p, head);
            }
            for v in live.drain(..) {
                let until = std::mem::take(&mut open[v.0 as usize]);
                if until != 0 {
                    push_front(&mut segments[v.0 as usize], (2 * head, until));
                }
            }
        }
        for s in &mut segments {
            s.reverse();
        }
        Ranges { segments, spans, live_out: out }
    }

    /// Widens the ranges of uniform registers: one segment each, over the whole of every region that a divergent
    /// branch opens while the register is live.
    pub fn widen_uniform(&mut self, f: &MFunc, cfg: &Cfg) {
        for (v, info) in f.vregs.iter().enumerate() {
            if info.file != File::Uniform || self.segments[v].is_empty() {
                continue;
            }
            let (mut from, mut to) = (self.segments[v][0].0, self.segments[v].last().expect("it is not empty").1);
            for (b, block) in f.blocks.iter().enumerate() {
                if block.term.edges().len() < 2 || !self.live_out[b].contains(VReg(v as u32)) {
                    continue;
                }
                let (start, stop) = self.region(cfg, b);
                from = from.min(start);
                to = to.max(stop);
            }
            self.segments[v] = vec![(from, to)];
        }
    }

    /// Slots from a block's branch to its reconvergence point (or the end of the program).
    fn region(&self, cfg: &Cfg, b: usize) -> Segment {
        let last = self.spans.iter().map(|s| s.1).max().unwrap_or(0);
        let (head, end) = self.spans[b];
        match cfg.post_dominator[b] {
            Some(d) => (2 * head.min(self.spans[d].0), 2 * end.max(self.spans[d].0) + 2),
            None => (2 * head, 2 * last + 2),
        }
    }
}

/// Adds a segment before those already there (the list is in reverse while it grows), merging neighbours.
fn push_front(list: &mut Vec<Segment>, s: Segment) {
    match list.last_mut() {
        Some(first) if first.0 <= s.1 => first.0 = s.0,
        _ => list.push(s),
    }
}

/// Whether two sorted lists of segments overlap.
pub(super) fn overlap(a: &[Segment], b: &[Segment]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].1 <= b[j].0 {
            i += 1;
        } else if b[j].1 <= a[i].0 {
            j += 1;
        } else {
            return true;
        }
    }
    false
}

/// Union of two sorted, disjoint lists.
pub(super) fn merge(a: &[Segment], b: &[Segment]) -> Vec<Segment> {
    let mut all: Vec<Segment> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    let mut merged: Vec<Segment> = Vec::with_capacity(all.len());
    for s in all {
        match merged.last_mut() {
            Some(last) if last.1 >= s.0 => last.1 = last.1.max(s.1),
            _ => merged.push(s),
        }
    }
    merged
}
