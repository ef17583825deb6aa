//! Always the oldest.
use super::Order;

#[derive(Clone, Debug, Default)]
pub(crate) struct Oldest;

impl Oldest {
    #[inline]
    pub fn pick(&mut self, ready: u64, order: &Order) -> usize {
        order.oldest(ready)
    }
}
