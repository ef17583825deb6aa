//! Float arithmetic: IEEE 754, round to nearest even; every NaN that arithmetic yields is the canonical one.
use super::half::{from_f32, from_f64, to_f32};
use super::lanes::{Lanes, NAN16, NAN32, NAN64, each};
use crate::ops::{Rounding, modifiers};
use crate::program::MachineOp;

/// Source modifiers as bit masks: `bits & and ^ xor`, with the sign at the top of the type.
#[derive(Copy, Clone)]
struct Modifier {
    and: u64,
    xor: u64,
}

impl Modifier {
    /// Of source `n`.
    #[inline(always)]
    fn of(op: &MachineOp, n: usize, sign: u64) -> Modifier {
        let negate = [modifiers::NEG_A, modifiers::NEG_B, modifiers::NEG_C][n];
        let absolute = [modifiers::ABS_A, modifiers::ABS_B, 0][n];
        Modifier {
            and: if op.imm & absolute != 0 { !sign } else { u64::MAX },
            xor: if op.imm & negate != 0 { sign } else { 0 },
        }
    }
    #[inline(always)]
    fn single(self, bits: u32) -> f32 {
        f32::from_bits(bits & self.and as u32 ^ self.xor as u32)
    }
    #[inline(always)]
    fn double(self, bits: u64) -> f64 {
        f64::from_bits(bits & self.and ^ self.xor)
    }
}

#[inline(always)]
fn flush32(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// What an operation does to its sources and its result besides.
#[derive(Copy, Clone)]
struct Adjusted {
    flush: bool,
    saturate: bool,
}

impl Adjusted {
    #[inline(always)]
    fn of(op: &MachineOp) -> Adjusted {
        Adjusted { flush: op.imm & modifiers::FLUSH != 0, saturate: op.imm & modifiers::SATURATE != 0 }
    }
    #[inline(always)]
    fn source(self, x: f32) -> f32 {
        if self.flush { flush32(x) } else { x }
    }
    #[inline(always)]
    fn result(self, x: f32) -> f32 {
        let x = self.source(x);
        // Not above 0 is also a NaN and -0.
        let least = if x > 0.0 { x } else { 0.0 };
        let within = if least < 1.0 { least } else { 1.0 };
        if self.saturate { within } else { x }
    }
}

#[inline(always)]
fn flush64(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits })
}

#[inline(always)]
fn flush16(bits: u32) -> u32 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// Bits of a result.
#[inline(always)]
fn result32(x: f32) -> u32 {
    if x.is_nan() { NAN32 } else { x.to_bits() }
}

/// Bits of a result.
#[inline(always)]
fn result64(x: f64) -> u64 {
    if x.is_nan() { NAN64 } else { x.to_bits() }
}

/// fmin: a NaN loses, -0 is below +0.
#[inline(always)]
pub(super) fn min32(a: f32, b: f32) -> f32 {
    let least = if a < b || b.is_nan() { a } else { b };
    if a == b { f32::from_bits(a.to_bits() | b.to_bits()) } else { least }
}

/// fmax: a NaN loses, +0 is above -0.
#[inline(always)]
pub(super) fn max32(a: f32, b: f32) -> f32 {
    let most = if a > b || b.is_nan() { a } else { b };
    if a == b { f32::from_bits(a.to_bits() & b.to_bits()) } else { most }
}

/// As [`min32`].
#[inline(always)]
pub(super) fn min64(a: f64, b: f64) -> f64 {
    let least = if a < b || b.is_nan() { a } else { b };
    if a == b { f64::from_bits(a.to_bits() | b.to_bits()) } else { least }
}

/// As [`max32`].
#[inline(always)]
pub(super) fn max64(a: f64, b: f64) -> f64 {
    let most = if a > b || b.is_nan() { a } else { b };
    if a == b { f64::from_bits(a.to_bits() & b.to_bits()) } else { most }
}

/// Rounds to an integral value by additions alone, which vectorise everywhere.
#[inline(always)]
pub fn round32(x: f32, rounding: Rounding) -> f32 {
    const SHIFT: f32 = 8_388_608.0;
    let a = x.abs();
    let nearest = (a + SHIFT) - SHIFT;
    let down = nearest - if nearest > a { 1.0 } else { 0.0 };
    let up = down + if down < a { 1.0 } else { 0.0 };
    let negative = x.is_sign_negative();
    let r = match rounding {
        Rounding::NearestEven => nearest,
        Rounding::Zero => down,
        Rounding::Up => {
            if negative {
                down
            } else {
                up
            }
        }
        Rounding::Down => {
            if negative {
                up
            } else {
                down
            }
        }
        Rounding::NearestAway => down + if a - down >= 0.5 { 1.0 } else { 0.0 },
    };
    if a < SHIFT { r.copysign(x) } else { x }
}

/// As [`round32`].
#[inline(always)]
pub fn round64(x: f64, rounding: Rounding) -> f64 {
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    let a = x.abs();
    let nearest = (a + SHIFT) - SHIFT;
    let down = nearest - if nearest > a { 1.0 } else { 0.0 };
    let up = down + if down < a { 1.0 } else { 0.0 };
    let negative = x.is_sign_negative();
    let r = match rounding {
        Rounding::NearestEven => nearest,
        Rounding::Zero => down,
        Rounding::Up => {
            if negative {
                down
            } else {
                up
            }
        }
        Rounding::Down => {
            if negative {
                up
            } else {
                down
            }
        }
        Rounding::NearestAway => down + if a - down >= 0.5 { 1.0 } else { 0.0 },
    };
    if a < SHIFT { r.copysign(x) } else { x }
}

impl<const W: usize> Lanes<'_, W> {
    #[inline(always)]
    pub fn float1(&mut self, f: impl Fn(f32) -> f32) {
        if self.flushes() {
            self.float1_kept(|a| flush32(f(flush32(a))));
        } else {
            self.float1_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn float1_kept(&mut self, f: impl Fn(f32) -> f32) {
        let ma = Modifier::of(self.op, 0, 0x8000_0000);
        let a = self.words(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result32(f(ma.single(a[i])));
        }
        self.put(d);
    }

    #[inline(always)]
    pub fn float2(&mut self, f: impl Fn(f32, f32) -> f32) {
        if self.adjusts() {
            let how = Adjusted::of(self.op);
            self.float2_kept(|a, b| how.result(f(how.source(a), how.source(b))));
        } else {
            self.float2_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn float2_kept(&mut self, f: impl Fn(f32, f32) -> f32) {
        let (ma, mb) = (Modifier::of(self.op, 0, 0x8000_0000), Modifier::of(self.op, 1, 0x8000_0000));
        let (a, b) = (self.words(0), self.words(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result32(f(ma.single(a[i]), mb.single(b[i])));
        }
        self.put(d);
    }

    #[inline(always)]
    pub fn float3(&mut self, f: impl Fn(f32, f32, f32) -> f32) {
        if self.adjusts() {
            let how = Adjusted::of(self.op);
            self.float3_kept(|a, b, c| how.result(f(how.source(a), how.source(b), how.source(c))));
        } else {
            self.float3_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn float3_kept(&mut self, f: impl Fn(f32, f32, f32) -> f32) {
        let (ma, mb, mc) = (
            Modifier::of(self.op, 0, 0x8000_0000),
            Modifier::of(self.op, 1, 0x8000_0000),
            Modifier::of(self.op, 2, 0x8000_0000),
        );
        let (a, b, c) = (self.words(0), self.words(1), self.words(2));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result32(f(ma.single(a[i]), mb.single(b[i]), mc.single(c[i])));
        }
        self.put(d);
    }

    #[inline(always)]
    pub fn double1(&mut self, f: impl Fn(f64) -> f64) {
        if self.flushes() {
            self.double1_kept(|a| flush64(f(flush64(a))));
        } else {
            self.double1_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn double1_kept(&mut self, f: impl Fn(f64) -> f64) {
        let ma = Modifier::of(self.op, 0, 1 << 63);
        let a = self.longs(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result64(f(ma.double(a[i])));
        }
        self.put64(d);
    }

    #[inline(always)]
    pub fn double2(&mut self, f: impl Fn(f64, f64) -> f64) {
        if self.flushes() {
            self.double2_kept(|a, b| flush64(f(flush64(a), flush64(b))));
        } else {
            self.double2_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn double2_kept(&mut self, f: impl Fn(f64, f64) -> f64) {
        let (ma, mb) = (Modifier::of(self.op, 0, 1 << 63), Modifier::of(self.op, 1, 1 << 63));
        let (a, b) = (self.longs(0), self.longs(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result64(f(ma.double(a[i]), mb.double(b[i])));
        }
        self.put64(d);
    }

    #[inline(always)]
    pub fn double3(&mut self, f: impl Fn(f64, f64, f64) -> f64) {
        if self.flushes() {
            self.double3_kept(|a, b, c| flush64(f(flush64(a), flush64(b), flush64(c))));
        } else {
            self.double3_kept(f);
        }
    }

    /// Denormals are kept.
    #[inline(always)]
    fn double3_kept(&mut self, f: impl Fn(f64, f64, f64) -> f64) {
        let (ma, mb, mc) =
            (Modifier::of(self.op, 0, 1 << 63), Modifier::of(self.op, 1, 1 << 63), Modifier::of(self.op, 2, 1 << 63));
        let (a, b, c) = (self.longs(0), self.longs(1), self.longs(2));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = result64(f(ma.double(a[i]), mb.double(b[i]), mc.double(c[i])));
        }
        self.put64(d);
    }

    #[inline(always)]
    fn adjusts(&self) -> bool {
        self.op.imm & (modifiers::FLUSH | modifiers::SATURATE) != 0
    }

    #[inline(always)]
    fn flushes(&self) -> bool {
        self.op.imm & modifiers::FLUSH != 0
    }

    #[inline(always)]
    fn halves(&self, n: usize) -> [u32; W] {
        let m = Modifier::of(self.op, n, 0x8000);
        let flush = if self.flushes() { 0x7c00 } else { u32::MAX };
        each(&self.words(n), |a| {
            let h = a & m.and as u32 ^ m.xor as u32;
            if h & flush == 0 { h & 0x8000 } else { h }
        })
    }

    #[inline(always)]
    fn put_halves(&mut self, mut d: [u32; W]) {
        if self.flushes() {
            d = each(&d, flush16);
        }
        self.put(d);
    }

    /// Half arithmetic by way of singles: for +, -, *, / and square root the second rounding changes nothing, since
    /// 24 >= 2 * 11 + 2.
    #[inline(always)]
    pub fn half1(&mut self, f: impl Fn(f32) -> f32) {
        let a = self.halves(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = from_f32(f(to_f32(a[i])));
        }
        self.put_halves(d);
    }

    /// As [`Self::half1`].
    #[inline(always)]
    pub fn half2(&mut self, f: impl Fn(f32, f32) -> f32) {
        let (a, b) = (self.halves(0), self.halves(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = from_f32(f(to_f32(a[i]), to_f32(b[i])));
        }
        self.put_halves(d);
    }

    /// a * b + c in halves. In double the product is exact, and the sum is unless one addend is so small against the
    /// other that it cannot turn the rounding to half.
    #[inline(always)]
    pub fn half_fma(&mut self) {
        let (a, b, c) = (self.halves(0), self.halves(1), self.halves(2));
        let mut d = [0; W];
        for i in 0..W {
            let [x, y, z] = [a[i], b[i], c[i]].map(|h| to_f32(h) as f64);
            d[i] = from_f64(x * y + z, Rounding::NearestEven);
        }
        self.put_halves(d);
    }

    /// Sign change of 16, 32 bits.
    #[inline(always)]
    pub fn sign_bits(&mut self, and: u32, xor: u32) {
        self.map1(|a| a & and ^ xor);
    }

    /// FRound of singles; `imm` is the mode here, not modifiers.
    #[inline(always)]
    pub fn round_singles(&mut self) {
        let mode = rounding(self.op.imm);
        let round = |a: u32, r: Rounding| result32(round32(f32::from_bits(a), r));
        match mode {
            Rounding::NearestEven => self.map1(|a| round(a, Rounding::NearestEven)),
            Rounding::Zero => self.map1(|a| round(a, Rounding::Zero)),
            Rounding::Up => self.map1(|a| round(a, Rounding::Up)),
            Rounding::Down => self.map1(|a| round(a, Rounding::Down)),
            Rounding::NearestAway => self.map1(|a| round(a, Rounding::NearestAway)),
        }
    }

    #[inline(always)]
    pub fn round_doubles(&mut self) {
        let mode = rounding(self.op.imm);
        self.wide1(|a| result64(round64(f64::from_bits(a), mode)));
    }

    #[inline(always)]
    pub fn round_halves(&mut self) {
        let mode = rounding(self.op.imm);
        self.map1(|a| if a & 0x7fff > 0x7c00 { NAN16 } else { from_f32(round32(to_f32(a), mode)) });
    }
}

/// Rounding mode of an immediate.
#[inline(always)]
fn rounding(imm: i32) -> Rounding {
    Rounding::ALL[imm as usize % Rounding::ALL.len()]
}
