//! Read-modify-write: the new value from the old one.
use super::float::{max32, max64, min32, min64};
use super::lanes::{NAN32, NAN64};
use crate::program::AtomicOp;

/// What an atomic of `bytes` (4 or 8) leaves in memory; values are zero-extended.
#[inline]
pub fn atomic_result(op: AtomicOp, bytes: u32, old: u64, data: u64, compare: u64) -> u64 {
    if bytes == 8 {
        result64(op, old, data, compare)
    } else {
        result32(op, old as u32, data as u32, compare as u32) as u64
    }
}

#[inline]
fn result32(op: AtomicOp, old: u32, data: u32, compare: u32) -> u32 {
    let (x, y) = (f32::from_bits(old), f32::from_bits(data));
    let bits = |v: f32| if v.is_nan() { NAN32 } else { v.to_bits() };
    match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => data,
        AtomicOp::CompareExchange if old == compare => data,
        AtomicOp::CompareExchange => old,
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::SMin => (old as i32).min(data as i32) as u32,
        AtomicOp::SMax => (old as i32).max(data as i32) as u32,
        AtomicOp::UMin => old.min(data),
        AtomicOp::UMax => old.max(data),
        AtomicOp::FAdd => bits(x + y),
        AtomicOp::FMin => bits(min32(x, y)),
        AtomicOp::FMax => bits(max32(x, y)),
        AtomicOp::Inc => old.wrapping_add(1),
        AtomicOp::Dec => old.wrapping_sub(1),
    }
}

#[inline]
fn result64(op: AtomicOp, old: u64, data: u64, compare: u64) -> u64 {
    let (x, y) = (f64::from_bits(old), f64::from_bits(data));
    let bits = |v: f64| if v.is_nan() { NAN64 } else { v.to_bits() };
    match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => data,
        AtomicOp::CompareExchange if old == compare => data,
        AtomicOp::CompareExchange => old,
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::SMin => (old as i64).min(data as i64) as u64,
        AtomicOp::SMax => (old as i64).max(data as i64) as u64,
        AtomicOp::UMin => old.min(data),
        AtomicOp::UMax => old.max(data),
        AtomicOp::FAdd => bits(x + y),
        AtomicOp::FMin => bits(min64(x, y)),
        AtomicOp::FMax => bits(max64(x, y)),
        AtomicOp::Inc => old.wrapping_add(1),
        AtomicOp::Dec => old.wrapping_sub(1),
    }
}
