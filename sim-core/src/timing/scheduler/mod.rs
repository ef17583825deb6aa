//! Warp schedulers: which of the warps that can issue goes next. One file a policy.
mod greedy;
mod oldest;
mod round_robin;
mod two_level;

use greedy::Greedy;
use oldest::Oldest;
use round_robin::RoundRobin;
use two_level::TwoLevel;
use warpscope_configs::specs::{ComputeUnitSpec, SchedulerPolicy};

/// Most warps of a sub-core: candidates are bits of a word.
pub(crate) const MAX_SLOTS: usize = 64;

/// The scheduler of a sub-core.
#[derive(Clone, Debug)]
pub(crate) enum Scheduler {
    GreedyOldest(Greedy<true>),
    GreedyYoungest(Greedy<false>),
    RoundRobin(RoundRobin),
    Oldest(Oldest),
    TwoLevel(Box<TwoLevel>),
}

impl Scheduler {
    pub fn new(spec: &ComputeUnitSpec) -> Scheduler {
        match spec.scheduler {
            SchedulerPolicy::GreedyThenOldest => Scheduler::GreedyOldest(Greedy::default()),
            SchedulerPolicy::GreedyThenYoungest => Scheduler::GreedyYoungest(Greedy::default()),
            SchedulerPolicy::LooseRoundRobin => Scheduler::RoundRobin(RoundRobin::default()),
            SchedulerPolicy::OldestFirst => Scheduler::Oldest(Oldest),
            SchedulerPolicy::TwoLevel => Scheduler::TwoLevel(Box::new(TwoLevel::new(spec.two_level_active))),
        }
    }

    /// One of the slots in `ready` (not 0). `ages` holds the order in which the slots' warps started.
    #[inline]
    pub fn pick(&mut self, ready: u64, ages: &[u64]) -> usize {
        debug_assert!(ready != 0);
        match self {
            Scheduler::GreedyOldest(s) => s.pick(ready, ages),
            Scheduler::GreedyYoungest(s) => s.pick(ready, ages),
            Scheduler::RoundRobin(s) => s.pick(ready),
            Scheduler::Oldest(s) => s.pick(ready, ages),
            Scheduler::TwoLevel(s) => s.pick(ready, ages),
        }
    }
}

/// The slot in `ready` whose warp started first (or last).
#[inline]
fn by_age<const OLDEST: bool>(ready: u64, ages: &[u64]) -> usize {
    let mut rest = ready;
    let mut best = rest.trailing_zeros() as usize;
    rest &= rest - 1;
    while rest != 0 {
        let slot = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        if (ages[slot] < ages[best]) == OLDEST {
            best = slot;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGES: [u64; 4] = [30, 10, 40, 20];

    #[test]
    fn greedy_stays_then_takes_the_oldest_or_youngest() {
        let mut s = Greedy::<true>::default();
        assert_eq!([s.pick(0b1101, &AGES), s.pick(0b1111, &AGES), s.pick(0b0111, &AGES)], [3, 3, 1]);
        let mut s = Greedy::<false>::default();
        assert_eq!([s.pick(0b1011, &AGES), s.pick(0b0101, &AGES), s.pick(0b1010, &AGES)], [0, 0, 3]);
    }

    #[test]
    fn round_robin_takes_turns_among_the_ready() {
        let mut s = RoundRobin::default();
        let picked: Vec<usize> = [0b1011, 0b1011, 0b1011, 0b1011, 0b0100].iter().map(|r| s.pick(*r)).collect();
        assert_eq!(picked, [0, 1, 3, 0, 2]);
    }

    #[test]
    fn two_level_keeps_to_its_active_set_while_it_can() {
        let mut s = TwoLevel::new(2);
        // 1 and 3 are the oldest: they become the active set.
        let picked: Vec<usize> = [0b1111, 0b1101, 0b1111, 0b1111].iter().map(|r| s.pick(*r, &AGES)).collect();
        assert_eq!(picked, [1, 3, 1, 3]);
        // Neither can go: the oldest other one replaces the one that issued longest ago.
        assert_eq!(s.pick(0b0101, &AGES), 0);
        assert_eq!(s.pick(0b1111, &AGES), 3);
    }
}
