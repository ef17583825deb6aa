//! Approximated functions in double precision.
use crate::ops::MathFn;

const PI: f64 = std::f64::consts::PI;

/// Applies `function`; the second result is 0 where there is none. `n` is the integer argument.
pub(super) fn approximate(function: MathFn, x: f64, y: f64, n: i32) -> (f64, f64) {
    use MathFn as F;
    let first = match function {
        F::Acos => libm::acos(x),
        F::Acosh => libm::acosh(x),
        F::Acospi => libm::acos(x) / PI,
        F::Asin => libm::asin(x),
        F::Asinh => libm::asinh(x),
        F::Asinpi => libm::asin(x) / PI,
        F::Atan => libm::atan(x),
        F::Atan2 => libm::atan2(x, y),
        F::Atanh => libm::atanh(x),
        F::Atanpi => libm::atan(x) / PI,
        F::Atan2pi => libm::atan2(x, y) / PI,
        F::Cbrt => libm::cbrt(x),
        F::Cos | F::HalfCos | F::NativeCos => libm::cos(x),
        F::Cosh => libm::cosh(x),
        F::Cospi => cos_pi(x),
        F::Erfc => libm::erfc(x),
        F::Erf => libm::erf(x),
        F::Exp | F::HalfExp | F::NativeExp => libm::exp(x),
        F::Exp2 | F::HalfExp2 | F::NativeExp2 => libm::exp2(x),
        F::Exp10 | F::HalfExp10 | F::NativeExp10 => libm::exp10(x),
        F::Expm1 => libm::expm1(x),
        F::Hypot => libm::hypot(x, y),
        F::Lgamma => libm::lgamma(x),
        F::LgammaR => {
            let (value, sign) = libm::lgamma_r(x);
            let pole = x <= 0.0 && x == libm::floor(x);
            return (value, if pole { 0.0 } else { sign as f64 });
        }
        F::Log | F::HalfLog | F::NativeLog => libm::log(x),
        F::Log2 | F::HalfLog2 | F::NativeLog2 => libm::log2(x),
        F::Log10 | F::HalfLog10 | F::NativeLog10 => libm::log10(x),
        F::Log1p => libm::log1p(x),
        F::Pow => libm::pow(x, y),
        F::Pown => libm::pow(x, n as f64),
        F::Powr | F::HalfPowr | F::NativePowr => powr(x, y),
        F::Rootn => rootn(x, n),
        F::Rsqrt | F::HalfRsqrt | F::NativeRsqrt => 1.0 / x.sqrt(),
        F::Sin | F::HalfSin | F::NativeSin => libm::sin(x),
        F::SinCos => return (libm::sin(x), libm::cos(x)),
        F::Sinh => libm::sinh(x),
        F::Sinpi => sin_pi(x),
        F::Tan | F::HalfTan | F::NativeTan => libm::tan(x),
        F::Tanh => libm::tanh(x),
        F::Tanpi => tan_pi(x),
        F::Tgamma => libm::tgamma(x),
        F::CopySign
        | F::Fdim
        | F::Fract
        | F::Frexp
        | F::Ilogb
        | F::Ldexp
        | F::Logb
        | F::MaxMag
        | F::MinMag
        | F::Modf
        | F::Nan
        | F::NextAfter
        | F::Remainder
        | F::Remquo
        | F::HalfDivide
        | F::HalfRecip
        | F::HalfSqrt
        | F::NativeDivide
        | F::NativeRecip
        | F::NativeSqrt
        | F::Degrees
        | F::Radians
        | F::Mix
        | F::Step
        | F::SmoothStep
        | F::Sign
        | F::IsFinite
        | F::IsInf
        | F::IsNan
        | F::IsNormal
        | F::SignBit => unreachable!("{} is computed in its own type", function.name()),
    };
    (first, 0.0)
}

/// x = q / 2 + r with |r| <= 1/4 and q modulo 4; exact.
fn quarter_turns(x: f64) -> (f64, i32) {
    let r = libm::fmod(x, 2.0);
    let q = libm::rint(r * 2.0);
    (r - q * 0.5, (q as i32) & 3)
}

fn sin_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = quarter_turns(x);
    if r == 0.0 && q & 1 == 0 {
        return 0f64.copysign(x);
    }
    match q {
        0 => libm::sin(PI * r),
        1 => libm::cos(PI * r),
        2 => -libm::sin(PI * r),
        _ => -libm::cos(PI * r),
    }
}

fn cos_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = quarter_turns(x);
    match q {
        0 => libm::cos(PI * r),
        1 if r == 0.0 => 0.0,
        1 => -libm::sin(PI * r),
        2 => -libm::cos(PI * r),
        _ if r == 0.0 => 0.0,
        _ => libm::sin(PI * r),
    }
}

/// tanpi(n) is copysign(0, n) for even and copysign(0, -n) for odd n; tanpi(n + 0.5) is +-infinity for even, odd n.
fn tan_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = quarter_turns(x);
    if r != 0.0 {
        return if q & 1 == 0 { libm::tan(PI * r) } else { -1.0 / libm::tan(PI * r) };
    }
    match q {
        0 => 0f64.copysign(x),
        1 => f64::INFINITY,
        2 => -0f64.copysign(x),
        _ => f64::NEG_INFINITY,
    }
}

/// x^y for x >= 0 (OpenCL C 7.5.1): unlike pow, 0^0, infinity^0 and 1^infinity are NaN.
fn powr(x: f64, y: f64) -> f64 {
    if x < 0.0 || x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if y == 0.0 && (x == 0.0 || x == f64::INFINITY) || x == 1.0 && y.is_infinite() {
        return f64::NAN;
    }
    libm::pow(x.abs(), y)
}

/// x^(1/n).
fn rootn(x: f64, n: i32) -> f64 {
    if n == 0 || x < 0.0 && n & 1 == 0 {
        return f64::NAN;
    }
    if x == 0.0 {
        let magnitude = if n < 0 { f64::INFINITY } else { 0.0 };
        return if n & 1 == 1 { magnitude.copysign(x) } else { magnitude };
    }
    if n == 1 {
        return x;
    }
    if !x.is_finite() {
        return libm::pow(x.abs(), 1.0 / n as f64).copysign(x);
    }
    // 1/n is not exact: x^(y + d) = x^y (1 + d ln x) with d = (1 - n y) / n.
    let y = 1.0 / n as f64;
    let d = libm::fma(-y, n as f64, 1.0) / n as f64;
    let root = libm::pow(x.abs(), y);
    (root + root * (d * libm::log(x.abs()))).copysign(x)
}
