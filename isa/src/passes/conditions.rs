//! Conditions of nested branches become one, as in `if (a && b)`: `if (a) { if (b) { ... } }` without anything else.
use crate::ir::{Block, Cfg, FBin, FUn, Function, IBin, Inst, Loc, Opcode, Ty, Value};

/// Instructions besides tests that may be computed in vain for each of these.
const MOST_IN_VAIN: usize = 1;

/// Joins branches that lead to the same place; gives whether any were.
pub fn run(f: &mut Function) -> bool {
    let mut changed = false;
    let cfg = Cfg::new(f);
    // From the outer one inwards, one after the other: what each computes besides counts by itself (sass sobel).
    for &b in &cfg.rpo {
        while join(f, &cfg, b) {
            changed = true;
        }
    }
    changed
}

/// Joins the branch at the end of `outer` with the one at the end of a block that it leads to.
fn join(f: &mut Function, cfg: &Cfg, outer: Block) -> bool {
    let Some(t) = branch(f, outer) else { return false };
    for arm in 0..2 {
        let inner = f.inst(t).targets[arm].block;
        let shared = f.inst(t).targets[1 - arm].clone();
        if inner == outer || cfg.preds(inner).len() != 1 || !f.block(inner).params.is_empty() {
            continue;
        }
        let Some(u) = branch(f, inner) else { continue };
        let Some(leaves) = (0..2).find(|&n| f.inst(u).targets[n] == shared) else { continue };
        let stays = f.inst(u).targets[1 - leaves].clone();
        if stays == shared || !cheap(f, inner, f.inst(u).args[0]) {
            continue;
        }
        let loc = f.inst(u).loc;
        let (a, b) = (f.inst(t).args[0], f.inst(u).args[0]);
        let moved = std::mem::take(&mut f.blocks[inner.0 as usize].insts);
        let insts = &mut f.blocks[outer.0 as usize].insts;
        insts.pop();
        insts.extend(moved.into_iter().filter(|&i| i != u));
        // Control stays where the outer branch leads to the inner block and the inner one does not leave.
        let a = truth(f, outer, a, arm == 0);
        let b = truth(f, outer, b, leaves == 1);
        let both = f.append(outer, Opcode::BoolAnd, &[a, b], &[Ty::Bool], loc);
        let both = f.inst(both).results[0];
        let i = f.append(outer, Opcode::Branch, &[both], &[], loc);
        f.inst_mut(i).targets.extend([stays, shared]);
        return true;
    }
    false
}

fn branch(f: &Function, b: Block) -> Option<Inst> {
    f.terminator(b).filter(|&t| f.inst(t).op == Opcode::Branch)
}

fn truth(f: &mut Function, b: Block, v: Value, sense: bool) -> Value {
    if sense {
        return v;
    }
    let i = f.append(b, Opcode::BoolNot, &[v], &[Ty::Bool], Loc::default());
    f.inst(i).results[0]
}

/// Whether a block computes hardly more than its condition, and nothing that may fault.
fn cheap(f: &Function, b: Block, condition: Value) -> bool {
    let (mut in_vain, mut tests) = (0, 0);
    for &i in &f.block(b).insts {
        let d = f.inst(i);
        match d.op {
            Opcode::Branch | Opcode::Const(_) | Opcode::Undef => {}
            // Tests that the condition is made of come from conditions that were joined already.
            Opcode::ICmp(_) | Opcode::FCmp(_) if d.results.first() == Some(&condition) => tests += 1,
            _ if d.results.first() == Some(&condition) && speculable(&d.op) => {}
            Opcode::ICmp(_) | Opcode::FCmp(_) => tests += 1,
            Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor | Opcode::BoolNot => {}
            ref op if speculable(op) => in_vain += 1,
            _ => return false,
        }
    }
    in_vain <= MOST_IN_VAIN * tests.max(1)
}

fn speculable(op: &Opcode) -> bool {
    match op {
        Opcode::IBin(op) => !matches!(op, IBin::SDiv | IBin::UDiv | IBin::SRem | IBin::URem),
        Opcode::FBin(op) => matches!(op, FBin::Add | FBin::Sub | FBin::Mul),
        Opcode::IUn(_) | Opcode::FUn(FUn::Neg | FUn::Abs) | Opcode::ICmp(_) | Opcode::FCmp(_) | Opcode::Select => true,
        Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor | Opcode::BoolNot => true,
        Opcode::Sext | Opcode::Zext | Opcode::Trunc | Opcode::Bitcast | Opcode::PtrAdd { .. } => true,
        Opcode::Special(_) | Opcode::Launch(_) | Opcode::Parameter(_) | Opcode::LocalParameter(_) => true,
        Opcode::GlobalAddress(_) => true,
        _ => false,
    }
}
