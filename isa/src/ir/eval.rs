//! Values of operations on constants: bit patterns in, bit patterns out. Exact, so that folding changes no result.
use super::{Cond, Conversion, FBin, FCond, FUn, IBin, IUn, Rounding, Ty};
use half::f16;

/// The low `bits` of `v`.
pub fn mask(v: u64, bits: u32) -> u64 {
    if bits >= 64 { v } else { v & ((1 << bits) - 1) }
}

/// `v` of `bits` bits, sign-extended.
pub fn signed(v: u64, bits: u32) -> i64 {
    let s = 64 - bits.clamp(1, 64);
    (v << s) as i64 >> s
}

/// Two-operand integer arithmetic; `None` where the result is undefined (division by zero, overflowing division).
pub fn ibin(op: IBin, bits: u32, a: u64, b: u64) -> Option<u64> {
    let (sa, sb) = (signed(a, bits), signed(b, bits));
    let shift = (b % u64::from(bits)) as u32;
    let r = match op {
        IBin::Add => a.wrapping_add(b),
        IBin::Sub => a.wrapping_sub(b),
        IBin::Mul => a.wrapping_mul(b),
        IBin::SMulHi => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        IBin::UMulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        IBin::SDiv => sa.checked_div(sb)? as u64,
        IBin::UDiv => a.checked_div(b)?,
        IBin::SRem => sa.checked_rem(sb)? as u64,
        IBin::URem => a.checked_rem(b)?,
        IBin::And => a & b,
        IBin::Or => a | b,
        IBin::Xor => a ^ b,
        IBin::Shl => a << shift,
        IBin::LShr => a >> shift,
        IBin::AShr => (sa >> shift) as u64,
        IBin::Rotl if shift == 0 => a,
        IBin::Rotl => a << shift | a >> (bits - shift),
        IBin::SMin => sa.min(sb) as u64,
        IBin::SMax => sa.max(sb) as u64,
        IBin::UMin => a.min(b),
        IBin::UMax => a.max(b),
    };
    Some(mask(r, bits))
}

/// One-operand integer arithmetic.
pub fn iun(op: IUn, bits: u32, a: u64) -> u64 {
    let r = match op {
        IUn::Neg => a.wrapping_neg(),
        IUn::Not => !a,
        IUn::Abs => signed(a, bits).unsigned_abs(),
        IUn::Popc => u64::from(a.count_ones()),
        IUn::Clz => u64::from(a.leading_zeros() - (64 - bits)),
        IUn::Ctz => u64::from(a.trailing_zeros().min(bits)),
        IUn::BitReverse => a.reverse_bits() >> (64 - bits),
    };
    mask(r, bits)
}

/// Integer compare.
pub fn icmp(c: Cond, bits: u32, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(a, bits), signed(b, bits));
    match c {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::SLt => sa < sb,
        Cond::SLe => sa <= sb,
        Cond::SGt => sa > sb,
        Cond::SGe => sa >= sb,
        Cond::ULt => a < b,
        Cond::ULe => a <= b,
        Cond::UGt => a > b,
        Cond::UGe => a >= b,
    }
}

/// A float's value; exact for all three types.
pub fn to_f64(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F16 => f16::from_bits(bits as u16).to_f64(),
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Two-operand float arithmetic, correctly rounded; `None` where folding is left to execution (remainder, NaN
/// results, whose payload is the machine's business).
pub fn fbin(op: FBin, ty: Ty, a: u64, b: u64) -> Option<u64> {
    macro_rules! apply {
        ($x:expr, $y:expr) => {
            match op {
                FBin::Add => $x + $y,
                FBin::Sub => $x - $y,
                FBin::Mul => $x * $y,
                FBin::Div => $x / $y,
                FBin::Min => $x.min($y),
                FBin::Max => $x.max($y),
                FBin::Rem => return None,
            }
        };
    }
    match ty {
        Ty::F32 => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let r: f32 = apply!(x, y);
            (!r.is_nan()).then(|| u64::from(r.to_bits()))
        }
        Ty::F64 => {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let r: f64 = apply!(x, y);
            (!r.is_nan()).then(|| r.to_bits())
        }
        _ => None,
    }
}

/// One-operand float arithmetic that changes no more than bits (negation, absolute value).
pub fn fun(op: FUn, ty: Ty, a: u64) -> Option<u64> {
    let sign = 1u64 << (ty.bits() - 1);
    match op {
        FUn::Neg => Some(a ^ sign),
        FUn::Abs => Some(a & !sign),
        FUn::Sqrt | FUn::Round(_) => None,
    }
}

/// Float compare.
pub fn fcmp(c: FCond, ty: Ty, a: u64, b: u64) -> bool {
    let (x, y) = (to_f64(ty, a), to_f64(ty, b));
    let nan = x.is_nan() || y.is_nan();
    match c {
        FCond::OEq => x == y,
        FCond::ONe => !nan && x != y,
        FCond::OLt => x < y,
        FCond::OLe => x <= y,
        FCond::OGt => x > y,
        FCond::OGe => x >= y,
        FCond::Ordered => !nan,
        FCond::UEq => nan || x == y,
        FCond::UNe => x != y,
        FCond::ULt => nan || x < y,
        FCond::ULe => nan || x <= y,
        FCond::UGt => nan || x > y,
        FCond::UGe => nan || x >= y,
        FCond::Unordered => nan,
    }
}

/// A conversion, where it is exact or rounds as the host does (to nearest even); `None` otherwise.
pub fn convert(c: Conversion, a: u64) -> Option<u64> {
    if c.from.is_float() {
        let x = to_f64(c.from, a);
        return match c.to {
            Ty::F64 if !x.is_nan() => Some(x.to_bits()),
            Ty::F32 if !x.is_nan() && (c.rounding == Rounding::NearestEven || f64::from(x as f32) == x) => {
                Some(u64::from((x as f32).to_bits()))
            }
            Ty::F16 if f16::from_f64(x).to_f64() == x => Some(u64::from(f16::from_f64(x).to_bits())),
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => float_to_int(c, x),
            _ => None,
        };
    }
    let v = if c.from_signed { i128::from(signed(a, c.from.bits())) } else { i128::from(mask(a, c.from.bits())) };
    match c.to {
        Ty::F32 if c.rounding == Rounding::NearestEven || v.unsigned_abs() < 1 << 24 => {
            Some(u64::from((v as f32).to_bits()))
        }
        Ty::F64 if c.rounding == Rounding::NearestEven || v.unsigned_abs() < 1 << 53 => Some((v as f64).to_bits()),
        Ty::F16 if v.unsigned_abs() < 1 << 11 => Some(u64::from(f16::from_f64(v as f64).to_bits())),
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => {
            let v = if c.saturate { v.clamp(range(c).0, range(c).1) } else { v };
            Some(mask(v as u64, c.to.bits()))
        }
        _ => None,
    }
}

fn float_to_int(c: Conversion, x: f64) -> Option<u64> {
    // Fractions are left to execution unless the default rounding (towards zero) applies.
    if c.rounding != Rounding::Zero && x.trunc() != x {
        return None;
    }
    let (lo, hi) = range(c);
    if x.is_nan() || x.trunc() < lo as f64 || x.trunc() > hi as f64 {
        return None;
    }
    Some(mask(x.trunc() as i128 as u64, c.to.bits()))
}

fn range(c: Conversion) -> (i128, i128) {
    let bits = c.to.bits();
    if c.to_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}
