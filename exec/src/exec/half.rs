//! Half precision: bits in the low 16 of a word, computed in wider types and rounded once.
use crate::ops::Rounding;

/// Exact value of a half.
#[inline(always)]
pub fn to_f32(h: u32) -> f32 {
    let sign = (h & 0x8000) << 16;
    let magnitude = h & 0x7fff;
    // Normal numbers: rebias by a multiplication, which is exact and takes subnormals along.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let bits = if magnitude >= 0x7c00 { 0x7f80_0000 | magnitude << 13 } else { scaled.to_bits() };
    f32::from_bits(bits | sign)
}

/// Nearest half, ties to even; NaN becomes the canonical one with its sign dropped.
#[inline(always)]
pub fn from_f32(x: f32) -> u32 {
    let sign = x.to_bits() >> 16 & 0x8000;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // Normal results: add half of the last place less one, plus the last bit kept, and cut.
    let normal = (magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + (magnitude >> 13 & 1))) >> 13;
    // Subnormal results: adding 0.5 puts the wanted bits at the end of the significand, rounded by the adder.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let bounded = if magnitude >= 0x477f_f000 { 0x7c00 } else { finite };
    if magnitude > 0x7f80_0000 { super::lanes::NAN16 } else { bounded | sign }
}

/// Half nearest in the given mode.
pub fn from_f64(x: f64, rounding: Rounding) -> u32 {
    let sign = (x.to_bits() >> 48) as u32 & 0x8000;
    if x.is_nan() {
        return super::lanes::NAN16;
    }
    let a = x.abs();
    if a == f64::INFINITY {
        return sign | 0x7c00;
    }
    // Unit in the last place of the result: 2^(e - 10), at least 2^-24.
    let exponent = ((a.to_bits() >> 52) as i32 - 1023).max(-14);
    let unit = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
    // Exact: a power of two; below 2^11 unless it overflows anyway.
    let scaled = a / unit;
    let cut = scaled.min(4096.0) as u32;
    let rest = scaled - cut as f64;
    let up = match rounding {
        Rounding::NearestEven => rest > 0.5 || rest == 0.5 && cut & 1 == 1,
        Rounding::NearestAway => rest >= 0.5,
        Rounding::Zero => false,
        Rounding::Up => rest > 0.0 && sign == 0,
        Rounding::Down => rest > 0.0 && sign != 0,
    };
    // The exponent field counts from the subnormals: an implicit bit in `cut` adds one to it.
    let magnitude = ((exponent + 14).min(40) as u32 * 1024) + cut + up as u32;
    if magnitude >= 0x7c00 {
        let largest = match rounding {
            Rounding::NearestEven | Rounding::NearestAway => false,
            Rounding::Zero => true,
            Rounding::Up => sign != 0,
            Rounding::Down => sign == 0,
        };
        return sign | if largest { 0x7bff } else { 0x7c00 };
    }
    sign | magnitude
}
