//! Math built-ins against values of mpmath (`data/math/generate.py`), at the bounds of OpenCL C 7.4.
use warpscope_exec::builtins::{Shape, math_value, math32};
use warpscope_exec::ops::{MathFn, Ty};

/// Bound in ulp of single and double precision (OpenCL C 7.4, tables 38 and 40; the same for both).
fn bound(function: MathFn) -> f64 {
    use MathFn as F;
    match function {
        F::Cbrt | F::Log1p | F::Rsqrt => 2.0,
        F::Exp | F::Exp2 | F::Exp10 | F::Expm1 | F::Log | F::Log2 | F::Log10 => 3.0,
        F::Acos | F::Asin | F::Acosh | F::Asinh | F::Cos | F::Cosh | F::Cospi | F::Hypot => 4.0,
        F::Sin | F::Sinh | F::Sinpi => 4.0,
        F::Acospi | F::Asinpi | F::Atan | F::Atanpi | F::Atanh | F::Tan | F::Tanh => 5.0,
        F::Atan2 | F::Atan2pi | F::Tanpi => 6.0,
        F::Erf | F::Erfc | F::Pow | F::Pown | F::Powr | F::Rootn | F::Tgamma => 16.0,
        // No bound is given; ours, for arguments above 2.5.
        F::Lgamma => 4.0,
        other => panic!("no bound for {}", other.name()),
    }
}

struct Row {
    x: u64,
    y: u64,
    expected: f64,
}

/// All tables of a file.
fn tables(bytes: &[u8], size: usize) -> Vec<(MathFn, Vec<Row>)> {
    let mut at = 0;
    let mut take = |n: usize| {
        at += n;
        let mut word = [0; 8];
        if n <= 8 {
            word[..n].copy_from_slice(&bytes[at - n..at]);
        }
        (u64::from_le_bytes(word), &bytes[at - n..at])
    };
    let mut all = vec![];
    let mut left = bytes.len();
    while left > 0 {
        let length = take(4).0 as usize;
        let name = std::str::from_utf8(take(length).1).unwrap();
        let function = *MathFn::ALL.iter().find(|f| f.name() == name).unwrap();
        let (arity, count) = (take(4).0 as usize, take(4).0 as usize);
        let rows = (0..count).map(|_| {
            let x = take(size).0;
            let y = if arity == 2 { take(size).0 } else { 0 };
            Row { x, y, expected: f64::from_bits(take(8).0) }
        });
        all.push((function, rows.collect()));
        left -= 4 + length + 8 + count * (arity * size + 8);
    }
    all
}

/// Error in units of the last place at `expected`, whose type has `fraction` bits and this least exponent; 0 where
/// both overflow.
fn error(got: f64, expected: f64, fraction: i32, least: i32, overflow: f64) -> f64 {
    if got == expected || got.is_infinite() && expected.abs() >= overflow && got.signum() == expected.signum() {
        return 0.0;
    }
    let exponent = libm::ilogb(expected).max(least);
    let unit = libm::ldexp(1.0, exponent.min(1023) - fraction);
    (got - expected).abs() / unit
}

#[test]
fn single_precision_is_within_bounds() {
    for (function, rows) in tables(include_bytes!("data/math/single.bin"), 4) {
        let mut worst = (0.0, 0);
        for row in &rows {
            // In lanes and alone: both are used.
            let mut lanes = ([0; 8], [0; 8]);
            math32(function, 0xff, [&[row.x as u32; 8], &[row.y as u32; 8], &[0; 8]], [&mut lanes.0, &mut lanes.1]);
            let alone = math_value(function, Ty::F32, row.x, row.y, 0).0;
            for bits in [lanes.0[0] as u64, alone] {
                let got = f32::from_bits(bits as u32) as f64;
                let e = error(got, row.expected, 23, -126, f32::MAX as f64 * (1.0 + 2f64.powi(-25)));
                if e.is_nan() || e > worst.0 {
                    worst = (e, row.x);
                }
            }
        }
        println!("single {:8} {:.3} ulp", function.name(), worst.0);
        assert!(worst.0 <= 0.75, "{}({:#x}) is {} ulp off", function.name(), worst.1, worst.0);
        assert!(worst.0 <= bound(function));
    }
}

#[test]
fn double_precision_is_within_bounds() {
    for (function, rows) in tables(include_bytes!("data/math/double.bin"), 8) {
        let mut worst = (0.0, 0, 0);
        for row in &rows {
            let got = f64::from_bits(math_value(function, Ty::F64, row.x, row.y, 0).0);
            // The table's value is itself half a unit off at most.
            let e = error(got, row.expected, 52, -1022, f64::MAX) + if got == row.expected { 0.0 } else { 0.5 };
            if e.is_nan() || e > worst.0 {
                worst = (e, row.x, row.y);
            }
        }
        println!("double {:8} {:.3} ulp", function.name(), worst.0);
        assert!(
            worst.0 <= bound(function),
            "{}({:#x}, {:#x}) is {} ulp off",
            function.name(),
            worst.1,
            worst.2,
            worst.0
        );
    }
    assert!(Shape::of(MathFn::Rootn).integer_argument);
}
