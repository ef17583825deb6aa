//! Contraction: a multiplication whose only use is an addition becomes a multiply-add.
use super::rewrite::count_uses;
use crate::ir::{FBin, FUn, Function, Inst, Opcode, Value};

/// Forms multiply-adds. Where an addition is not itself marked, `everywhere` must allow it.
///
/// A module says ContractionOff for every kernel with a bare addition or multiplication, also where the compiler has
/// contracted the rest of it: so a kernel that has multiply-adds already was not written to do without.
pub fn run(f: &mut Function, contraction_off: bool, across_statements: bool) -> bool {
    let has_mad = f.blocks.iter().flat_map(|b| &b.insts).any(|&i| f.inst(i).op == Opcode::Mad);
    let everywhere = across_statements && (!contraction_off || has_mad);
    let uses = count_uses(f);
    let mut changed = false;
    for b in 0..f.blocks.len() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            changed |= contract(f, i, &uses, everywhere, &mut new);
            new.push(i);
        }
        f.blocks[b].insts = new;
    }
    changed
}

/// Changes `i` where it is an addition or subtraction with a product of one use; negations go to `new` before it.
fn contract(f: &mut Function, i: Inst, uses: &[u32], everywhere: bool, new: &mut Vec<Inst>) -> bool {
    let d = f.inst(i);
    let marked = d.flags & crate::ir::flag::CONTRACT != 0;
    let op = match d.op {
        Opcode::FBin(op @ (FBin::Add | FBin::Sub)) if everywhere || marked => op,
        _ => return false,
    };
    let (a, b, ty) = (d.args[0], d.args[1], f.ty(d.args[0]));
    let factors = |v: Value| match f.def_inst(v) {
        Some(p) if p.op == Opcode::FBin(FBin::Mul) && uses[v.0 as usize] == 1 => Some((p.args[0], p.args[1])),
        _ => None,
    };
    let mut negate = |f: &mut Function, v: Value| {
        let n = f.make_inst(Opcode::FUn(FUn::Neg), &[v], &[ty], f.inst(i).loc);
        new.push(n);
        f.inst(n).results[0]
    };
    let args = match (factors(a), factors(b)) {
        (Some((x, y)), _) if op == FBin::Add => [x, y, b],
        (Some((x, y)), _) => [x, y, negate(f, b)],
        (None, Some((x, y))) if op == FBin::Add => [x, y, a],
        (None, Some((x, y))) => [negate(f, x), y, a],
        (None, None) => return false,
    };
    let d = f.inst_mut(i);
    d.op = Opcode::Mad;
    d.args = args.into_iter().collect();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Loc, Ty, verify_function};

    /// a * b - c, and whether it became one multiply-add.
    fn contracted(contraction_off: bool, across: bool) -> bool {
        let mut f = Function { results: vec![Ty::F32], ..Function::default() };
        let e = f.add_block();
        let [a, b, c] = [0; 3].map(|_| f.add_param(e, Ty::F32));
        let p = f.append(e, Opcode::FBin(FBin::Mul), &[a, b], &[Ty::F32], Loc::default());
        let p = f.inst(p).results[0];
        let s = f.append(e, Opcode::FBin(FBin::Sub), &[p, c], &[Ty::F32], Loc::default());
        let s = f.inst(s).results[0];
        f.append(e, Opcode::Return, &[s], &[], Loc::default());
        run(&mut f, contraction_off, across);
        verify_function(&f).expect("well formed");
        f.def_inst(s).is_some_and(|d| d.op == Opcode::Mad)
    }

    #[test]
    fn only_where_allowed() {
        assert!(contracted(false, true));
        assert!(!contracted(true, true));
        assert!(!contracted(false, false));
    }
}
