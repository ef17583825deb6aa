//! Counted loops tested at their end become loops tested at their start, the shape that unrolling needs: the bound
//! becomes what it is or what the first trip needs, whichever is further, as `do … while` runs once in any case.
//! [`super::rotate`] turns round what is left of them; the test in front folds, because the first trip is known to run.
use super::loops::{self, Loop};
use super::trip::{negate, swap};
use crate::ir::{Block, Cfg, Cond, Function, IBin, Loc, Opcode, Target, Ty, Value, eval, flag};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A counted loop tested at its end.
struct Bottom {
    entry: Block,
    latch: Block,
    /// Index of the latch's target outside.
    outer: usize,
    /// Number of the counter among the header's parameters.
    param: usize,
    /// Condition to go on, of the counter's next value and the bound.
    cond: Cond,
    bound: Value,
}

fn recognise(f: &Function, cfg: &Cfg, l: &Loop) -> Option<Bottom> {
    let ([entry], [latch]) = (&l.entries(cfg)[..], &l.latches(cfg)[..]) else { return None };
    let (entry, latch) = (*entry, *latch);
    let [(from, outer)] = l.exits(f)[..] else { return None };
    if from != latch || loops::targets(f, latch).len() != 2 || loops::targets(f, entry).len() != 1 {
        return None;
    }
    let test = f.inst(f.terminator(latch)?);
    let compare = f.def_inst(*test.args.first()?)?;
    let Opcode::ICmp(cond) = compare.op else { return None };
    let cond = if outer == 1 { cond } else { negate(cond) };
    let at = loops::definition_blocks(f);
    let (a, b) = (compare.args[0], compare.args[1]);
    let (next, bound, cond) = if loops::invariant(f, l, &at, b) { (a, b, cond) } else { (b, a, swap(cond)) };
    if !loops::invariant(f, l, &at, bound) || f.ty(next).is_pointer() || f.ty(next) == Ty::Bool {
        return None;
    }
    let param = test.targets[1 - outer].args.iter().position(|&v| v == next)?;
    let add = f.def_inst(next)?;
    let bits = f.ty(next).bits();
    let (Opcode::IBin(IBin::Add), Some(step)) = (&add.op, f.as_const(*add.args.get(1)?)) else { return None };
    let step = eval::signed(step, bits);
    if add.args[0] != f.block(l.header).params[param] {
        return None;
    }
    let first = f.inst(f.terminator(entry)?).targets[0].args[param];
    let constants = f.as_const(first).zip(f.as_const(bound));
    let counts = match cond {
        Cond::SLt | Cond::SLe => step > 0 && add.flags & flag::NSW != 0,
        Cond::SGt | Cond::SGe => step < 0 && add.flags & flag::NSW != 0,
        Cond::ULt | Cond::ULe => step > 0 && add.flags & flag::NUW != 0,
        Cond::Ne => constants.is_some_and(|(a, b)| a != b),
        _ => false,
    };
    counts.then_some(Bottom { entry, latch, outer, param, cond, bound })
}

/// Tests a loop at its start; gives whether it could. The loop must be canonical.
pub(super) fn run(f: &mut Function, cfg: &Cfg, l: &Loop) -> bool {
    let Some(s) = recognise(f, cfg, l) else { return false };
    if !loops::close(f, l) {
        return false;
    }
    let at = loops::definition_blocks(f);
    let (Some(jump), Some(end)) = (f.terminator(s.entry), f.terminator(s.latch)) else { return false };
    let (loc, mut starts) = (f.inst(end).loc, f.inst(jump).targets[0].args.clone());
    let back = f.inst(end).targets[1 - s.outer].args.clone();
    let exit = f.inst(end).targets[s.outer].clone();
    let bound = bound(f, &s, starts[s.param], loc);
    // What leaves the loop is what the next trip would begin with, or comes along in a parameter of its own.
    let test = f.add_block();
    let old = f.block(l.header).params.clone();
    let params: Vec<Value> =
        old.iter().map(|&p| f.ty(p)).collect::<Vec<_>>().into_iter().map(|t| f.add_param(test, t)).collect();
    let (mut nexts, mut leaves) = (back.clone(), SmallVec::<[Value; 4]>::new());
    for &v in &exit.args {
        if let Some(n) = nexts.iter().position(|&next| next == v) {
            leaves.push(f.block(test).params[n]);
        } else if loops::invariant(f, l, &at, v) {
            leaves.push(v);
        } else {
            let ty = f.ty(v);
            let unknown = f.make_inst(Opcode::Undef, &[], &[ty], loc);
            let place = f.block(s.entry).insts.len() - 1;
            f.blocks[s.entry.0 as usize].insts.insert(place, unknown);
            starts.push(f.inst(unknown).results[0]);
            nexts.push(v);
            leaves.push(f.add_param(test, ty));
        }
    }
    let values: BTreeMap<Value, Value> = old.iter().copied().zip(params.iter().copied()).collect();
    f.blocks[l.header.0 as usize].params.clear();
    for b in f.block_ids() {
        for i in f.block(b).insts.clone() {
            loops::map_uses(f, i, |v| values.get(&v).copied().unwrap_or(v));
        }
    }
    let renamed = |v: &Value| values.get(v).copied().unwrap_or(*v);
    f.inst_mut(jump).targets[0] = Target { block: test, args: starts };
    let latch = f.inst_mut(end);
    latch.op = Opcode::Jump;
    latch.args.clear();
    latch.targets = SmallVec::from_iter([Target { block: test, args: nexts.iter().map(renamed).collect() }]);
    let counter = params[s.param];
    let goes_on = f.append(test, Opcode::ICmp(s.cond), &[counter, bound], &[Ty::Bool], loc);
    let goes_on = f.inst(goes_on).results[0];
    let branch = f.append(test, Opcode::Branch, &[goes_on], &[], loc);
    f.inst_mut(branch).targets.push(Target { block: l.header, args: SmallVec::new() });
    f.inst_mut(branch).targets.push(Target { block: exit.block, args: leaves.iter().map(renamed).collect() });
    f.blocks[test.0 as usize].unroll = std::mem::take(&mut f.blocks[l.header.0 as usize].unroll);
    true
}

/// The bound that lets the first trip run whatever the old one says.
fn bound(f: &mut Function, s: &Bottom, first: Value, loc: Loc) -> Value {
    let ty = f.ty(first);
    let (further, beyond) = match s.cond {
        Cond::SLt => (IBin::SMax, 1),
        Cond::SLe => (IBin::SMax, 0),
        Cond::SGt => (IBin::SMin, -1i64),
        Cond::SGe => (IBin::SMin, 0),
        Cond::ULt => (IBin::UMax, 1),
        Cond::ULe => (IBin::UMax, 0),
        _ => return s.bound,
    };
    let constants = f.as_const(first).zip(f.as_const(s.bound));
    if let Some((a, b)) = constants
        && eval::icmp(s.cond, ty.bits(), a, b)
    {
        return s.bound;
    }
    let mut made = Vec::new();
    let mut emit = |f: &mut Function, op, args: &[Value]| {
        let i = f.make_inst(op, args, &[ty], loc);
        made.push(i);
        i
    };
    let mut least = first;
    if beyond != 0 {
        let one = emit(f, Opcode::Const(eval::mask(beyond as u64, ty.bits())), &[]);
        let one = f.inst(one).results[0];
        let sum = emit(f, Opcode::IBin(IBin::Add), &[first, one]);
        f.inst_mut(sum).flags = if s.cond == Cond::ULt { flag::NUW } else { flag::NSW };
        least = f.inst(sum).results[0];
    }
    let further = emit(f, Opcode::IBin(further), &[s.bound, least]);
    let place = f.block(s.entry).insts.len() - 1;
    f.blocks[s.entry.0 as usize].insts.splice(place..place, made);
    f.inst(further).results[0]
}
