//! Functions that are exact or correctly rounded in their own type, for singles and doubles by one trait.
use super::Exact;
use crate::exec::float::{round32, round64};
use crate::exec::half::{from_f32, to_f32};
use crate::ops::{MathFn, Rounding};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Single or double.
pub(super) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    const NAN: Self;
    /// Greatest value below 1.
    const BELOW_ONE: Self;
    const SMALLEST_NORMAL: Self;
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    fn absolute(self) -> Self;
    fn sign_of(self, from: Self) -> Self;
    fn negative(self) -> bool;
    fn nan(self) -> bool;
    fn round(self, mode: Rounding) -> Self;
    fn up(self) -> Self;
    fn down(self) -> Self;
    /// Quiet NaN with this payload.
    fn nan_with(code: u64) -> u64;
}

macro_rules! real {
    ($t:ident, $round:ident, $quiet:literal) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = $t::INFINITY;
            const NAN: Self = $t::NAN;
            const BELOW_ONE: Self = 1.0 - $t::EPSILON / 2.0;
            const SMALLEST_NORMAL: Self = $t::MIN_POSITIVE;
            fn of(x: f64) -> Self {
                x as $t
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn absolute(self) -> Self {
                self.abs()
            }
            fn sign_of(self, from: Self) -> Self {
                self.copysign(from)
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn nan(self) -> bool {
                self.is_nan()
            }
            fn round(self, mode: Rounding) -> Self {
                $round(self, mode)
            }
            fn up(self) -> Self {
                self.next_up()
            }
            fn down(self) -> Self {
                self.next_down()
            }
            fn nan_with(code: u64) -> u64 {
                code & ($quiet - 1) | $quiet | (Self::INFINITY.to_bits() as u64)
            }
        }
    };
}

real!(f32, round32, 0x40_0000u64);
real!(f64, round64, 0x8_0000_0000_0000u64);

const ILOGB_0: i32 = i32::MIN;
const ILOGB_NAN: i32 = i32::MAX;

/// Exponent of a finite value other than 0, subnormals as if normalised.
fn exponent(x: f64) -> i32 {
    let (_, e) = libm::frexp(x);
    e - 1
}

fn larger<T: Real>(a: T, b: T) -> T {
    let most = if a > b || b.nan() { a } else { b };
    if a == b && a.negative() { b } else { most }
}

fn smaller<T: Real>(a: T, b: T) -> T {
    let least = if a < b || b.nan() { a } else { b };
    if a == b && b.negative() { b } else { least }
}

fn next_after<T: Real>(x: T, y: T) -> T {
    if x.nan() || y.nan() {
        T::NAN
    } else if x == y {
        y
    } else if y > x {
        x.up()
    } else {
        x.down()
    }
}

/// x - floor(x), below 1; and floor(x).
fn fract<T: Real>(x: T) -> Exact<T> {
    if x.nan() || x == T::ZERO {
        return Exact::Two(x, x);
    }
    if x.absolute() == T::INFINITY {
        return Exact::Two(T::ZERO.sign_of(x), x);
    }
    let floor = x.round(Rounding::Down);
    let rest = x - floor;
    Exact::Two(if rest < T::BELOW_ONE { rest } else { T::BELOW_ONE }, floor)
}

fn modf<T: Real>(x: T) -> Exact<T> {
    if x.absolute() == T::INFINITY {
        return Exact::Two(T::ZERO.sign_of(x), x);
    }
    let whole = x.round(Rounding::Zero);
    Exact::Two((x - whole).sign_of(x), whole)
}

fn smooth_step<T: Real>(low: T, high: T, x: T) -> T {
    let t = (x - low) / (high - low);
    let t = smaller(larger(t, T::ZERO), T::ONE);
    t * t * (T::of(3.0) - T::of(2.0) * t)
}

fn sign<T: Real>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        -T::ONE
    } else if x.nan() {
        T::ZERO
    } else {
        x
    }
}

/// x reduced by y (remainder, remquo): the rest and seven low bits of the quotient with its sign.
pub(super) fn remainder(x: f64, y: f64) -> (f64, i32) {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (f64::NAN, 0);
    }
    let (rest, quotient) = libm::remquo(x, y);
    let seven = (quotient.unsigned_abs() & 0x7f) as i32;
    (rest, if (x < 0.0) != (y < 0.0) { -seven } else { seven })
}

/// The functions of this kind; `None` for the others. `n` is the integer argument, `bits` the first argument's bits.
pub(super) fn exact<T: Real>(function: MathFn, x: T, y: T, z: T, n: i32, bits: u64) -> Option<Exact<T>> {
    use MathFn as F;
    Some(match function {
        F::CopySign => Exact::One(x.sign_of(y)),
        F::Fdim => Exact::One(if x.nan() || y.nan() {
            T::NAN
        } else if x > y {
            x - y
        } else {
            T::ZERO
        }),
        F::Fract => fract(x),
        F::Frexp if x == T::ZERO || x.nan() || x.absolute() == T::INFINITY => Exact::WithInteger(x, 0),
        F::Frexp => {
            let (m, e) = libm::frexp(x.wide());
            Exact::WithInteger(T::of(m), e)
        }
        F::Ilogb if x.nan() || x.absolute() == T::INFINITY => Exact::Integer(ILOGB_NAN),
        F::Ilogb if x == T::ZERO => Exact::Integer(ILOGB_0),
        F::Ilogb => Exact::Integer(exponent(x.wide())),
        // In double a power of two scales exactly, unless the double itself underflows; libm rounds that once.
        F::Ldexp => Exact::One(T::of(libm::ldexp(x.wide(), n))),
        F::Logb if x == T::ZERO => Exact::One(-T::INFINITY),
        F::Logb if x.absolute() == T::INFINITY => Exact::One(T::INFINITY),
        F::Logb if x.nan() => Exact::One(x),
        F::Logb => Exact::One(T::of(exponent(x.wide()) as f64)),
        F::MaxMag => Exact::One(if x.absolute() > y.absolute() {
            x
        } else if y.absolute() > x.absolute() {
            y
        } else {
            larger(x, y)
        }),
        F::MinMag => Exact::One(if x.absolute() < y.absolute() {
            x
        } else if y.absolute() < x.absolute() {
            y
        } else {
            smaller(x, y)
        }),
        F::Modf => modf(x),
        F::Nan => Exact::Bits(T::nan_with(bits)),
        F::NextAfter => Exact::One(next_after(x, y)),
        F::Remainder => Exact::One(T::of(remainder(x.wide(), y.wide()).0)),
        F::Remquo => {
            let (rest, quotient) = remainder(x.wide(), y.wide());
            Exact::WithInteger(T::of(rest), quotient)
        }
        F::HalfDivide | F::NativeDivide => Exact::One(x / y),
        F::HalfRecip | F::NativeRecip => Exact::One(T::ONE / x),
        F::HalfSqrt | F::NativeSqrt => Exact::One(T::of(x.wide().sqrt())),
        F::Degrees => Exact::One(T::of(x.wide() * (180.0 / std::f64::consts::PI))),
        F::Radians => Exact::One(T::of(x.wide() * (std::f64::consts::PI / 180.0))),
        F::Mix => Exact::One(x + (y - x) * z),
        F::Step => Exact::One(if y < x { T::ZERO } else { T::ONE }),
        F::SmoothStep => Exact::One(smooth_step(x, y, z)),
        F::Sign => Exact::One(sign(x)),
        F::IsFinite => Exact::Integer((x.absolute() < T::INFINITY) as i32),
        F::IsInf => Exact::Integer((x.absolute() == T::INFINITY) as i32),
        F::IsNan => Exact::Integer(x.nan() as i32),
        F::IsNormal => Exact::Integer((x.absolute() >= T::SMALLEST_NORMAL && x.absolute() < T::INFINITY) as i32),
        F::SignBit => Exact::Integer(x.negative() as i32),
        _ => return None,
    })
}

/// As [`exact`] for halves: by way of singles, which hold every half and round back once; except where neighbours or
/// limits are the type's own.
pub(super) fn exact_half(function: MathFn, a: u32, b: u32, c: u32) -> Option<(u64, u64)> {
    use MathFn as F;
    let (x, y) = (to_f32(a), to_f32(b));
    let back = |v: f32| from_f32(v) as u64;
    Some(match function {
        F::CopySign => ((a & 0x7fff | b & 0x8000) as u64, 0),
        F::Nan => ((a & 0x1ff | 0x7e00) as u64, 0),
        F::IsNormal => (((a & 0x7fff) >= 0x400 && (a & 0x7fff) < 0x7c00) as u64, 0),
        F::NextAfter => {
            if x.is_nan() || y.is_nan() {
                (0x7e00, 0)
            } else if x == y {
                (b as u64, 0)
            } else if x == 0.0 {
                (if y > 0.0 { 1 } else { 0x8001 }, 0)
            } else {
                // Patterns rise with the magnitude.
                let away = (y > x) == (x > 0.0);
                ((if away { a + 1 } else { a - 1 }) as u64, 0)
            }
        }
        F::Fract => {
            let (rest, floor) = fract(x).map(|v| v.to_bits() as u64);
            let rest = back(f32::from_bits(rest as u32));
            // Rounding up to 1 is cut to the greatest half below.
            (if rest == 0x3c00 { 0x3bff } else { rest }, back(f32::from_bits(floor as u32)))
        }
        _ => exact(function, x, y, to_f32(c), b as i32, a as u64)?.map(back),
    })
}
