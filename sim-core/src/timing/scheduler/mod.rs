//! Warp schedulers: which of the warps that can issue goes next. One file a policy.
mod greedy;
mod oldest;
mod oldest_group;
mod round_robin;
mod two_level;

use greedy::Greedy;
use oldest::Oldest;
use oldest_group::OldestGroup;
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
    OldestGroup(OldestGroup),
    TwoLevel(Box<TwoLevel>),
}

impl Scheduler {
    pub fn new(spec: &ComputeUnitSpec) -> Scheduler {
        match spec.scheduler {
            SchedulerPolicy::GreedyThenOldest => Scheduler::GreedyOldest(Greedy::default()),
            SchedulerPolicy::GreedyThenYoungest => Scheduler::GreedyYoungest(Greedy::default()),
            SchedulerPolicy::LooseRoundRobin => Scheduler::RoundRobin(RoundRobin::default()),
            SchedulerPolicy::OldestFirst => Scheduler::Oldest(Oldest),
            SchedulerPolicy::OldestGroupFirst => Scheduler::OldestGroup(OldestGroup::default()),
            SchedulerPolicy::TwoLevel => Scheduler::TwoLevel(Box::new(TwoLevel::new(spec.two_level_active))),
        }
    }

    /// One of the slots in `ready` (not 0).
    #[inline]
    pub fn pick(&mut self, ready: u64, order: &Order) -> usize {
        debug_assert!(ready != 0);
        match self {
            Scheduler::GreedyOldest(s) => s.pick(ready, order),
            Scheduler::GreedyYoungest(s) => s.pick(ready, order),
            Scheduler::RoundRobin(s) => s.pick(ready),
            Scheduler::Oldest(s) => s.pick(ready, order),
            Scheduler::OldestGroup(s) => s.pick(ready, order),
            Scheduler::TwoLevel(s) => s.pick(ready, order),
        }
    }
}

/// The order in which the warps in a sub-core's slots started.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// For each slot, those whose warps started before its own.
    older: [u64; MAX_SLOTS],
    /// For each slot, those with warps of the same group, itself among them.
    peers: [u64; MAX_SLOTS],
}

impl Default for Order {
    fn default() -> Order {
        Order { older: [0; MAX_SLOTS], peers: [0; MAX_SLOTS] }
    }
}

impl Order {
    /// A warp starts in a slot while those in `others` are taken, those in `peers` by warps of its group.
    pub fn start(&mut self, slot: usize, others: u64, peers: u64) {
        let bit = 1 << slot;
        self.older.iter_mut().for_each(|older| *older &= !bit);
        self.older[slot] = others & !bit;
        for (other, known) in self.peers.iter_mut().enumerate() {
            *known = if peers >> other & 1 != 0 { *known | bit } else { *known & !bit };
        }
        self.peers[slot] = peers | bit;
    }

    /// The slots with warps of the same group as that in `slot`, which is among them.
    #[inline]
    pub fn peers(&self, slot: usize) -> u64 {
        self.peers[slot % MAX_SLOTS]
    }

    /// The slot among `slots` (not 0, all taken) whose warp started first.
    #[inline]
    pub fn oldest(&self, slots: u64) -> usize {
        self.extreme::<true>(slots)
    }

    /// A step goes to a slot beyond the present one: of those that are left, about half are passed over each time.
    #[inline]
    fn extreme<const OLDEST: bool>(&self, slots: u64) -> usize {
        let mut best = slots.trailing_zeros() as usize;
        let mut rest = slots & (slots - 1);
        loop {
            let older = self.older[best % MAX_SLOTS];
            rest &= if OLDEST { older } else { !older };
            if rest == 0 {
                return best;
            }
            best = rest.trailing_zeros() as usize;
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four slots, 1 started first, then 3, 0 and 2.
    fn order() -> Order {
        let mut order = Order::default();
        let mut taken = 0;
        for slot in [2, 1, 3, 0, 2] {
            order.start(slot, taken, 0);
            taken |= 1 << slot;
        }
        order
    }

    #[test]
    fn greedy_stays_then_takes_the_oldest_or_youngest() {
        let mut s = Greedy::<true>::default();
        assert_eq!([s.pick(0b1101, &order()), s.pick(0b1111, &order()), s.pick(0b0111, &order())], [3, 3, 1]);
        let mut s = Greedy::<false>::default();
        assert_eq!([s.pick(0b1011, &order()), s.pick(0b0101, &order()), s.pick(0b1010, &order())], [0, 0, 3]);
    }

    #[test]
    fn round_robin_takes_turns_among_the_ready() {
        let mut s = RoundRobin::default();
        let picked: Vec<usize> = [0b1011, 0b1011, 0b1011, 0b1011, 0b0100].iter().map(|r| s.pick(*r)).collect();
        assert_eq!(picked, [0, 1, 3, 0, 2]);
    }

    /// Of two groups that of slots 1 and 3 started first.
    #[test]
    fn warps_of_the_oldest_group_take_turns() {
        let mut order = Order::default();
        for (slot, taken, peers) in [(1, 0, 0), (3, 0b10, 0b10), (0, 0b1010, 0), (2, 0b1011, 0b1)] {
            order.start(slot, taken, peers);
        }
        let mut s = OldestGroup::default();
        let picked: Vec<usize> = [0b1111, 0b1111, 0b1111, 0b1101, 0b0101, 0b0101].map(|r| s.pick(r, &order)).to_vec();
        assert_eq!(picked, [1, 3, 1, 3, 0, 2]);
        // The slot's next warp is of the other group.
        order.start(1, 0b1101, 0b0101);
        assert_eq!([order.peers(1), order.peers(3), order.peers(0)], [0b0111, 0b1000, 0b0111]);
    }

    #[test]
    fn two_level_keeps_to_its_active_set_while_it_can() {
        let mut s = TwoLevel::new(2);
        // 1 and 3 are the oldest: they become the active set.
        let picked: Vec<usize> = [0b1111, 0b1101, 0b1111, 0b1111].iter().map(|r| s.pick(*r, &order())).collect();
        assert_eq!(picked, [1, 3, 1, 3]);
        // Neither can go: the oldest other one replaces the one that issued longest ago.
        assert_eq!(s.pick(0b0101, &order()), 0);
        assert_eq!(s.pick(0b1111, &order()), 3);
    }
}
