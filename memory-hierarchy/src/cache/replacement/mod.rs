//! Replacement policies: one file each, chosen by the machine.

mod fifo;
mod lru;
mod nru;
mod random;

use warpscope_configs::specs::ReplacementPolicy;

/// What a policy keeps for each entry; its meaning is the policy's own.
pub(super) type Stamp = u32;

/// The replacement state of one cache.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    policy: ReplacementPolicy,
    /// Counts uses (LRU, NRU), fills (FIFO) or draws (random).
    clock: u32,
}

impl Replacement {
    pub(super) fn new(policy: ReplacementPolicy) -> Replacement {
        Replacement { policy, clock: 0 }
    }

    /// An entry was filled anew.
    #[inline(always)]
    pub(super) fn filled(&mut self, stamp: &mut Stamp) {
        self.clock = self.clock.wrapping_add(1);
        *stamp = match self.policy {
            ReplacementPolicy::Lru | ReplacementPolicy::Fifo | ReplacementPolicy::Random => self.clock,
            ReplacementPolicy::Nru => nru::RECENT,
        };
    }

    /// An entry was used.
    #[inline(always)]
    pub(super) fn used(&mut self, stamp: &mut Stamp) {
        match self.policy {
            ReplacementPolicy::Lru => *stamp = lru::tick(&mut self.clock),
            ReplacementPolicy::Nru => *stamp = nru::RECENT,
            ReplacementPolicy::Fifo | ReplacementPolicy::Random => {}
        }
    }

    /// Chooses among the `candidates` (ways that may be replaced) of a full set.
    pub(super) fn victim<const M: usize>(&mut self, stamps: &mut [Stamp], candidates: &Ways<M>) -> Option<usize> {
        match self.policy {
            ReplacementPolicy::Lru => lru::victim(self.clock, stamps, candidates),
            ReplacementPolicy::Fifo => fifo::victim(self.clock, stamps, candidates),
            ReplacementPolicy::Nru => nru::victim(stamps, candidates),
            ReplacementPolicy::Random => random::victim(&mut self.clock, stamps.len(), candidates),
        }
    }
}

/// A set of ways, as bits.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ways<const M: usize>(pub(super) [u64; M]);

impl<const M: usize> Ways<M> {
    pub(super) const NONE: Ways<M> = Ways([0; M]);

    #[inline(always)]
    pub(super) fn insert(&mut self, way: usize) {
        self.0[way / 64] |= 1 << (way % 64);
    }

    #[inline(always)]
    pub(super) fn contains(&self, way: usize) -> bool {
        self.0[way / 64] >> (way % 64) & 1 != 0
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            std::iter::successors((bits != 0).then_some(bits), |b| Some(b & (b - 1)).filter(|b| *b != 0))
                .map(move |b| word * 64 + b.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(n: usize) -> Ways<1> {
        let mut ways = Ways::NONE;
        (0..n).for_each(|w| ways.insert(w));
        ways
    }

    /// Fills ways 0..4 in order, uses 0 and 1, and asks for victims.
    fn order(policy: ReplacementPolicy, candidates: Ways<1>) -> Option<usize> {
        let mut replacement = Replacement::new(policy);
        let mut stamps = [0; 4];
        stamps.iter_mut().for_each(|s| replacement.filled(s));
        replacement.used(&mut stamps[0]);
        replacement.used(&mut stamps[1]);
        replacement.victim(&mut stamps, &candidates)
    }

    #[test]
    fn each_policy_keeps_its_promise() {
        assert_eq!(order(ReplacementPolicy::Lru, all(4)), Some(2));
        assert_eq!(order(ReplacementPolicy::Fifo, all(4)), Some(0));
        assert_eq!(order(ReplacementPolicy::Lru, Ways([0b1011])), Some(3));
        assert_eq!(order(ReplacementPolicy::Nru, Ways([0b1000])), Some(3));
        for policy in
            [ReplacementPolicy::Lru, ReplacementPolicy::Fifo, ReplacementPolicy::Nru, ReplacementPolicy::Random]
        {
            assert_eq!(order(policy, Ways::NONE), None);
            assert_eq!(order(policy, Ways([0b0100])), Some(2));
        }
    }

    #[test]
    fn random_reaches_every_way() {
        let mut replacement = Replacement::new(ReplacementPolicy::Random);
        let mut seen = [0; 4];
        for _ in 0..400 {
            seen[replacement.victim(&mut [0; 4], &all(4)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
    }

    #[test]
    fn nru_spares_what_was_used_since_all_were_marked() {
        let mut replacement = Replacement::new(ReplacementPolicy::Nru);
        let mut stamps = [nru::RECENT; 4];
        assert_eq!(replacement.victim(&mut stamps, &all(4)), Some(0));
        replacement.filled(&mut stamps[0]);
        replacement.used(&mut stamps[1]);
        assert_eq!(replacement.victim(&mut stamps, &all(4)), Some(2));
    }
}
