//! Conversions between number types (OpenCL C 6.2.3).
use super::float::{round32, round64};
use super::half::{from_f32, from_f64, to_f32};
use super::lanes::{Lanes, NAN32, NAN64, each};
use crate::ops::{Conversion, Rounding, Ty};

/// A source value without loss: integers of 64 bits and either sign fit the one, all floats the other.
#[derive(Copy, Clone)]
enum Number {
    Integer(i128),
    Float(f64),
}

fn read(from: Ty, signed: bool, bits: u64) -> Number {
    match from {
        Ty::F16 => Number::Float(to_f32(bits as u32) as f64),
        Ty::F32 => Number::Float(f32::from_bits(bits as u32) as f64),
        Ty::F64 => Number::Float(f64::from_bits(bits)),
        Ty::Bool | Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => Number::Integer(extend(from, signed, bits)),
        Ty::PtrGlobal | Ty::PtrConstant | Ty::PtrGeneric | Ty::PtrLocal | Ty::PtrPrivate => {
            Number::Integer(extend(from, signed, bits))
        }
    }
}

fn extend(ty: Ty, signed: bool, bits: u64) -> i128 {
    let unused = 64 - ty.bits();
    let top = bits << unused;
    if signed { (top as i64 >> unused) as i128 } else { (top >> unused) as i128 }
}

/// Least and greatest value of an integer type.
fn range(ty: Ty, signed: bool) -> (i128, i128) {
    let bits = ty.bits();
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn mask(ty: Ty) -> u64 {
    u64::MAX >> (64 - ty.bits())
}

/// A float to an integer type: rounded, then brought into range (out of range without saturation is undefined, so
/// saturating always is as good as any), NaN to 0.
fn float_to_integer(c: Conversion, x: f64) -> u64 {
    let r = round64(x, c.rounding);
    let (low, high) = range(c.to, c.to_signed);
    (r as i128).clamp(low, high) as u64 & mask(c.to)
}

/// The neighbour (up or down) of the nearest value `x`, where the rounding mode asks for it. `error` is the sign of
/// (exact - x).
fn adjust<T: Copy + PartialEq>(x: T, error: i32, negative: bool, rounding: Rounding, step: impl Fn(T, bool) -> T) -> T {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => x,
        Rounding::Zero if negative && error > 0 => step(x, true),
        Rounding::Zero if !negative && error < 0 => step(x, false),
        Rounding::Up if error > 0 => step(x, true),
        Rounding::Down if error < 0 => step(x, false),
        Rounding::Zero | Rounding::Up | Rounding::Down => x,
    }
}

fn step32(x: f32, up: bool) -> f32 {
    if up { x.next_up() } else { x.next_down() }
}

fn step64(x: f64, up: bool) -> f64 {
    if up { x.next_up() } else { x.next_down() }
}

fn narrow(x: f64, rounding: Rounding) -> f32 {
    let near = x as f32;
    let wide = near as f64;
    if x.is_nan() || x.is_infinite() || wide == x {
        return near;
    }
    let error = if x > wide { 1 } else { -1 };
    let negative = x.is_sign_negative();
    adjust(near, error, negative, rounding, step32)
}

fn integer_to_f32(v: i128, rounding: Rounding) -> f32 {
    let near = v as f32;
    let error = v.cmp(&(near as i128)) as i32;
    adjust(near, error, v < 0, rounding, step32)
}

fn integer_to_f64(v: i128, rounding: Rounding) -> f64 {
    let near = v as f64;
    let error = v.cmp(&(near as i128)) as i32;
    adjust(near, error, v < 0, rounding, step64)
}

/// Converts one value: `bits` and the result hold narrow types zero-extended.
pub fn convert_value(c: Conversion, bits: u64) -> u64 {
    let number = read(c.from, c.from_signed, bits);
    match c.to {
        Ty::F16 => match number {
            // Beyond 2^53 a half overflows whatever the low bits are.
            Number::Integer(v) => from_f64(v as f64, c.rounding) as u64,
            Number::Float(x) => from_f64(x, c.rounding) as u64,
        },
        Ty::F32 => match number {
            Number::Integer(v) => integer_to_f32(v, c.rounding).to_bits() as u64,
            Number::Float(x) if x.is_nan() => NAN32 as u64,
            Number::Float(x) => narrow(x, c.rounding).to_bits() as u64,
        },
        Ty::F64 => match number {
            Number::Integer(v) => integer_to_f64(v, c.rounding).to_bits(),
            Number::Float(x) if x.is_nan() => NAN64,
            Number::Float(x) => x.to_bits(),
        },
        Ty::Bool | Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => to_integer(c, number),
        Ty::PtrGlobal | Ty::PtrConstant | Ty::PtrGeneric | Ty::PtrLocal | Ty::PtrPrivate => to_integer(c, number),
    }
}

fn to_integer(c: Conversion, number: Number) -> u64 {
    match number {
        Number::Float(x) => float_to_integer(c, x),
        Number::Integer(v) if c.saturate => {
            let (low, high) = range(c.to, c.to_signed);
            v.clamp(low, high) as u64 & mask(c.to)
        }
        Number::Integer(v) => v as u64 & mask(c.to),
    }
}

/// Conversions that kernels are full of, mostly of 32-bit values, as loops that vectorise; the others go lane by lane.
#[inline(never)]
pub(super) fn convert_lanes<const W: usize>(mut x: Lanes<'_, W>) {
    let c = Conversion::unpack(x.op.imm);
    let rte = matches!(c.rounding, Rounding::NearestEven);
    let canonical = |v: f32| if v.is_nan() { NAN32 } else { v.to_bits() };
    let canonical64 = |v: f64| if v.is_nan() { NAN64 } else { v.to_bits() };
    match (c.from, c.to) {
        (Ty::I32, Ty::F32) if rte && c.from_signed => x.map1(|a| (a as i32 as f32).to_bits()),
        (Ty::I8 | Ty::I16 | Ty::I32, Ty::F32) if rte && !c.from_signed => x.map1(|a| (a as f32).to_bits()),
        (Ty::F32, Ty::I32) if c.to_signed => x.map1(|a| round32(f32::from_bits(a), c.rounding) as i32 as u32),
        (Ty::F32, Ty::I32) => x.map1(|a| round32(f32::from_bits(a), c.rounding) as u32),
        (Ty::F16, Ty::F32) => x.map1(|a| canonical(to_f32(a))),
        (Ty::F32, Ty::F16) if rte => x.map1(|a| from_f32(f32::from_bits(a))),
        (Ty::I32, Ty::F64) if c.from_signed => x.widen(|a| (a as i32 as f64).to_bits()),
        (Ty::I8 | Ty::I16 | Ty::I32, Ty::F64) if !c.from_signed => x.widen(|a| (a as f64).to_bits()),
        (Ty::I64, Ty::F32) if rte && c.from_signed => x.narrow(|a| (a as i64 as f32).to_bits()),
        (Ty::I64, Ty::F32) if rte => x.narrow(|a| (a as f32).to_bits()),
        (Ty::F32, Ty::F64) => x.widen(|a| canonical64(f32::from_bits(a) as f64)),
        _ => each_lane(x, c),
    }
}

fn each_lane<const W: usize>(mut x: Lanes<'_, W>, c: Conversion) {
    let source = if c.from.bits() == 64 { x.longs(0) } else { each(&x.words(0), u64::from) };
    let mut d = [0; W];
    for (i, (d, &s)) in d.iter_mut().zip(&source).enumerate() {
        if x.mask >> i & 1 != 0 {
            *d = convert_value(c, s);
        }
    }
    if c.to.bits() == 64 {
        x.put64(d);
    } else {
        x.put(each(&d, |v| v as u32));
    }
}
