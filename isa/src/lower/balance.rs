//! Pipe balancing: operations that the multiply-add pipe can do as well go there where the arithmetic pipe has more
//! to do.
use super::mir::{MFunc, MInst, Opd, Pool};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{ConstantRow, flags};

/// Gives the operations named in `movable` the class of multiply-adds where that balances their block. Loads are
/// counted in halves of what one such operation takes.
pub(super) fn balance(f: &mut MFunc, movable: &[String]) {
    if movable.is_empty() {
        return;
    }
    let pool = &f.pool;
    for block in &mut f.blocks {
        let is_movable = |op: &str| movable.iter().any(|m| m == op);
        let (mut arithmetic, mut multiply) = (0u32, 0u32);
        for i in block.insts.iter_mut().filter(|i| !i.pseudo && i.flags & flags::UNIFORM == 0) {
            let can = i.class == OpClass::Alu && !i.is_ghost() && is_movable(i.op.mnemonic()) && is_product(pool, i);
            if can && multiply <= arithmetic {
                i.class = OpClass::IMad;
            }
            match i.class {
                OpClass::Alu | OpClass::Compare => arithmetic += 2,
                // Only one of the two single-precision pipes multiplies integers.
                OpClass::Fp32 => multiply += 1,
                OpClass::IMad => multiply += 2,
                OpClass::IMadWide | OpClass::IMadHigh => multiply += 4,
                _ => {}
            }
        }
    }
}

/// Whether a shift goes by a constant: only then it is a multiplication by one.
fn is_product(pool: &Pool, i: &MInst) -> bool {
    i.op != Op::Shl32
        || matches!(i.src.get(1), Some(Opd::Const(row)) if matches!(pool.rows.get(*row as usize), Some(ConstantRow::Immediate(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::mir::{MBlock, Term, VReg};
    use warpscope_exec::program::SourceLine;

    #[test]
    fn additions_and_logic_share_the_pipes() {
        let inst = |op| MInst::new(op, Opd::None, &[], SourceLine::default());
        let insts = [Op::IAdd32, Op::Xor32, Op::IAdd32, Op::IAdd32, Op::IAdd32].map(inst).into();
        let mut f = MFunc::default();
        let loc = SourceLine::default();
        f.blocks.push(MBlock { params: vec![], insts, term: Term::Exit, loc, divergent: false, partial: false });
        let classes = |f: &MFunc| f.blocks[0].insts.iter().map(|i| i.class).collect::<Vec<_>>();
        balance(&mut f, &[]);
        assert!(classes(&f).iter().all(|c| *c == OpClass::Alu));
        balance(&mut f, &["iadd".to_string()]);
        use OpClass::{Alu, IMad};
        assert_eq!(classes(&f), [IMad, Alu, IMad, Alu, IMad]);
    }

    #[test]
    fn only_shifts_by_constants_are_multiplications() {
        let mut f = MFunc::default();
        let (count, loc) = (f.pool.word(3), SourceLine::default());
        let register = |n| Opd::Reg(VReg(n), 0);
        let shift = |by| MInst::new(Op::Shl32, register(0), &[register(1), by], loc);
        let insts = vec![shift(count), shift(register(2))];
        f.blocks.push(MBlock { params: vec![], insts, term: Term::Exit, loc, divergent: false, partial: false });
        balance(&mut f, &["shl".to_string()]);
        let classes: Vec<_> = f.blocks[0].insts.iter().map(|i| i.class).collect();
        assert_eq!(classes, [OpClass::IMad, OpClass::Alu]);
    }
}
