//! Operations against Rust's own arithmetic in the operation's type.
use super::levels::SPECIAL;
use super::*;
use crate::ops::{Cond, Conversion, FCond, Rounding, Ty, compares, modifiers};

/// Runs `m` on random registers and compares each lane's result with `expected(sources as 64 bits)`.
fn check<const W: usize>(m: MachineOp, wide: [bool; 3], wide_result: bool, expected: &dyn Fn([u64; 3]) -> u64) {
    check_with::<W>(m, wide, wide_result, u64::MAX, expected)
}

fn check_with<const W: usize>(
    mut m: MachineOp,
    wide: [bool; 3],
    wide_result: bool,
    source_mask: u64,
    expected: &dyn Fn([u64; 3]) -> u64,
) {
    let mut random = Random(m.op as u64 + W as u64);
    m.dst = Operand::register(8);
    for (n, s) in m.src[..3].iter_mut().enumerate() {
        *s = Operand::register(2 * n as u16);
    }
    let program = program::<W>(vec![m], &[]);
    let mut warp = Warp::<W>::new(&program);
    for round in 0..40 {
        warp.reset(0, [W as u32, 1, 1]);
        for row in &mut warp.rows[..6] {
            row.0.fill_with(|| {
                let word = match random.below(3) {
                    0 => SPECIAL[random.below(SPECIAL.len() as u64) as usize],
                    1 => random.below(70) as u32,
                    _ => random.next() as u32,
                };
                word & source_mask as u32
            });
        }
        let before = warp.clone();
        if round % 2 == 1 {
            warp.active = random.next() & lanes::full_mask(W) | 2;
        }
        once(&Code::new(&program, &[]), &mut warp, &mut group::<W>(), &mut Flat::new()).unwrap();
        for lane in 0..W {
            let pair = |rows: &[Row<W>], r: usize, wide: bool| {
                rows[r].0[lane] as u64 | if wide { (rows[r + 1].0[lane] as u64) << 32 } else { 0 }
            };
            let sources = [0, 1, 2].map(|n| pair(&before.rows, 2 * n, wide[n]));
            let got = pair(&warp.rows, 8, wide_result);
            let want = if warp.active >> lane & 1 != 0 { expected(sources) } else { 0 };
            assert_eq!(got, want, "{:?} of {sources:x?}, lane {lane} of {W}", m.op);
        }
    }
}

fn all_widths(m: MachineOp, wide: bool, source_mask: u64, expected: &dyn Fn([u64; 3]) -> u64) {
    check_with::<8>(m, [wide; 3], wide, source_mask, expected);
    check_with::<16>(m, [wide; 3], wide, source_mask, expected);
    check_with::<32>(m, [wide; 3], wide, source_mask, expected);
    check_with::<64>(m, [wide; 3], wide, source_mask, expected);
}

/// Checks operations of one type: `Op => |a, b| result`, computed in the type itself.
macro_rules! typed {
    ($signed:ident $unsigned:ident; $($op:ident => |$a:ident, $b:ident| $value:expr;)*) => {
        $(all_widths(op(Op::$op), $unsigned::BITS == 64, $unsigned::MAX as u64, &|[a, b, _]| {
            let ($a, $b) = (a as $signed, b as $signed);
            let _ = $b;
            ($value) as $unsigned as u64
        });)*
    };
}

macro_rules! integers {
    ($s:ident $u:ident $half:ident $add:ident $sub:ident $mul:ident $shi:ident $uhi:ident $sdiv:ident $udiv:ident $srem:ident
     $urem:ident $neg:ident $abs:ident $smin:ident $smax:ident $umin:ident $umax:ident $rev:ident) => {
        typed! { $s $u;
            $add => |a, b| a.wrapping_add(b);
            $sub => |a, b| a.wrapping_sub(b);
            $mul => |a, b| a.wrapping_mul(b);
            $shi => |a, b| (a as i128 * b as i128) >> $u::BITS;
            $uhi => |a, b| (a as $u as u128 * b as $u as u128) >> $u::BITS;
            $sdiv => |a, b| if b == 0 { -1 } else { a.wrapping_div(b) };
            $udiv => |a, b| (a as $u).checked_div(b as $u).unwrap_or($u::MAX);
            $srem => |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
            $urem => |a, b| (a as $u).checked_rem(b as $u).unwrap_or(a as $u);
            $neg => |a, b| a.wrapping_neg();
            $abs => |a, b| a.wrapping_abs();
            $smin => |a, b| a.min(b);
            $smax => |a, b| a.max(b);
            $umin => |a, b| (a as $u).min(b as $u);
            $umax => |a, b| (a as $u).max(b as $u);
            $rev => |a, b| a.reverse_bits();
        }
    };
}

#[test]
fn integer_arithmetic() {
    integers!(i8 u8 i16 IAdd8 ISub8 IMul8 SMulHi8 UMulHi8 SDiv8 UDiv8 SRem8 URem8 INeg8 IAbs8 SMin8 SMax8 UMin8 UMax8 BitRev8);
    integers!(i16 u16 i32 IAdd16 ISub16 IMul16 SMulHi16 UMulHi16 SDiv16 UDiv16 SRem16 URem16 INeg16 IAbs16 SMin16 SMax16 UMin16 UMax16 BitRev16);
    integers!(i32 u32 i64 IAdd32 ISub32 IMul32 SMulHi32 UMulHi32 SDiv32 UDiv32 SRem32 URem32 INeg32 IAbs32 SMin32 SMax32 UMin32 UMax32 BitRev32);
    integers!(i64 u64 i128 IAdd64 ISub64 IMul64 SMulHi64 UMulHi64 SDiv64 UDiv64 SRem64 URem64 INeg64 IAbs64 SMin64 SMax64 UMin64 UMax64 BitRev64);
    typed! { i8 u8;
        Not8 => |a, b| !a;
        Clz8 => |a, b| a.leading_zeros();
        Ctz8 => |a, b| a.trailing_zeros();
        Popc32 => |a, b| a.count_ones();
        Shl8 => |a, b| a.wrapping_shl(b as u32);
        LShr8 => |a, b| (a as u8).wrapping_shr(b as u32);
        AShr8 => |a, b| a.wrapping_shr(b as u32);
        Rotl8 => |a, b| a.rotate_left(b as u32 & 7);
    }
    typed! { i16 u16;
        Not16 => |a, b| !a;
        Clz16 => |a, b| a.leading_zeros();
        Ctz16 => |a, b| a.trailing_zeros();
        Shl16 => |a, b| a.wrapping_shl(b as u32);
        LShr16 => |a, b| (a as u16).wrapping_shr(b as u32);
        AShr16 => |a, b| a.wrapping_shr(b as u32);
        Rotl16 => |a, b| a.rotate_left(b as u32 & 15);
    }
    typed! { i32 u32;
        Mov32 => |a, b| a;
        And32 => |a, b| a & b;
        Or32 => |a, b| a | b;
        Xor32 => |a, b| a ^ b;
        Not32 => |a, b| !a;
        Clz32 => |a, b| a.leading_zeros();
        Ctz32 => |a, b| a.trailing_zeros();
        Popc32 => |a, b| a.count_ones();
        Shl32 => |a, b| a.wrapping_shl(b as u32);
        LShr32 => |a, b| (a as u32).wrapping_shr(b as u32);
        AShr32 => |a, b| a.wrapping_shr(b as u32);
        Rotl32 => |a, b| a.rotate_left(b as u32 & 31);
        Sext8To32 => |a, b| a as i8;
        Sext16To32 => |a, b| a as i16;
        Sext8To16 => |a, b| a as i8 as i16 as u16;
        Trunc8 => |a, b| a as u8;
        Trunc16 => |a, b| a as u16;
    }
    typed! { i64 u64;
        Mov64 => |a, b| a;
        And64 => |a, b| a & b;
        Or64 => |a, b| a | b;
        Xor64 => |a, b| a ^ b;
        Not64 => |a, b| !a;
        Clz64 => |a, b| a.leading_zeros();
        Ctz64 => |a, b| a.trailing_zeros();
        Popc64 => |a, b| a.count_ones();
    }
}

#[test]
fn mixed_widths() {
    let pair = [true, false, false];
    check::<32>(op(Op::Shl64), pair, true, &|[a, b, _]| a << (b % 64));
    check::<32>(op(Op::LShr64), pair, true, &|[a, b, _]| a >> (b % 64));
    check::<32>(op(Op::AShr64), pair, true, &|[a, b, _]| (a as i64 >> (b % 64)) as u64);
    check::<32>(op(Op::Rotl64), pair, true, &|[a, b, _]| a.rotate_left(b as u32 % 64));
    check::<32>(op(Op::Sext32To64), [false; 3], true, &|[a, ..]| a as u32 as i32 as i64 as u64);
    check::<32>(op(Op::Zext32To64), [false; 3], true, &|[a, ..]| a);
    let third = [false, false, true];
    check::<16>(op(Op::IMadWideU), third, true, &|[a, b, c]| (a as u128 * b as u128 + c as u128) as u64);
    check::<16>(op(Op::IMadWideS), third, true, &|[a, b, c]| {
        (a as u32 as i32 as i128 * b as u32 as i32 as i128 + c as i128) as u64
    });
    check::<64>(op(Op::IMad32), [false; 3], false, &|[a, b, c]| (a * b + c) & 0xffff_ffff);
    check::<64>(op(Op::IMad64), [true; 3], true, &|[a, b, c]| (a as u128 * b as u128 % (1 << 64) + c as u128) as u64);
    check::<8>(op(Op::IAdd3), [false; 3], false, &|[a, b, c]| (a + b + c) & 0xffff_ffff);
    for imm in 0..4 {
        let of_two = |a: u64, b: u64| match imm {
            0 => (a as i32).min(b as i32) as u32 as u64,
            1 => (a as i32).max(b as i32) as u32 as u64,
            2 => a.min(b),
            _ => a.max(b),
        };
        let with = |o| MachineOp { imm, ..op(o) };
        check::<32>(with(Op::IAddMnMx), [false; 3], false, &|[a, b, c]| of_two((a + b) & 0xffff_ffff, c));
        check::<8>(with(Op::IMnMx3), [false; 3], false, &|[a, b, c]| of_two(of_two(a, b), c));
    }
    check::<8>(op(Op::IAddSext), [false, true, false], true, &|[a, b, _]| (a as u32 as i32 as i128 + b as i128) as u64);
    check::<8>(op(Op::IAddZext), [false, true, false], true, &|[a, b, _]| (a as u128 + b as u128) as u64);
    for imm in [0, 2, 5] {
        let with = |o| MachineOp { imm, ..op(o) };
        check::<32>(with(Op::Lea32), [false; 3], false, &|[a, b, _]| ((a << imm) + b) & 0xffff_ffff);
        check::<32>(with(Op::LeaHiU32), [false; 3], false, &|[a, b, _]| ((a >> imm) + b) & 0xffff_ffff);
        check::<32>(with(Op::LeaHiS32), [false; 3], false, &|[a, b, _]| {
            ((a as u32 as i32 as i64 >> imm) + b as i64) as u64 & 0xffff_ffff
        });
        check::<32>(with(Op::Lea64), [true; 3], true, &|[a, b, _]| (a << imm).wrapping_add(b));
        check::<32>(with(Op::LeaZext), [false, true, false], true, &|[a, b, _]| (a << imm).wrapping_add(b));
        check::<32>(with(Op::LeaSext), [false, true, false], true, &|[a, b, _]| {
            ((a as u32 as i32 as i64) << imm).wrapping_add(b as i64) as u64
        });
    }
    check::<32>(op(Op::ShfL), [false; 3], false, &|[a, b, c]| {
        ((b << 32 | a) as u128) as u64 >> (32 - c % 32) & 0xffff_ffff
    });
    check::<32>(op(Op::ShfR), [false; 3], false, &|[a, b, c]| (b << 32 | a) >> (c % 32) & 0xffff_ffff);
}

#[test]
fn look_up_tables_and_bit_fields() {
    for imm in 0..256 {
        check::<32>(MachineOp { imm, ..op(Op::Lop3) }, [false; 3], false, &|[a, b, c]| {
            (0..32).map(|i| (imm as u64 >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i).sum()
        });
    }
    for (position, width) in [(0, 1), (0, 32), (5, 8), (31, 1), (16, 16), (20, 30), (3, 0)] {
        let imm = position | width << 8;
        let kept = width.min(32 - position);
        check::<16>(MachineOp { imm, ..op(Op::Bfe32U) }, [false; 3], false, &|[a, ..]| {
            (a >> position) & ((1u64 << kept) - 1)
        });
        check::<16>(MachineOp { imm, ..op(Op::Bfe32S) }, [false; 3], false, &|[a, ..]| {
            let field = (a >> position) & ((1u64 << kept) - 1);
            let negative = kept > 0 && field >> (kept - 1) & 1 != 0;
            (if negative { field as i64 - (1 << kept) } else { field as i64 }) as u32 as u64
        });
    }
}

/// Predicate results of a compare at every condition.
fn check_compare<const W: usize>(
    o: Op,
    conditions: usize,
    wide: bool,
    mask: u32,
    expected: &dyn Fn(usize, u64, u64) -> bool,
) {
    let mut random = Random(o as u64);
    let magnitudes = if matches!(o, Op::FCmpF32 | Op::FCmpF64) { compares::ABS_A | compares::ABS_B } else { 0 };
    let sign = if wide { 1 << 63 } else { 1 << 31 };
    for (condition, imm2) in (0..conditions).flat_map(|c| (0..8).map(move |imm2| (c, imm2))) {
        if imm2 & (compares::ABS_A | compares::ABS_B) & !magnitudes != 0 {
            continue;
        }
        let magnitude = |v: u64, bit: u32| if imm2 & bit != 0 { v & !sign } else { v };
        let mut m = op(o);
        m.imm2 = imm2;
        m.dst = Operand::predicate(3, false);
        m.src[..3].copy_from_slice(&[Operand::register(0), Operand::register(2), Operand::predicate(1, true)]);
        m.imm = condition as i32;
        let program = program::<W>(vec![m], &[]);
        let mut warp = Warp::<W>::new(&program);
        for _ in 0..20 {
            warp.reset(0, [W as u32, 1, 1]);
            for row in &mut warp.rows[..4] {
                row.0.fill_with(|| match random.below(2) {
                    0 => SPECIAL[random.below(SPECIAL.len() as u64) as usize] & mask,
                    _ => random.below(3) as u32,
                });
            }
            warp.predicates[1] = random.next() & lanes::full_mask(W);
            warp.predicates[3] = random.next() & lanes::full_mask(W);
            let before = warp.clone();
            warp.active = random.next() & lanes::full_mask(W) | 1;
            once(&Code::new(&program, &[]), &mut warp, &mut group::<W>(), &mut Flat::new()).unwrap();
            for lane in 0..W {
                let pair = |r: usize| {
                    warp.rows[r].0[lane] as u64 | if wide { (warp.rows[r + 1].0[lane] as u64) << 32 } else { 0 }
                };
                let bit = |p: usize| before.predicates[p] >> lane & 1 != 0;
                let (a, b) = (magnitude(pair(0), compares::ABS_A), magnitude(pair(2), compares::ABS_B));
                let holds = expected(condition, a, b);
                let compared = if imm2 & compares::XOR != 0 { holds == bit(1) } else { holds && !bit(1) };
                let want = if warp.active >> lane & 1 != 0 { compared } else { bit(3) };
                assert_eq!(
                    warp.predicates[3] >> lane & 1 != 0,
                    want,
                    "{o:?} {condition} of {:x} {:x}",
                    pair(0),
                    pair(2)
                );
            }
        }
    }
}

fn condition<S: Ord, U: Ord>(c: usize, s: (S, S), u: (U, U)) -> bool {
    match Cond::ALL[c] {
        Cond::Eq => u.0 == u.1,
        Cond::Ne => u.0 != u.1,
        Cond::SLt => s.0 < s.1,
        Cond::SLe => s.0 <= s.1,
        Cond::SGt => s.0 > s.1,
        Cond::SGe => s.0 >= s.1,
        Cond::ULt => u.0 < u.1,
        Cond::ULe => u.0 <= u.1,
        Cond::UGt => u.0 > u.1,
        Cond::UGe => u.0 >= u.1,
    }
}

fn float_condition(c: usize, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match FCond::ALL[c] {
        FCond::OEq => a == b,
        FCond::ONe => !unordered && a != b,
        FCond::OLt => a < b,
        FCond::OLe => a <= b,
        FCond::OGt => a > b,
        FCond::OGe => a >= b,
        FCond::Ordered => !unordered,
        FCond::UEq => unordered || a == b,
        FCond::UNe => a != b,
        FCond::ULt => unordered || a < b,
        FCond::ULe => unordered || a <= b,
        FCond::UGt => unordered || a > b,
        FCond::UGe => unordered || a >= b,
        FCond::Unordered => unordered,
    }
}

fn compares<const W: usize>() {
    check_compare::<W>(Op::ICmp8, 10, false, 0xff, &|c, a, b| condition(c, (a as i8, b as i8), (a, b)));
    check_compare::<W>(Op::ICmp16, 10, false, 0xffff, &|c, a, b| condition(c, (a as i16, b as i16), (a, b)));
    check_compare::<W>(Op::ICmp32, 10, false, u32::MAX, &|c, a, b| condition(c, (a as i32, b as i32), (a, b)));
    check_compare::<W>(Op::ICmp64, 10, true, u32::MAX, &|c, a, b| condition(c, (a as i64, b as i64), (a, b)));
    let half = |h: u64| ::half::f16::from_bits(h as u16).to_f64();
    check_compare::<W>(Op::FCmpF16, 14, false, 0xffff, &|c, a, b| float_condition(c, half(a), half(b)));
    let single = |h: u64| f32::from_bits(h as u32) as f64;
    check_compare::<W>(Op::FCmpF32, 14, false, u32::MAX, &|c, a, b| float_condition(c, single(a), single(b)));
    check_compare::<W>(Op::FCmpF64, 14, true, u32::MAX, &|c, a, b| {
        float_condition(c, f64::from_bits(a), f64::from_bits(b))
    });
}

#[test]
fn tests_of_bits() {
    let mut random = Random(7);
    for cond in [Cond::Eq, Cond::Ne] {
        let mut m = op(Op::Test32);
        (m.dst, m.imm) = (Operand::predicate(3, false), cond as i32);
        m.src[..2].copy_from_slice(&[Operand::register(0), Operand::register(1)]);
        let program = program::<32>(vec![m], &[]);
        let mut warp = Warp::<32>::new(&program);
        warp.reset(0, [32, 1, 1]);
        for row in &mut warp.rows[..2] {
            row.0.fill_with(|| random.below(8) as u32 | (random.below(4) as u32) << 30);
        }
        let before = warp.clone();
        once(&Code::new(&program, &[]), &mut warp, &mut group::<32>(), &mut Flat::new()).unwrap();
        for lane in 0..32 {
            let common = before.rows[0].0[lane] & before.rows[1].0[lane];
            assert_eq!(warp.predicates[3] >> lane & 1 != 0, (common == 0) == (cond == Cond::Eq));
        }
    }
}

#[test]
fn compares_at_all_widths() {
    compares::<8>();
    compares::<16>();
    compares::<32>();
    compares::<64>();
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
fn f_bits(v: f32) -> u64 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() as u64 }
}
fn d_bits(v: f64) -> u64 {
    if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() }
}

#[test]
fn single_arithmetic() {
    let none = [false; 3];
    check::<32>(op(Op::FAddF32), none, false, &|[a, b, _]| f_bits(f(a) + f(b)));
    check::<64>(op(Op::FMulF32), none, false, &|[a, b, _]| f_bits(f(a) * f(b)));
    check::<8>(op(Op::FDivF32), none, false, &|[a, b, _]| f_bits(f(a) / f(b)));
    check::<16>(op(Op::FSqrtF32), none, false, &|[a, ..]| f_bits(f(a).sqrt()));
    check::<32>(op(Op::FRemF32), none, false, &|[a, b, _]| f_bits(f(a) % f(b)));
    check::<32>(op(Op::FFmaF32), none, false, &|[a, b, c]| f_bits(f(a).mul_add(f(b), f(c))));
    check::<32>(op(Op::FNegF32), none, false, &|[a, ..]| a ^ 0x8000_0000);
    check::<32>(op(Op::FAbsF32), none, false, &|[a, ..]| a & 0x7fff_ffff);
    let extreme = |a: u64, b: u64, least: bool| match (f(a), f(b)) {
        (x, y) if x.is_nan() => f_bits(y),
        (x, y) if y.is_nan() => f_bits(x),
        (x, y) => f_bits(if (x.total_cmp(&y) == std::cmp::Ordering::Less) == least { x } else { y }),
    };
    check::<32>(op(Op::FMinF32), none, false, &|[a, b, _]| extreme(a, b, true));
    check::<32>(op(Op::FMaxF32), none, false, &|[a, b, _]| extreme(a, b, false));
    let all = modifiers::NEG_A | modifiers::ABS_A | modifiers::NEG_B | modifiers::NEG_C;
    check::<32>(MachineOp { imm: all, ..op(Op::FFmaF32) }, none, false, &|[a, b, c]| {
        f_bits((-f(a).abs()).mul_add(-f(b), -f(c)))
    });
    let flush = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
    check::<32>(MachineOp { imm: modifiers::FLUSH, ..op(Op::FMulF32) }, none, false, &|[a, b, _]| {
        f_bits(flush(flush(f(a)) * flush(f(b))))
    });
    // PTX ISA, `add{.sat}`: clamps the result to [0.0, 1.0], NaN results are flushed to +0.0f.
    let saturated = |v: f32| f_bits(if v.is_nan() || v <= 0.0 { 0.0 } else { v.min(1.0) });
    let saturate = |o| MachineOp { imm: modifiers::SATURATE, ..op(o) };
    check::<32>(saturate(Op::FAddF32), none, false, &|[a, b, _]| saturated(f(a) + f(b)));
    check::<16>(saturate(Op::FMulF32), none, false, &|[a, b, _]| saturated(f(a) * f(b)));
    check::<64>(saturate(Op::FFmaF32), none, false, &|[a, b, c]| saturated(f(a).mul_add(f(b), f(c))));
    let magnitudes = MachineOp { imm: modifiers::ABS_A | modifiers::NEG_B, ..op(Op::FMaxF32) };
    check::<32>(magnitudes, none, false, &|[a, b, _]| extreme(a & 0x7fff_ffff, b ^ 0x8000_0000, false));
    for (imm, r) in Rounding::ALL.into_iter().enumerate() {
        let imm = imm as i32;
        check::<32>(MachineOp { imm, ..op(Op::FRoundF32) }, none, false, &|[a, ..]| {
            f_bits(match r {
                Rounding::NearestEven => f(a).round_ties_even(),
                Rounding::Zero => f(a).trunc(),
                Rounding::Up => f(a).ceil(),
                Rounding::Down => f(a).floor(),
                Rounding::NearestAway => f(a).round(),
            })
        });
    }
}

#[test]
fn double_arithmetic() {
    let d = f64::from_bits;
    let all = [true; 3];
    check::<32>(op(Op::FAddF64), all, true, &|[a, b, _]| d_bits(d(a) + d(b)));
    check::<16>(op(Op::FMulF64), all, true, &|[a, b, _]| d_bits(d(a) * d(b)));
    check::<8>(op(Op::FDivF64), all, true, &|[a, b, _]| d_bits(d(a) / d(b)));
    check::<64>(op(Op::FSqrtF64), all, true, &|[a, ..]| d_bits(d(a).sqrt()));
    check::<32>(op(Op::FRemF64), all, true, &|[a, b, _]| d_bits(d(a) % d(b)));
    check::<32>(op(Op::FFmaF64), all, true, &|[a, b, c]| d_bits(d(a).mul_add(d(b), d(c))));
    check::<32>(op(Op::FNegF64), all, true, &|[a, ..]| a ^ 1 << 63);
    check::<32>(MachineOp { imm: 3, ..op(Op::FRoundF64) }, all, true, &|[a, ..]| d_bits(d(a).floor()));
    check::<32>(MachineOp { imm: 4, ..op(Op::FRoundF64) }, all, true, &|[a, ..]| d_bits(d(a).round()));
}

/// The half nearest to `x` by search over all patterns of its sign.
fn nearest_half(x: f64) -> u64 {
    if x.is_nan() {
        return 0x7e00;
    }
    let (mut low, mut high) = (0u16, 0x7c00u16);
    let value = |h: u16| if h == 0x7c00 { 65536.0 } else { ::half::f16::from_bits(h).to_f64() };
    let a = x.abs();
    while high - low > 1 {
        let middle = (low + high) / 2;
        if value(middle) <= a { low = middle } else { high = middle }
    }
    let (down, up) = (a - value(low), value(high) - a);
    let nearest = if down < up || down == up && low & 1 == 0 { low } else { high };
    nearest as u64 | if x.is_sign_negative() { 0x8000 } else { 0 }
}

#[test]
fn half_arithmetic() {
    let h = |bits: u64| ::half::f16::from_bits(bits as u16).to_f64();
    let check = |o, expected: &dyn Fn([u64; 3]) -> f64| {
        check_with::<32>(op(o), [false; 3], false, 0xffff, &|s| nearest_half(expected(s)));
    };
    check(Op::FAddF16, &|[a, b, _]| h(a) + h(b));
    check(Op::FMulF16, &|[a, b, _]| h(a) * h(b));
    check(Op::FDivF16, &|[a, b, _]| h(a) / h(b));
    check(Op::FSqrtF16, &|[a, ..]| h(a).sqrt());
    check(Op::FRemF16, &|[a, b, _]| h(a) % h(b));
    check(Op::FFmaF16, &|[a, b, c]| h(a).mul_add(h(b), h(c)));
}

/// The loops for common conversions give what each value gives alone.
#[test]
fn conversions_in_lanes() {
    let types = [Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::F16, Ty::F32, Ty::F64];
    for (from, to) in types.iter().flat_map(|&f| types.iter().map(move |&t| (f, t))) {
        for flags in 0..32 {
            let c = Conversion {
                from,
                to,
                from_signed: flags & 1 != 0,
                to_signed: flags & 2 != 0,
                saturate: flags & 4 != 0,
                rounding: Rounding::ALL[flags >> 3],
            };
            let m = MachineOp { imm: c.pack(), ..op(Op::Convert) };
            let mask = u64::MAX >> (64 - from.bits());
            check_with::<16>(m, [from.bits() == 64; 3], to.bits() == 64, mask, &|[a, ..]| convert_value(c, a));
        }
    }
}

#[test]
fn selects_and_predicates() {
    let mut ops = vec![op(Op::Sel32), op(Op::Sel64), op(Op::PredToReg), op(Op::RegToPred), op(Op::PAnd), op(Op::POr)];
    ops.extend([op(Op::PXor), op(Op::PSel), op(Op::PMov)]);
    for (m, r) in ops[..3].iter_mut().zip([16, 18, 20]) {
        m.dst = Operand::register(r);
        m.src[..3].copy_from_slice(&[Operand::register(0), Operand::register(2), Operand::predicate(1, true)]);
    }
    ops[2].src[0] = Operand::predicate(2, false);
    ops[3].src[0] = Operand::register(4);
    for (m, p) in ops[3..].iter_mut().zip(8..) {
        m.dst = Operand::predicate(p, false);
    }
    for m in &mut ops[4..] {
        m.src[..3].copy_from_slice(&[1, 2, 3].map(|p| Operand::predicate(p, p == 2)));
    }
    let count = ops.len();
    let program = program::<32>(ops, &[]);
    let mut warp = Warp::<32>::new(&program);
    warp.reset(0, [32, 1, 1]);
    let mut random = Random(9);
    for row in &mut warp.rows[..4] {
        row.0.fill_with(|| random.next() as u32);
    }
    warp.rows[4].0 = std::array::from_fn(|i| if i % 3 == 0 { 0 } else { i as u32 });
    let [p1, p2, p3] = [0x1234_5678u64, 0x0ff0_a5a5, 0x3333_cccc];
    warp.predicates[1..4].copy_from_slice(&[p1, p2, p3]);
    for _ in 0..count {
        once(&Code::new(&program, &[]), &mut warp, &mut group::<32>(), &mut Flat::new()).unwrap();
    }
    for i in 0..32 {
        let b = if p1 >> i & 1 == 0 { 0 } else { 2 };
        assert_eq!(warp.rows[16].0[i], warp.rows[b].0[i]);
        assert_eq!([warp.rows[18].0[i], warp.rows[19].0[i]], [warp.rows[b].0[i], warp.rows[b + 1].0[i]]);
        assert_eq!(warp.rows[20].0[i] as u64, p2 >> i & 1);
        assert_eq!(warp.predicates[8] >> i & 1, (i % 3 != 0) as u64);
    }
    let not2 = !p2 & 0xffff_ffff;
    assert_eq!(warp.predicates[9..14], [p1 & not2, p1 | not2, p1 ^ not2, p1 & p3 | not2 & !p3, p1]);
}
