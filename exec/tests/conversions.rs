//! Conversions of every pair of types in every rounding mode (OpenCL C 6.2.3) against exact comparisons.
use std::cmp::Ordering;
use warpscope_exec::exec::convert_value;
use warpscope_exec::ops::{Conversion, Rounding, Ty};

#[derive(Copy, Clone, Debug)]
enum Source {
    Integer(i128),
    Float(f64),
}

impl Source {
    fn compare(self, x: f64) -> Ordering {
        match self {
            Source::Float(v) => v.partial_cmp(&x).unwrap(),
            Source::Integer(_) if x == f64::INFINITY => Ordering::Less,
            Source::Integer(_) if x == f64::NEG_INFINITY => Ordering::Greater,
            // Whole parts first; the fraction of x decides where they are equal.
            Source::Integer(v) => {
                v.cmp(&(x.floor() as i128)).then(if x > x.floor() { Ordering::Less } else { Ordering::Equal })
            }
        }
    }
    fn rough(self) -> f64 {
        match self {
            Source::Integer(v) => v as f64,
            Source::Float(v) => v,
        }
    }
}

/// Value of a pattern of a float type.
fn value(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Ty::F32 => f32::from_bits(bits as u32) as f64,
        _ => f64::from_bits(bits),
    }
}

/// Pattern of the next value up (or down) in a float type.
fn neighbour(ty: Ty, bits: u64, up: bool) -> u64 {
    match ty {
        Ty::F16 => {
            let (sign, magnitude) = (bits & 0x8000, bits & 0x7fff);
            match (magnitude, (sign == 0) == up) {
                (0, _) => 1 | if up { 0 } else { 0x8000 },
                (_, true) => bits + 1,
                (_, false) => bits - 1,
            }
        }
        Ty::F32 => {
            let x = f32::from_bits(bits as u32);
            (if up { x.next_up() } else { x.next_down() }).to_bits() as u64
        }
        _ => {
            let x = f64::from_bits(bits);
            (if up { x.next_up() } else { x.next_down() }).to_bits()
        }
    }
}

/// Distance of the source to a representable value, where infinity stands for the first value beyond the greatest.
/// Scaled to compare two of them exactly.
fn closer(source: Source, low: f64, high: f64) -> Ordering {
    match source {
        // Sterbenz: neighbours of the value, so the differences are exact (or 0).
        Source::Float(v) => (v - low).partial_cmp(&(high - v)).unwrap(),
        Source::Integer(v) if low.fract() == 0.0 && high.fract() == 0.0 => (v - low as i128).cmp(&(high as i128 - v)),
        Source::Integer(v) => (v as f64 - low).partial_cmp(&(high - v as f64)).unwrap(),
    }
}

fn to_float(source: Source, ty: Ty, rounding: Rounding) -> f64 {
    let start = source.rough();
    let mut low = match ty {
        Ty::F16 => half::f16::from_f64(start).to_bits() as u64,
        Ty::F32 => (start as f32).to_bits() as u64,
        _ => start.to_bits(),
    };
    while source.compare(value(ty, low)) == Ordering::Less {
        low = neighbour(ty, low, false);
    }
    while value(ty, low) != f64::INFINITY && source.compare(value(ty, neighbour(ty, low, true))) != Ordering::Less {
        low = neighbour(ty, low, true);
    }
    let below = value(ty, low);
    if source.compare(below) == Ordering::Equal {
        return below;
    }
    let high = neighbour(ty, low, true);
    let above = value(ty, high);
    let overflow = match ty {
        Ty::F16 => 2f64.powi(16),
        Ty::F32 => 2f64.powi(128),
        _ => f64::INFINITY,
    };
    let finite = |v: f64| if v.is_infinite() { overflow.copysign(v) } else { v };
    match rounding {
        Rounding::Down => below,
        Rounding::Up => above,
        Rounding::Zero => {
            if below < 0.0 {
                above
            } else {
                below
            }
        }
        Rounding::NearestEven | Rounding::NearestAway => match closer(source, finite(below), finite(above)) {
            Ordering::Less => below,
            Ordering::Greater => above,
            Ordering::Equal => {
                if low & 1 == 0 {
                    below
                } else {
                    above
                }
            }
        },
    }
}

fn to_integer(source: Source, bits: u32, signed: bool, rounding: Rounding, saturate: bool) -> Option<i128> {
    let v = match source {
        Source::Integer(v) => v,
        Source::Float(x) if x.is_nan() => return if saturate { Some(0) } else { None },
        Source::Float(x) => {
            let (floor, ceil) = (x.floor(), x.ceil());
            (match rounding {
                Rounding::Zero => x.trunc(),
                Rounding::Up => ceil,
                Rounding::Down => floor,
                Rounding::NearestEven => x.round_ties_even(),
                Rounding::NearestAway => x.round(),
            }) as i128
        }
    };
    let (low, high) = if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    match source {
        _ if saturate => Some(v.clamp(low, high)),
        Source::Integer(_) => Some((v - low).rem_euclid(1 << bits) + low),
        // Undefined out of range.
        Source::Float(_) => (low..=high).contains(&v).then_some(v),
    }
}

#[test]
fn all_pairs_in_all_modes() {
    let types = [Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::F16, Ty::F32, Ty::F64];
    let mut state = 5u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    for (from, to) in types.iter().flat_map(|&f| types.iter().map(move |&t| (f, t))) {
        for case in 0..20_000 {
            let word = random();
            let [from_signed, to_signed, saturate] = [0, 1, 2].map(|i| word >> i & 1 != 0);
            let saturate = saturate && !to.is_float();
            let rounding = Rounding::ALL[(word >> 4) as usize % 4];
            let bits = random() & (u64::MAX >> (64 - from.bits()));
            // Floats near integers and near halves as often as wild ones; integers of all lengths.
            let bits = match from {
                _ if case % 4 == 0 => bits,
                Ty::F16 => half::f16::from_f64((bits as i64 % 4096) as f64 / 8.0).to_bits() as u64,
                Ty::F32 => ((random() as i64 >> (word >> 58)) as f32 / 4.0).to_bits() as u64,
                Ty::F64 => ((random() as i64 >> (word >> 58)) as f64 / 4.0).to_bits(),
                _ => bits >> ((word >> 40) % from.bits() as u64),
            };
            let c = Conversion { from, to, from_signed, to_signed, rounding, saturate };
            let source = match from {
                Ty::F16 | Ty::F32 | Ty::F64 => Source::Float(value(from, bits)),
                _ if from_signed => {
                    Source::Integer(((bits << (64 - from.bits())) as i64 >> (64 - from.bits())) as i128)
                }
                _ => Source::Integer(bits as i128),
            };
            let got = convert_value(c, bits);
            if to.is_float() {
                let got = value(to, got);
                let expected = match source {
                    Source::Float(v) if v.is_nan() => f64::NAN,
                    source => to_float(source, to, rounding),
                };
                let same = got.is_nan() && expected.is_nan() || got == expected;
                assert!(same, "{c:?} of {source:?} is {got:e}, not {expected:e}");
            } else if let Some(v) = to_integer(source, to.bits(), to_signed, rounding, saturate) {
                let expected = v as u64 & (u64::MAX >> (64 - to.bits()));
                assert_eq!(got, expected, "{c:?} of {source:?}");
            }
        }
    }
}
