//! Atomics of a sub-group to one address become one: the work-items combine their operands, one of them goes to memory,
//! and where the old value is wanted, each takes its share of it.
//!
//! Only relaxed 32-bit integer atomics: their sum in any order is the same. Old values are those of the work-items in
//! the order of their numbers.
use super::loops::{jump, map_uses};
use super::rewrite::count_uses;
use super::uniformity;
use crate::ir::{Block, Cfg, Cond, Function, IBin, Inst, Loc, Opcode, Order, ShuffleKind, Target, Ty, Value, WarpFn};
use smallvec::SmallVec;
use warpscope_exec::program::{AtomicOp, Special};

/// Combines the atomics of sub-groups of `width` work-items. Returns whether anything changed.
pub fn run(f: &mut Function, width: u32) -> bool {
    let uniform = uniformity::analyse(f);
    let uses = count_uses(f);
    let mut found: Vec<(Inst, bool)> = Vec::new();
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
                found.push((i, wanted));
            }
        }
    }
    for &(i, wanted) in &found {
        // Earlier splits have moved instructions.
        let place = f.block_ids().find_map(|b| f.block(b).insts.iter().position(|&x| x == i).map(|at| (b, at)));
        let Some((b, at)) = place else { continue };
        let rest = split(f, b, at);
        if wanted { with_result(f, b, i, rest, width) } else { without_result(f, b, i, rest) }
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

    let new = f.add_param(rest, Ty::I32);
    let replaced = d.results[0];
    for b in f.block_ids() {
        for i in f.block(b).insts.clone() {
            map_uses(f, i, |v| if v == replaced { new } else { v });
        }
    }
}
