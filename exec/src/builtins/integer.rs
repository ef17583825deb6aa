//! Integer built-ins (OpenCL C 6.15.3) of 8, 16, 32 and 64 bits.
use crate::ops::IntFn;

/// Applies `function` to values of `bits` bits, held zero-extended. The second result is the carry or borrow of
/// `UAddCarry`, `USubBorrow`, and 0 otherwise.
pub fn int_fn(function: IntFn, bits: u32, a: u64, b: u64, c: u64) -> (u64, u64) {
    let unused = 64 - bits;
    let mask = u64::MAX >> unused;
    let signed = |v: u64| ((v << unused) as i64 >> unused) as i128;
    let unsigned = |v: u64| (v & mask) as i128;
    let (low, high) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let [(sa, ua), (sb, ub), (sc, uc)] = [a, b, c].map(|v| (signed(v), unsigned(v)));
    let saturate_signed = |v: i128| v.clamp(low, high);
    let saturate_unsigned = |v: i128| v.clamp(0, mask as i128);
    let low24 = |v: u64, is_signed: bool| {
        let v = (v as i32) << 8;
        if is_signed { (v >> 8) as i128 } else { (v as u32 >> 8) as i128 }
    };
    let first = match function {
        IntFn::AbsDiffS => (sa - sb).abs(),
        IntFn::AbsDiffU => (ua - ub).abs(),
        IntFn::AddSatS => saturate_signed(sa + sb),
        IntFn::AddSatU => saturate_unsigned(ua + ub),
        IntFn::SubSatS => saturate_signed(sa - sb),
        IntFn::SubSatU => saturate_unsigned(ua - ub),
        IntFn::HaddS => (sa + sb) >> 1,
        IntFn::HaddU => (ua + ub) >> 1,
        IntFn::RhaddS => (sa + sb + 1) >> 1,
        IntFn::RhaddU => (ua + ub + 1) >> 1,
        IntFn::MadSatS => saturate_signed(sa * sb + sc),
        // The product of two 64-bit numbers needs all of u128.
        IntFn::MadSatU => (ua as u128 * ub as u128).saturating_add(uc as u128).min(mask as u128) as i128,
        IntFn::Mad24S => low24(a, true) * low24(b, true) + sc,
        IntFn::Mad24U => low24(a, false) * low24(b, false) + uc,
        IntFn::Mul24S => low24(a, true) * low24(b, true),
        IntFn::Mul24U => low24(a, false) * low24(b, false),
        IntFn::BitSelect => unsigned(a & !c | b & c),
        IntFn::UAddCarry => ua + ub,
        IntFn::USubBorrow => ua - ub,
    };
    let second = match function {
        IntFn::UAddCarry => (ua + ub > mask as i128) as u64,
        IntFn::USubBorrow => (ua < ub) as u64,
        IntFn::AbsDiffS
        | IntFn::AbsDiffU
        | IntFn::AddSatS
        | IntFn::AddSatU
        | IntFn::SubSatS
        | IntFn::SubSatU
        | IntFn::HaddS
        | IntFn::HaddU
        | IntFn::RhaddS
        | IntFn::RhaddU
        | IntFn::MadSatS
        | IntFn::MadSatU
        | IntFn::Mad24S
        | IntFn::Mad24U
        | IntFn::Mul24S
        | IntFn::Mul24U
        | IntFn::BitSelect => 0,
    };
    (first as u64 & mask, second)
}
