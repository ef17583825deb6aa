//! The built-ins by their definitions (OpenCL C 6.15.3).
use crate::references::{Inputs, Outputs};

/// The sum of a low part and a value moved to the high half.
fn join(low: i64, high: i64) -> i64 {
    low.wrapping_add(high << 32)
}

const MASK: i64 = 0xff00_ff00_ff00_ff00u64 as i64;

fn one(x: i64, y: i64) -> [i64; 16] {
    let (u, v) = (x as i32, y as i32);
    let (lu, lv) = (u as i64, v as i64);
    let sat = |w: i128| w.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
    let sat32 = |w: i64| w.clamp(i32::MIN as i64, i32::MAX as i64);
    let odd = v | 1;
    [
        x.wrapping_mul(y).wrapping_add(x >> (y & 63)),
        x.wrapping_div(y | 1),
        x.wrapping_rem(y | 1),
        (x as u64 / (y as u64 | 1)) as i64,
        ((x as i128 * y as i128) >> 64) as i64,
        join(((u as u32 as u64 * v as u32 as u64) >> 32) as i64, (lu * lv) >> 32),
        x.leading_zeros() as i64
            | (y.count_ones() as i64) << 8
            | (u.leading_zeros() as i64) << 16
            | ((v as u8).count_ones() as i64) << 24,
        x.rotate_left((y & 63) as u32) ^ y.rotate_left(13),
        sat(x as i128 + y as i128) ^ sat(x as i128 - y as i128),
        join(sat32(lu + lv), (u as u32).saturating_sub(v as u32) as i64),
        join(u.abs_diff(v) as i64, u.unsigned_abs() as i64),
        join((lu + lv) >> 1, (lu + lv + 1) >> 1),
        join((((lu * lv) >> 32) as i32).wrapping_add(7) as i64, sat32(lu * 3 + lv)),
        join((u << 16 | v & 0xffff) as i64, ((u & 0x7f_ffff) * 5).wrapping_add(v) as i64),
        x.min(y).max(-5_000_000_000).wrapping_add((u as i8).clamp(-20, 20) as i64),
        join(u.wrapping_div(odd) as i64, u.wrapping_rem(odd) as i64)
            .wrapping_add((lu as u64 >> 33) as i64)
            .wrapping_add((x & !MASK) | (y & MASK)),
    ]
}

pub fn reference(i: &Inputs) -> Outputs {
    let (a, b) = (i.buffer::<i64>(0), i.buffer::<i64>(1));
    Outputs::one(2, &a.iter().zip(&b).flat_map(|(&x, &y)| one(x, y)).collect::<Vec<_>>())
}
