//! Built-in functions: OpenCL.std mathematics and integer functions, in Rust alone, so that results are the same on
//! every host. Precision: OpenCL C 7.4; special cases: OpenCL C 7.5.1 and C99 annex F.9.
mod double;
mod exact;
mod integer;
mod shape;
mod single;

pub use integer::int_fn;
pub use shape::Shape;

use crate::exec::half::{from_f64, to_f32};
use crate::ops::{MathFn, Rounding, Ty};
use exact::Real;

const NAN16: u64 = 0x7e00;
const NAN32: u64 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// Bits of a single, NaN in its canonical form.
#[inline(always)]
fn bits32(v: f32) -> u32 {
    if v.is_nan() { NAN32 as u32 } else { v.to_bits() }
}

/// Applies `function` in single precision to the lanes in `mask`. Values are bit patterns.
pub fn math32<const W: usize>(
    function: MathFn,
    mask: u64,
    [a, b, c]: [&[u32; W]; 3],
    [first, second]: [&mut [u32; W]; 2],
) {
    if single::lanes(function, mask, a, b, first, second) {
        return;
    }
    for i in (0..W).filter(|i| mask >> i & 1 != 0) {
        let (x, y) = single(function, a[i], b[i], c[i]);
        (first[i], second[i]) = (x as u32, y as u32);
    }
}

/// Applies `function` at type `ty` to one set of arguments.
pub fn math_value(function: MathFn, ty: Ty, a: u64, b: u64, c: u64) -> (u64, u64) {
    match ty {
        Ty::F16 => half(function, a as u32, b as u32, c as u32),
        Ty::F64 => double(function, a, b, c),
        Ty::F32
        | Ty::Bool
        | Ty::I8
        | Ty::I16
        | Ty::I32
        | Ty::I64
        | Ty::PtrGlobal
        | Ty::PtrConstant
        | Ty::PtrGeneric
        | Ty::PtrLocal
        | Ty::PtrPrivate => single(function, a as u32, b as u32, c as u32),
    }
}

fn double(function: MathFn, a: u64, b: u64, c: u64) -> (u64, u64) {
    let bits = |v: f64| if v.is_nan() { NAN64 } else { v.to_bits() };
    if let Some(r) = exact::exact(function, f64::from_bits(a), f64::from_bits(b), f64::from_bits(c), b as i32, a) {
        return r.map(bits);
    }
    let (x, y) = double::approximate(function, f64::from_bits(a), f64::from_bits(b), b as i32);
    (bits(x), second_bits(function, y, bits))
}

fn single(function: MathFn, a: u32, b: u32, c: u32) -> (u64, u64) {
    let [x, y, z] = [a, b, c].map(f32::from_bits);
    let bits = |v: f32| if v.is_nan() { NAN32 } else { v.to_bits() as u64 };
    if let Some(r) = exact::exact(function, x, y, z, b as i32, a as u64) {
        return r.map(bits);
    }
    let (x, y) = double::approximate(function, x as f64, y as f64, b as i32);
    let bits = |v: f64| bits(v as f32);
    (bits(x), second_bits(function, y, bits))
}

fn half(function: MathFn, a: u32, b: u32, c: u32) -> (u64, u64) {
    let bits = |v: f64| if v.is_nan() { NAN16 } else { from_f64(v, Rounding::NearestEven) as u64 };
    if let Some(r) = exact::exact_half(function, a, b, c) {
        return r;
    }
    let (x, y) = double::approximate(function, to_f32(a) as f64, to_f32(b) as f64, b as i32);
    (bits(x), second_bits(function, y, bits))
}

/// A second result: an integer's bits where the function has one there.
fn second_bits(function: MathFn, y: f64, bits: impl Fn(f64) -> u64) -> u64 {
    if Shape::of(function).integer_second { y as i32 as u32 as u64 } else { bits(y) }
}

/// Results of functions that are exact or correctly rounded in their own type.
enum Exact<T> {
    One(T),
    Two(T, T),
    Integer(i32),
    WithInteger(T, i32),
    Bits(u64),
}

impl<T: Real> Exact<T> {
    fn map(self, bits: impl Fn(T) -> u64) -> (u64, u64) {
        match self {
            Exact::One(x) => (bits(x), 0),
            Exact::Two(x, y) => (bits(x), bits(y)),
            Exact::Integer(n) => (n as u32 as u64, 0),
            Exact::WithInteger(x, n) => (bits(x), n as u32 as u64),
            Exact::Bits(b) => (b, 0),
        }
    }
}
