//! Live ranges of virtual registers over the linear order, by word (see [`Units`]).
//!
//! A lane has registers of its own, and operations write active lanes only, so the liveness of one work-item's
//! control flow is exact for vector registers and predicates, divergent or not. Uniform registers are shared by the
//! lanes: [`Ranges::widen_uniform`] makes their ranges safe against the other side of a divergent branch.
use super::cfg::Cfg;
use super::mir::{File, MFunc, MInst, Units, VReg};

/// Half-open range of slots: slot `2 i` is where operation `i` reads, `2 i + 1` where it writes.
pub(super) type Segment = (u32, u32);

/// Live ranges of every word of the virtual registers.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    /// Numbers of the words.
    pub units: Units,
    /// Sorted, disjoint segments of each unit.
    pub segments: Vec<Vec<Segment>>,
    /// Head and end position of each block.
    pub spans: Vec<(u32, u32)>,
    live_out: Vec<BitSet>,
}

/// A set of units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    pub fn new(n: usize) -> BitSet {
        BitSet(vec![0; n.div_ceil(64)])
    }
    pub fn insert(&mut self, u: u32) {
        self.0[u as usize / 64] |= 1 << (u % 64);
    }
    pub fn remove(&mut self, u: u32) {
        self.0[u as usize / 64] &= !(1 << (u % 64));
    }
    pub fn contains(&self, u: u32) -> bool {
        self.0[u as usize / 64] >> (u % 64) & 1 != 0
    }
    /// Adds all of `other`; whether anything was new.
    pub fn union(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &w)| {
            std::iter::successors((w != 0).then_some(w), |w| (w & (w - 1) != 0).then_some(w & (w - 1)))
                .map(move |w| i as u32 * 64 + w.trailing_zeros())
        })
    }
    /// From what is live after an operation to what is live before it.
    pub fn step_back(&mut self, f: &MFunc, units: &Units, i: &MInst) {
        if i.kills() {
            i.writes(f).into_iter().flat_map(|s| units.span(s)).for_each(|u| self.remove(u));
        }
        i.reads(f).into_iter().flat_map(|s| units.span(s)).for_each(|u| self.insert(u));
    }
}

/// Units live at the head of block `b`, before its parameters are written, from those live at its end.
pub(super) fn live_in(f: &MFunc, units: &Units, b: usize, out: &BitSet) -> BitSet {
    let block = &f.blocks[b];
    let mut live = out.clone();
    f.term_reads(&block.term).into_iter().flat_map(|s| units.span(s)).for_each(|u| live.insert(u));
    block.insts.iter().rev().for_each(|i| live.step_back(f, units, i));
    block.params.iter().flat_map(|&p| units.all(p)).for_each(|u| live.remove(u));
    live
}

/// Units live at the end of each block, after its terminator has read its operands.
pub(super) fn live_out(f: &MFunc, units: &Units) -> Vec<BitSet> {
    let n = units.count();
    let mut reads = Vec::with_capacity(f.blocks.len());
    let mut kills = Vec::with_capacity(f.blocks.len());
    for block in &f.blocks {
        let (mut read, mut kill) = (BitSet::new(n), BitSet::new(n));
        for u in f.term_reads(&block.term).into_iter().flat_map(|s| units.span(s)) {
            read.insert(u);
        }
        for i in block.insts.iter().rev() {
            if i.kills() {
                for u in i.writes(f).into_iter().flat_map(|s| units.span(s)) {
                    read.remove(u);
                    kill.insert(u);
                }
            }
            for u in i.reads(f).into_iter().flat_map(|s| units.span(s)) {
                read.insert(u);
            }
        }
        for u in block.params.iter().flat_map(|&p| units.all(p)) {
            read.remove(u);
            kill.insert(u);
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
        let units = Units::of(f);
        let out = live_out(f, &units);
        let mut spans = vec![(0, 0); f.blocks.len()];
        let mut at = 0;
        for &b in &cfg.order {
            let end = at + f.blocks[b].insts.len() as u32 + 1;
            spans[b] = (at, end);
            at = end + 1;
        }
        let mut segments: Vec<Vec<Segment>> = vec![Vec::new(); units.count()];
        // End slot of the segment that is open; 0 where none is.
        let mut open = vec![0u32; units.count()];
        let mut live: Vec<u32> = Vec::new();
        for &b in cfg.order.iter().rev() {
            let (head, end) = spans[b];
            let block = &f.blocks[b];
            for u in out[b].iter() {
                open[u as usize] = 2 * (end + 1);
                live.push(u);
            }
            let mut read = |open: &mut Vec<u32>, u: u32, at: u32| {
                if open[u as usize] == 0 {
                    open[u as usize] = 2 * at + 1;
                    live.push(u);
                }
            };
            let mut write = |open: &mut Vec<u32>, u: u32, at: u32| {
                let slot = 2 * at + 1;
                let until = std::mem::take(&mut open[u as usize]).max(slot + 1);
                push_front(&mut segments[u as usize], (slot, until));
            };
            for u in f.term_reads(&block.term).into_iter().flat_map(|s| units.span(s)) {
                read(&mut open, u, end);
            }
            for (n, i) in block.insts.iter().enumerate().rev() {
                let at = head + 1 + n as u32;
                let writes = i.writes(f);
                if i.kills() {
                    for u in writes.iter().flat_map(|&s| units.span(s)) {
                        write(&mut open, u, at);
                    }
                }
                for u in i.reads(f).into_iter().flat_map(|s| units.span(s)) {
                    read(&mut open, u, at);
                }
                if !i.kills() {
                    // The old contents flow through; a result that nothing reads still needs its register here.
                    for u in writes.into_iter().flat_map(|s| units.span(s)) {
                        let o = &mut open[u as usize];
                        *o = (*o).max(2 * at + 2);
                    }
                }
            }
            for u in block.params.iter().flat_map(|&p| units.all(p)) {
                write(&mut open, u, head);
            }
            for u in live.drain(..) {
                let until = std::mem::take(&mut open[u as usize]);
                if until != 0 {
                    push_front(&mut segments[u as usize], (2 * head, until));
                }
            }
        }
        for s in &mut segments {
            s.reverse();
        }
        Ranges { units, segments, spans, live_out: out }
    }

    /// Segments of each word of a register.
    pub fn words(&self, v: VReg) -> &[Vec<Segment>] {
        let u = self.units.all(v);
        &self.segments[u.start as usize..u.end as usize]
    }

    /// First slot of a register's life; `None` where nothing defines or reads it.
    pub fn start(&self, v: VReg) -> Option<u32> {
        self.words(v).iter().filter_map(|w| w.first()).map(|s| s.0).min()
    }

    /// Widens the ranges of uniform registers: one segment each, over the whole of every region that a divergent
    /// branch opens while the register is live.
    pub fn widen_uniform(&mut self, f: &MFunc, cfg: &Cfg) {
        for v in (0..f.vregs.len() as u32).map(VReg).filter(|&v| f.info(v).file == File::Uniform) {
            for u in self.units.all(v) {
                let own = &self.segments[u as usize];
                let (Some(&(mut from, _)), Some(&(_, mut to))) = (own.first(), own.last()) else { continue };
                for (b, block) in f.blocks.iter().enumerate() {
                    if block.term.edges().len() < 2 || !self.live_out[b].contains(u) {
                        continue;
                    }
                    let (start, stop) = self.region(cfg, b);
                    from = from.min(start);
                    to = to.max(stop);
                }
                self.segments[u as usize] = vec![(from, to)];
            }
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
