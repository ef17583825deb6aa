//! How often a loop runs: constant trip counts by evaluation, counted loops by their shape.
use super::loops::{self, Loop};
use crate::ir::{Block, Cond, Function, IBin, Opcode, Ty, Value, eval, flag};
use std::collections::HashMap;

/// How far a counter moves in a trip.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Step {
    /// By a constant, never 0.
    Constant(i64),
    /// By a value that does not change in the loop; its sign is not known.
    Value(Value),
}

impl Step {
    /// Whether the counter goes upwards (a value is taken to; who relies on it tests).
    pub fn upwards(self) -> bool {
        !matches!(self, Step::Constant(s) if s < 0)
    }
}

/// A loop that goes on while `i cond bound`, with `i` moving by the same amount each trip.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Number of `i` among the header's parameters.
    pub param: usize,
    /// Condition to go on.
    pub cond: Cond,
    /// Invariant bound.
    pub bound: Value,
    /// Added to `i` each trip.
    pub step: Step,
    /// Promises of the addition.
    pub flags: u8,
    /// Type of `i`.
    pub ty: Ty,
}

impl Counted {
    /// Whether the bound itself still belongs to the loop.
    pub fn inclusive(&self) -> bool {
        matches!(self.cond, Cond::SLe | Cond::SGe | Cond::ULe | Cond::UGe)
    }
    /// `start` moved on by `span`, where `start + span cond bound` then says the same as "the condition holds for
    /// `start` and `span` further on": no wrap-around in the condition's signedness.
    pub fn shifted(&self, start: u64, span: u64) -> Option<u64> {
        let Step::Constant(step) = self.step else { return None };
        let bits = self.ty.bits();
        let max = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let span = i128::from(span) * i128::from(step.signum());
        let (start, low, high) = match self.cond {
            Cond::SLt | Cond::SLe | Cond::SGt | Cond::SGe => {
                (i128::from(eval::signed(start, bits)), -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            }
            Cond::ULt | Cond::ULe | Cond::UGt | Cond::UGe => (i128::from(start), 0, i128::from(max)),
            Cond::Eq | Cond::Ne => return None,
        };
        let v = start + span;
        (low..=high).contains(&v).then_some(v as u64 & max)
    }
}

/// Recognises a counted loop: the header branches on a compare of a parameter with an invariant.
pub fn counted(f: &Function, l: &Loop, header: Block, latch: Block, inner: usize) -> Option<Counted> {
    let test = f.inst(f.terminator(header)?);
    let compare = f.def_inst(*test.args.first()?)?;
    let Opcode::ICmp(cond) = compare.op else { return None };
    let at = loops::definition_blocks(f);
    let cond = if inner == 0 { cond } else { negate(cond) };
    let (a, b) = (compare.args[0], compare.args[1]);
    let (i, bound, cond) = if loops::invariant(f, l, &at, b) { (a, b, cond) } else { (b, a, swap(cond)) };
    if !loops::invariant(f, l, &at, bound) || f.ty(i).is_pointer() || f.ty(i) == Ty::Bool {
        return None;
    }
    let param = loops::param_index(f, header, i)?;
    let next = *f.inst(f.terminator(latch)?).targets.first()?.args.get(param)?;
    let step = step(f, i, next).filter(|s| match s {
        Step::Constant(_) => true,
        Step::Value(v) => loops::invariant(f, l, &at, *v),
    })?;
    let right = match (cond, step) {
        (Cond::SLt | Cond::SLe | Cond::ULt | Cond::ULe, step) => step.upwards(),
        (Cond::SGt | Cond::SGe | Cond::UGt | Cond::UGe, step) => !step.upwards(),
        (Cond::Ne, Step::Constant(s)) => s.abs() == 1,
        (Cond::Ne | Cond::Eq, _) => false,
    };
    let flags = f.def_inst(next)?.flags;
    // Where a longer step may wrap around past the bound, the number of trips is not what the distance says.
    let exact = match cond {
        _ if matches!(step, Step::Constant(1 | -1)) => true,
        Cond::SLt | Cond::SLe | Cond::SGt | Cond::SGe => flags & flag::NSW != 0,
        Cond::ULt | Cond::ULe | Cond::UGt | Cond::UGe => flags & flag::NUW != 0,
        Cond::Eq | Cond::Ne => false,
    };
    // A bound defined inside the loop's header counts only if it is a constant.
    (right && exact).then_some(Counted { param, cond, bound, step, flags, ty: f.ty(i) })
}

fn step(f: &Function, i: Value, next: Value) -> Option<Step> {
    let inst = f.def_inst(next)?;
    let bits = f.ty(i).bits();
    let (a, b) = (*inst.args.first()?, *inst.args.get(1)?);
    let known = |v: Value| f.as_const(v).map(|k| eval::signed(k, bits));
    let step = match inst.op {
        Opcode::IBin(IBin::Add) if a == i => known(b).map_or(Step::Value(b), Step::Constant),
        Opcode::IBin(IBin::Add) if b == i => known(a).map_or(Step::Value(a), Step::Constant),
        Opcode::IBin(IBin::Sub) if a == i => Step::Constant(known(b)?.checked_neg()?),
        _ => return None,
    };
    (step != Step::Constant(0)).then_some(step)
}

/// The opposite condition.
pub fn negate(c: Cond) -> Cond {
    use Cond::*;
    match c {
        Eq => Ne,
        Ne => Eq,
        SLt => SGe,
        SLe => SGt,
        SGt => SLe,
        SGe => SLt,
        ULt => UGe,
        ULe => UGt,
        UGt => ULe,
        UGe => ULt,
    }
}

/// The condition with its operands exchanged.
pub fn swap(c: Cond) -> Cond {
    use Cond::*;
    match c {
        Eq => Eq,
        Ne => Ne,
        SLt => SGt,
        SLe => SGe,
        SGt => SLt,
        SGe => SLe,
        ULt => UGt,
        ULe => UGe,
        UGt => ULt,
        UGe => ULe,
    }
}

/// Values that are known.
pub type Known = HashMap<Value, u64>;

/// Trips of a loop whose test depends on constants alone, found by running what the test needs; at most `most`.
pub fn constant_trips(f: &Function, header: Block, entry: Block, latch: Block, inner: usize, most: u64) -> Option<u64> {
    let (mut trips, mut none) = (0, Known::new());
    each_trip(f, [header, entry, latch], inner, most, &mut none, |_| trips += 1)?;
    Some(trips)
}

/// Shows `trip` the header's known parameters in each trip of a loop whose test depends on constants and `outer`
/// alone; nothing comes back if there are more than `most` or the end is not known.
pub fn each_trip(
    f: &Function,
    [header, entry, latch]: [Block; 3],
    inner: usize,
    most: u64,
    outer: &mut Known,
    mut trip: impl FnMut(&Known),
) -> Option<()> {
    let cond = *f.inst(f.terminator(header)?).args.first()?;
    let params = &f.block(header).params;
    let starts = &f.inst(f.terminator(entry)?).targets.first()?.args;
    let nexts = &f.inst(f.terminator(latch)?).targets.first()?.args;
    let mut state: Known =
        params.iter().zip(starts).filter_map(|(&p, &v)| evaluate(f, outer, v, 0).map(|c| (p, c))).collect();
    for _ in 0..=most {
        let mut known = outer.clone();
        known.extend(&state);
        let goes_on = evaluate(f, &mut known, cond, 0)? != 0;
        if goes_on == (inner == 1) {
            return Some(());
        }
        trip(&state);
        state = params
            .iter()
            .zip(nexts)
            .filter(|(p, _)| state.contains_key(p))
            .filter_map(|(&p, &v)| evaluate(f, &mut known, v, 0).map(|c| (p, c)))
            .collect();
    }
    None
}

/// The value of an integer expression over known values.
fn evaluate(f: &Function, known: &mut HashMap<Value, u64>, v: Value, depth: u32) -> Option<u64> {
    if let Some(&c) = known.get(&v) {
        return Some(c);
    }
    if let Some(c) = f.as_const(v) {
        return Some(c);
    }
    let inst = f.def_inst(v)?;
    if depth > 16 {
        return None;
    }
    let bits = f.ty(v).bits();
    let mut arg = |n: usize| evaluate(f, known, *inst.args.get(n)?, depth + 1);
    let r = match inst.op {
        Opcode::IBin(op) => eval::ibin(op, bits, arg(0)?, arg(1)?)?,
        Opcode::IUn(op) => eval::iun(op, bits, arg(0)?),
        Opcode::ICmp(c) => {
            let from = f.ty(inst.args[0]).bits();
            u64::from(eval::icmp(c, from, arg(0)?, arg(1)?))
        }
        Opcode::Sext => {
            let from = f.ty(inst.args[0]).bits();
            eval::mask(eval::signed(arg(0)?, from) as u64, bits)
        }
        Opcode::Zext | Opcode::Trunc => eval::mask(arg(0)?, bits),
        Opcode::Select => {
            if arg(0)? != 0 {
                arg(1)?
            } else {
                arg(2)?
            }
        }
        Opcode::BoolAnd => arg(0)? & arg(1)?,
        Opcode::BoolOr => arg(0)? | arg(1)?,
        Opcode::BoolXor => arg(0)? ^ arg(1)?,
        Opcode::BoolNot => 1 ^ arg(0)?,
        _ => return None,
    };
    known.insert(v, r);
    Some(r)
}

/// Instructions that are left of a loop's copies once what is constant in each has gone: sums of the counter,
/// decisions by it with the blocks that they rule out, and accesses to private memory at constant places.
pub fn unrolled_size(f: &Function, l: &Loop, entry: Block, latch: Block, trips: u64) -> Option<usize> {
    let params = &f.block(l.header).params;
    let starts = &f.inst(f.terminator(entry)?).targets.first()?.args;
    let nexts = &f.inst(f.terminator(latch)?).targets.first()?.args;
    let mut state: HashMap<Value, u64> =
        params.iter().zip(starts).filter_map(|(&p, &v)| f.as_const(v).map(|c| (p, c))).collect();
    let mut size = 0;
    for _ in 0..trips {
        let mut known = state.clone();
        size += copy_size(f, l, &mut known);
        state = params.iter().zip(nexts).filter_map(|(&p, &v)| evaluate(f, &mut known, v, 0).map(|c| (p, c))).collect();
    }
    Some(size)
}

/// Instructions that are left of one copy, with what is known at its start.
fn copy_size(f: &Function, l: &Loop, known: &mut HashMap<Value, u64>) -> usize {
    let mut reached = vec![l.header];
    let mut places: Vec<Value> = Vec::new();
    let mut size = 0;
    // In reverse postorder: what leads to a block comes before it, inner loops' back edges apart.
    for &b in &l.blocks {
        if !reached.contains(&b) {
            continue;
        }
        for &i in &f.block(b).insts {
            let d = f.inst(i);
            let mut constant = |v: Value| evaluate(f, known, v, 0);
            match d.op {
                Opcode::Const(_) | Opcode::Undef | Opcode::Jump => {}
                Opcode::Branch => {
                    if constant(d.args[0]).is_none() {
                        size += 1;
                    }
                }
                Opcode::PtrAdd { .. } if f.ty(d.args[0]) == Ty::PtrPrivate => {
                    if constant(d.args[1]).is_some() {
                        places.push(d.results[0]);
                    } else {
                        size += 1;
                    }
                }
                Opcode::Load(_) | Opcode::Store(_) if places.contains(&d.args[0]) => {}
                _ => {
                    if !d.results.first().is_some_and(|&r| constant(r).is_some()) {
                        size += 1;
                    }
                }
            }
        }
        let Some(t) = f.terminator(b) else { continue };
        let d = f.inst(t);
        let taken = match d.op {
            Opcode::Branch => evaluate(f, known, d.args[0], 0).map(|c| usize::from(c == 0)),
            _ => None,
        };
        reached
            .extend(d.targets.iter().enumerate().filter(|(n, _)| taken.is_none_or(|k| k == *n)).map(|(_, t)| t.block));
    }
    size
}
