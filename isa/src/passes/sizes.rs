//! Sizes of loops as the vendor's compiler counts them where it decides about copies.
use super::loops::Loop;
use super::rewrite::count_uses;
use crate::ir::{FBin, Function, IBin, InstData, MathFn, Opcode};

/// Instructions of a loop as the vendor's compiler counts them: products that go into a sum belong to that, and so do
/// extensions of an index that moves evenly, and jumps that only lead on.
pub(super) fn vendor_size(f: &Function, l: &Loop) -> usize {
    let uses = count_uses(f);
    let insts = || l.blocks.iter().flat_map(|&b| &f.block(b).insts).map(|&i| f.inst(i));
    // What is used once, in a float sum or as the offset of an address.
    let mut part = vec![false; f.values.len()];
    for d in insts() {
        let used = match d.op {
            Opcode::FBin(FBin::Add | FBin::Sub) => &d.args[..],
            Opcode::PtrAdd { .. } => &d.args[1..],
            _ => continue,
        };
        used.iter().filter(|v| uses[v.0 as usize] == 1).for_each(|v| part[v.0 as usize] = true);
    }
    let counts = |d: &InstData| match d.op {
        Opcode::Const(_) | Opcode::Undef | Opcode::Jump | Opcode::Bitcast => false,
        Opcode::FBin(FBin::Mul) => !part[d.results[0].0 as usize],
        Opcode::IBin(IBin::Mul | IBin::Shl) => !part[d.results[0].0 as usize] || f.as_const(d.args[1]).is_none(),
        Opcode::Sext => {
            matches!(f.def_inst(d.args[0]).map(|d| &d.op), Some(op) if !matches!(op, Opcode::IBin(IBin::Mul | IBin::Shl)))
        }
        _ => true,
    };
    let size = |d: &InstData| match d.op {
        Opcode::Math(m) => library_size(m),
        _ => usize::from(counts(d)),
    };
    insts().map(size).sum()
}

/// About how many instructions a function of the vendor's library has, which are there before loops are unrolled.
fn library_size(m: MathFn) -> usize {
    use MathFn::*;
    match m {
        Exp | Exp10 => 10,
        Log | Log2 | Log10 | Asin | Acos | Atan | Cbrt | Tanh | Erf => 25,
        Atan2 | Sinh | Cosh | Log1p | Expm1 | Asinh | Acosh | Atanh | Erfc => 40,
        // Those with large arguments to reduce or results to extend.
        Sin | Cos | SinCos | Tan | Pow | Pown | Powr | Rootn | Lgamma | Tgamma => 120,
        _ => 1,
    }
}
