//! Loop unrolling: whole loops with few constant trips, else copies of the body behind one test, with the rest left
//! to loops of fewer copies. Barriers are copied like any other instruction: their instances stay in order.
use super::loops::{self, Loop};
use super::sizes::{assembler_size, private_size, vendor_size};
use super::strides::steps_evenly;
use super::top_test;
use super::trip::{self, Counted, Step};
use crate::ir::{Block, Cfg, Cond, FBin, Function, IBin, Inst, Loc, Opcode, Target, Ty, UnrollHint, Value};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// How far to unroll. Sizes are IR instructions (constants do not count).
#[derive(Clone, Debug, PartialEq)]
pub struct UnrollLimits {
    /// Largest result of unrolling a loop whole.
    pub full_size: usize,
    /// Largest result of unrolling a loop whole that has loops inside (H200: 4 x 75, not 4 x 79; 3 x 99, not 3 x 115).
    pub nest_size: usize,
    /// Largest result of unrolling a loop whole that indexes private memory, whose loops inside count with all their
    /// trips (H200: a loop of 32 x 67, not of 64 x 35; insertion sort of 16, not of 20; LU of 6 x 6, not of 7 x 7).
    pub private_size: usize,
    /// Most trips of a loop that is unrolled whole.
    pub full_trips: u64,
    /// Largest result of unrolling a loop in part, as the vendor's compiler counts: half the smallest factor is taken
    /// where that does not fit (H200: bodies of 40 multiply-adds become four, of 50 two).
    pub partial_size: usize,
    /// Factors to try, largest first; each gets a loop of its own, the remainder goes to the next.
    pub factors: Vec<u32>,
    /// Largest body (one copy, as the vendor's assembler counts) for which larger factors are used (H200: one load with
    /// 9 multiply-adds, not with 11).
    pub chain_size: usize,
    /// Largest power of two for loops of constant trips that are too large to unroll whole; one that divides the trips
    /// is taken.
    pub dividing: u32,
    /// Most trips that are counted for that.
    pub constant_trips: u64,
    /// Whether loops with further exits are unrolled in part.
    pub several_exits: bool,
    /// Largest result for loops that the program asks to unroll.
    pub hinted_size: usize,
}

impl Default for UnrollLimits {
    fn default() -> Self {
        UnrollLimits {
            full_size: 512,
            nest_size: 300,
            private_size: 2200,
            full_trips: 128,
            partial_size: 204,
            factors: vec![16, 4],
            chain_size: 10,
            dividing: 32,
            constant_trips: 4096,
            several_exits: false,
            hinted_size: 4096,
        }
    }
}

/// What a run of the pass does.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Phase {
    /// Loops of few constant trips become straight lines. What that makes constant may show more of them.
    Whole,
    /// Bodies are copied behind one test. Comes last: the size of a body counts as it will be.
    Part,
}

/// How many times the limit a loop's copies may have before what is constant in them goes.
const LARGEST_LOSS: usize = 4;

/// Unrolls loops, inner ones first. Returns whether any was.
pub fn run(f: &mut Function, limits: &UnrollLimits, phase: Phase) -> bool {
    let mut done: BTreeSet<Block> = BTreeSet::new();
    loops::change_each(f, |f, cfg, all, index| {
        done.insert(all[index].header) && unroll(f, cfg, all, index, limits, phase)
    })
}

/// A loop in the shape that unrolling needs.
pub(super) struct Shape {
    pub(super) header: Block,
    pub(super) entry: Block,
    pub(super) latch: Block,
    /// Index of the header's target inside the loop.
    pub(super) inner: usize,
    /// The loop's blocks.
    blocks: Vec<Block>,
}

pub(super) fn shape(f: &Function, cfg: &Cfg, l: &Loop) -> Option<Shape> {
    let [entry] = l.entries(cfg)[..] else { return None };
    let [latch] = l.latches(cfg)[..] else { return None };
    let [a, b] = loops::targets(f, l.header) else { return None };
    let inner = match (l.contains(a.block), l.contains(b.block)) {
        (true, false) => 0,
        (false, true) => 1,
        _ => return None,
    };
    if loops::targets(f, latch).len() != 1 || loops::targets(f, l.header)[inner].block == l.header {
        return None;
    }
    Some(Shape { header: l.header, entry, latch, inner, blocks: l.blocks.clone() })
}

fn unroll(f: &mut Function, cfg: &Cfg, all: &[Loop], index: usize, limits: &UnrollLimits, phase: Phase) -> bool {
    let l = &all[index];
    let inner: Vec<&Loop> = loops::inside(all, index).map(|n| &all[n]).collect();
    let hint = f.block(l.header).unroll;
    if matches!(hint, UnrollHint::Never | UnrollHint::Factor(0 | 1)) {
        return false;
    }
    let size = l.blocks.iter().map(|&b| block_size(f, b)).sum::<usize>().max(1);
    let vendor = vendor_size(f, l);
    let Some(s) = shape(f, cfg, l) else {
        // Turned round, a loop tested at its end is one of those above; it comes again with its new header.
        let small = copies_fit(vendor, 2, limits) || hint != UnrollHint::None;
        return inner.is_empty() && small && top_test::run(f, cfg, l);
    };
    let hinted = hint != UnrollHint::None;
    let mut trips = None;
    if !matches!(hint, UnrollHint::Factor(_)) {
        trips = trip::constant_trips(f, s.header, s.entry, s.latch, s.inner, limits.full_trips);
        let limit = match hint {
            UnrollHint::None if inner.is_empty() => limits.full_size,
            UnrollHint::None => limits.nest_size,
            _ => limits.hinted_size,
        };
        let mut size = size + inner.iter().map(|l| copies_size(f, cfg, l, limits)).sum::<usize>();
        if !inner.is_empty() {
            // Divisions count four there.
            let insts = l.blocks.iter().flat_map(|&b| &f.block(b).insts);
            size += 3 * insts.filter(|&&i| f.inst(i).op == Opcode::FBin(FBin::Div)).count();
        }
        let fits = |&n: &u64| {
            let left = || trip::unrolled_size(f, l, s.entry, s.latch, n).is_some_and(|left| left <= limit);
            let private = || private_size(f, cfg, all, index, n).is_some_and(|size| size <= limits.private_size);
            n as usize * size <= limit
                || (inner.is_empty() || hinted) && n as usize * size <= LARGEST_LOSS * limit && left()
                || private()
        };
        if let Some(n) = trips.filter(fits) {
            return loops::close(f, l) && full(f, &s, n);
        }
    }
    if phase == Phase::Part && trips.is_none() && !matches!(hint, UnrollHint::Factor(_)) {
        trips = trip::constant_trips(f, s.header, s.entry, s.latch, s.inner, limits.constant_trips);
    }
    if phase == Phase::Whole || (!inner.is_empty() && !hinted) {
        return false;
    }
    let Some(counted) = trip::counted(f, l, s.header, s.latch, s.inner) else { return false };
    let factors = match hint {
        UnrollHint::Factor(n) if n.min(64) as usize * size > limits.hinted_size => return false,
        UnrollHint::Factor(n) => vec![n.min(64)],
        // Copies gain little where each may be the last, or where they wait for atomics one by one.
        UnrollHint::None if l.exits(f).len() > 1 && !limits.several_exits => return false,
        UnrollHint::None if !countable(f, l, &s, &counted) => return false,
        UnrollHint::None
            if let Some(n) = trips
                && let Some(factor) = breaks_out(n, vendor, limits) =>
        {
            return loops::close(f, l) && broken_out(f, &s, n, factor);
        }
        _ => {
            let line = l.blocks.len() <= 2 && only_addresses(f, l, &s, &counted) && steps_evenly(f, l, &s, &counted);
            let factors = factors([vendor, assembler_size(f, l)], line, trips, &counted, limits);
            if let (Some(n), &[factor]) = (trips, &factors[..])
                && n % u64::from(factor) == 0
            {
                return loops::close(f, l) && broken_out(f, &s, n, factor);
            }
            factors
        }
    };
    if factors.is_empty() || !loops::close(f, l) {
        return false;
    }
    let mut changed = false;
    // The smallest factor's loop goes next to the original; what a larger one leaves goes to the next smaller.
    let mut rest = s.header;
    for (n, &factor) in factors.iter().rev().enumerate() {
        let first = n + 1 == factors.len();
        if let Some(test) = partial(f, &s, &counted, factor, rest, first) {
            (changed, rest) = (true, test);
        } else if first && rest != s.header {
            // The entry goes on to the loops that there are.
            if let Some(jump) = f.terminator(s.entry) {
                f.inst_mut(jump).targets[0].block = rest;
            }
        }
    }
    f.blocks[s.header.0 as usize].unroll = UnrollHint::Never;
    changed
}

/// What the copies of an inner loop will add to a loop around it, which the vendor's compiler unrolls first.
fn copies_size(f: &Function, cfg: &Cfg, l: &Loop, limits: &UnrollLimits) -> usize {
    let (Some(s), Some(&smallest)) = (shape(f, cfg, l), limits.factors.iter().min()) else { return 0 };
    let never = matches!(f.block(l.header).unroll, UnrollHint::Never | UnrollHint::Factor(0 | 1));
    let counted = trip::counted(f, l, s.header, s.latch, s.inner);
    if never || l.exits(f).len() > 1 || !counted.is_some_and(|c| countable(f, l, &s, &c)) {
        return 0;
    }
    let size = vendor_size(f, l);
    if copies_fit(size, smallest, limits) { size * smallest as usize } else { 0 }
}

/// Whether that many copies of a loop are no larger than copies may be. What tests and jumps back stands once.
fn copies_fit(size: usize, copies: u32, limits: &UnrollLimits) -> bool {
    size.saturating_sub(2) * copies as usize + 2 <= limits.partial_size
}

/// The factor for a loop of constant trips that no power of two divides: it is left in the middle of its last pass.
fn breaks_out(trips: u64, size: usize, limits: &UnrollLimits) -> Option<u32> {
    let odd = trips % 2 == 1 || !copies_fit(size, 2, limits);
    let smallest = limits.factors.iter().copied().min()?;
    [smallest, smallest / 2].into_iter().find(|&c| c > 1 && odd && trips > u64::from(c) && copies_fit(size, c, limits))
}

/// Factors for loops, one behind the other; `size` as the vendor's compiler counts.
fn factors(
    [size, own]: [usize; 2],
    line: bool,
    trips: Option<u64>,
    counted: &Counted,
    limits: &UnrollLimits,
) -> Vec<u32> {
    let Some(&smallest) = limits.factors.iter().min() else { return Vec::new() };
    if let Some(n) = trips {
        // No rest to care for.
        let powers = (1..=limits.dividing.ilog2()).rev().map(|k| 1 << k);
        return powers.filter(|&c| n % u64::from(c) == 0 && copies_fit(size, c, limits)).take(1).collect();
    }
    if !copies_fit(size, smallest, limits) {
        return if copies_fit(size, smallest / 2, limits) && smallest >= 4 { vec![smallest / 2] } else { Vec::new() };
    }
    // Where the step is not known the rest may be long, and is left to one loop; so are bodies of several blocks, and
    // those that use the counter itself.
    // Larger factors come from the vendor's assembler, whose tests of what is left are signed: counters that may use
    // the sign bit otherwise do not get them.
    let signed = matches!(counted.cond, Cond::SLt | Cond::SLe | Cond::SGt | Cond::SGe);
    let larger = line && signed && own <= limits.chain_size && matches!(counted.step, Step::Constant(_));
    limits.factors.iter().copied().filter(|&n| n > 1 && (n == smallest || larger)).collect()
}

/// Whether the number of trips is known to be the division of the distance by the step. Where the step is a value,
/// the loop must be one that ends (without atomics and volatile accesses), its end lie outside, and the first value
/// plus a step must show the step again, which it does not where both are multiples of the same constant:
/// 4 x + 4 y becomes 4 (x + y).
fn countable(f: &Function, l: &Loop, s: &Shape, counted: &Counted) -> bool {
    let Step::Value(step) = counted.step else { return true };
    let acts = |&i: &Inst| match f.inst(i).op {
        Opcode::Atomic { .. } => true,
        Opcode::Load(a) | Opcode::Store(a) => a.volatile,
        _ => false,
    };
    if counted.inclusive() || l.blocks.iter().flat_map(|&b| &f.block(b).insts).any(acts) {
        return false;
    }
    let start = f.terminator(s.entry).and_then(|t| f.inst(t).targets[0].args.get(counted.param).copied());
    let (mut first, mut moves) = (Vec::new(), Vec::new());
    if let Some(start) = start {
        multiples(f, start, 1, &mut first);
    }
    multiples(f, step, 1, &mut moves);
    !moves.iter().any(|m| m.1 != 1 && first.iter().any(|t| t.1 == m.1 && t.0 != m.0))
}

/// Whether the counter is used for nothing but its test and addresses that move evenly. The vendor's assembler, which
/// makes the larger loops, finds the trips left in a counter of their own then; a counter that is masked or goes into
/// data serves for both (sass `const_uniform`, `cprog_uniform` against `spmv`, `matmul_naive`).
fn only_addresses(f: &Function, l: &Loop, s: &Shape, counted: &Counted) -> bool {
    let at = loops::definition_blocks(f);
    let counter = f.block(s.header).params[counted.param];
    let test = f.terminator(s.header).map(|t| f.inst(t).args[0]);
    let mut even = vec![counter];
    for &i in l.blocks.iter().flat_map(|&b| &f.block(b).insts) {
        let d = f.inst(i);
        let mut passed = d.targets.iter().flat_map(|t| t.args.iter().enumerate().map(move |(n, &v)| (t.block, n, v)));
        let elsewhere = |(block, n, v): (Block, usize, Value)| {
            even.contains(&v) && l.contains(block) && !(block == s.header && n == counted.param)
        };
        if passed.any(elsewhere) {
            return false;
        }
        if !d.args.iter().any(|v| even.contains(v)) || d.results.first().copied() == test && test.is_some() {
            continue;
        }
        let steady = d.args.iter().all(|&v| even.contains(&v) || loops::invariant(f, l, &at, v));
        match d.op {
            Opcode::PtrAdd { .. } => {}
            Opcode::IBin(IBin::Add | IBin::Sub | IBin::Mul | IBin::Shl)
            | Opcode::Sext
            | Opcode::Zext
            | Opcode::Trunc
                if steady =>
            {
                even.extend(&d.results);
            }
            _ => return false,
        }
    }
    true
}

/// The terms of a sum with their constant factors.
fn multiples(f: &Function, v: Value, factor: u64, out: &mut Vec<(Value, u64)>) {
    let constant = |v: Value| f.as_const(v);
    match f.def_inst(v).map(|d| (&d.op, &d.args)) {
        Some((Opcode::IBin(IBin::Add), args)) if out.len() < 8 => {
            multiples(f, args[0], factor, out);
            multiples(f, args[1], factor, out);
        }
        Some((Opcode::IBin(IBin::Mul), args)) if constant(args[1]).is_some() => {
            multiples(f, args[0], factor.wrapping_mul(constant(args[1]).unwrap_or(1)), out);
        }
        Some((Opcode::IBin(IBin::Shl), args)) if constant(args[1]).is_some_and(|c| c < 64) => {
            multiples(f, args[0], factor << constant(args[1]).unwrap_or(0), out);
        }
        _ => out.push((v, factor)),
    }
}

fn block_size(f: &Function, b: Block) -> usize {
    f.block(b).insts.iter().filter(|&&i| !matches!(f.inst(i).op, Opcode::Const(_) | Opcode::Undef)).count()
}

/// Replaces the loop by `n` copies of it in a row, and a last copy of the test's block.
fn full(f: &mut Function, s: &Shape, n: u64) -> bool {
    let Some(jump) = f.terminator(s.entry) else { return false };
    let mut arguments = f.inst(jump).targets[0].args.clone();
    let mut from = jump;
    for _ in 0..n {
        let (copy, latch) = copy_iteration(f, s, &arguments, false);
        redirect(f, from, copy.blocks[&s.header]);
        arguments = f.inst(latch).targets[0].args.clone();
        from = latch;
    }
    let values = zip_params(f, s.header, &arguments);
    let last = loops::copy_blocks(f, &[s.header], &[s.header], values);
    let end = last.blocks[&s.header];
    redirect(f, from, end);
    keep_target(f, end, 1 - s.inner);
    true
}

/// Copies the loop's blocks one behind the other from the (empty) block `main` on; those that are to test keep the header's
/// test. `current` are the header's parameters, afterwards the next iteration's. Returns the last copied latch's jump.
fn copies(
    f: &mut Function,
    s: &Shape,
    main: Block,
    current: &mut SmallVec<[Value; 4]>,
    factor: u32,
    tests: impl Fn(u32) -> bool,
    loc: Loc,
) -> Option<Inst> {
    let mut from = None;
    for c in 0..factor {
        let (copy, latch) = copy_iteration(f, s, current, tests(c));
        let start = copy.blocks[&s.header];
        match from {
            None => {
                loops::jump(f, main, Target { block: start, args: SmallVec::new() }, loc);
            }
            Some(previous) => redirect(f, previous, start),
        }
        *current = f.inst(latch).targets[0].args.clone();
        from = Some(latch);
    }
    from
}

/// Replaces a loop of `n` trips by one of `factor` copies without a rest: only the copy in which it is left tests, the
/// first where `factor` divides `n`, else one in the middle.
fn broken_out(f: &mut Function, s: &Shape, n: u64, factor: u32) -> bool {
    let Some(jump) = f.terminator(s.entry) else { return false };
    let loc = f.inst(jump).loc;
    let main = f.add_block();
    let types: Vec<Ty> = f.block(s.header).params.iter().map(|&p| f.ty(p)).collect();
    let mut current: SmallVec<[Value; 4]> = types.iter().map(|&ty| f.add_param(main, ty)).collect();
    let leaves = n % u64::from(factor);
    let Some(last) = copies(f, s, main, &mut current, factor, |c| u64::from(c) == leaves, loc) else { return false };
    f.inst_mut(last).targets[0] = Target { block: main, args: current };
    f.inst_mut(jump).targets[0].block = main;
    f.blocks[main.0 as usize].unroll = UnrollHint::Never;
    true
}

/// Copies the loop's blocks once, with the header's parameters replaced; the copied header goes on inside without a
/// test unless that is kept. Returns the copy and the copied latch's jump, whose arguments are the next iteration's.
fn copy_iteration(f: &mut Function, s: &Shape, arguments: &[Value], tested: bool) -> (loops::Copy, Inst) {
    let values = zip_params(f, s.header, arguments);
    let copy = loops::copy_blocks(f, &s.blocks, &[s.header], values);
    for b in copy.blocks.values() {
        f.blocks[b.0 as usize].unroll = UnrollHint::None;
    }
    for (old, new) in &copy.blocks {
        if *old != s.header {
            f.blocks[new.0 as usize].unroll = f.block(*old).unroll;
        }
    }
    if !tested {
        keep_target(f, copy.blocks[&s.header], s.inner);
    }
    // Both exist: the shape was checked, and copies end as their originals do.
    let latch = f.terminator(copy.blocks[&s.latch]).unwrap_or(Inst(0));
    (copy, latch)
}

fn zip_params(f: &Function, header: Block, arguments: &[Value]) -> BTreeMap<Value, Value> {
    f.block(header).params.iter().copied().zip(arguments.iter().copied()).collect()
}

/// Leads a jump to a block without parameters.
fn redirect(f: &mut Function, jump: Inst, to: Block) {
    f.inst_mut(jump).targets[0] = Target { block: to, args: SmallVec::new() };
}

/// Makes a two-way branch a jump to one of its targets.
fn keep_target(f: &mut Function, b: Block, index: usize) {
    if let Some(t) = f.terminator(b) {
        let inst = f.inst_mut(t);
        let target = inst.targets[index].clone();
        inst.op = Opcode::Jump;
        inst.args.clear();
        inst.targets = SmallVec::from_iter([target]);
    }
}

/// Puts a loop of `factor` copies before `rest`, entered where at least `factor` trips are left. The test for that
/// stands in the loop's entry if this is the first loop, else in a block of its own with the header's parameters.
/// Returns the test's block.
fn partial(f: &mut Function, s: &Shape, counted: &Counted, factor: u32, rest: Block, first: bool) -> Option<Block> {
    let jump = f.terminator(s.entry)?;
    let constant_span = match counted.step {
        Step::Constant(step) => {
            let span = u64::from(factor - 1).checked_mul(step.unsigned_abs());
            match span.filter(|s| counted.ty.bits() == 64 || s >> (counted.ty.bits() - 1) == 0) {
                Some(span) => Some(span),
                None => return None,
            }
        }
        Step::Value(_) if counted.ty.bits() < 16 => return None,
        Step::Value(_) => None,
    };
    let loc = f.inst(jump).loc;
    // test: decides; main: the unrolled loop's first block.
    let main = f.add_block();
    let types: Vec<Ty> = f.block(s.header).params.iter().map(|&p| f.ty(p)).collect();
    let params: Vec<Value> = types.iter().map(|&ty| f.add_param(main, ty)).collect();
    let (test, arguments) = if first {
        f.blocks[s.entry.0 as usize].insts.pop();
        (s.entry, f.inst(jump).targets[0].args.clone())
    } else {
        let test = f.add_block();
        (test, types.iter().map(|&ty| f.add_param(test, ty)).collect())
    };
    let mut b = Builder { f, block: test, loc };
    let span = b.span(counted, constant_span, factor);
    let enough = b.enough_left(counted, arguments[counted.param], constant_span, span, factor);
    let bound = b.main_bound(counted, span);
    let f = b.f;
    branch(f, test, enough, (main, &arguments), (rest, &arguments), loc);
    let mut current = SmallVec::<[Value; 4]>::from_slice(&params);
    let last = copies(f, s, main, &mut current, factor, |_| false, loc)?;
    // The last copy's end tests for another round.
    let tail = f.add_block();
    redirect(f, last, tail);
    let mut b = Builder { f, block: tail, loc };
    if let Step::Value(step) = counted.step {
        // One addition for all copies; the others go where their addresses are chained.
        let whole = b.times(counted.ty, step, factor);
        current[counted.param] = b.add(Opcode::IBin(IBin::Add), &[params[counted.param], whole], counted.ty);
        b.promise(counted.flags);
    }
    let again = b.another_round(counted, current[counted.param], bound, span);
    let f = b.f;
    branch(f, tail, again, (main, &current), (rest, &current), loc);
    f.blocks[main.0 as usize].unroll = UnrollHint::Never;
    Some(test)
}

fn branch(f: &mut Function, block: Block, cond: Value, yes: (Block, &[Value]), no: (Block, &[Value]), loc: Loc) {
    let i = f.append(block, Opcode::Branch, &[cond], &[], loc);
    for (block, args) in [yes, no] {
        f.inst_mut(i).targets.push(Target { block, args: args.into() });
    }
}

/// Builds tests at the end of a block.
struct Builder<'a> {
    f: &'a mut Function,
    block: Block,
    loc: Loc,
}

impl Builder<'_> {
    fn add(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.append(self.block, op, args, &[ty], self.loc);
        self.f.inst(i).results[0]
    }
    fn constant(&mut self, ty: Ty, v: u64) -> Value {
        let bits = if ty.bits() < 64 { v & ((1 << ty.bits()) - 1) } else { v };
        self.add(Opcode::Const(bits), &[], ty)
    }
    /// Marks what was added last.
    fn promise(&mut self, flags: u8) {
        if let Some(&i) = self.f.block(self.block).insts.last() {
            self.f.inst_mut(i).flags = flags;
        }
    }
    fn times(&mut self, ty: Ty, v: Value, n: u32) -> Value {
        let n = self.constant(ty, u64::from(n));
        self.add(Opcode::IBin(IBin::Mul), &[v, n], ty)
    }
    /// What all trips but the last move the counter by.
    fn span(&mut self, c: &Counted, constant: Option<u64>, factor: u32) -> Value {
        match c.step {
            Step::Value(step) => self.times(c.ty, step, factor - 1),
            Step::Constant(_) => self.constant(c.ty, constant.unwrap_or(0)),
        }
    }
    /// The distance still to go, in the direction of the step; exact as unsigned while the loop's condition holds.
    fn distance(&mut self, c: &Counted, i: Value) -> Value {
        let (a, b) = if c.step.upwards() { (c.bound, i) } else { (i, c.bound) };
        self.add(Opcode::IBin(IBin::Sub), &[a, b], c.ty)
    }
    /// Whether the condition holds for `i` and still would `span` further on.
    fn enough_left(&mut self, c: &Counted, i: Value, constant: Option<u64>, span: Value, factor: u32) -> Value {
        if let Some(v) = self.f.as_const(i)
            && let Some(limit) = constant.and_then(|span| c.shifted(v, span))
        {
            let limit = self.constant(c.ty, limit);
            return self.add(Opcode::ICmp(c.cond), &[limit, c.bound], Ty::Bool);
        }
        let holds = self.add(Opcode::ICmp(c.cond), &[i, c.bound], Ty::Bool);
        let far = self.far_enough(c, i, span);
        let mut all = self.add(Opcode::BoolAnd, &[holds, far], Ty::Bool);
        if let Step::Value(step) = c.step {
            // Neither negative nor so large that its multiple wraps around.
            let most = self.constant(c.ty, (u64::MAX >> (65 - c.ty.bits())) / u64::from(factor));
            let small = self.add(Opcode::ICmp(Cond::ULe), &[step, most], Ty::Bool);
            all = self.add(Opcode::BoolAnd, &[small, all], Ty::Bool);
        }
        all
    }
    fn far_enough(&mut self, c: &Counted, i: Value, span: Value) -> Value {
        let distance = self.distance(c, i);
        let cond = if c.inclusive() { Cond::UGe } else { Cond::UGt };
        self.add(Opcode::ICmp(cond), &[distance, span], Ty::Bool)
    }
    /// The bound moved back by `span`; does not wrap around where `enough_left` held.
    fn main_bound(&mut self, c: &Counted, span: Value) -> Value {
        let op = if c.step.upwards() { IBin::Sub } else { IBin::Add };
        self.add(Opcode::IBin(op), &[c.bound, span], c.ty)
    }
    fn another_round(&mut self, c: &Counted, i: Value, bound: Value, span: Value) -> Value {
        if c.cond == Cond::Ne {
            return self.far_enough(c, i, span);
        }
        self.add(Opcode::ICmp(c.cond), &[i, bound], Ty::Bool)
    }
}
