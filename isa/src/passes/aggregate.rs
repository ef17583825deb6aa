//! Atomics of a sub-group to one address become one: the work-items combine their operands, one of them goes to memory,
//! and where the old value is wanted, each takes its share of it.
//!
//! Only relaxed 32-bit integer atomics: their sum in any order is the same. Old values are those of the work-items in
//! the order of their numbers.
use super::loops::{jump, map_uses};
use super::rewrite::count_uses;
use super::uniformity;
use crate::ir::{
    Block, Cfg, Cond, Function, IBin, IUn, Inst, Loc, Opcode, Order, ShuffleKind, Target, Ty, Value, VoteKind, WarpFn,
};
use smallvec::SmallVec;
use warpscope_exec::program::{AtomicOp, Special};

/// What the work-items take of the old value.
#[derive(Copy, Clone)]
enum Shares {
    /// It is not wanted.
    None,
    /// Each the same: counters, places in a list.
    Equal,
    /// Each what it adds itself.
    Own,
}

/// Combines the atomics of sub-groups of `width` work-items. Returns whether anything changed.
pub fn run(f: &mut Function, width: u32) -> bool {
    let uniform = uniformity::analyse(f);
    let uses = count_uses(f);
    let mut found: Vec<(Inst, Shares)> = Vec::new();
    let cfg = Cfg::new(f);
    for b in f.block_ids() {
        if f.block(b).insts.iter().all(|&i| !matches!(f.inst(i).op, Opcode::Atomic { .. })) || is_of_one(f, &cfg, b) {
            continue;
        }
        for &i in &f.block(b).insts {
            let d = f.inst(i);
            let Opcode::Atomic { op, order: Order::Relaxed, .. } = d.op else { continue };
            let (Some(&pointer), Some(&value)) = (d.args.first(), d.args.get(1)) else { continue };
            let wanted = d.results.first().is_some_and(|r| uses[r.0 as usize] > 0);
            let space = matches!(f.ty(pointer), Ty::PtrGlobal | Ty::PtrLocal);
            if space && f.ty(value) == Ty::I32 && uniform.is_uniform(pointer) && combines(op, wanted) {
                let shares = match wanted {
                    false => Shares::None,
                    true if width <= 32 && uniform.is_uniform(value) => Shares::Equal,
                    true => Shares::Own,
                };
                found.push((i, shares));
            }
        }
    }
    for &(i, shares) in &found {
        // Earlier splits have moved instructions.
        let place = f.block_ids().find_map(|b| f.block(b).insts.iter().position(|&x| x == i).map(|at| (b, at)));
        let Some((b, at)) = place else { continue };
        let rest = split(f, b, at);
        match shares {
            Shares::None => without_result(f, b, i, rest),
            Shares::Equal => with_equal_shares(f, b, i, rest),
            Shares::Own => with_result(f, b, i, rest, width),
        }
    }
    !found.is_empty()
}

/// Whether a block is behind a test that a work-item's number is a certain one: at most one of a row gets there.
fn is_of_one(f: &Function, cfg: &Cfg, b: Block) -> bool {
    let mut at = b;
    loop {
        if let [p] = cfg.preds(at)[..]
            && let Some(t) = f.terminator(p)
            && f.inst(t).op == Opcode::Branch
            && let Some(d) = f.def_inst(f.inst(t).args[0])
        {
            let side = match d.op {
                Opcode::ICmp(Cond::Eq) => Some(0),
                Opcode::ICmp(Cond::Ne) => Some(1),
                _ => None,
            };
            let row = |v: Value| f.def_inst(v).is_some_and(|d| d.op == Opcode::Special(Special::LocalIdX));
            let constant = d.args.iter().any(|&v| f.as_const(v).is_some());
            if side.is_some_and(|n| f.inst(t).targets[n].block == at) && constant && d.args.iter().any(|&v| row(v)) {
                return true;
            }
        }
        if at == Function::ENTRY {
            return false;
        }
        at = cfg.idom[at.0 as usize];
    }
}

fn combines(op: AtomicOp, wanted: bool) -> bool {
    use AtomicOp::*;
    match op {
        Add | Sub => true,
        And | Or | Xor | SMin | SMax | UMin | UMax => !wanted,
        Load | Store | Exchange | CompareExchange | FAdd | FMin | FMax | Inc | Dec => false,
    }
}

/// Takes the instruction at `at` out of a block; what follows it goes to a new block.
fn split(f: &mut Function, b: Block, at: usize) -> Block {
    let rest = f.add_block();
    let insts = &mut f.blocks[b.0 as usize].insts;
    let behind = insts.split_off(at + 1);
    insts.pop();
    f.blocks[rest.0 as usize].insts = behind;
    rest
}

/// Appends an instruction with one result.
fn one(f: &mut Function, b: Block, op: Opcode, args: &[Value], ty: Ty, loc: Loc) -> Value {
    let i = f.append(b, op, args, &[ty], loc);
    f.inst(i).results[0]
}

fn to(block: Block, args: &[Value]) -> Target {
    Target { block, args: SmallVec::from_slice(args) }
}

fn branch(f: &mut Function, b: Block, cond: Value, yes: Target, no: Target, loc: Loc) {
    let i = f.append(b, Opcode::Branch, &[cond], &[], loc);
    f.inst_mut(i).targets.extend([yes, no]);
}

fn without_result(f: &mut Function, b: Block, atomic: Inst, rest: Block) {
    let d = f.inst(atomic).clone();
    let Opcode::Atomic { op, .. } = d.op else { return };
    let total = one(f, b, Opcode::Warp(WarpFn::Reduce(op)), &[d.args[1]], Ty::I32, d.loc);
    let lane = one(f, b, Opcode::Special(Special::SubGroupLocalId), &[], Ty::I32, d.loc);
    let chosen = one(f, b, Opcode::Warp(WarpFn::Elect), &[lane], Ty::Bool, d.loc);
    let arm = f.add_block();
    branch(f, b, chosen, to(arm, &[]), to(rest, &[]), d.loc);
    f.append(arm, d.op, &[d.args[0], total], &[], d.loc);
    jump(f, arm, to(rest, &[]), d.loc);
}

fn with_result(f: &mut Function, b: Block, atomic: Inst, rest: Block, width: u32) {
    let d = f.inst(atomic).clone();
    let Opcode::Atomic { op, .. } = d.op else { return };
    let (pointer, value, loc) = (d.args[0], d.args[1], d.loc);
    let [together, alone, arm, joined] = [(); 4].map(|()| f.add_block());
    let full = one(f, b, Opcode::Warp(WarpFn::Full), &[], Ty::Bool, loc);
    branch(f, b, full, to(together, &[]), to(alone, &[]), loc);
    let own = one(f, alone, d.op.clone(), &[pointer, value], Ty::I32, loc);
    jump(f, alone, to(rest, &[own]), loc);

    let number = |f: &mut Function, n: u32| one(f, together, Opcode::Const(u64::from(n)), &[], Ty::I32, loc);
    let [zero, step, last] = [0, 1, width - 1].map(|n| number(f, n));
    let sum = one(f, together, Opcode::Warp(WarpFn::ScanAdd), &[value], Ty::I32, loc);
    let lane = one(f, together, Opcode::Special(Special::SubGroupLocalId), &[], Ty::I32, loc);
    let chosen = one(f, together, Opcode::ICmp(Cond::Eq), &[lane, last], Ty::Bool, loc);
    branch(f, together, chosen, to(arm, &[]), to(joined, &[zero]), loc);
    let old = one(f, arm, d.op, &[pointer, sum], Ty::I32, loc);
    jump(f, arm, to(joined, &[old]), loc);

    let old = f.add_param(joined, Ty::I32);
    let before = one(f, joined, Opcode::Shuffle(ShuffleKind::Up), &[sum, step], Ty::I32, loc);
    let old = one(f, joined, Opcode::Shuffle(ShuffleKind::Index), &[old, last], Ty::I32, loc);
    let first = one(f, joined, Opcode::ICmp(Cond::Eq), &[lane, zero], Ty::Bool, loc);
    let by = if op == AtomicOp::Sub { IBin::Sub } else { IBin::Add };
    let share = one(f, joined, Opcode::IBin(by), &[old, before], Ty::I32, loc);
    let result = one(f, joined, Opcode::Select, &[first, old, share], Ty::I32, loc);
    jump(f, joined, to(rest, &[result]), loc);

    replace(f, d.results[0], rest);
}

/// All add the same: of those that are active the last goes to memory for their number, and each counts those in front of it
/// (the H200's code for a stream compaction: VOTEU.ANY, FLO, POPC, S2R SR_LTMASK, ATOMG, SHFL.IDX).
fn with_equal_shares(f: &mut Function, b: Block, atomic: Inst, rest: Block) {
    let d = f.inst(atomic).clone();
    let Opcode::Atomic { op, .. } = d.op else { return };
    let (pointer, value, loc) = (d.args[0], d.args[1], d.loc);
    let [arm, joined] = [(); 2].map(|()| f.add_block());
    let int = |f: &mut Function, b: Block, op: Opcode, args: &[Value]| one(f, b, op, args, Ty::I32, loc);
    let number = |f: &mut Function, n: u64| int(f, b, Opcode::Const(n), &[]);
    let [zero, unit, top] = [0, 1, 31].map(|n| number(f, n));
    let times = |f: &mut Function, b: Block, n: Value| match f.as_const(value) {
        Some(1) => n,
        _ => int(f, b, Opcode::IBin(IBin::Mul), &[n, value]),
    };
    let yes = one(f, b, Opcode::Const(1), &[], Ty::Bool, loc);
    let ballot = f.append(b, Opcode::Vote(VoteKind::Ballot), &[yes], &[Ty::I32; 4], loc);
    let active = f.inst(ballot).results[0];
    let lane = int(f, b, Opcode::Special(Special::SubGroupLocalId), &[]);
    let above = int(f, b, Opcode::IUn(IUn::Clz), &[active]);
    let last = int(f, b, Opcode::IBin(IBin::Sub), &[top, above]);
    let many = int(f, b, Opcode::IUn(IUn::Popc), &[active]);
    let total = times(f, b, many);
    let chosen = one(f, b, Opcode::ICmp(Cond::Eq), &[lane, last], Ty::Bool, loc);
    branch(f, b, chosen, to(arm, &[]), to(joined, &[zero]), loc);
    let old = int(f, arm, d.op, &[pointer, total]);
    jump(f, arm, to(joined, &[old]), loc);

    let old = f.add_param(joined, Ty::I32);
    let bit = int(f, joined, Opcode::IBin(IBin::Shl), &[unit, lane]);
    let lower = int(f, joined, Opcode::IBin(IBin::Sub), &[bit, unit]);
    let before = int(f, joined, Opcode::IBin(IBin::And), &[active, lower]);
    let before = int(f, joined, Opcode::IUn(IUn::Popc), &[before]);
    let before = times(f, joined, before);
    let old = int(f, joined, Opcode::Shuffle(ShuffleKind::Index), &[old, last]);
    let by = if op == AtomicOp::Sub { IBin::Sub } else { IBin::Add };
    let result = int(f, joined, Opcode::IBin(by), &[old, before]);
    jump(f, joined, to(rest, &[result]), loc);
    replace(f, d.results[0], rest);
}

/// Lets a new parameter of `rest` take a value's place.
fn replace(f: &mut Function, replaced: Value, rest: Block) {
    let new = f.add_param(rest, Ty::I32);
    for b in f.block_ids() {
        for i in f.block(b).insts.clone() {
            map_uses(f, i, |v| if v == replaced { new } else { v });
        }
    }
}
