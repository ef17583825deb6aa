//! Single-precision functions that kernels are full of, computed in double without branches so that they vectorise;
//! one rounding to single at the end. Errors before it are below 2^-40, so results are within 0.51 ulp.
use crate::exec::level::HostLevel;
use crate::ops::{MathFn, Ty};
use std::f64::consts::{LN_2, LN_10, LOG2_10, LOG2_E};

/// Adding and subtracting this rounds to an integer, and leaves it in the low bits in between.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// ln(2)^n / n!.
const EXP2: [f64; 13] = {
    let mut c = [1.0; 13];
    let mut n = 1;
    while n < 13 {
        c[n] = c[n - 1] * LN_2 / n as f64;
        n += 1;
    }
    c
};

/// (-1)^k / (2k + 1)!.
const SIN: [f64; 8] = alternating_factorials(1);
/// (-1)^k / (2k)!.
const COS: [f64; 8] = alternating_factorials(0);

const fn alternating_factorials(first: usize) -> [f64; 8] {
    let mut c = [1.0; 8];
    let mut k = 1;
    while k < 8 {
        let n = (2 * k + first) as f64;
        c[k] = -c[k - 1] / (n * (n - 1.0));
        k += 1;
    }
    c
}

#[inline(always)]
fn horner<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    for n in (0..N - 1).rev() {
        sum = sum * x + c[n];
    }
    sum
}

/// 2^t, for results from 2^-1000 to 2^1000 (beyond that the value at the limit, which is no single).
#[inline(always)]
fn exp2(t: f64) -> f64 {
    let t = if t > 1000.0 { 1000.0 } else { t };
    let t = if t < -1000.0 { -1000.0 } else { t };
    let shifted = t + SHIFT;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    horner(&EXP2, t - (shifted - SHIFT)) * scale
}

/// Binary exponent and natural logarithm of the rest, which lies between sqrt(1/2) and sqrt(2), of a normal x > 0.
#[inline(always)]
fn log_parts(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const BIAS: u64 = 1023 << 52;
    let bits = x.to_bits();
    let exponent = (bits.wrapping_sub(SQRT_HALF).wrapping_add(BIAS)) >> 52;
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(BIAS));
    let e = f64::from_bits(SHIFT.to_bits().wrapping_add(exponent)) - SHIFT - 1023.0;
    // ln m = 2 artanh s.
    let s = (m - 1.0) / (m + 1.0);
    const ARTANH: [f64; 10] = {
        let mut c = [2.0; 10];
        let mut n = 1;
        while n < 10 {
            c[n] = 2.0 / (2 * n + 1) as f64;
            n += 1;
        }
        c
    };
    (e, s * horner(&ARTANH, s * s))
}

/// What every logarithm does outside 0 < x < infinity.
#[inline(always)]
fn log_limits(x: f64, value: f64) -> f64 {
    let v = if x == f64::INFINITY { x } else { value };
    let v = if x == 0.0 { f64::NEG_INFINITY } else { v };
    if x < 0.0 || x.is_nan() { f64::NAN } else { v }
}

#[inline(always)]
fn log2(x: f64) -> f64 {
    let (e, l) = log_parts(x);
    log_limits(x, e + l * LOG2_E)
}

#[inline(always)]
fn ln(x: f64) -> f64 {
    let (e, l) = log_parts(x);
    log_limits(x, e * LN_2 + l)
}

#[inline(always)]
fn log10(x: f64) -> f64 {
    let (e, l) = log_parts(x);
    log_limits(x, (e * LN_2 + l) / LN_10)
}

/// Greatest argument of [`sin_cos`]; the others are [`beyond`] it.
const TURNS: f64 = 524_288.0;

/// Sine and cosine for |x| <= `TURNS`: x less the nearest multiple of pi/2, taken in three parts of which the first two
/// have 33 bits, so that their products with the multiple are exact.
#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    const PI_2: [f64; 3] = [
        f64::from_bits(0x3ff9_21fb_5440_0000),
        f64::from_bits(0x3dd0_b461_1a60_0000),
        f64::from_bits(0x3ba3_198a_2e03_7073),
    ];
    let shifted = x * std::f64::consts::FRAC_2_PI + SHIFT;
    let n = shifted - SHIFT;
    let r = x - n * PI_2[0] - n * PI_2[1] - n * PI_2[2];
    let square = r * r;
    // x * 1 keeps the sign of -0.
    let (s, c) = (r * horner(&SIN, square), horner(&COS, square));
    let quadrant = shifted.to_bits();
    let (s, c) = if quadrant & 1 != 0 { (c, -s) } else { (s, c) };
    if quadrant & 2 != 0 { (-s, -c) } else { (s, c) }
}

/// Whether [`sin_cos`] does not reach: large, infinite or NaN.
fn beyond(x: f32) -> bool {
    x.is_nan() || x.abs() as f64 > TURNS
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let a = x.abs();
    let e = exp2(if a > 40.0 { 40.0 } else { a } * (2.0 * LOG2_E));
    let cube = x * (1.0 - x * x * (1.0 / 3.0));
    let v = 1.0 - 2.0 / (e + 1.0);
    if a < 1e-4 { cube } else { v.copysign(x) }
}

/// x^y for finite x > 0 and finite y.
#[inline(always)]
fn pow(x: f64, y: f64) -> f64 {
    let (e, l) = log_parts(x);
    exp2(y * (e + l * LOG2_E))
}

#[inline(always)]
fn each1(a: &[u32], out: &mut [u32], f: impl Fn(f64) -> f64) {
    for (d, &x) in out.iter_mut().zip(a) {
        *d = super::bits32(f(f32::from_bits(x) as f64) as f32);
    }
}

#[inline(always)]
fn each2(a: &[u32], b: &[u32], out: &mut [u32], f: impl Fn(f64, f64) -> f64) {
    for ((d, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *d = super::bits32(f(f32::from_bits(x) as f64, f32::from_bits(y) as f64) as f32);
    }
}

/// Redoes lanes that the loop does not cover.
#[inline(always)]
fn repair(mask: u64, a: &[u32], needs: impl Fn(usize) -> bool, mut redo: impl FnMut(usize)) {
    for i in 0..a.len() {
        if mask >> i & 1 != 0 && needs(i) {
            redo(i);
        }
    }
}

/// Applies `function` to all lanes if it is one of these; `mask` has those that matter.
#[inline(always)]
fn apply(function: MathFn, mask: u64, a: &[u32], b: &[u32], first: &mut [u32], second: &mut [u32]) -> bool {
    use MathFn as F;
    let large = |i: usize| beyond(f32::from_bits(a[i]));
    match function {
        F::Exp | F::HalfExp | F::NativeExp => each1(a, first, |x| exp2(x * LOG2_E)),
        F::Exp2 | F::HalfExp2 | F::NativeExp2 => each1(a, first, exp2),
        F::Exp10 | F::HalfExp10 | F::NativeExp10 => each1(a, first, |x| exp2(x * LOG2_10)),
        F::Log | F::HalfLog | F::NativeLog => each1(a, first, ln),
        F::Log2 | F::HalfLog2 | F::NativeLog2 => each1(a, first, log2),
        F::Log10 | F::HalfLog10 | F::NativeLog10 => each1(a, first, log10),
        F::Rsqrt | F::HalfRsqrt | F::NativeRsqrt => each1(a, first, |x| 1.0 / x.sqrt()),
        F::Tanh => each1(a, first, tanh),
        F::Sin | F::HalfSin | F::NativeSin => {
            each1(a, first, |x| sin_cos(x).0);
            repair(mask, a, large, |i| first[i] = scalar(function, a[i], 0).0);
        }
        F::Cos | F::HalfCos | F::NativeCos => {
            each1(a, first, |x| sin_cos(x).1);
            repair(mask, a, large, |i| first[i] = scalar(function, a[i], 0).0);
        }
        F::SinCos => {
            each1(a, first, |x| sin_cos(x).0);
            each1(a, second, |x| sin_cos(x).1);
            repair(mask, a, large, |i| (first[i], second[i]) = scalar(function, a[i], 0));
        }
        F::Tan | F::HalfTan | F::NativeTan => {
            each1(a, first, |x| {
                let (s, c) = sin_cos(x);
                s / c
            });
            repair(mask, a, large, |i| first[i] = scalar(function, a[i], 0).0);
        }
        F::Pow | F::Powr | F::HalfPowr | F::NativePowr => {
            each2(a, b, first, pow);
            let ordinary = |v: u32| v.wrapping_sub(1) < 0x7f7f_ffff;
            let special = |i: usize| !(ordinary(a[i]) && ordinary(b[i] & 0x7fff_ffff));
            repair(mask, a, special, |i| first[i] = scalar(function, a[i], b[i]).0);
        }
        _ => return false,
    }
    true
}

#[cold]
#[inline(never)]
fn scalar(function: MathFn, a: u32, b: u32) -> (u32, u32) {
    let (x, y) = super::math_value(function, Ty::F32, a as u64, b as u64, 0);
    (x as u32, y as u32)
}

/// [`apply`] compiled for what the host offers.
pub(super) fn lanes(function: MathFn, mask: u64, a: &[u32], b: &[u32], first: &mut [u32], second: &mut [u32]) -> bool {
    match HostLevel::best() {
        HostLevel::Base => apply(function, mask, a, b, first, second),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the host has this level.
        HostLevel::Avx2 => unsafe { apply_avx2(function, mask, a, b, first, second) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the host has this level.
        HostLevel::Avx512 => unsafe { apply_avx512(function, mask, a, b, first, second) },
    }
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn apply_avx2(f: MathFn, mask: u64, a: &[u32], b: &[u32], first: &mut [u32], second: &mut [u32]) -> bool {
    apply(f, mask, a, b, first, second)
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn apply_avx512(f: MathFn, mask: u64, a: &[u32], b: &[u32], first: &mut [u32], second: &mut [u32]) -> bool {
    apply(f, mask, a, b, first, second)
}
