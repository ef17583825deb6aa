//! Integer built-ins: 8 bits exhaustively, wider ones at random, against wide arithmetic.
use warpscope_exec::builtins::int_fn;
use warpscope_exec::ops::IntFn;

/// What OpenCL C 6.15.3 says, in i128 on sign- or zero-extended arguments: the value before it wraps to the type.
fn expected(function: IntFn, bits: u32, signed: [i128; 3], unsigned: [i128; 3]) -> i128 {
    let [a, b, c] = signed;
    let [ua, ub, uc] = unsigned;
    let (min, max) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let umax = (1i128 << bits) - 1;
    match function {
        IntFn::AbsDiffS => a.max(b) - a.min(b),
        IntFn::AbsDiffU => ua.max(ub) - ua.min(ub),
        IntFn::AddSatS => (a + b).max(min).min(max),
        IntFn::AddSatU => (ua + ub).min(umax),
        IntFn::SubSatS => (a - b).max(min).min(max),
        IntFn::SubSatU => (ua - ub).max(0),
        // (x + y) >> 1 and (x + y + 1) >> 1 without overflow: floor and ceiling of the mean.
        IntFn::HaddS => (a + b).div_euclid(2),
        IntFn::HaddU => (ua + ub) / 2,
        IntFn::RhaddS => (a + b + 1).div_euclid(2),
        IntFn::RhaddU => (ua + ub) - (ua + ub) / 2,
        IntFn::MadSatS => (a * b + c).max(min).min(max),
        IntFn::MadSatU => match ua.checked_mul(ub).and_then(|p| p.checked_add(uc)) {
            Some(v) => v.min(umax),
            None => umax,
        },
        IntFn::Mad24S => a * b + c,
        IntFn::Mul24S => a * b,
        IntFn::Mad24U => ua * ub + uc,
        IntFn::Mul24U => ua * ub,
        IntFn::BitSelect => (0..bits).map(|i| if uc >> i & 1 != 0 { ub & 1 << i } else { ua & 1 << i }).sum(),
        IntFn::UAddCarry => ua + ub,
        IntFn::USubBorrow => ua - ub,
    }
}

fn check(function: IntFn, bits: u32, a: u64, b: u64, c: u64) {
    let extend = |v: u64| match bits {
        8 => v as i8 as i128,
        16 => v as i16 as i128,
        32 => v as i32 as i128,
        _ => v as i64 as i128,
    };
    let wide = expected(function, bits, [a, b, c].map(extend), [a, b, c].map(|v| v as i128));
    let wrapped = wide.rem_euclid(1i128 << bits) as u64;
    let second = match function {
        IntFn::UAddCarry | IntFn::USubBorrow => (wide != wrapped as i128) as u64,
        _ => 0,
    };
    assert_eq!(int_fn(function, bits, a, b, c), (wrapped, second), "{function:?}.{bits}({a:#x}, {b:#x}, {c:#x})");
}

#[test]
fn eight_bits_exhaustively() {
    for &function in IntFn::ALL {
        if matches!(function, IntFn::Mad24S | IntFn::Mad24U | IntFn::Mul24S | IntFn::Mul24U) {
            continue;
        }
        let thirds: &[u64] = if function.arity() == 3 { &[0, 1, 0x0f, 0x5a, 0x7f, 0x80, 0xfe, 0xff] } else { &[0] };
        for a in 0..256 {
            for b in 0..256 {
                for &c in thirds {
                    check(function, 8, a, b, c);
                }
            }
        }
    }
}

#[test]
fn wide_integers() {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = state ^ state >> 29;
        match word >> 61 {
            0 => [0, 1, u64::MAX, 1 << 63, i64::MAX as u64, 1 << 31, 1 << 15, 0x7fff][(word & 7) as usize],
            1 => word & 0xffff,
            _ => word,
        }
    };
    for &function in IntFn::ALL {
        for bits in [16, 32, 64] {
            for _ in 0..4000 {
                let mask = u64::MAX >> (64 - bits);
                let [mut a, mut b, c] = [random(), random(), random()].map(|v| v & mask);
                match function {
                    // Defined for 24-bit arguments of 32-bit types only.
                    IntFn::Mad24S | IntFn::Mul24S | IntFn::Mad24U | IntFn::Mul24U if bits != 32 => continue,
                    IntFn::Mad24S | IntFn::Mul24S => [a, b] = [a, b].map(|v| ((v as i32) << 8 >> 8) as u32 as u64),
                    IntFn::Mad24U | IntFn::Mul24U => [a, b] = [a, b].map(|v| v & 0xff_ffff),
                    _ => {}
                }
                check(function, bits, a, b, c);
            }
        }
    }
}
