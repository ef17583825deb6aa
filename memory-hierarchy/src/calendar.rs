//! A queue of events by time: a ring of lists, one a cycle.

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;

/// An event in a list.
#[derive(Copy, Clone, Debug)]
struct Node<T> {
    event: T,
    next: u32,
}

/// Events by cycle. Events of one cycle come out in the order in which they went in.
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    /// Last node of each slot's list, whose `next` is the first; undefined for slots that are empty.
    last: Vec<u32>,
    /// The nodes of all lists. The one that was freed last is used first, so that few of them are ever touched.
    nodes: Vec<Node<T>>,
    free: u32,
    /// Bit per slot that is not empty.
    occupied: [u64; WORDS],
    /// No event is before this cycle; the ring covers [now, now + SLOTS).
    now: u64,
    /// The first cycle in the ring that has an event: `u64::MAX` if none has.
    first: u64,
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
            last: vec![NONE; SLOTS],
            nodes: Vec::new(),
            free: NONE,
            occupied: [0; WORDS],
            now: 0,
            first: u64::MAX,
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
        let at = self.node(event);
        let slot = cycle as usize % SLOTS;
        let bit = 1 << (slot % 64);
        let word = &mut self.occupied[slot / 64];
        if *word & bit == 0 {
            *word |= bit;
            self.nodes[at as usize].next = at;
            self.first = self.first.min(cycle);
        } else {
            let last = self.last[slot] as usize;
            self.nodes[at as usize].next = std::mem::replace(&mut self.nodes[last].next, at);
        }
        self.last[slot] = at;
    }

    #[inline]
    fn node(&mut self, event: T) -> u32 {
        let at = self.free;
        if at == NONE {
            self.nodes.push(Node { event, next: NONE });
            return self.nodes.len() as u32 - 1;
        }
        let node = &mut self.nodes[at as usize];
        self.free = node.next;
        node.event = event;
        at
    }

    /// The first cycle that has an event.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        // What lies beyond the ring may have come into reach since.
        (self.len > 0).then(|| self.first.min(self.later_first))
    }

    /// The first cycle from `from` on that has an event in the ring; `u64::MAX` if none has.
    fn search(&self, from: u64) -> u64 {
        let start = from as usize % SLOTS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        for _ in 0..=WORDS {
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                return from + ((slot + SLOTS - start) % SLOTS) as u64;
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        u64::MAX
    }

    /// Moves the present to `cycle`; no event may be before it.
    #[inline]
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
        let bit = 1 << (slot % 64);
        if self.occupied[slot / 64] & bit == 0 {
            return;
        }
        self.occupied[slot / 64] &= !bit;
        let last = self.last[slot];
        let first = self.nodes[last as usize].next;
        let mut at = first;
        loop {
            let node = &self.nodes[at as usize];
            out.push(node.event);
            if at == last {
                break;
            }
            at = node.next;
        }
        self.nodes[last as usize].next = self.free;
        self.free = first;
        self.len -= out.len();
        self.first = if self.len == self.later.len() { u64::MAX } else { self.search(cycle) };
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
