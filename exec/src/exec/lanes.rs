//! Operand fetch and result store: rows in, rows out, whatever kind of register they live in.
use super::warp::uniform_mut;
use super::{Code, Row, Scratch, Warp};
use crate::program::{MachineOp, Operand, flags};

/// All lanes of a warp of `W`.
#[inline]
pub(super) const fn full_mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Bits of a canonical quiet NaN: arithmetic yields no other, so results are the same on every host.
pub(super) const NAN32: u32 = 0x7fc0_0000;
/// As [`NAN32`], double.
pub(super) const NAN64: u64 = 0x7ff8_0000_0000_0000;
/// As [`NAN32`], half.
pub(super) const NAN16: u32 = 0x7e00;

/// One operation about to be carried out for the lanes in `mask`.
pub(super) struct Lanes<'a, const W: usize> {
    pub op: &'a MachineOp,
    pub warp: &'a mut Warp<W>,
    pub constants: &'a [Row<W>],
    pub scratch: &'a mut Scratch<W>,
    /// Row at which the uniform registers begin.
    pub registers: usize,
    /// Lanes that take part; never 0.
    pub mask: u64,
}

/// The second register of a pair.
#[inline(always)]
pub(super) fn next(o: Operand) -> Operand {
    Operand(o.0.wrapping_add(1))
}

/// `f` of each element, in a loop that is always inlined and vectorises (`array::map` need not be).
#[inline(always)]
pub(super) fn each<T: Copy, U: Copy + Default, const W: usize>(a: &[T; W], f: impl Fn(T) -> U) -> [U; W] {
    let mut d = [U::default(); W];
    for i in 0..W {
        d[i] = f(a[i]);
    }
    d
}

/// Keeps the lanes outside `mask`, takes the others from `src`.
#[inline(always)]
pub(super) fn blend<const W: usize>(dst: &mut Row<W>, src: &[u32; W], mask: u64) {
    let old = dst.0;
    let halves = [mask as u32, (mask >> 32) as u32];
    for i in 0..W {
        dst.0[i] = if halves[i >> 5] & (1 << (i & 31)) != 0 { src[i] } else { old[i] };
    }
}

/// Finds a row: of the vector registers, of the uniform ones that were spread, or of the constants.
#[inline(always)]
pub(super) fn find<const W: usize>([registers, uniform, constants]: [&[Row<W>]; 3], o: Operand) -> &[Row<W>] {
    let kind = o.0 >> 14;
    let bank = if kind == 2 { constants } else { registers };
    let bank = if kind == 1 { uniform } else { bank };
    &bank[(o.0 & 0x3fff) as usize..]
}

impl<'a, const W: usize> Lanes<'a, W> {
    #[inline(always)]
    pub fn new(
        op: &'a MachineOp,
        code: &Code<'a, W>,
        warp: &'a mut Warp<W>,
        scratch: &'a mut Scratch<W>,
        mask: u64,
    ) -> Self {
        Lanes { op, warp, constants: code.constants, scratch, registers: code.program.registers as usize, mask }
    }

    #[inline(always)]
    pub fn row(&self, o: Operand) -> &Row<W> {
        let kind = o.0 >> 14;
        let bank = if kind == 2 { self.constants } else { &self.warp.rows[..] };
        let bank = if kind == 1 { &self.scratch.uniform[..] } else { bank };
        &bank[(o.0 & 0x3fff) as usize]
    }

    /// Source `n`, 32 bits a lane.
    #[inline(always)]
    pub fn words(&self, n: usize) -> [u32; W] {
        self.row(self.op.src[n]).0
    }

    /// Source `n`, a pair.
    #[inline(always)]
    pub fn longs(&self, n: usize) -> [u64; W] {
        let o = self.op.src[n];
        let (low, high) = (&self.row(o).0, &self.row(next(o)).0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = low[i] as u64 | (high[i] as u64) << 32;
        }
        d
    }

    /// Source `n` as a predicate; all lanes where there is none.
    #[inline(always)]
    pub fn predicate(&self, n: usize) -> u64 {
        let o = self.op.src[n].0;
        if o == Operand::NONE.0 {
            return u64::MAX;
        }
        self.warp.predicates[(o & 15) as usize] ^ if o & 0x100 != 0 { u64::MAX } else { 0 }
    }

    /// Writes 32 bits a lane to register `o`.
    #[inline(always)]
    pub fn store(&mut self, o: Operand, d: &[u32; W]) {
        let (kind, index) = (o.0 >> 14, (o.0 & 0x3fff) as usize);
        if kind > 1 {
            return;
        }
        let rows = if kind == 1 { &mut self.scratch.uniform[..] } else { &mut self.warp.rows[..] };
        let row = &mut rows[index];
        if self.mask == full_mask(W) {
            row.0 = *d;
        } else {
            blend(row, d, self.mask);
        }
        if kind == 1 {
            // Taken from the row, not from `d`: what is indexed by a variable the host cannot keep in its registers.
            let value = row.0[self.mask.trailing_zeros() as usize % W];
            *uniform_mut(&mut self.warp.rows, self.registers, index) = value;
        }
    }

    /// Writes the first destination.
    #[inline(always)]
    pub fn put(&mut self, d: [u32; W]) {
        self.store(self.op.dst, &d);
    }

    /// Writes a pair to register `o`.
    #[inline(always)]
    pub fn store64(&mut self, o: Operand, d: &[u64; W]) {
        if o.is_none() {
            return;
        }
        let (mut low, mut high) = ([0; W], [0; W]);
        for i in 0..W {
            low[i] = d[i] as u32;
            high[i] = (d[i] >> 32) as u32;
        }
        self.store(o, &low);
        self.store(next(o), &high);
    }

    /// Writes the first destination, a pair.
    #[inline(always)]
    pub fn put64(&mut self, d: [u64; W]) {
        self.store64(self.op.dst, &d);
    }

    /// Writes the first destination, a predicate.
    #[inline(always)]
    pub fn put_predicate(&mut self, bits: u64) {
        let o = self.op.dst.0;
        if o == Operand::NONE.0 {
            return;
        }
        let p = &mut self.warp.predicates[(o & 15) as usize];
        if self.op.flags & flags::UNIFORM != 0 {
            *p = if bits >> self.mask.trailing_zeros() & 1 != 0 { full_mask(W) } else { 0 };
        } else {
            *p = *p & !self.mask | bits & self.mask;
        }
    }

    #[inline(always)]
    pub fn map1(&mut self, f: impl Fn(u32) -> u32) {
        let a = self.words(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i]);
        }
        self.put(d);
    }

    #[inline(always)]
    pub fn map2(&mut self, f: impl Fn(u32, u32) -> u32) {
        let (a, b) = (self.words(0), self.words(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i]);
        }
        self.put(d);
    }

    #[inline(always)]
    pub fn map3(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        let (a, b, c) = (self.words(0), self.words(1), self.words(2));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i], c[i]);
        }
        self.put(d);
    }

    /// Pair from a pair.
    #[inline(always)]
    pub fn wide1(&mut self, f: impl Fn(u64) -> u64) {
        let a = self.longs(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i]);
        }
        self.put64(d);
    }

    /// Pair from two pairs.
    #[inline(always)]
    pub fn wide2(&mut self, f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (self.longs(0), self.longs(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i]);
        }
        self.put64(d);
    }

    /// Pair from three pairs.
    #[inline(always)]
    pub fn wide3(&mut self, f: impl Fn(u64, u64, u64) -> u64) {
        let (a, b, c) = (self.longs(0), self.longs(1), self.longs(2));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i], c[i]);
        }
        self.put64(d);
    }

    /// Word from a pair.
    #[inline(always)]
    pub fn narrow(&mut self, f: impl Fn(u64) -> u32) {
        let d = each(&self.longs(0), f);
        self.put(d);
    }

    /// Pair from a word.
    #[inline(always)]
    pub fn widen(&mut self, f: impl Fn(u32) -> u64) {
        let a = self.words(0);
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i]);
        }
        self.put64(d);
    }

    /// Pair from a word and a pair.
    #[inline(always)]
    pub fn widen2(&mut self, f: impl Fn(u32, u64) -> u64) {
        let (a, b) = (self.words(0), self.longs(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i]);
        }
        self.put64(d);
    }

    /// Pair from two words and a pair.
    #[inline(always)]
    pub fn widen3(&mut self, f: impl Fn(u32, u32, u64) -> u64) {
        let (a, b, c) = (self.words(0), self.words(1), self.longs(2));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i], c[i]);
        }
        self.put64(d);
    }

    /// Pair from a pair and a word (shift counts).
    #[inline(always)]
    pub fn shift(&mut self, f: impl Fn(u64, u32) -> u64) {
        let (a, b) = (self.longs(0), self.words(1));
        let mut d = [0; W];
        for i in 0..W {
            d[i] = f(a[i], b[i]);
        }
        self.put64(d);
    }
}
