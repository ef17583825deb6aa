//! The tags of a sectored set-associative cache.
use super::replacement::{Replacement, Stamp, Ways};
use crate::clock::{Divisor, mix};
use crate::host_cache::prefetch;
use warpscope_configs::specs::{ReplacementPolicy, SetHash};

/// Size and policies of a cache.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TagsSpec {
    /// Lines.
    pub lines: usize,
    /// Ways of a set (at most `lines`, at most 1024).
    pub ways: usize,
    /// Choice of the set.
    pub hash: SetHash,
    /// Choice of the victim.
    pub replacement: ReplacementPolicy,
}

/// State of one line. Sector masks have bit 0 for the lowest address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Sectors that hold data.
    pub valid: u8,
    /// Sectors that are newer than the level below.
    pub dirty: u8,
    /// Sectors asked for and not yet there. An entry with any is not replaced.
    pub pending: u8,
    /// Sectors of which only parts were written; they are dirty but not valid.
    pub partial: u8,
    /// 32nds of the line written since it came, among the partial sectors.
    pub written: u32,
    /// Newest miss register of the line, or [`Entry::NO_MISS`].
    pub mshr: u16,
    /// A copy of the line is in the other half (L2).
    pub shared: bool,
    /// Recorded among the lines with partly written sectors (L2).
    pub noted: bool,
}

impl Default for Entry {
    fn default() -> Entry {
        Entry::FRESH
    }
}

impl Entry {
    /// No miss register.
    pub const NO_MISS: u16 = u16::MAX;
    const FRESH: Entry = Entry {
        valid: 0,
        dirty: 0,
        pending: 0,
        partial: 0,
        written: 0,
        mshr: Entry::NO_MISS,
        shared: false,
        noted: false,
    };
}

/// Which set of a cache: found once a request, since hashing takes longer than looking.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SetIndex(u32);

/// Tags and states of all lines. An entry is named by its index.
#[derive(Clone, Debug)]
pub struct Tags {
    ways: usize,
    sets: u64,
    by_sets: Divisor,
    hash: SetHash,
    lines: Vec<u64>,
    entries: Vec<Entry>,
    stamps: Vec<Stamp>,
    replacement: Replacement,
    /// Whether a line has come in since all were dropped.
    used: bool,
}

const EMPTY: u64 = u64::MAX;

impl Tags {
    /// An empty cache. Lines are rounded down to whole sets; at least one set remains.
    pub fn new(spec: TagsSpec) -> Tags {
        let (sets, ways) = Tags::geometry(&spec);
        Tags {
            ways,
            sets: sets as u64,
            by_sets: Divisor::new(sets as u64),
            hash: spec.hash,
            lines: vec![EMPTY; sets * ways],
            entries: vec![Entry::FRESH; sets * ways],
            stamps: vec![0; sets * ways],
            replacement: Replacement::new(spec.replacement),
            used: false,
        }
    }

    /// Sets and ways.
    fn geometry(spec: &TagsSpec) -> (usize, usize) {
        let ways = spec.ways.clamp(1, spec.lines.clamp(1, 1024));
        ((spec.lines / ways).max(1), ways)
    }

    /// Lines that a cache of this specification holds.
    pub fn capacity_of(spec: &TagsSpec) -> usize {
        let (sets, ways) = Tags::geometry(spec);
        sets * ways
    }

    /// A set, by hash.
    #[inline(always)]
    fn hashed(&self, number: u64) -> u64 {
        ((mix(number) >> 32) * self.sets) >> 32
    }

    /// The set of line number `number`, the same in all caches of one specification.
    #[inline(always)]
    pub fn set_of(&self, number: u64) -> SetIndex {
        let set = match self.hash {
            SetHash::Modulo => self.by_sets.divide(number).1,
            SetHash::Mixed => self.hashed(number),
            SetHash::Turned => {
                let (quotient, rest) = self.by_sets.divide(number);
                let set = rest + self.hashed(quotient);
                if set >= self.sets { set - self.sets } else { set }
            }
        };
        SetIndex(set as u32)
    }

    /// The entries of a set.
    #[inline(always)]
    fn entries_of(&self, set: SetIndex) -> std::ops::Range<usize> {
        let first = set.0 as usize * self.ways;
        first..first + self.ways
    }

    /// The entry of a line in its set; the full address is compared.
    #[inline(always)]
    pub fn find(&self, set: SetIndex, line: u64) -> Option<usize> {
        let set = self.entries_of(set);
        let first = set.start;
        self.lines[set].iter().position(|&l| l == line).map(|way| first + way)
    }

    /// Lets the host bring near what a look-up in a set will read: caches of tens of megabytes have tags that do not fit
    /// into the host's own.
    #[inline(always)]
    pub fn prefetch(&self, set: SetIndex) {
        let set = self.entries_of(set);
        prefetch(&self.lines[set.clone()]);
        prefetch(&self.stamps[set.clone()]);
        prefetch(&self.entries[set]);
    }

    /// As [`Tags::prefetch`], for a look-up that will hardly find its line.
    #[inline(always)]
    pub fn prefetch_lines(&self, set: SetIndex) {
        prefetch(&self.lines[self.entries_of(set)]);
    }

    /// Lets the host bring near the state of an entry.
    #[inline(always)]
    pub fn prefetch_entry(&self, index: usize) {
        prefetch(std::slice::from_ref(&self.entries[index]));
    }

    /// State of an entry.
    #[inline(always)]
    pub fn entry(&self, index: usize) -> &Entry {
        &self.entries[index]
    }

    /// State of an entry.
    #[inline(always)]
    pub fn entry_mut(&mut self, index: usize) -> &mut Entry {
        &mut self.entries[index]
    }

    /// Line of an entry.
    #[inline(always)]
    pub fn line(&self, index: usize) -> u64 {
        self.lines[index]
    }

    /// Notes a use for the replacement policy.
    #[inline(always)]
    pub fn touch(&mut self, index: usize) {
        self.replacement.used(&mut self.stamps[index]);
    }

    /// Makes room for a line that is not there. Gives its entry, fresh, and what was evicted, if anything;
    /// `None` where every entry of the set waits for data.
    pub fn allocate(&mut self, set: SetIndex, line: u64) -> Option<(usize, Option<(u64, Entry)>)> {
        let range = self.entries_of(set);
        let first = range.start;
        let way = match self.lines[range.clone()].iter().position(|&l| l == EMPTY) {
            Some(way) => way,
            None if self.ways <= 64 => self.victim::<1>(range)?,
            None => self.victim::<16>(range)?,
        };
        let index = first + way;
        self.used = true;
        let evicted = (self.lines[index] != EMPTY).then(|| (self.lines[index], self.entries[index]));
        self.lines[index] = line;
        self.entries[index] = Entry::FRESH;
        self.replacement.filled(&mut self.stamps[index]);
        Some((index, evicted))
    }

    /// Where more than `most` entries of the set of entry `index` are of a kind, the one to give up: the replacement
    /// policy's choice among them, but not `index` itself.
    pub fn beyond(&mut self, index: usize, most: usize, kind: impl Fn(&Entry) -> bool) -> Option<usize> {
        if most >= self.ways {
            return None;
        }
        let first = index / self.ways * self.ways;
        let range = first..first + self.ways;
        let mut candidates = Ways::<16>::NONE;
        let mut count = 0;
        for (way, entry) in self.entries[range.clone()].iter().enumerate() {
            if self.lines[first + way] != EMPTY && kind(entry) {
                count += 1;
                if first + way != index {
                    candidates.insert(way);
                }
            }
        }
        if count <= most {
            return None;
        }
        self.replacement.victim(&mut self.stamps[range], &candidates).map(|way| first + way)
    }

    fn victim<const M: usize>(&mut self, range: std::ops::Range<usize>) -> Option<usize> {
        let mut candidates = Ways::<M>::NONE;
        for (way, entry) in self.entries[range.clone()].iter().enumerate() {
            if entry.pending == 0 {
                candidates.insert(way);
            }
        }
        self.replacement.victim(&mut self.stamps[range], &candidates)
    }

    /// Drops a line.
    pub fn remove(&mut self, index: usize) {
        debug_assert_eq!(self.entries[index].pending, 0);
        self.lines[index] = EMPTY;
        self.entries[index] = Entry::FRESH;
    }

    /// Drops a line if it is there. It must not wait for data.
    pub fn drop_line(&mut self, set: SetIndex, line: u64) {
        if let Some(index) = self.find(set, line) {
            self.remove(index);
        }
    }

    /// Drops the lines whose addresses lie in `range`. None may wait for data.
    pub fn drop_within(&mut self, range: std::ops::Range<u64>) {
        for index in 0..self.lines.len() {
            if self.lines[index] != EMPTY && range.contains(&self.lines[index]) {
                self.remove(index);
            }
        }
    }

    /// Drops every line, calling `evicted` for each. None may wait for data.
    pub fn clear(&mut self, mut evicted: impl FnMut(u64, Entry)) {
        if !std::mem::take(&mut self.used) {
            return;
        }
        for (line, entry) in self.lines.iter_mut().zip(&mut self.entries) {
            if *line != EMPTY {
                evicted(*line, *entry);
                *line = EMPTY;
                *entry = Entry::FRESH;
            }
        }
    }

    /// Lines that the cache can hold.
    pub fn capacity(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lines: usize, ways: usize) -> Tags {
        Tags::new(TagsSpec { lines, ways, hash: SetHash::Modulo, replacement: ReplacementPolicy::Lru })
    }

    /// Reads lines in order and counts hits.
    fn hits(tags: &mut Tags, numbers: impl Iterator<Item = u64>) -> usize {
        numbers
            .filter(|&n| match tags.find(tags.set_of(n), n * 128) {
                Some(index) => {
                    tags.touch(index);
                    true
                }
                None => {
                    tags.allocate(tags.set_of(n), n * 128);
                    false
                }
            })
            .count()
    }

    #[test]
    fn a_cyclic_walk_hits_wholly_up_to_capacity_and_misses_in_overfull_sets() {
        let mut t = tags(64, 4);
        hits(&mut t, 0..64);
        assert_eq!(hits(&mut t, 0..64), 64);
        let mut t = tags(64, 4);
        hits(&mut t, 0..68);
        // 4 of 16 sets hold 5 lines and miss always under LRU.
        assert_eq!(hits(&mut t, 0..68), 48);
    }

    #[test]
    fn entries_that_wait_are_not_replaced() {
        let mut t = tags(4, 2);
        for n in [0, 2] {
            let (index, evicted) = t.allocate(t.set_of(n), n * 128).unwrap();
            assert!(evicted.is_none());
            t.entry_mut(index).pending = 1;
        }
        assert!(t.allocate(t.set_of(4), 512).is_none());
        let index = t.find(t.set_of(2), 256).unwrap();
        t.entry_mut(index).pending = 0;
        t.entry_mut(index).dirty = 1;
        let (_, evicted) = t.allocate(t.set_of(4), 512).unwrap();
        assert_eq!(evicted.map(|(line, e)| (line, e.dirty)), Some((256, 1)));
        let mut seen = vec![];
        let index = t.find(t.set_of(0), 0).unwrap();
        t.entry_mut(index).pending = 0;
        t.clear(|line, _| seen.push(line));
        assert_eq!(seen.len(), 2);
        assert!(t.find(t.set_of(0), 0).is_none());
    }
}
