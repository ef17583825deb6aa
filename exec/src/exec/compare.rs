//! Compares: predicate bits from rows.
use super::half::to_f32;
use super::lanes::{Lanes, each};
use super::level::Level;
use crate::ops::{Cond, FCond, compares};

/// Bits of lanes in which `f` holds.
#[inline(always)]
fn bits<L: Level, T: Copy, const W: usize>(a: &[T; W], b: &[T; W], f: impl Fn(T, T) -> bool) -> u64 {
    let mut rows = [0; W];
    for i in 0..W {
        rows[i] = if f(a[i], b[i]) { u32::MAX } else { 0 };
    }
    L::top_bits(&rows)
}

/// How a condition follows from "equal" and "less": (equality only, signed, operands swapped, result inverted).
#[inline(always)]
const fn plan(cond: Cond) -> (bool, bool, bool, bool) {
    match cond {
        Cond::Eq => (true, false, false, false),
        Cond::Ne => (true, false, false, true),
        Cond::SLt => (false, true, false, false),
        Cond::SLe => (false, true, true, true),
        Cond::SGt => (false, true, true, false),
        Cond::SGe => (false, true, false, true),
        Cond::ULt => (false, false, false, false),
        Cond::ULe => (false, false, true, true),
        Cond::UGt => (false, false, true, false),
        Cond::UGe => (false, false, false, true),
    }
}

/// How a float condition follows from equal, less, less-or-equal and unordered.
#[derive(Copy, Clone)]
enum Test {
    Equal,
    Less,
    LessEqual,
    Unordered,
    /// Equal or unordered.
    EqualUnordered,
}

/// (test, operands swapped, result inverted)
#[inline(always)]
const fn float_plan(cond: FCond) -> (Test, bool, bool) {
    match cond {
        FCond::OEq => (Test::Equal, false, false),
        FCond::ONe => (Test::EqualUnordered, false, true),
        FCond::OLt => (Test::Less, false, false),
        FCond::OLe => (Test::LessEqual, false, false),
        FCond::OGt => (Test::Less, true, false),
        FCond::OGe => (Test::LessEqual, true, false),
        FCond::Ordered => (Test::Unordered, false, true),
        FCond::UEq => (Test::EqualUnordered, false, false),
        FCond::UNe => (Test::Equal, false, true),
        FCond::ULt => (Test::LessEqual, true, true),
        FCond::ULe => (Test::Less, true, true),
        FCond::UGt => (Test::LessEqual, false, true),
        FCond::UGe => (Test::Less, false, true),
        FCond::Unordered => (Test::Unordered, false, false),
    }
}

impl<const W: usize> Lanes<'_, W> {
    #[inline(always)]
    fn put_condition(&mut self, bits: u64, invert: bool) {
        let bits = bits ^ if invert { u64::MAX } else { 0 };
        let with = self.predicate(2);
        self.put_predicate(if self.op.imm2 & compares::XOR != 0 { bits ^ with } else { bits & with });
    }

    /// Whether words have set bits in common.
    #[inline(always)]
    pub fn test_bits<L: Level>(&mut self) {
        let (a, b) = (self.words(0), self.words(1));
        let found = bits::<L, _, W>(&a, &b, |a, b| a & b != 0);
        self.put_predicate(if self.op.imm == Cond::Eq as i32 { !found } else { found });
    }

    /// Bits that stay of source `n`, whose sign is at the top.
    #[inline(always)]
    fn magnitude(&self, n: usize, sign: u64) -> u64 {
        if self.op.imm2 & [compares::ABS_A, compares::ABS_B][n] != 0 { !sign } else { u64::MAX }
    }

    /// Integer compare of the low `32 - shift` bits.
    #[inline(always)]
    pub fn compare_int<L: Level>(&mut self, shift: u32) {
        let (equality, signed, swap, invert) = plan(Cond::ALL[self.op.imm as usize % Cond::ALL.len()]);
        let (a, b) = (self.words(swap as usize), self.words(!swap as usize));
        let flip = if signed { 0 } else { 0x8000_0000 };
        let key = |x: u32| ((x << shift) ^ flip) as i32;
        let found = if equality {
            bits::<L, _, W>(&a, &b, |a, b| key(a) == key(b))
        } else {
            bits::<L, _, W>(&a, &b, |a, b| key(a) < key(b))
        };
        self.put_condition(found, invert);
    }

    /// Integer compare of pairs.
    #[inline(always)]
    pub fn compare_int64<L: Level>(&mut self) {
        let (equality, signed, swap, invert) = plan(Cond::ALL[self.op.imm as usize % Cond::ALL.len()]);
        let (a, b) = (self.longs(swap as usize), self.longs(!swap as usize));
        let flip = if signed { 0 } else { 1 << 63 };
        let found = if equality {
            bits::<L, _, W>(&a, &b, |a, b| a == b)
        } else {
            bits::<L, _, W>(&a, &b, |a, b| ((a ^ flip) as i64) < (b ^ flip) as i64)
        };
        self.put_condition(found, invert);
    }

    #[inline(always)]
    fn compare_floats<L: Level, T: Copy + PartialOrd>(&mut self, x: [T; W], y: [T; W]) {
        let (test, swap, invert) = float_plan(FCond::ALL[self.op.imm as usize % FCond::ALL.len()]);
        let (a, b) = if swap { (y, x) } else { (x, y) };
        // A NaN is the only value that differs from itself.
        #[expect(clippy::eq_op)]
        let found = match test {
            Test::Equal => bits::<L, _, W>(&a, &b, |a, b| a == b),
            Test::Less => bits::<L, _, W>(&a, &b, |a, b| a < b),
            Test::LessEqual => bits::<L, _, W>(&a, &b, |a, b| a <= b),
            Test::Unordered => bits::<L, _, W>(&a, &b, |a, b| (a != a) | (b != b)),
            Test::EqualUnordered => bits::<L, _, W>(&a, &b, |a, b| (a == b) | (a != a) | (b != b)),
        };
        self.put_condition(found, invert);
    }

    #[inline(always)]
    pub fn compare_f16<L: Level>(&mut self) {
        let (a, b) = (each(&self.words(0), to_f32), each(&self.words(1), to_f32));
        self.compare_floats::<L, f32>(a, b);
    }

    #[inline(always)]
    pub fn compare_f32<L: Level>(&mut self) {
        let [a, b] = [0, 1].map(|n| {
            let kept = self.magnitude(n, 1 << 31) as u32;
            each(&self.words(n), |bits| f32::from_bits(bits & kept))
        });
        self.compare_floats::<L, f32>(a, b);
    }

    #[inline(always)]
    pub fn compare_f64<L: Level>(&mut self) {
        let [a, b] = [0, 1].map(|n| {
            let kept = self.magnitude(n, 1 << 63);
            each(&self.longs(n), |bits| f64::from_bits(bits & kept))
        });
        self.compare_floats::<L, f64>(a, b);
    }
}
