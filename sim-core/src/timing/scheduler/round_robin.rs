//! Loose round robin: the next one after the last that can go.

#[derive(Clone, Debug, Default)]
pub(crate) struct RoundRobin {
    next: u32,
}

impl RoundRobin {
    #[inline]
    pub fn pick(&mut self, ready: u64) -> usize {
        let from_next = ready & (u64::MAX << self.next);
        let slot = if from_next != 0 { from_next } else { ready }.trailing_zeros();
        self.next = (slot + 1) % u64::BITS;
        slot as usize
    }
}
