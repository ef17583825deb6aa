//! Votes, ballots and shuffles inside a sub-group.
use super::lanes::{Lanes, full_mask, next};
use crate::program::{AtomicOp, Operand};

impl<const W: usize> Lanes<'_, W> {
    /// Any or all active lanes have predicate a.
    #[inline(always)]
    pub fn vote(&mut self, all: bool) {
        let set = self.predicate(0) & self.mask;
        let outcome = if all { set == self.mask } else { set != 0 };
        self.put_predicate(if outcome { full_mask(W) } else { 0 });
    }

    /// The active lanes' a combined; an operation that does not combine numbers gives the first lane's.
    #[inline(always)]
    pub fn warp_reduce(&mut self) {
        let a = self.words(0);
        let op = AtomicOp::ALL.get(self.op.imm as usize).copied().unwrap_or(AtomicOp::Load);
        let mut lanes = self.mask;
        let mut d = a[lanes.trailing_zeros() as usize % W];
        lanes &= lanes.wrapping_sub(1);
        while lanes != 0 {
            let b = a[lanes.trailing_zeros() as usize];
            lanes &= lanes - 1;
            d = match op {
                AtomicOp::Add | AtomicOp::Sub => d.wrapping_add(b),
                AtomicOp::And => d & b,
                AtomicOp::Or => d | b,
                AtomicOp::Xor => d ^ b,
                AtomicOp::SMin => (d as i32).min(b as i32) as u32,
                AtomicOp::SMax => (d as i32).max(b as i32) as u32,
                AtomicOp::UMin => d.min(b),
                AtomicOp::UMax => d.max(b),
                _ => d,
            };
        }
        self.put([d; W]);
    }

    /// Sums of a over the active lanes up to each.
    #[inline(always)]
    pub fn warp_scan(&mut self) {
        let mut d = self.words(0);
        let mut sum = 0u32;
        for (lane, d) in d.iter_mut().enumerate() {
            if self.mask >> lane & 1 != 0 {
                sum = sum.wrapping_add(*d);
            }
            *d = sum;
        }
        self.put(d);
    }

    /// Whether a is the active lanes' highest.
    #[inline(always)]
    pub fn warp_elect(&mut self) {
        let a = self.words(0);
        let active = |lane: &usize| self.mask >> lane & 1 != 0;
        let highest = (0..W).filter(active).map(|lane| a[lane]).max();
        let equal = (0..W).filter(|&lane| Some(a[lane]) == highest).fold(0, |bits, lane| bits | 1 << lane);
        self.put_predicate(equal);
    }

    /// Whether every lane of the warp is active.
    #[inline(always)]
    pub fn warp_full(&mut self) {
        let full = self.mask == full_mask(W);
        self.put_predicate(if full { full_mask(W) } else { 0 });
    }

    /// The active lanes with predicate a, as four words.
    #[inline(always)]
    pub fn ballot(&mut self) {
        let set = self.predicate(0) & self.mask;
        let mut o = self.op.dst;
        if o == Operand::NONE {
            return;
        }
        for word in [set as u32, (set >> 32) as u32, 0, 0] {
            self.store(o, &[word; W]);
            o = next(o);
        }
    }

    /// d = a of the lane that `from` gives for (own lane, b); the own one where that is no lane.
    #[inline(always)]
    pub fn shuffle(&mut self, from: impl Fn(u32, u32) -> u32) {
        let (a, b) = (self.words(0), self.words(1));
        let mut d = [0; W];
        for i in 0..W {
            let lane = from(i as u32, b[i]) as usize;
            d[i] = a[if lane < W { lane } else { i }];
        }
        self.put(d);
    }
}
