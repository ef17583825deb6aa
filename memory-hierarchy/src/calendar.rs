//! A queue of events by time: a ring of buckets, one a cycle.

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;

/// Events by cycle. Events of one cycle come out in the order in which they went in.
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    slots: Vec<Vec<T>>,
    /// Bit per slot that is not empty.
    occupied: [u64; WORDS],
    /// No event is before this cycle; the ring covers [now, now + SLOTS).
    now: u64,
    /// Events beyond the ring.
    later: Vec<(u64, T)>,
    /// Earliest of `later`.
    later_first: u64,
    len: usize,
}

impl<T: Copy> Calendar<T> {
    /// Empty, at cycle 0.
    pub fn new() -> Self {
        Calendar {
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            occupied: [0; WORDS],
            now: 0,
            later: Vec::new(),
            later_first: u64::MAX,
            len: 0,
        }
    }

    /// Events waiting.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event. A cycle that is past counts as the present one.
    #[inline]
    pub fn push(&mut self, cycle: u64, event: T) {
        let cycle = cycle.max(self.now);
        self.len += 1;
        if cycle - self.now < SLOTS as u64 {
            self.put(cycle, event);
        } else {
            self.later_first = self.later_first.min(cycle);
            self.later.push((cycle, event));
        }
    }

    #[inline]
    fn put(&mut self, cycle: u64, event: T) {
        let slot = cycle as usize % SLOTS;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.slots[slot].push(event);
    }

    /// The first cycle that has an event.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let start = self.now as usize % SLOTS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        for _ in 0..=WORDS {
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let cycle = self.now + ((slot + SLOTS - start) % SLOTS) as u64;
                // What lies beyond the ring may have come into reach since.
                return Some(cycle.min(self.later_first));
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        Some(self.later_first)
    }

    /// Moves the present to `cycle`; no event may be before it.
    pub fn advance_to(&mut self, cycle: u64) {
        debug_assert!(self.next().is_none_or(|next| next >= cycle));
        self.now = self.now.max(cycle);
        if self.later_first < self.now + SLOTS as u64 {
            self.bring_near();
        }
    }

    /// Takes all events of `cycle`, the present, into `out` (cleared first).
    pub fn take(&mut self, cycle: u64, out: &mut Vec<T>) {
        out.clear();
        self.advance_to(cycle);
        let slot = cycle as usize % SLOTS;
        std::mem::swap(out, &mut self.slots[slot]);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.len -= out.len();
    }

    fn bring_near(&mut self) {
        let limit = self.now + SLOTS as u64;
        let mut kept = Vec::new();
        self.later_first = u64::MAX;
        for (cycle, event) in std::mem::take(&mut self.later) {
            if cycle < limit {
                self.put(cycle, event);
            } else {
                self.later_first = self.later_first.min(cycle);
                kept.push((cycle, event));
            }
        }
        self.later = kept;
    }
}

impl<T: Copy> Default for Calendar<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_time_order_and_ties_in_insertion_order() {
        let mut calendar = Calendar::new();
        let times = [5u64, 5, 100_000, 4095, 4096, 4097, 5, 0, 70_000, 8191, 100_000];
        for (i, &t) in times.iter().enumerate() {
            calendar.push(t, i);
        }
        let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
        expected.sort();
        let (mut seen, mut batch) = (vec![], vec![]);
        while let Some(cycle) = calendar.next() {
            calendar.take(cycle, &mut batch);
            assert!(!batch.is_empty());
            seen.extend(batch.iter().map(|&i| (cycle, i)));
        }
        assert_eq!(seen, expected);
        assert!(calendar.is_empty());
    }
}
