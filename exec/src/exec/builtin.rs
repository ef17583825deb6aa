//! Built-in functions over lanes: operands in, `builtins` applied lane by lane, results out. Out of line: their work
//! outweighs the loop around them.
use super::lanes::{Lanes, each};
use crate::builtins::{self, Shape};
use crate::ops::{IntFn, MathFn, Ty};
use crate::program::{Operand, OperandKind};

/// Source `n` of a type's width.
fn source<const W: usize>(x: &Lanes<'_, W>, n: usize, wide: bool) -> [u64; W] {
    match x.op.src[n].kind() {
        OperandKind::None | OperandKind::Predicate(..) => [0; W],
        _ if wide => x.longs(n),
        _ => each(&x.words(n), u64::from),
    }
}

/// Writes a result of a type's width, or a predicate where that is the destination.
fn store<const W: usize>(x: &mut Lanes<'_, W>, o: Operand, d: &[u64; W], wide: bool) {
    match o.kind() {
        OperandKind::None | OperandKind::Constant(_) => {}
        OperandKind::Predicate(..) => {
            let bits = d.iter().enumerate().fold(0, |m, (i, &v)| m | ((v != 0) as u64) << i);
            x.put_predicate(bits);
        }
        _ if wide => x.store64(o, d),
        _ => x.store(o, &each(d, |v| v as u32)),
    }
}

/// `Op::IntFn`.
#[inline(never)]
pub(super) fn int_fn<const W: usize>(mut x: Lanes<'_, W>) {
    let function = IntFn::ALL[x.op.imm as usize % IntFn::ALL.len()];
    let ty = Ty::ALL[x.op.imm2 as usize % Ty::ALL.len()];
    let wide = ty.bits() == 64;
    let (a, b, c) = (source(&x, 0, wide), source(&x, 1, wide), source(&x, 2, wide));
    let (mut first, mut second) = ([0; W], [0; W]);
    for i in 0..W {
        (first[i], second[i]) = builtins::int_fn(function, ty.bits(), a[i], b[i], c[i]);
    }
    let (dst, dst2) = (x.op.dst, x.op.dst2);
    store(&mut x, dst, &first, wide);
    store(&mut x, dst2, &second, wide);
}

/// `Op::MathF32`.
#[inline(never)]
pub(super) fn math32<const W: usize>(mut x: Lanes<'_, W>) {
    let function = MathFn::ALL[x.op.imm2 as usize % MathFn::ALL.len()];
    let [a, b, c] = [0, 1, 2].map(|n| match x.op.src[n].kind() {
        OperandKind::None | OperandKind::Predicate(..) => [0; W],
        OperandKind::Register(_) | OperandKind::Uniform(_) | OperandKind::Constant(_) => x.words(n),
    });
    let (mut first, mut second) = ([0; W], [0; W]);
    builtins::math32(function, x.mask, [&a, &b, &c], [&mut first, &mut second]);
    let (dst, dst2) = (x.op.dst, x.op.dst2);
    if let OperandKind::Predicate(..) = dst.kind() {
        store(&mut x, dst, &first.map(u64::from), false);
    } else {
        x.store(dst, &first);
        x.store(dst2, &second);
    }
}

/// `Op::MathF16`, `Op::MathF64`.
#[inline(never)]
pub(super) fn math<const W: usize>(mut x: Lanes<'_, W>, ty: Ty) {
    let function = MathFn::ALL[x.op.imm2 as usize % MathFn::ALL.len()];
    let shape = Shape::of(function);
    let wide = ty == Ty::F64;
    let (a, b, c) = (source(&x, 0, wide), source(&x, 1, wide && !shape.integer_argument), source(&x, 2, wide));
    let (mut first, mut second) = ([0; W], [0; W]);
    for i in (0..W).filter(|i| x.mask >> i & 1 != 0) {
        (first[i], second[i]) = builtins::math_value(function, ty, a[i], b[i], c[i]);
    }
    let (dst, dst2) = (x.op.dst, x.op.dst2);
    store(&mut x, dst, &first, wide && !shape.integer_result);
    store(&mut x, dst2, &second, wide && !shape.integer_second);
}
