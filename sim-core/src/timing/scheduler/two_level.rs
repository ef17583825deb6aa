//! Two levels: round robin in a small active set; a warp from outside comes in when none of the set can go, in place
//! of the one that issued longest ago.
use super::{MAX_SLOTS, Order};

#[derive(Clone, Debug)]
pub(crate) struct TwoLevel {
    size: u32,
    active: u64,
    /// For each slot, when it was picked last.
    picked: [u64; MAX_SLOTS],
    picks: u64,
}

impl TwoLevel {
    pub fn new(size: u32) -> TwoLevel {
        TwoLevel { size, active: 0, picked: [0; MAX_SLOTS], picks: 0 }
    }

    pub fn pick(&mut self, ready: u64, order: &Order) -> usize {
        let filling = self.active.count_ones() < self.size && ready & !self.active != 0;
        let slot = if ready & self.active != 0 && !filling {
            self.longest_ago(ready & self.active)
        } else {
            let slot = order.oldest(ready & !self.active);
            if self.active.count_ones() >= self.size {
                self.active &= !(1 << self.longest_ago(self.active));
            }
            self.active |= 1 << slot;
            slot
        };
        self.picks += 1;
        self.picked[slot] = self.picks;
        slot
    }

    fn longest_ago(&self, slots: u64) -> usize {
        let among = (0..MAX_SLOTS).filter(|slot| slots >> slot & 1 != 0);
        among.min_by_key(|slot| self.picked[*slot]).unwrap_or(0)
    }
}
