//! List scheduling inside blocks, before allocation: long-latency operations early, their consumers late, under a
//! register budget.
use super::Options;
use super::cfg::Cfg;
use super::effects::{Effect, effect, ordered};
use super::liveness::{BitSet, live_out};
use super::mir::{File, MFunc, MInst, Opd, Span, Units, VReg};
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::collections::HashMap;
use warpscope_configs::specs::ScheduleSpec;
use warpscope_exec::ops::{Op, OpClass};

/// Longer stretches are scheduled in pieces, so that time stays linear in the program's length.
const WINDOW: usize = 1024;

/// Registers beyond those that the given order needs.
const ONE_MORE: u32 = 2;

/// Cycles that are not worth a register.
const SHORT_GAP: u32 = 16;

/// Whether an operation of long latency should start early.
fn is_long(i: &MInst, spec: &ScheduleSpec) -> bool {
    let short = matches!(i.class, OpClass::Compare | OpClass::Uniform) || i.is_ghost();
    !short && latency(i, spec) > spec.latency
}

/// How operations are chosen.
#[derive(Copy, Clone, Debug)]
pub(super) struct Choice {
    /// Operations of long latency leave this many registers of the budget for what works on their results.
    pub headroom: u32,
    /// Which of those that could begin comes first: the longest way to the end, or, among those that lead to a load,
    /// the order given, in which the address of one load is not kept while that of the next is worked out.
    pub in_order: bool,
    /// Predicates that are left for what scheduling cannot foresee.
    pub spare_predicates: u32,
    /// What keeps a register and leads to no load fills no short gaps as long as loads are left.
    pub lazy: bool,
}

/// Schedules every block; up to `budget` live registers are spent on starting operations early. Gives whether
/// predicates held something up.
pub(super) fn schedule(f: &mut MFunc, options: &Options<'_>, budget: u32, choice: Choice) -> bool {
    let spec = &options.target.schedule;
    if !spec.enabled {
        return false;
    }
    let mut held_up = false;
    let units = Units::of(f);
    let out = live_out(f, &units);
    let budget = budget.max(most_live(f, &units, &out));
    for b in 0..f.blocks.len() {
        let mut live = out[b].clone();
        let branch: Vec<u32> = f.term_reads(&f.blocks[b].term).into_iter().flat_map(|s| units.span(s)).collect();
        branch.iter().for_each(|&u| live.insert(u));
        let closes = f.blocks[b].term.edges().iter().any(|e| e.block <= b);
        let mut ahead = (spec.latency, branch, closes);
        let mut rest = std::mem::take(&mut f.blocks[b].insts);
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let cut = piece_start(&rest);
            let piece = rest.split_off(cut);
            let mut before = live.clone();
            piece.iter().rev().for_each(|i| before.step_back(f, &units, i));
            let region =
                |piece: &[MInst]| Region::new(f, &units, piece, [&before, &live], &ahead, options, (budget, choice));
            let (piece, region) = fewer_registers(piece, region, budget);
            pieces.push(region.run(piece, &mut held_up));
            (live, ahead) = (before, (0, Vec::new(), false));
        }
        f.blocks[b].insts = pieces.into_iter().rev().flatten().collect();
    }
    held_up
}

/// Most words live in the order given: a work-item has that many registers everywhere.
fn most_live(f: &MFunc, units: &Units, out: &[BitSet]) -> u32 {
    let files = files(f);
    let mut most = 0;
    for (block, out) in f.blocks.iter().zip(out) {
        let mut live = out.clone();
        f.term_reads(&block.term).into_iter().flat_map(|s| units.span(s)).for_each(|u| live.insert(u));
        most = most.max(peak(live, &files, block.insts.iter().map(|i| (i.kills(), Touched::of(f, units, i)))));
    }
    most
}

/// Register file of each unit.
fn files(f: &MFunc) -> Vec<File> {
    f.vregs.iter().flat_map(|v| std::iter::repeat_n(v.file, v.size as usize)).collect()
}

/// Most words live in a stretch, from those behind it; with each operation goes whether what it writes begins there.
fn peak<T: Borrow<Touched>>(
    mut live: BitSet,
    files: &[File],
    insts: impl DoubleEndedIterator<Item = (bool, T)>,
) -> u32 {
    let is_vector = |u: u32| files[u as usize] == File::Vector;
    let mut words = live.iter().filter(|&u| is_vector(u)).count() as u32;
    let mut peak = words;
    for (kills, t) in insts.rev() {
        for &u in t.borrow().writes.iter().filter(|_| kills) {
            if live.contains(u) {
                live.remove(u);
                words -= is_vector(u) as u32;
            }
        }
        for &u in &t.borrow().reads {
            if !live.contains(u) {
                live.insert(u);
                words += is_vector(u) as u32;
            }
        }
        peak = peak.max(words);
    }
    peak
}

/// A piece in the order given, or depth first where that order needs more than the budget and more than depth first.
fn fewer_registers<'a>(
    piece: Vec<MInst>,
    region: impl Fn(&[MInst]) -> Region<'a>,
    budget: u32,
) -> (Vec<MInst>, Region<'a>) {
    let given = region(&piece);
    if given.peak <= budget {
        return (piece, given);
    }
    let other: Vec<MInst> = given.depth_first().into_iter().map(|i| piece[i].clone()).collect();
    let changed = region(&other);
    if changed.peak < given.peak { (other, changed) } else { (piece, given) }
}

/// Where the last piece of a stretch begins that is scheduled for itself: branches inside of recipes stay where they are,
/// and nothing crosses them.
fn piece_start(insts: &[MInst]) -> usize {
    let last = insts.len() - 1;
    if is_boundary(&insts[last]) {
        return last;
    }
    let first = insts.len().saturating_sub(WINDOW);
    insts[first..].iter().rposition(is_boundary).map_or(first, |at| first + at + 1)
}

/// Whether an operation stands for a branch that some arguments take.
fn is_boundary(i: &MInst) -> bool {
    i.is_ghost() && i.class == OpClass::Branch && i.src.iter().any(|o| matches!(o, Opd::Pred(..)))
}

/// Estimated cycles of one pass through every block, in order and without other warps, weighted by loop depth.
pub(super) fn estimate(f: &MFunc, cfg: &Cfg, spec: &ScheduleSpec) -> f64 {
    let units = Units::of(f);
    let mut ready = vec![0u32; units.count()];
    let mut total = 0.0;
    for (block, &depth) in f.blocks.iter().zip(&cfg.depth) {
        ready.fill(0);
        let mut now = 0;
        for i in block.insts.iter().filter(|i| !i.pseudo) {
            let touched = Touched::of(f, &units, i);
            now = touched.reads.iter().map(|&u| ready[u as usize]).fold(now + 1, u32::max);
            touched.ordered.iter().for_each(|&u| ready[u as usize] = now + latency(i, spec));
        }
        total += now as f64 * 10f64.powi(depth.min(8) as i32);
    }
    total
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
        Compare => spec.predicate_latency,
        Uniform => spec.uniform_latency,
        _ => spec.latency,
    }
}

/// Words that an operation reads and writes.
struct Touched {
    /// Each unit once.
    reads: SmallVec<[u32; 8]>,
    writes: SmallVec<[u32; 4]>,
    /// Writes, and the word that a ghost is named for.
    ordered: SmallVec<[u32; 4]>,
    /// It reads or writes predicates.
    predicates: bool,
}

impl Touched {
    fn of(f: &MFunc, units: &Units, i: &MInst) -> Touched {
        let mut reads: SmallVec<[u32; 8]> = i.reads(f).into_iter().flat_map(|s| units.span(s)).collect();
        reads.sort_unstable();
        reads.dedup();
        let writes: SmallVec<[u32; 4]> = i.writes(f).into_iter().flat_map(|s| units.span(s)).collect();
        let mut ordered = writes.clone();
        if i.shadow {
            ordered.extend(Span::of(f, i.dst, i.words().dst[0]).into_iter().flat_map(|s| units.span(s)));
        }
        let predicates = i.uses().chain(i.defs()).any(|v| f.info(v).file == File::Predicate);
        Touched { reads, writes, ordered, predicates }
    }
}

/// A stretch of code with its dependences.
struct Region<'a> {
    spec: &'a ScheduleSpec,
    /// Register file of each unit.
    files: Vec<File>,
    touched: Vec<Touched>,
    /// Successors of each operation with the cycles in between.
    next: Vec<Vec<(u32, u32)>>,
    /// Predecessors not yet placed.
    waiting: Vec<u32>,
    /// Of these those that are not starts of guarded registers.
    others: Vec<u32>,
    /// Longest path to the end.
    height: Vec<u32>,
    /// Operations of long latency, and what leads to them.
    leads: Vec<bool>,
    /// Operations that are left to read each value.
    reads_left: Vec<u32>,
    /// Values that are read behind the stretch.
    kept: BitSet,
    after: &'a BitSet,
    before: &'a BitSet,
    /// Most words live in the order given.
    peak: u32,
    budget: u32,
    choice: Choice,
    /// Live predicates up to which compares are started early.
    predicates: u32,
}

impl<'a> Region<'a> {
    fn new(
        f: &'a MFunc,
        units: &Units,
        insts: &[MInst],
        [before, after]: [&'a BitSet; 2],
        (branch, read, closes): &(u32, Vec<u32>, bool),
        options: &'a Options<'_>,
        (budget, choice): (u32, Choice),
    ) -> Self {
        let spec = &options.target.schedule;
        let n = insts.len();
        let mut region = Region {
            spec,
            files: files(f),
            touched: insts.iter().map(|i| Touched::of(f, units, i)).collect(),
            next: vec![Vec::new(); n],
            waiting: vec![0; n],
            others: vec![0; n],
            height: vec![0; n],
            leads: vec![false; n],
            reads_left: Vec::new(),
            kept: BitSet::new(0),
            after,
            before,
            peak: 0,
            budget: 0,
            choice,
            predicates: options.target.predicates.saturating_sub(choice.spare_predicates).max(1),
        };
        region.depend(insts);
        if *closes {
            region.reuse_predicate(insts, read);
        }
        for (_, next) in insts.iter().zip(&region.next).filter(|(i, _)| !i.pseudo) {
            next.iter().for_each(|&(s, _)| region.others[s as usize] += 1);
        }
        for at in (0..n).rev() {
            let awaited = region.touched[at].writes.iter().any(|u| read.contains(u));
            let own = latency(&insts[at], spec) + if awaited { *branch } else { 0 };
            let below = region.next[at].iter().map(|&(s, d)| region.height[s as usize] + d).max();
            region.leads[at] = is_long(&insts[at], spec) || region.next[at].iter().any(|s| region.leads[s.0 as usize]);
            region.height[at] = below.map_or(own, |b| if awaited { b.max(own) } else { b });
        }
        region.peak = peak(after.clone(), &region.files, insts.iter().map(MInst::kills).zip(&region.touched));
        region.budget = budget.max(region.peak);
        // What is handed out anyway can be used: for one more load, so that there is one under way at all times.
        let reserved = options.kept_registers();
        if region.budget + reserved > options.full_occupancy {
            let given = (region.budget + reserved).next_multiple_of(options.register_step.max(1)) - reserved;
            region.budget = given.min(region.budget + ONE_MORE);
        }
        region.tell_values_apart(insts);
        region
    }

    /// Gives every value of a unit a number of its own, in which all that follows counts: between its last reader and the next
    /// write (of a sum that a loop carries on, say) a unit is free. The values in front of the stretch keep their unit's.
    fn tell_values_apart(&mut self, insts: &[MInst]) {
        let units = self.files.len();
        let mut current: Vec<u32> = (0..units as u32).collect();
        for (i, t) in insts.iter().zip(&mut self.touched) {
            t.reads.iter_mut().for_each(|u| *u = current[*u as usize]);
            for u in &mut t.writes {
                if i.kills() {
                    current[*u as usize] = self.files.len() as u32;
                    self.files.push(self.files[*u as usize]);
                }
                *u = current[*u as usize];
            }
        }
        self.kept = BitSet::new(self.files.len());
        self.after.iter().for_each(|u| self.kept.insert(current[u as usize]));
        self.reads_left = vec![0; self.files.len()];
        for &v in self.touched.iter().flat_map(|t| &t.reads) {
            self.reads_left[v as usize] += 1;
        }
    }

    fn edge(&mut self, from: usize, to: usize, cycles: u32) {
        if from != to {
            self.next[from].push((to as u32, cycles));
            self.waiting[to] += 1;
        }
    }

    /// Finds all dependences.
    fn depend(&mut self, insts: &[MInst]) {
        const NOBODY: u32 = u32::MAX;
        let mut writer = vec![NOBODY; self.files.len()];
        let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut version: HashMap<VReg, u32> = HashMap::new();
        let mut effects: Vec<(usize, Effect)> = Vec::new();
        for (at, i) in insts.iter().enumerate() {
            let touched = std::mem::take(&mut self.touched[at].reads);
            for &u in &touched {
                let w = writer[u as usize];
                if w != NOBODY {
                    let cycles = latency(&insts[w as usize], self.spec);
                    self.edge(w as usize, at, cycles);
                }
                readers.entry(u).or_default().push(at);
            }
            self.touched[at].reads = touched;
            let e = effect(i, &version);
            if e != Effect::None {
                for n in 0..effects.len() {
                    if ordered(&effects[n].1, &e) {
                        let bar = insts[effects[n].0].op == Op::Bar;
                        self.edge(effects[n].0, at, if bar { self.spec.barrier_latency } else { 1 });
                    }
                }
                if e == Effect::Fence {
                    // Whatever follows is ordered through the fence.
                    effects.clear();
                }
                effects.push((at, e));
            }
            let written = std::mem::take(&mut self.touched[at].ordered);
            for &u in &written {
                for r in readers.remove(&u).unwrap_or_default() {
                    self.edge(r, at, 0);
                }
                let w = std::mem::replace(&mut writer[u as usize], at as u32);
                if w != NOBODY {
                    let before = &insts[w as usize];
                    let cycles = if before.is_ghost() { latency(before, self.spec) } else { 1 };
                    self.edge(w as usize, at, cycles);
                }
            }
            let shadow = if i.shadow { i.dst.vreg() } else { None };
            for v in i.defs().chain(shadow) {
                *version.entry(v).or_default() += 1;
            }
        }
    }

    /// Predicates are handed out in the order given: the compare that closes a loop (its predicate is in `read`) comes
    /// behind the last operation that reads what was in its register before.
    fn reuse_predicate(&mut self, insts: &[MInst], read: &[u32]) {
        let of_loop = |u: &u32| read.contains(u) && self.is(*u, File::Predicate);
        let Some(compare) = self.touched.iter().rposition(|t| t.writes.iter().any(of_loop)) else { return };
        let mut last = HashMap::new();
        for (at, touched) in self.touched[..compare].iter().enumerate() {
            last.extend(touched.reads.iter().chain(&touched.writes).map(|&u| (u, at)));
        }
        // Who has each register, until where.
        let until = |u: u32, or: usize| {
            if self.after.contains(u) { usize::MAX } else { last.get(&u).copied().unwrap_or(or) }
        };
        let kept = self.before.iter().filter(|&u| self.is(u, File::Predicate));
        let mut registers: Vec<(u32, usize)> = kept.map(|u| (u, until(u, 0))).collect();
        for (at, touched) in self.touched[..=compare].iter().enumerate().filter(|(at, _)| !insts[*at].pseudo) {
            for &u in touched.writes.iter().filter(|&&u| self.is(u, File::Predicate)) {
                if registers.iter().any(|r| r.0 == u) {
                    continue;
                }
                match registers.iter().position(|r| r.1 <= at) {
                    Some(free) if at == compare => return self.edge(registers[free].1, compare, 0),
                    Some(free) => registers[free] = (u, until(u, at)),
                    None => registers.push((u, until(u, at))),
                }
            }
        }
    }

    /// The operations so that what each of those at the ends needs stands right in front of it.
    fn depth_first(&self) -> Vec<usize> {
        let n = self.next.len();
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, next) in self.next.iter().enumerate() {
            next.iter().for_each(|s| needs[s.0 as usize].push(i));
        }
        let mut order = Vec::with_capacity(n);
        let mut seen = vec![false; n];
        for end in (0..n).filter(|&i| self.next[i].is_empty()) {
            let mut work = vec![(end, 0)];
            seen[end] = true;
            while let Some((i, at)) = work.last_mut() {
                if let Some(&need) = needs[*i].get(*at) {
                    *at += 1;
                    if !std::mem::replace(&mut seen[need], true) {
                        work.push((need, 0));
                    }
                } else {
                    order.push(*i);
                    work.pop();
                }
            }
        }
        order
    }

    /// Whether anything is left that reads a value.
    fn is_read(&self, v: u32) -> bool {
        self.reads_left[v as usize] > 0 || self.kept.contains(v)
    }

    fn is(&self, u: u32, file: File) -> bool {
        self.files[u as usize] == file
    }

    fn live_words(&self, set: &BitSet) -> u32 {
        set.iter().filter(|&u| self.is(u, File::Vector)).count() as u32
    }

    /// Change of live words if operation `i` came next.
    fn pressure(&self, i: usize, live: &BitSet) -> i32 {
        let t = &self.touched[i];
        let last = |u: u32| self.reads_left[u as usize] == 1 && !self.kept.contains(u);
        let freed = t.reads.iter().filter(|&&u| self.is(u, File::Vector) && last(u)).count();
        let made =
            t.writes.iter().filter(|&&u| self.is(u, File::Vector) && !live.contains(u) && self.is_read(u)).count();
        made as i32 - freed as i32
    }

    fn count_predicates(&self, live: &BitSet) -> u32 {
        live.iter().filter(|&u| self.is(u, File::Predicate)).count() as u32
    }

    /// Whether an operation needs one more predicate than are live.
    fn adds_predicate(&self, i: usize, live: &BitSet) -> bool {
        let t = &self.touched[i];
        t.predicates && t.writes.iter().any(|&u| self.is(u, File::Predicate) && !live.contains(u))
    }

    /// When the first operation behind a start could begin, were the start there; never while that lacks others.
    fn due(&self, start: usize, earliest: &[u32]) -> u32 {
        let free = self.next[start].iter().map(|&(s, _)| s as usize).filter(|&s| self.others[s] == 0);
        free.map(|s| earliest[s]).min().unwrap_or(u32::MAX)
    }

    fn run(mut self, insts: Vec<MInst>, held_up: &mut bool) -> Vec<MInst> {
        let n = insts.len();
        let mut live = BitSet::new(self.files.len());
        self.before.iter().for_each(|u| live.insert(u));
        let mut words = self.live_words(&live) as i32;
        let mut live_predicates = self.count_predicates(&live);
        let mut earliest = vec![0u32; n];
        let mut ready: Vec<usize> = (0..n).filter(|&i| self.waiting[i] == 0).collect();
        let mut order = Vec::with_capacity(n);
        let mut cycle = 0;
        let mut loads = insts.iter().filter(|i| is_long(i, self.spec)).count();
        while !ready.is_empty() {
            let tight = words >= self.budget as i32;
            let crowded = live_predicates >= self.predicates;
            let short = |i: usize| latency(&insts[i], self.spec) <= self.spec.predicate_latency;
            let others = ready.iter().filter(|&&i| !insts[i].pseudo && insts[i].op != Op::Bar && short(i));
            let highest = others.map(|&i| self.height[i]).max();
            let mut best = 0;
            let mut best_key = None;
            for (slot, &i) in ready.iter().enumerate() {
                let delta = self.pressure(i, &live);
                // Starts of guarded registers come as late as possible, but hold up nothing that could begin: they are
                // due when all else is there that the operation behind needs. A full register file goes for what
                // frees some.
                let start = insts[i].pseudo && ready.len() > 1;
                let due = if start { self.due(i, &earliest) } else { earliest[i] };
                let wait = self.choice.lazy && loads > 0 && delta > 0 && !self.leads[i];
                let due = if wait { due.max(cycle + SHORT_GAP) } else { due };
                let long = is_long(&insts[i], self.spec);
                let limit = self.budget - if long { self.choice.headroom.min(self.budget) } else { 0 };
                let crowds = crowded && self.adds_predicate(i, &live);
                *held_up |= crowds;
                let grows = tight && delta > 0 || words + delta > limit as i32 && delta > 0 || crowds;
                // A barrier at the end of a block stands behind what works on loads in front of it.
                let held = insts[i].op == Op::Bar && highest.is_some_and(|h| h >= self.height[i]);
                // Beyond the budget the order given is followed, whose need of registers is known.
                let key = (
                    std::cmp::Reverse(if grows { i + 1 } else { 0 }),
                    std::cmp::Reverse(held),
                    std::cmp::Reverse(due.max(cycle)),
                    std::cmp::Reverse(start),
                    if self.choice.in_order { self.height[i].min(self.spec.global_latency) } else { self.height[i] },
                    std::cmp::Reverse(i),
                );
                if best_key.is_none_or(|k| key > k) {
                    best = slot;
                    best_key = Some(key);
                }
            }
            let i = ready.swap_remove(best);
            loads -= is_long(&insts[i], self.spec) as usize;
            words += self.pressure(i, &live);
            for &u in &self.touched[i].reads {
                let left = &mut self.reads_left[u as usize];
                *left -= 1;
                if *left == 0 && !self.kept.contains(u) {
                    live.remove(u);
                }
            }
            self.touched[i].writes.iter().filter(|&&u| self.is_read(u)).for_each(|&u| live.insert(u));
            if self.touched[i].predicates {
                live_predicates = self.count_predicates(&live);
            }
            cycle = earliest[i].max(cycle) + 1;
            for (s, d) in std::mem::take(&mut self.next[i]) {
                let s = s as usize;
                earliest[s] = earliest[s].max(cycle - 1 + d);
                self.waiting[s] -= 1;
                self.others[s] -= u32::from(!insts[i].pseudo);
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
