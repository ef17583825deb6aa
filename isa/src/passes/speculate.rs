//! Address arithmetic of short arms moves before their branch: the arms will run under a guard, where it costs the same
//! wherever it stands, and before the branch it can be shared with what follows.
use crate::ir::{Block, Cfg, Function, IBin, Inst, Opcode, Value};

/// Arms of more instructions than this stay as they are.
const ARM_LIMIT: usize = 24;
/// Operations through which an index is followed to where it comes from.
const DEPTH: u32 = 4;

/// Moves address arithmetic out of arms; gives whether any moved.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let mut changed = false;
    // Inner arms first: what comes out of them may come out of the arm around them as well.
    for &b in cfg.rpo.iter().rev() {
        let arms: Vec<Block> = f.successors(b).collect();
        if arms.len() != 2 {
            continue;
        }
        // What stands in front of an exit delays the test.
        if arms.iter().any(|&a| ends(f, a)) {
            continue;
        }
        for a in arms {
            if a != b && cfg.preds(a).len() == 1 && is_short(f, a) {
                changed |= hoist(f, a, b);
            }
        }
    }
    changed
}

/// Whether a block does nothing but end the work-item.
fn ends(f: &Function, b: Block) -> bool {
    matches!(f.block(b).insts[..], [only] if f.inst(only).op == Opcode::Return)
}

/// Whether a block is short, does nothing that a guard could not hold back, and goes on.
fn is_short(f: &Function, a: Block) -> bool {
    let insts = &f.block(a).insts;
    insts.len() <= ARM_LIMIT
        && f.terminator(a).is_some_and(|t| f.inst(t).op == Opcode::Jump)
        && !insts.iter().any(|&i| {
            matches!(
                f.inst(i).op,
                Opcode::Barrier { .. }
                    | Opcode::Fence { .. }
                    | Opcode::Vote(_)
                    | Opcode::Shuffle(_)
                    | Opcode::Warp(_)
                    | Opcode::Copy { .. }
            )
        })
}

fn hoist(f: &mut Function, from: Block, to: Block) -> bool {
    let old = std::mem::take(&mut f.blocks[from.0 as usize].insts);
    let params = f.block(from).params.clone();
    // Values that stay behind.
    let mut behind: Vec<_> = params;
    let (mut moved, mut kept) = (Vec::new(), Vec::new());
    let wanted = parts_of_addresses(f, &old);
    for i in old {
        let d = f.inst(i);
        let gathers = matches!(d.op, Opcode::PtrAdd { .. }) && is_gathered(f, d.args[1], DEPTH);
        if wanted.contains(&i) && !gathers && is_address_arithmetic(&d.op) && d.args.iter().all(|a| !behind.contains(a))
        {
            moved.push(i);
        } else {
            behind.extend(&d.results);
            kept.push(i);
        }
    }
    f.blocks[from.0 as usize].insts = kept;
    let insts = &mut f.blocks[to.0 as usize].insts;
    let end = insts.len().saturating_sub(1);
    let any = !moved.is_empty();
    insts.splice(end..end, moved);
    any
}

/// Whether an index comes from memory: such addresses are made, base and all, where they are used (sass spmv_ell, bfs:
/// LDC.64 and IMAD.WIDE under the guard).
fn is_gathered(f: &Function, v: Value, depth: u32) -> bool {
    f.def_inst(v).is_some_and(|d| match d.op {
        Opcode::Load(_) | Opcode::Atomic { .. } => true,
        Opcode::IBin(_) | Opcode::Sext | Opcode::Zext | Opcode::Trunc => {
            depth > 0 && d.args.iter().any(|&a| is_gathered(f, a, depth - 1))
        }
        _ => false,
    })
}

/// The instructions that addresses of the arm are made of. A sum that is the arm's result stays: under the guard it
/// takes the place of the value it replaces.
fn parts_of_addresses(f: &Function, insts: &[Inst]) -> Vec<Inst> {
    let mut values: Vec<Value> = Vec::new();
    let mut parts = Vec::new();
    for &i in insts.iter().rev() {
        let d = f.inst(i);
        match d.op {
            Opcode::Load(_) | Opcode::Store(_) | Opcode::Atomic { .. } => values.extend(d.args.first()),
            _ if matches!(d.op, Opcode::Const(_)) || d.results.iter().any(|r| values.contains(r)) => {
                parts.push(i);
                values.extend(&d.args);
            }
            _ => {}
        }
    }
    parts
}

/// Cheap, without effects and faults: what addresses are made of. Promises about wrapping are kept: who relies on
/// one uses the value in the arm, or computes the like where it is promised again.
pub(super) fn is_address_arithmetic(op: &Opcode) -> bool {
    matches!(
        op,
        Opcode::Const(_)
            | Opcode::PtrAdd { .. }
            | Opcode::Sext
            | Opcode::Zext
            | Opcode::IBin(IBin::Add | IBin::Sub | IBin::Mul | IBin::Shl)
            | Opcode::GlobalAddress(_)
            | Opcode::Parameter(_)
            | Opcode::Launch(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Loc, Target, Ty, verify_function};

    const LOC: Loc = Loc { file: 0, line: 0 };

    /// `if (c) p[2] = v; [q = v;] return`: whether the address moves in front of the branch.
    fn moves(goes_on: bool) -> bool {
        let mut f = Function { name: "m".into(), ..Function::default() };
        let (b, arm, end) = (f.add_block(), f.add_block(), f.add_block());
        let (c, p, q) = (f.add_param(b, Ty::Bool), f.add_param(b, Ty::PtrGlobal), f.add_param(b, Ty::PtrGlobal));
        let v = f.add_param(b, Ty::I32);
        let word = Access { count: 1, align: 4, volatile: false };
        let branch = f.append(b, Opcode::Branch, &[c], &[], LOC);
        let target = |block| Target { block, args: Default::default() };
        f.inst_mut(branch).targets = [arm, end].into_iter().map(target).collect();
        let eight = f.append(arm, Opcode::Const(8), &[], &[Ty::I64], LOC);
        let eight = f.inst(eight).results[0];
        let at = f.append(arm, Opcode::PtrAdd { inbounds: true }, &[p, eight], &[Ty::PtrGlobal], LOC);
        let at = f.inst(at).results[0];
        f.append(arm, Opcode::Store(word), &[at, v], &[], LOC);
        let jump = f.append(arm, Opcode::Jump, &[], &[], LOC);
        f.inst_mut(jump).targets = [end].into_iter().map(target).collect();
        if goes_on {
            f.append(end, Opcode::Store(word), &[q, v], &[], LOC);
        }
        f.append(end, Opcode::Return, &[], &[], LOC);
        verify_function(&f).expect("built right");
        let moved = run(&mut f);
        verify_function(&f).expect("left right");
        moved
    }

    /// The H200's code of `if (i >= n) return; …` tests first, with every address behind the exit (sass vecadd).
    #[test]
    fn addresses_stay_behind_exits() {
        assert!(moves(true));
        assert!(!moves(false));
    }
}
