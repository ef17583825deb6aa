//! Votes, ballots and shuffles inside a sub-group.
use super::lanes::{Lanes, full_mask, next};
use crate::program::Operand;

impl<const W: usize> Lanes<'_, W> {
    /// Any or all active lanes have predicate a.
    #[inline(always)]
    pub fn vote(&mut self, all: bool) {
        let set = self.predicate(0) & self.mask;
        let outcome = if all { set == self.mask } else { set != 0 };
        self.put_predicate(if outcome { full_mask(W) } else { 0 });
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
