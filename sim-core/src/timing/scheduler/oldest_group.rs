//! Warps of the group that started first, in turns.
use super::{Order, round_robin::RoundRobin};

#[derive(Clone, Debug, Default)]
pub(crate) struct OldestGroup {
    turns: RoundRobin,
}

impl OldestGroup {
    #[inline]
    pub fn pick(&mut self, ready: u64, order: &Order) -> usize {
        let oldest = order.oldest(ready);
        self.turns.pick(ready & order.peers(oldest))
    }
}
