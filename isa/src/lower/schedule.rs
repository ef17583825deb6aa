//! List scheduling inside blocks, before allocation: long-latency operations early, their consumers late, under a
//! register budget.
use super::Options;
use super::liveness::{BitSet, live_out};
use super::mir::{File, MFunc, MInst, Opd, VReg};
use std::collections::HashMap;
use warpscope_configs::specs::ScheduleSpec;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{AccessShape, flags};

/// Longer stretches are scheduled in pieces, so that time stays linear in the program's length.
const WINDOW: usize = 1024;

/// Predicates that scheduling leaves for what it cannot foresee.
const SPARE_PREDICATES: u32 = 2;

/// Schedules every block; up to `budget` live registers are spent on starting long-latency operations early.
pub(super) fn schedule(f: &mut MFunc, options: &Options<'_>, budget: u32) {
    let spec = &options.target.schedule;
    if !spec.enabled {
        return;
    }
    let out = live_out(f);
    for b in 0..f.blocks.len() {
        let mut live = out[b].clone();
        for v in f.blocks[b].term.uses() {
            live.insert(v);
        }
        let mut rest = std::mem::take(&mut f.blocks[b].insts);
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let cut = rest.len().saturating_sub(WINDOW);
            let piece = rest.split_off(cut);
            let before = live_before(&piece, &live);
            pieces.push(Region::new(f, &piece, &before, &live, options, budget).run(piece));
            live = before;
        }
        f.blocks[b].insts = pieces.into_iter().rev().flatten().collect();
    }
}

/// Registers live before a stretch of code, from those live after it.
fn live_before(insts: &[MInst], after: &BitSet) -> BitSet {
    let mut live = after.clone();
    for i in insts.iter().rev() {
        if i.kills() {
            i.defs().for_each(|v| live.remove(v));
        }
        i.uses().for_each(|v| live.insert(v));
    }
    live
}

/// Estimated cycles from issue to use of the result.
fn latency(i: &MInst, spec: &ScheduleSpec) -> u32 {
    class_latency(i.class, spec)
}

/// Estimated cycles from issue to use of the result, for a class.
pub(super) fn class_latency(class: OpClass, spec: &ScheduleSpec) -> u32 {
    use OpClass::*;
    match class {
        LoadGlobal | AtomicGlobal => spec.global_latency,
        LoadLocal | AtomicLocal | Shuffle => spec.local_latency,
        LoadPrivate => spec.private_latency,
        LoadConstant | LoadUniform => spec.constant_latency,
        ReadSpecial | Xu | Convert | WarpReduce => spec.unit_latency,
        Fp64 => spec.double_latency,
        _ => spec.latency,
    }
}

/// What orders an operation beyond its registers.
#[derive(Copy, Clone, PartialEq)]
enum Effect {
    None,
    /// Memory access: space, whether it writes, base with its version, bytes from and to.
    Access {
        space: Space,
        write: bool,
        base: (Opd, u32),
        from: i64,
        to: i64,
    },
    /// Nothing crosses it that touches memory.
    Fence,
}

#[derive(Copy, Clone, PartialEq)]
enum Space {
    Global,
    Local,
    Private,
    /// Any of these.
    Generic,
}

fn effect(i: &MInst, version: &HashMap<VReg, u32>) -> Effect {
    use Op::*;
    if i.is_ghost() {
        return Effect::None;
    }
    let (space, write) = match i.op {
        LdGlobal => (Space::Global, false),
        StGlobal => (Space::Global, true),
        LdLocal => (Space::Local, false),
        StLocal => (Space::Local, true),
        LdPrivate => (Space::Private, false),
        StPrivate => (Space::Private, true),
        LdGeneric => (Space::Generic, false),
        StGeneric => (Space::Generic, true),
        AtomGlobal | AtomLocal | AtomGeneric | Bar | BarSub | MemBar => return Effect::Fence,
        // Cross-lane operations and traps keep their places among each other and the barriers.
        VoteAny | VoteAll | Ballot | ShflIdx | ShflXor | ShflUp | ShflDown | Trap | Exit => return Effect::Fence,
        _ => return Effect::None,
    };
    if i.flags & flags::VOLATILE != 0 {
        return Effect::Fence;
    }
    let base = i.src[0];
    let version = base.vreg().and_then(|v| version.get(&v)).copied().unwrap_or(0);
    let bytes = AccessShape::unpack(i.imm2).bytes() as i64;
    Effect::Access { space, write, base: (base, version), from: i.imm as i64, to: i.imm as i64 + bytes }
}

/// Whether two memory effects must keep their order.
fn ordered(a: &Effect, b: &Effect) -> bool {
    match (a, b) {
        (Effect::None, _) | (_, Effect::None) => false,
        (Effect::Fence, _) | (_, Effect::Fence) => true,
        (
            Effect::Access { space: s, write: w, base: p, from: f, to: t },
            Effect::Access { space: s2, write: w2, base: p2, from: f2, to: t2 },
        ) => {
            let apart = s != s2 && *s != Space::Generic && *s2 != Space::Generic;
            let disjoint = p == p2 && (t <= f2 || t2 <= f);
            (*w || *w2) && !apart && !disjoint
        }
    }
}

/// A stretch of code with its dependences.
struct Region<'a> {
    f: &'a MFunc,
    spec: &'a ScheduleSpec,
    /// Successors of each operation with the cycles in between.
    next: Vec<Vec<(u32, u32)>>,
    /// Predecessors not yet placed.
    waiting: Vec<u32>,
    /// Longest path to the end.
    height: Vec<u32>,
    /// Reads that are left of each register.
    reads_left: HashMap<VReg, u32>,
    after: &'a BitSet,
    before: &'a BitSet,
    budget: u32,
    /// Live predicates up to which compares are started early.
    predicates: u32,
}

impl<'a> Region<'a> {
    fn new(
        f: &'a MFunc,
        insts: &[MInst],
        before: &'a BitSet,
        after: &'a BitSet,
        options: &'a Options<'_>,
        budget: u32,
    ) -> Self {
        let spec = &options.target.schedule;
        let n = insts.len();
        let mut region = Region {
            f,
            spec,
            next: vec![Vec::new(); n],
            waiting: vec![0; n],
            height: vec![0; n],
            reads_left: HashMap::new(),
            after,
            before,
            budget: 0,
            predicates: options.target.predicates.saturating_sub(SPARE_PREDICATES).max(1),
        };
        region.depend(insts);
        for at in (0..n).rev() {
            let own = latency(&insts[at], spec);
            let below = region.next[at].iter().map(|&(s, d)| region.height[s as usize] + d).max();
            region.height[at] = below.unwrap_or(own);
        }
        for v in insts.iter().flat_map(|i| i.uses()) {
            *region.reads_left.entry(v).or_default() += 1;
        }
        region.budget = budget.max(region.peak(insts));
        region
    }

    fn edge(&mut self, from: usize, to: usize, cycles: u32) {
        if from != to {
            self.next[from].push((to as u32, cycles));
            self.waiting[to] += 1;
        }
    }

    /// Finds all dependences.
    fn depend(&mut self, insts: &[MInst]) {
        let mut writers: HashMap<VReg, Vec<usize>> = HashMap::new();
        let mut readers: HashMap<VReg, Vec<usize>> = HashMap::new();
        let mut version: HashMap<VReg, u32> = HashMap::new();
        let mut effects: Vec<(usize, Effect)> = Vec::new();
        for (at, i) in insts.iter().enumerate() {
            for v in i.uses() {
                for &w in writers.get(&v).into_iter().flatten() {
                    let cycles = latency(&insts[w], self.spec);
                    self.next[w].push((at as u32, cycles));
                    self.waiting[at] += 1;
                }
                readers.entry(v).or_default().push(at);
            }
            let e = effect(i, &version);
            if e != Effect::None {
                for n in 0..effects.len() {
                    if ordered(&effects[n].1, &e) {
                        self.edge(effects[n].0, at, 1);
                    }
                }
                if e == Effect::Fence {
                    // Whatever follows is ordered through the fence.
                    effects.clear();
                }
                effects.push((at, e));
            }
            let shadow = if i.shadow { i.dst.vreg() } else { None };
            for v in i.defs().chain(shadow) {
                for r in readers.remove(&v).unwrap_or_default() {
                    self.edge(r, at, 0);
                }
                let previous = writers.remove(&v).unwrap_or_default();
                for &w in &previous {
                    let cycles = if insts[w].is_ghost() { latency(&insts[w], self.spec) } else { 1 };
                    self.edge(w, at, cycles);
                }
                writers.insert(v, vec![at]);
                *version.entry(v).or_default() += 1;
            }
        }
    }

    fn words(&self, v: VReg) -> u32 {
        let info = self.f.info(v);
        if info.file == File::Vector { info.size as u32 } else { 0 }
    }

    fn live_words(&self, set: &BitSet) -> u32 {
        set.iter().map(|v| self.words(v)).sum()
    }

    /// Most words live in the order given.
    fn peak(&self, insts: &[MInst]) -> u32 {
        let mut live = self.after.clone();
        let mut words = self.live_words(&live);
        let mut peak = words;
        for i in insts.iter().rev() {
            if i.kills() {
                for v in i.defs().filter(|&v| live.contains(v)).collect::<Vec<_>>() {
                    live.remove(v);
                    words -= self.words(v);
                }
            }
            for v in i.uses() {
                if !live.contains(v) {
                    live.insert(v);
                    words += self.words(v);
                }
            }
            peak = peak.max(words);
        }
        peak
    }

    /// Change of live words if `i` came next.
    fn pressure(&self, i: &MInst, live: &BitSet) -> i32 {
        let mut delta = 0;
        let uses: Vec<VReg> = i.uses().collect();
        for (n, &v) in uses.iter().enumerate() {
            let here = uses.iter().filter(|&&u| u == v).count() as u32;
            if !uses[..n].contains(&v) && self.reads_left[&v] == here && !self.after.contains(v) {
                delta -= self.words(v) as i32;
            }
        }
        for v in i.defs().filter(|&v| !live.contains(v)) {
            delta += self.words(v) as i32;
        }
        delta
    }

    fn count_predicates(&self, live: &BitSet) -> u32 {
        live.iter().filter(|&v| self.f.info(v).file == File::Predicate).count() as u32
    }

    /// Whether an operation needs one more predicate than are live.
    fn adds_predicate(&self, i: &MInst, live: &BitSet) -> bool {
        i.defs().any(|v| self.f.info(v).file == File::Predicate && !live.contains(v))
    }

    fn run(mut self, insts: Vec<MInst>) -> Vec<MInst> {
        let n = insts.len();
        let mut live = self.before.clone();
        let mut words = self.live_words(&live) as i32;
        let mut live_predicates = self.count_predicates(&live);
        let mut earliest = vec![0u32; n];
        let mut ready: Vec<usize> = (0..n).filter(|&i| self.waiting[i] == 0).collect();
        let mut order = Vec::with_capacity(n);
        let mut cycle = 0;
        while !ready.is_empty() {
            let tight = words >= self.budget as i32;
            let crowded = live_predicates >= self.predicates;
            let mut best = 0;
            let mut best_key = None;
            for (slot, &i) in ready.iter().enumerate() {
                let delta = self.pressure(&insts[i], &live);
                // Starts of vectors come as late as possible; a full register file goes for what frees registers.
                let start = insts[i].pseudo && ready.len() > 1;
                let grows = tight && delta > 0
                    || words + delta > self.budget as i32 && delta > 0
                    || crowded && self.adds_predicate(&insts[i], &live);
                // Beyond the budget the order given is followed, whose need of registers is known.
                let key = (
                    std::cmp::Reverse(if grows { i + 1 } else { 0 }),
                    std::cmp::Reverse(start),
                    std::cmp::Reverse(earliest[i].max(cycle)),
                    self.height[i],
                    std::cmp::Reverse(i),
                );
                if best_key.is_none_or(|k| key > k) {
                    best = slot;
                    best_key = Some(key);
                }
            }
            let i = ready.swap_remove(best);
            words += self.pressure(&insts[i], &live);
            for v in insts[i].uses() {
                let left = self.reads_left.get_mut(&v).expect("every read is counted");
                *left -= 1;
                if *left == 0 && !self.after.contains(v) {
                    live.remove(v);
                }
            }
            insts[i].defs().for_each(|v| live.insert(v));
            let touched = insts[i].uses().chain(insts[i].defs()).any(|v| self.f.info(v).file == File::Predicate);
            if touched {
                live_predicates = self.count_predicates(&live);
            }
            cycle = earliest[i].max(cycle) + 1;
            for (s, d) in std::mem::take(&mut self.next[i]) {
                let s = s as usize;
                earliest[s] = earliest[s].max(cycle - 1 + d);
                self.waiting[s] -= 1;
                if self.waiting[s] == 0 {
                    ready.push(s);
                }
            }
            order.push(i);
        }
        debug_assert_eq!(order.len(), n, "the dependences have no cycle");
        let mut insts: Vec<Option<MInst>> = insts.into_iter().map(Some).collect();
        order.into_iter().filter_map(|i| insts[i].take()).collect()
    }
}
