//! A read-only cache on the fetch path: lines with the time at which their data are there.
use warpscope_configs::specs::FetchCacheSpec;
use warpscope_memory::host_cache::prefetch;

/// Data that are on their way from the L2: the time of arrival is not known yet.
pub(crate) const PENDING: u64 = u64::MAX;
const EMPTY: u64 = u64::MAX;

#[derive(Copy, Clone, Debug)]
struct Line {
    tag: u64,
    ready: u64,
    used: u64,
}

/// Set-associative, least recently used; what is pending is not replaced.
#[derive(Clone, Debug)]
pub(crate) struct FetchCache {
    lines: Vec<Line>,
    ways: usize,
    sets: u64,
    /// The number of sets less one, where it is a power of two.
    mask: Option<u64>,
    uses: u64,
    /// Where the last look-up found its line: the next one often wants the same.
    last: usize,
    /// When the next line can be delivered.
    free: u64,
    pub latency: u64,
    pub interval: u64,
}

impl FetchCache {
    pub fn new(spec: &FetchCacheSpec) -> FetchCache {
        let lines = (spec.capacity / spec.line).max(1) as usize;
        let ways = (spec.ways as usize).clamp(1, lines);
        let sets = (lines / ways).max(1);
        FetchCache {
            lines: vec![Line { tag: EMPTY, ready: 0, used: 0 }; sets * ways],
            ways,
            sets: sets as u64,
            mask: sets.is_power_of_two().then_some(sets as u64 - 1),
            uses: 0,
            last: 0,
            free: 0,
            latency: u64::from(spec.latency),
            interval: u64::from(spec.interval),
        }
    }

    /// Reserves the port at `at` or later; gives the time at which the look-up starts.
    pub fn start(&mut self, at: u64) -> u64 {
        let start = at.max(self.free);
        self.free = start + self.interval;
        start
    }

    /// Keeps the port for the time of `lines` more lines.
    pub fn occupy(&mut self, lines: u64) {
        self.free += lines * self.interval;
    }

    #[inline]
    fn first(&self, line: u64) -> usize {
        self.mask.map_or_else(|| line % self.sets, |mask| line & mask) as usize * self.ways
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [Line] {
        let first = self.first(line);
        &mut self.lines[first..first + self.ways]
    }

    /// When the line's data are (or were) there; `None` for a miss.
    #[inline]
    pub fn lookup(&mut self, line: u64) -> Option<u64> {
        self.uses += 1;
        if self.lines[self.last].tag != line {
            let first = self.first(line);
            self.last = first + self.lines[first..first + self.ways].iter().position(|l| l.tag == line)?;
        }
        let found = &mut self.lines[self.last];
        found.used = self.uses;
        Some(found.ready)
    }

    /// Lets the host bring near what a look-up of the line reads.
    #[inline]
    pub fn prefetch(&self, line: u64) {
        let first = self.first(line);
        prefetch(&self.lines[first..first + self.ways]);
    }

    /// Whether the line is there or on its way, without counting as a use.
    pub fn contains(&mut self, line: u64) -> bool {
        self.set(line).iter().any(|l| l.tag == line)
    }

    /// Takes a line in, with its data arriving at `ready`. Where all of its set is pending it is not kept.
    pub fn insert(&mut self, line: u64, ready: u64) {
        self.uses += 1;
        let uses = self.uses;
        let victim = self.set(line).iter_mut().filter(|l| l.ready != PENDING).min_by_key(|l| l.used);
        if let Some(victim) = victim {
            *victim = Line { tag: line, ready, used: uses };
        }
    }

    /// The data of a pending line arrive at `ready`; a line that was not kept is ignored.
    pub fn arrive(&mut self, line: u64, ready: u64) {
        if let Some(found) = self.set(line).iter_mut().find(|l| l.tag == line && l.ready == PENDING) {
            found.ready = ready;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(lines: u32, ways: u32) -> FetchCache {
        FetchCache::new(&FetchCacheSpec { capacity: lines * 128, line: 128, ways, latency: 5, interval: 2 })
    }

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut c = cache(2, 2);
        c.insert(0, 10);
        c.insert(1, 11);
        assert_eq!(c.lookup(0), Some(10));
        c.insert(2, 12);
        assert_eq!((c.lookup(0), c.lookup(1), c.lookup(2)), (Some(10), None, Some(12)));
    }

    #[test]
    fn pending_lines_stay_until_they_arrive() {
        let mut c = cache(1, 1);
        c.insert(7, PENDING);
        c.insert(8, 3);
        assert_eq!((c.lookup(7), c.contains(8)), (Some(PENDING), false));
        c.arrive(7, 20);
        assert_eq!(c.lookup(7), Some(20));
    }

    #[test]
    fn the_port_serves_one_line_an_interval() {
        let mut c = cache(4, 4);
        assert_eq!((c.start(10), c.start(10), c.start(20)), (10, 12, 20));
    }
}
