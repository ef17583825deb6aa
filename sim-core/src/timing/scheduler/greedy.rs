//! Stays with the same warp while it can issue, else takes the oldest (or youngest).
use super::Order;

#[derive(Clone, Debug, Default)]
pub(crate) struct Greedy<const OLDEST: bool> {
    /// Slot of the last pick, as a bit; 0: none yet.
    last: u64,
}

impl<const OLDEST: bool> Greedy<OLDEST> {
    #[inline]
    pub fn pick(&mut self, ready: u64, order: &Order) -> usize {
        if ready & self.last == 0 {
            self.last = 1 << order.extreme::<OLDEST>(ready);
        }
        self.last.trailing_zeros() as usize
    }
}
