//! Integer arithmetic on one lane, for what is more than an operator. 8- and 16-bit values come zero-extended.
use crate::ops::minmax;

/// Sign-extends the low byte.
#[inline(always)]
pub(super) fn s8(x: u32) -> i32 {
    x as i8 as i32
}

/// Sign-extends the low half.
#[inline(always)]
pub(super) fn s16(x: u32) -> i32 {
    x as i16 as i32
}

/// Minimum or maximum, signed or not, as the signed minimum of changed words: complements are ordered the other way round.
#[derive(Copy, Clone)]
pub(super) struct MinMax(u32);

impl MinMax {
    #[inline(always)]
    pub(super) fn of(imm: i32) -> MinMax {
        let most = if imm & minmax::MAX != 0 { u32::MAX } else { 0 };
        MinMax(most ^ if imm & minmax::UNSIGNED != 0 { 1 << 31 } else { 0 })
    }
    #[inline(always)]
    pub(super) fn of_two(self, a: u32, b: u32) -> u32 {
        ((a ^ self.0) as i32).min((b ^ self.0) as i32) as u32 ^ self.0
    }
}

/// a / b; all bits set for b = 0. Exact through doubles: the quotient of two 32-bit numbers keeps at least 2^-32 of
/// itself away from the next integer, far more than the rounding of a double.
#[inline(always)]
pub(super) fn udiv32(a: u32, b: u32) -> u32 {
    // SAFETY: the divisor is at least 1, so the quotient is within 0 ..= u32::MAX.
    let q = unsafe { (a as f64 / b.max(1) as f64).to_int_unchecked::<i64>() } as u32;
    if b == 0 { u32::MAX } else { q }
}

/// a % b; a for b = 0.
#[inline(always)]
pub(super) fn urem32(a: u32, b: u32) -> u32 {
    // 0 * anything leaves a.
    a.wrapping_sub(udiv32(a, b).wrapping_mul(b))
}

/// a / b towards zero; all bits set for b = 0, MIN / -1 = MIN.
#[inline(always)]
pub(super) fn sdiv32(a: i32, b: i32) -> i32 {
    let q = udiv32(a.unsigned_abs(), b.unsigned_abs()) as i32;
    let q = if (a ^ b) < 0 { q.wrapping_neg() } else { q };
    if b == 0 { -1 } else { q }
}

/// a % b with the sign of a; a for b = 0.
#[inline(always)]
pub(super) fn srem32(a: i32, b: i32) -> i32 {
    a.wrapping_sub(sdiv32(a, b).wrapping_mul(b))
}

/// As [`udiv32`].
#[inline(always)]
pub(super) fn udiv64(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// As [`urem32`].
#[inline(always)]
pub(super) fn urem64(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// As [`sdiv32`].
#[inline(always)]
pub(super) fn sdiv64(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// As [`srem32`].
#[inline(always)]
pub(super) fn srem64(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

/// High half of an unsigned product.
#[inline(always)]
pub(super) fn umulhi64(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// High half of a signed product.
#[inline(always)]
pub(super) fn smulhi64(a: i64, b: i64) -> i64 {
    ((a as i128 * b as i128) >> 64) as i64
}

/// Bitwise function of three words by its truth table (bit `a * 4 + b * 2 + c`).
#[inline(always)]
pub(super) fn lop3(table: [u32; 8], a: u32, b: u32, c: u32) -> u32 {
    let choose = |s: u32, one: u32, zero: u32| zero ^ s & (one ^ zero);
    let low = choose(b, choose(c, table[3], table[2]), choose(c, table[1], table[0]));
    let high = choose(b, choose(c, table[7], table[6]), choose(c, table[5], table[4]));
    choose(a, high, low)
}

/// The truth table of [`lop3`] spread over words.
#[inline(always)]
pub(super) fn lop3_table(imm: i32) -> [u32; 8] {
    let mut table = [0; 8];
    for (i, t) in table.iter_mut().enumerate() {
        *t = 0u32.wrapping_sub(imm as u32 >> i & 1);
    }
    table
}

/// Bit field of a word: position and width from the immediate of `Bfe32U`, as shifts left and then right.
#[inline(always)]
pub(super) fn bit_field(imm: i32) -> (u32, u32) {
    let position = imm as u32 & 31;
    let width = (imm as u32 >> 8 & 63).min(32 - position);
    ((32 - position - width) & 31, 32 - width)
}

/// The field, zero-extended.
#[inline(always)]
pub(super) fn bfe_u(a: u32, left: u32, right: u32) -> u32 {
    ((a << left) as u64 >> right) as u32
}

/// The field, sign-extended.
#[inline(always)]
pub(super) fn bfe_s(a: u32, left: u32, right: u32) -> u32 {
    let d = ((a << left) as i32 as i64 >> right) as u32;
    if right == 32 { 0 } else { d }
}

/// Counts of bits.
#[inline(always)]
pub(super) fn clz(x: u32, bits: u32) -> u32 {
    (x << (32 - bits)).leading_zeros().min(bits)
}

/// Counts of bits.
#[inline(always)]
pub(super) fn ctz(x: u32, bits: u32) -> u32 {
    x.trailing_zeros().min(bits)
}
