//! Special cases of math built-ins: OpenCL C 7.5.1 and C99 F.9, exact in every precision, alone and in lanes.
use warpscope_exec::builtins::{Shape, math_value, math32};
use warpscope_exec::ops::{Conversion, MathFn, Rounding, Ty};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn named(name: &str) -> MathFn {
    *MathFn::ALL.iter().find(|f| f.name() == name).unwrap_or_else(|| panic!("no function {name}"))
}

/// Bits of a value that every type holds.
fn bits(ty: Ty, v: f64) -> u64 {
    match ty {
        Ty::F64 => v.to_bits(),
        Ty::F32 => (v as f32).to_bits() as u64,
        _ => half::f16::from_f64(v).to_bits() as u64,
    }
}

fn value(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F64 => f64::from_bits(bits),
        Ty::F32 => f32::from_bits(bits as u32) as f64,
        _ => half::f16::from_bits(bits as u16).to_f64(),
    }
}

fn same(got: f64, expected: f64) -> bool {
    got.is_nan() && expected.is_nan() || got == expected && got.is_sign_negative() == expected.is_sign_negative()
}

/// Checks name(x, y) = (first, second) at all types.
fn check(name: &str, x: f64, y: f64, first: f64, second: Option<f64>) {
    let function = named(name);
    let shape = Shape::of(function);
    for ty in [Ty::F16, Ty::F32, Ty::F64] {
        let (a, b) = (bits(ty, x), if shape.integer_argument { y as i32 as u32 as u64 } else { bits(ty, y) });
        let mut got = vec![math_value(function, ty, a, b, 0)];
        if ty == Ty::F32 {
            let (mut r, mut s) = ([0; 8], [0; 8]);
            math32(function, 0xff, [&[a as u32; 8], &[b as u32; 8], &[0; 8]], [&mut r, &mut s]);
            got.push((r[5] as u64, s[5] as u64));
        }
        for (r, s) in got {
            let r = if shape.integer_result { r as u32 as i32 as f64 } else { value(ty, r) };
            assert!(same(r, first), "{name}({x:?}, {y:?}) at {ty:?} is {r:?}, not {first:?}");
            if let Some(second) = second {
                let s = if shape.integer_second { s as u32 as i32 as f64 } else { value(ty, s) };
                assert!(same(s, second), "{name}({x:?}, {y:?}) at {ty:?} gives {s:?} second, not {second:?}");
            }
        }
    }
}

#[test]
fn one_argument() {
    let cases: &[(&str, &[(f64, f64)])] = &[
        ("acos", &[(1.0, 0.0), (1.5, NAN), (-2.0, NAN)]),
        ("acosh", &[(1.0, 0.0), (0.5, NAN), (INF, INF)]),
        ("acospi", &[(1.0, 0.0), (1.5, NAN), (-1.0, 1.0), (0.0, 0.5), (-INF, NAN)]),
        ("asin", &[(0.0, 0.0), (-0.0, -0.0), (1.25, NAN)]),
        ("asinh", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        ("asinpi", &[(0.0, 0.0), (-0.0, -0.0), (1.0, 0.5), (-1.0, -0.5), (-1.5, NAN)]),
        ("atan", &[(0.0, 0.0), (-0.0, -0.0)]),
        ("atanh", &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN)]),
        ("atanpi", &[(0.0, 0.0), (-0.0, -0.0), (INF, 0.5), (-INF, -0.5), (1.0, 0.25)]),
        ("cbrt", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (27.0, 3.0), (-8.0, -2.0)]),
        ("cos", &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)]),
        ("cosh", &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF)]),
        (
            "cospi",
            &[
                (0.0, 1.0),
                (-0.0, 1.0),
                (0.5, 0.0),
                (-0.5, 0.0),
                (1.5, 0.0),
                (-7.5, 0.0),
                (1.0, -1.0),
                (2.0, 1.0),
                (INF, NAN),
            ],
        ),
        ("erf", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
        ("erfc", &[(INF, 0.0), (-INF, 2.0), (0.0, 1.0)]),
        ("exp", &[(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (INF, INF)]),
        ("exp2", &[(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (INF, INF), (10.0, 1024.0), (-14.0, 0.00006103515625)]),
        ("exp10", &[(0.0, 1.0), (-INF, 0.0), (INF, INF), (3.0, 1000.0)]),
        ("expm1", &[(0.0, 0.0), (-0.0, -0.0), (-INF, -1.0), (INF, INF)]),
        ("log", &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (-INF, NAN)]),
        ("log2", &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (8.0, 3.0), (0.25, -2.0)]),
        ("log10", &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (1000.0, 3.0)]),
        ("log1p", &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-1.5, NAN), (INF, INF)]),
        ("logb", &[(0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, INF), (6.0, 2.0), (-0.25, -2.0)]),
        ("ilogb", &[(0.0, i32::MIN as f64), (INF, i32::MAX as f64), (NAN, i32::MAX as f64), (6.0, 2.0)]),
        ("lgamma", &[(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF)]),
        ("tgamma", &[(0.0, INF), (-0.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF), (5.0, 24.0)]),
        ("rsqrt", &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (4.0, 0.5)]),
        ("sin", &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN)]),
        ("sinh", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        (
            "sinpi",
            &[(0.0, 0.0), (-0.0, -0.0), (3.0, 0.0), (-3.0, -0.0), (4.0, 0.0), (-2.0, -0.0), (0.5, 1.0), (INF, NAN)],
        ),
        ("tan", &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN)]),
        ("tanh", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
        (
            "tanpi",
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (1.0, -0.0),
                (-1.0, 0.0),
                (2.0, 0.0),
                (-2.0, -0.0),
                (0.5, INF),
                (1.5, -INF),
                (-0.5, -INF),
                (-1.5, INF),
                (INF, NAN),
            ],
        ),
        ("sign", &[(0.0, 0.0), (-0.0, -0.0), (-7.0, -1.0), (INF, 1.0), (NAN, 0.0)]),
        ("isfinite", &[(1.0, 1.0), (INF, 0.0), (NAN, 0.0)]),
        ("isinf", &[(1.0, 0.0), (-INF, 1.0), (NAN, 0.0)]),
        ("isnan", &[(1.0, 0.0), (-INF, 0.0), (NAN, 1.0)]),
        ("isnormal", &[(1.0, 1.0), (0.0, 0.0), (-INF, 0.0), (NAN, 0.0)]),
        ("signbit", &[(1.0, 0.0), (-0.0, 1.0), (-INF, 1.0)]),
        ("half_exp", &[(0.0, 1.0), (-INF, 0.0), (INF, INF)]),
        ("half_recip", &[(4.0, 0.25), (0.0, INF), (-0.0, -INF), (INF, 0.0)]),
        ("native_sqrt", &[(4.0, 2.0), (-0.0, -0.0), (-1.0, NAN)]),
    ];
    for &(name, cases) in cases {
        for &(x, expected) in cases {
            check(name, x, 0.0, expected, None);
        }
        // Every function of one argument returns a NaN for a NaN, those of truth and sign apart.
        if !name.starts_with("is") && !matches!(name, "sign" | "signbit" | "ilogb") {
            check(name, NAN, 0.0, NAN, None);
        }
    }
}

/// A function and its (x, y, value).
type Cases = &'static [(f64, f64, f64)];

#[test]
fn two_arguments() {
    let cases: &[(&str, Cases)] = &[
        (
            "atan2pi",
            &[
                (0.0, -0.0, 1.0),
                (-0.0, -0.0, -1.0),
                (0.0, 0.0, 0.0),
                (-0.0, 0.0, -0.0),
                (0.0, -2.0, 1.0),
                (-0.0, -2.0, -1.0),
                (0.0, 2.0, 0.0),
                (-0.0, 2.0, -0.0),
                (-3.0, 0.0, -0.5),
                (3.0, -0.0, 0.5),
                (3.0, -INF, 1.0),
                (-3.0, -INF, -1.0),
                (3.0, INF, 0.0),
                (-3.0, INF, -0.0),
                (INF, 2.0, 0.5),
                (-INF, -INF, -0.75),
                (INF, INF, 0.25),
            ],
        ),
        ("atan2", &[(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, 2.0, 0.0), (-0.0, INF, -0.0), (NAN, 1.0, NAN)]),
        (
            "fdim",
            &[(5.0, 3.0, 2.0), (3.0, 5.0, 0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, INF, 0.0), (INF, -INF, INF)],
        ),
        ("hypot", &[(3.0, 4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF), (0.0, -2.0, 2.0), (NAN, 0.0, NAN)]),
        ("copysign", &[(1.0, -0.0, -1.0), (-INF, 2.0, INF)]),
        ("maxmag", &[(1.0, -3.0, -3.0), (-2.0, 2.0, 2.0), (NAN, 1.0, 1.0), (1.0, NAN, 1.0)]),
        ("minmag", &[(1.0, -3.0, 1.0), (-2.0, 2.0, -2.0), (NAN, 1.0, 1.0), (1.0, NAN, 1.0)]),
        ("nextafter", &[(1.0, 1.0, 1.0), (0.0, -0.0, -0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, INF, INF)]),
        (
            "pow",
            &[
                (0.0, -INF, INF),
                (-0.0, -INF, INF),
                (0.0, -3.0, INF),
                (-0.0, -3.0, -INF),
                (-0.0, -2.0, INF),
                (-0.0, 3.0, -0.0),
                (0.0, 3.0, 0.0),
                (-0.0, 2.0, 0.0),
                (-1.0, INF, 1.0),
                (-1.0, -INF, 1.0),
                (1.0, NAN, 1.0),
                (1.0, -INF, 1.0),
                (NAN, 0.0, 1.0),
                (INF, -0.0, 1.0),
                (-2.0, 0.5, NAN),
                (0.5, -INF, INF),
                (2.0, -INF, 0.0),
                (0.5, INF, 0.0),
                (-2.0, INF, INF),
                (-INF, -3.0, -0.0),
                (-INF, -2.0, 0.0),
                (-INF, 3.0, -INF),
                (-INF, 2.0, INF),
                (INF, -1.0, 0.0),
                (INF, 1.0, INF),
                (NAN, 1.0, NAN),
                (-2.0, 3.0, -8.0),
                (2.0, -1.0, 0.5),
            ],
        ),
        (
            "pown",
            &[
                (NAN, 0.0, 1.0),
                (0.0, 0.0, 1.0),
                (-INF, 0.0, 1.0),
                (0.0, -3.0, INF),
                (-0.0, -3.0, -INF),
                (-0.0, -4.0, INF),
                (-0.0, 4.0, 0.0),
                (-0.0, 3.0, -0.0),
                (-3.0, 3.0, -27.0),
            ],
        ),
        (
            "powr",
            &[
                (3.0, 0.0, 1.0),
                (3.0, -0.0, 1.0),
                (0.0, -2.0, INF),
                (-0.0, -3.0, INF),
                (0.0, -INF, INF),
                (0.0, 2.0, 0.0),
                (-0.0, 3.0, 0.0),
                (1.0, 3.0, 1.0),
                (-1.0, 2.0, NAN),
                (0.0, 0.0, NAN),
                (-0.0, -0.0, NAN),
                (INF, 0.0, NAN),
                (1.0, INF, NAN),
                (1.0, -INF, NAN),
                (2.0, NAN, NAN),
                (NAN, 2.0, NAN),
                (NAN, 0.0, NAN),
            ],
        ),
        (
            "remainder",
            &[
                (5.0, 3.0, -1.0),
                (0.0, 3.0, 0.0),
                (-0.0, 3.0, -0.0),
                (5.0, 0.0, NAN),
                (INF, 1.0, NAN),
                (5.0, INF, 5.0),
                (2.0, NAN, NAN),
            ],
        ),
        (
            "rootn",
            &[
                (0.0, -3.0, INF),
                (-0.0, -3.0, -INF),
                (-0.0, -2.0, INF),
                (-0.0, 2.0, 0.0),
                (-0.0, 3.0, -0.0),
                (-4.0, 2.0, NAN),
                (4.0, 0.0, NAN),
                (-8.0, 3.0, -2.0),
                (16.0, 4.0, 2.0),
                (INF, 3.0, INF),
                (-INF, 3.0, -INF),
                (INF, -2.0, 0.0),
                (-INF, -3.0, -0.0),
                (-INF, 2.0, NAN),
                (7.0, 1.0, 7.0),
            ],
        ),
        (
            "ldexp",
            &[
                (0.75, 3.0, 6.0),
                (-0.0, 5.0, -0.0),
                (INF, -100.0, INF),
                (1.0, 5000.0, INF),
                (-1.0, -5000.0, -0.0),
                (1.0, 2147483647.0, INF),
            ],
        ),
        ("step", &[(2.0, 1.0, 0.0), (2.0, 2.0, 1.0), (2.0, 3.0, 1.0)]),
        ("half_divide", &[(6.0, 3.0, 2.0), (1.0, 0.0, INF), (0.0, 0.0, NAN)]),
    ];
    for &(name, cases) in cases {
        for &(x, y, expected) in cases {
            check(name, x, y, expected, None);
        }
    }
}

#[test]
fn two_results() {
    let cases = [
        ("fract", 1.75, 0.0, 0.75, 1.0),
        ("fract", -0.25, 0.0, 0.75, -1.0),
        ("fract", 0.0, 0.0, 0.0, 0.0),
        ("fract", -0.0, 0.0, -0.0, -0.0),
        ("fract", -3.0, 0.0, 0.0, -3.0),
        ("fract", INF, 0.0, 0.0, INF),
        ("fract", -INF, 0.0, -0.0, -INF),
        ("fract", NAN, 0.0, NAN, NAN),
        ("frexp", 6.0, 0.0, 0.75, 3.0),
        ("frexp", -0.0, 0.0, -0.0, 0.0),
        ("frexp", -INF, 0.0, -INF, 0.0),
        ("frexp", NAN, 0.0, NAN, 0.0),
        ("modf", -1.75, 0.0, -0.75, -1.0),
        ("modf", -3.0, 0.0, -0.0, -3.0),
        ("modf", -INF, 0.0, -0.0, -INF),
        ("modf", NAN, 0.0, NAN, NAN),
        ("lgamma_r", 0.0, 0.0, INF, 0.0),
        ("lgamma_r", -0.0, 0.0, INF, 0.0),
        ("lgamma_r", -3.0, 0.0, INF, 0.0),
        ("lgamma_r", 1.0, 0.0, 0.0, 1.0),
        ("sincos", 0.0, 0.0, 0.0, 1.0),
        ("sincos", -0.0, 0.0, -0.0, 1.0),
        ("sincos", INF, 0.0, NAN, NAN),
        ("remquo", 5.0, 3.0, -1.0, 2.0),
        ("remquo", -5.0, 3.0, 1.0, -2.0),
        ("remquo", 5.0, -3.0, -1.0, -2.0),
        ("remquo", 300.0, 1.0, 0.0, 44.0),
        ("remquo", -300.0, 1.0, -0.0, -44.0),
        ("remquo", INF, 1.0, NAN, 0.0),
        ("remquo", 1.0, 0.0, NAN, 0.0),
        ("remquo", NAN, 1.0, NAN, 0.0),
        ("remquo", 1.0, NAN, NAN, 0.0),
    ];
    for (name, x, y, first, second) in cases {
        check(name, x, y, first, Some(second));
    }
}

/// fract stays below 1, nextafter steps by one pattern, NaN codes are kept quiet.
#[test]
fn limits_of_each_type() {
    for (ty, one, smallest, sign) in [
        (Ty::F16, 0x3c00u64, 0x8001u64, 0x8000u64),
        (Ty::F32, 0x3f80_0000, 0x8000_0001, 1 << 31),
        (Ty::F64, 0x3ff << 52, 1 << 63 | 1, 1 << 63),
    ] {
        assert_eq!(math_value(MathFn::Fract, ty, smallest, 0, 0).0, one - 1, "fract(-least) at {ty:?}");
        assert_eq!(math_value(MathFn::NextAfter, ty, 0, bits(ty, -1.0), 0).0, smallest);
        assert_eq!(math_value(MathFn::NextAfter, ty, sign, bits(ty, 1.0), 0).0, smallest ^ sign);
        assert_eq!(math_value(MathFn::NextAfter, ty, one, bits(ty, 2.0), 0).0, one + 1);
        assert_eq!(math_value(MathFn::NextAfter, ty, one, 0, 0).0, one - 1);
        assert_eq!(math_value(MathFn::NextAfter, ty, one | sign, bits(ty, -2.0), 0).0, (one + 1) | sign);
        let nan = math_value(MathFn::Nan, ty, 5, 0, 0).0;
        assert!(value(ty, nan).is_nan() && nan & 0xff == 5, "nan(5) at {ty:?} is {nan:#x}");
    }
}

/// The half nearest to x, ties to even: the best of the neighbours of a rough one (the crate rounds twice).
fn nearest_half(x: f64) -> f64 {
    let rough = half::f16::from_f64(x).to_bits();
    if x.is_nan() || x.is_infinite() || x == 0.0 {
        return value(Ty::F16, rough as u64);
    }
    // Infinity stands for 2^16 here.
    let number = |h: u16| match value(Ty::F16, h as u64) {
        v if v.is_infinite() => 65536f64.copysign(v),
        v => v,
    };
    let candidates = [rough.wrapping_sub(1), rough, rough.wrapping_add(1)];
    let near = |h: &&u16| number(**h).is_sign_negative() == x.is_sign_negative() && **h & 0x7fff <= 0x7c00;
    let distance = |h: &u16| ((number(*h) - x).abs(), h & 1);
    let best = candidates.iter().filter(near).min_by(|a, b| distance(a).partial_cmp(&distance(b)).unwrap());
    value(Ty::F16, *best.unwrap() as u64)
}

/// Halves: all 65536 arguments against the double function.
#[test]
fn halves_are_rounded_doubles() {
    for name in ["exp", "log2", "sin", "cospi", "tanh", "rsqrt", "cbrt", "erf", "atan", "exp10", "tgamma"] {
        let function = named(name);
        for h in 0..=0xffffu64 {
            let wide = math_value(function, Ty::F64, value(Ty::F16, h).to_bits(), 0, 0).0;
            let expected = nearest_half(f64::from_bits(wide));
            let got = value(Ty::F16, math_value(function, Ty::F16, h, 0, 0).0);
            assert!(same(got, expected), "{name}({h:#x}) is {got}, not {expected}");
        }
    }
    let narrowing = Conversion {
        from: Ty::F64,
        to: Ty::F16,
        from_signed: false,
        to_signed: false,
        rounding: Rounding::NearestEven,
        saturate: false,
    };
    assert_eq!(Conversion::unpack(narrowing.pack()), narrowing);
}
