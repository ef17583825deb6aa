//! What requests do in a slice.
use super::slice::{Origin, Waiting};
use super::{Event, L2System};
use crate::cache::{Entry, SetIndex};
use crate::clock::{TICKS, Ticks, cycle_at};
use crate::dram::channel::NO_TARGET;
use crate::request::{L2Request, L2Response, RequestKind, ones};

impl L2System {
    /// A request of a compute unit is at the slice of its own half; `false` where it cannot go on.
    pub(super) fn unit_request(
        &mut self,
        request: &L2Request,
        near: usize,
        now: Ticks,
        responses: &mut Vec<L2Response>,
    ) -> bool {
        let home = usize::from(request.home);
        if home == near {
            return self.home(near, request, Origin::Unit, now, responses);
        }
        match request.kind {
            RequestKind::Load | RequestKind::Fetch if self.keep_far => self.read_copy(near, request, now, responses),
            kind => {
                let start = self.start(near, request, now, self.pass_time(request));
                let passed = request.passes();
                if request.joined {
                } else if kind == RequestKind::Load || kind == RequestKind::Fetch {
                    self.counters.lookup_misses += passed;
                } else {
                    self.counters.lookup_hits += passed;
                }
                if kind.is_atomic() {
                    self.drop_copy(near, request);
                }
                let read = kind == RequestKind::Load || kind == RequestKind::Fetch;
                let sent = if read || request.joined { 0 } else { passed };
                self.send_far(near, request, Origin::Unit, sent, start);
                true
            }
        }
    }

    /// A load at a slice that may keep a copy of the line.
    fn read_copy(&mut self, near: usize, request: &L2Request, now: Ticks, responses: &mut Vec<L2Response>) -> bool {
        let slice = &mut self.slices[near];
        let found = slice.tags.find(request.set, request.line);
        let state = found.map_or(Entry::default(), |index| *slice.tags.entry(index));
        let missing = request.sectors & !state.valid;
        let fresh = missing & !state.pending;
        if fresh != 0 && slice.far_misses.free() == 0 {
            return false;
        }
        if let Some(index) = found {
            slice.tags.touch(index);
        }
        let start = self.start(near, request, now, self.times.interval);
        self.count_hits(request, request.sectors & !fresh);
        if missing == 0 {
            self.reply(near, request, Origin::Unit, start + self.times.latency, responses);
            return true;
        }
        let slice = &mut self.slices[near];
        let waiting = slice.note(*request, Origin::Unit);
        let mut id = state.mshr;
        while id != Entry::NO_MISS {
            let (older, brings) = slice.far_misses.older(id);
            if brings & missing != 0 {
                slice.far_misses.wait(id, waiting);
                slice.waiting[waiting as usize].remaining += 1;
            }
            id = older;
        }
        if fresh != 0 {
            let entry = found.or_else(|| self.allocate(near, request.set, request.line, start));
            let fresh = blocks(fresh, self.sectors, self.fetch_sectors) & !state.valid & !state.pending;
            self.counters.lookup_misses += u64::from(ones(fresh));
            let slice = &mut self.slices[near];
            let older = entry.map_or(Entry::NO_MISS, |index| slice.tags.entry(index).mshr);
            let Some(miss) = slice.far_misses.take(request.line, entry, fresh, older) else { return false };
            if let Some(index) = entry {
                let state = slice.tags.entry_mut(index);
                state.mshr = miss;
                state.pending |= fresh;
            }
            slice.far_misses.wait(miss, waiting);
            slice.waiting[waiting as usize].remaining += 1;
            let asked = L2Request { sectors: fresh, ..*request };
            self.send_far(near, &asked, Origin::Copy(miss), 0, start);
        }
        true
    }

    /// Sends a request, with `sectors` sectors of data, to its home in the other half.
    fn send_far(&mut self, near: usize, request: &L2Request, origin: Origin, sectors: u64, start: Ticks) {
        self.counters.far_requests += 1;
        self.counters.far_sectors += sectors;
        let length = sectors * self.times.far_sector;
        let leaves = self.slices[near].far.reserve(start, length) + length;
        let at = cycle_at(leaves + self.times.far);
        self.events.push(at, Event::Far { slice: request.home, origin, request: *request });
    }

    /// A request is at its home slice; `false` where it cannot go on.
    pub(super) fn home(
        &mut self,
        slice: usize,
        request: &L2Request,
        origin: Origin,
        now: Ticks,
        responses: &mut Vec<L2Response>,
    ) -> bool {
        match request.kind {
            RequestKind::Store => self.store(slice, request, now, responses),
            _ => self.read(slice, request, origin, now, responses),
        }
    }

    /// A load or an atomic: both need the data.
    fn read(
        &mut self,
        at: usize,
        request: &L2Request,
        origin: Origin,
        now: Ticks,
        responses: &mut Vec<L2Response>,
    ) -> bool {
        let local = request.local;
        let slice = &mut self.slices[at];
        let found = slice.tags.find(request.set, request.line);
        let state = found.map_or(Entry::default(), |index| *slice.tags.entry(index));
        // Without filling, what was written of a sector counts as the whole.
        let there = if self.fill_partial { state.valid } else { state.valid | state.partial };
        let missing = request.sectors & !there;
        let fresh = missing & !state.pending;
        if fresh != 0 && (slice.misses.free() == 0 || found.is_none() && !slice.channel.has_write_room()) {
            return false;
        }
        if let Some(index) = found {
            slice.tags.touch(index);
        }
        let length = if request.kind.is_atomic() { self.atomic_time(request) } else { self.times.interval };
        let start = self.start(at, request, now, length);
        self.count_hits(request, request.sectors & !fresh);
        if request.kind == RequestKind::Reduction {
            // The slice has the operands: the unit need not wait for DRAM.
            let end = start + length + self.times.latency + self.times.atomic;
            self.reply(at, request, origin, end, responses);
        }
        if missing == 0 {
            self.serve(at, request, origin, start, responses);
            return true;
        }
        let slice = &mut self.slices[at];
        let waiting = slice.note(*request, origin);
        let mut id = state.mshr;
        while id != Entry::NO_MISS {
            let (older, brings) = slice.misses.older(id);
            if brings & missing != 0 {
                slice.misses.wait(id, waiting);
                slice.waiting[waiting as usize].remaining += 1;
            }
            id = older;
        }
        if fresh != 0 {
            let entry = found.or_else(|| self.allocate(at, request.set, request.line, start));
            let wanted = blocks(fresh, self.sectors, self.fetch_sectors) & !there & !state.pending;
            self.counters.lookup_misses += u64::from(ones(wanted));
            self.miss(at, request.line, local, entry, wanted, waiting, start);
        }
        true
    }

    /// How long an atomic keeps its home slice from starting another request.
    pub(super) fn atomic_time(&self, request: &L2Request) -> Ticks {
        let whole = self.whole_sectors(request.written, request.sectors);
        self.times.of_atomic(request, u64::from(ones(whole)))
    }

    /// How long a request keeps a slice that only passes it on from starting another one.
    pub(super) fn pass_time(&self, request: &L2Request) -> Ticks {
        if request.kind.is_atomic() { request.passes() * self.times.interval } else { self.times.interval }
    }

    /// When a slice starts on a request; one that goes with another takes no time.
    fn start(&mut self, at: usize, request: &L2Request, now: Ticks, length: Ticks) -> Ticks {
        if request.joined { now } else { self.slices[at].start.reserve(now, length) }
    }

    /// Counts sectors that are there or under way.
    fn count_hits(&mut self, request: &L2Request, sectors: u8) {
        if !request.joined {
            self.counters.lookup_hits += u64::from(ones(sectors)) + request.passes() - u64::from(ones(request.sectors));
        }
    }

    /// Asks DRAM for sectors of a line; a miss register is free.
    #[allow(clippy::too_many_arguments)]
    fn miss(
        &mut self,
        at: usize,
        line: u64,
        local: u64,
        entry: Option<usize>,
        sectors: u8,
        waiting: u32,
        start: Ticks,
    ) {
        let slice = &mut self.slices[at];
        let older = entry.map_or(Entry::NO_MISS, |index| slice.tags.entry(index).mshr);
        let Some(miss) = slice.misses.take(line, entry, sectors, older) else { return };
        if let Some(index) = entry {
            let state = slice.tags.entry_mut(index);
            state.mshr = miss;
            state.pending |= sectors;
        }
        slice.misses.wait(miss, waiting);
        slice.waiting[waiting as usize].remaining += 1;
        self.dram(at, local, self.granules(sectors), false, u32::from(miss), start + self.times.latency);
    }

    /// All sectors of the DRAM granules that have one of these.
    fn granules(&self, sectors: u8) -> u8 {
        blocks(sectors, self.sectors, self.granule_sectors)
    }

    /// Sends whole granules to or from DRAM.
    fn dram(&mut self, at: usize, local: u64, sectors: u8, write: bool, target: u32, leaves: Ticks) {
        let bursts = (ones(sectors) / self.granule_sectors).max(1) as u8;
        if let Some(step) = self.slices[at].channel.push(leaves, local, bursts, write, target) {
            self.events.push(step.div_ceil(TICKS), Event::Dram { slice: at as u16 });
        }
    }

    /// Makes room for a line; what leaves dirty is written to DRAM. Copies of the other half's lines are never dirty.
    fn allocate(&mut self, at: usize, set: SetIndex, line: u64, start: Ticks) -> Option<usize> {
        let Some((index, evicted)) = self.slices[at].tags.allocate(set, line) else {
            self.counters.bypasses += 1;
            return None;
        };
        if let Some((victim, state)) = evicted {
            self.counters.evictions += 1;
            if state.partial != 0 {
                self.slices[at].partial_lines.ended();
            }
            if state.dirty != 0 {
                self.write_back(at, victim, state.dirty, state.partial, start);
            }
        }
        Some(index)
    }

    /// Writes sectors of a line to DRAM, completing `partial` ones first.
    fn write_back(&mut self, at: usize, line: u64, dirty: u8, partial: u8, start: Ticks) {
        let local = self.map.home(line).local;
        let leaves = start + self.times.latency;
        if partial != 0 && self.fill_partial {
            self.counters.partial_fills += u64::from(ones(partial));
            self.counters.lookup_misses += u64::from(ones(partial));
            self.counters.write_sectors += u64::from(ones(partial));
            self.counters.write_back_sectors += u64::from(ones(dirty));
            let granules = |sectors| (ones(self.granules(sectors)) / self.granule_sectors) as u8;
            let (reads, writes) = (granules(partial), granules(dirty));
            if let Some(step) = self.slices[at].channel.push_completion(leaves, local, reads, writes) {
                self.events.push(step.div_ceil(TICKS), Event::Dram { slice: at as u16 });
            }
            return;
        }
        self.counters.write_back_sectors += u64::from(ones(dirty));
        self.dram(at, local, self.granules(dirty), true, NO_TARGET, leaves);
    }

    fn store(&mut self, at: usize, request: &L2Request, now: Ticks, responses: &mut Vec<L2Response>) -> bool {
        let slice = &mut self.slices[at];
        let found = slice.tags.find(request.set, request.line);
        let makes_dirty = found.is_none_or(|index| slice.tags.entry(index).dirty == 0);
        if makes_dirty && !slice.channel.has_write_room() {
            return false;
        }
        let start = self.start(at, request, now, self.times.interval);
        let whole = self.whole_sectors(request.written, request.sectors);
        let sectors = u64::from(ones(request.sectors));
        let length = self.write_time(at, found, request.sectors, whole);
        let mut end = start;
        if !request.joined {
            end = self.slices[at].write.reserve(start, length) + length;
            self.counters.lookup_hits += sectors;
        }
        match found.or_else(|| self.allocate(at, request.set, request.line, start)) {
            Some(index) => {
                let slice = &mut self.slices[at];
                slice.tags.touch(index);
                let state = slice.tags.entry_mut(index);
                let before = *state;
                state.written |= request.written;
                state.dirty |= request.sectors;
                state.partial |= request.sectors & !state.valid;
                let written = state.written;
                let whole = whole | self.whole_sectors(written, request.sectors);
                let state = self.slices[at].tags.entry_mut(index);
                state.valid |= whole;
                state.partial &= !whole;
                let partial = state.partial;
                self.note_partial(at, index, before.partial, partial, start);
                if before.dirty == 0 {
                    self.limit_dirty(at, index, start);
                }
            }
            None => self.write_back(at, request.line, request.sectors, request.sectors & !whole, start),
        }
        self.drop_other_copy(at, request);
        self.reply(at, request, Origin::Unit, end + self.times.latency, responses);
        true
    }

    /// How long a slice writes: where a partly written sector has been written before and its other bytes are not there, what
    /// it has must be read and checked.
    fn write_time(&self, at: usize, found: Option<usize>, sectors: u8, whole: u8) -> Ticks {
        let state = found.map_or(Entry::default(), |index| *self.slices[at].tags.entry(index));
        let partial = sectors & !whole & !state.valid;
        let merged = partial & state.partial;
        let count = |mask: u8| u64::from(ones(mask));
        let t = &self.times;
        count(sectors & !partial) * t.write_sector
            + count(partial & !merged) * t.write_partial
            + count(merged) * t.write_merged
    }

    /// Keeps at most `dirty_ways` dirty lines in the set of entry `index`: the least recently used of the others is written
    /// back.
    fn limit_dirty(&mut self, at: usize, index: usize, start: Ticks) {
        if let Some(other) = self.slices[at].tags.beyond(index, self.dirty_ways, |e| e.dirty != 0) {
            self.clean(at, other, start);
        }
    }

    /// Notes that the partly written sectors of an entry have changed. Beyond what a slice may have of such lines the oldest
    /// is written back.
    fn note_partial(&mut self, at: usize, index: usize, before: u8, now: u8, start: Ticks) {
        let slice = &mut self.slices[at];
        if before != 0 && now == 0 {
            slice.partial_lines.ended();
        } else if before == 0
            && now != 0
            && let Some(oldest) = slice.partial_lines.began(index, &mut slice.tags)
        {
            self.clean(at, oldest, start);
        }
    }

    /// Writes an entry back, which stays, clean.
    fn clean(&mut self, at: usize, index: usize, start: Ticks) {
        let slice = &mut self.slices[at];
        let line = slice.tags.line(index);
        let state = slice.tags.entry_mut(index);
        let Entry { dirty, partial, .. } = std::mem::replace(state, Entry { dirty: 0, ..*state });
        if self.fill_partial {
            // What completes the sector counts as there from now on.
            state.valid |= partial;
            state.partial = 0;
            self.note_partial(at, index, partial, 0, start);
        }
        self.write_back(at, line, dirty, partial, start);
    }

    /// Sectors all of whose 32nds of the line are set.
    #[inline]
    fn whole_sectors(&self, parts: u32, among: u8) -> u8 {
        if parts == u32::MAX {
            return among;
        }
        let per = 32 / self.sectors;
        let part = u32::MAX >> (32 - per);
        (0..self.sectors)
            .filter(|s| among >> s & 1 != 0 && parts >> (s * per) & part == part)
            .fold(0, |mask, s| mask | 1 << s)
    }

    /// After a write at home by a unit of the same half, the other half's copy is out of date. (A unit of the other half
    /// has already dealt with the copy on its way.)
    fn drop_other_copy(&mut self, home: usize, request: &L2Request) {
        if self.keep_far && self.map.near(home as u32, request.unit) as usize == home {
            let other = self.map.opposite(home as u32) as usize;
            self.drop_copy(other, request);
        }
    }

    fn drop_copy(&mut self, slice: usize, request: &L2Request) {
        if let Some(index) = self.slices[slice].tags.find(request.set, request.line) {
            self.slices[slice].tags.entry_mut(index).valid &= !request.sectors;
        }
    }

    /// The data of a load or an atomic are there at `start`.
    fn serve(&mut self, at: usize, request: &L2Request, origin: Origin, start: Ticks, responses: &mut Vec<L2Response>) {
        if !request.kind.is_atomic() {
            self.reply(at, request, origin, start + self.times.latency, responses);
            return;
        }
        let t = self.times;
        let end = start + self.atomic_time(request);
        if let Some(index) = self.slices[at].tags.find(request.set, request.line) {
            let state = self.slices[at].tags.entry_mut(index);
            let before = state.dirty;
            state.dirty |= request.sectors;
            if before == 0 {
                self.limit_dirty(at, index, start);
            }
        }
        self.drop_other_copy(at, request);
        if request.kind == RequestKind::Atomic {
            self.reply(at, request, origin, end + t.latency + t.atomic, responses);
        }
    }

    /// Answers a request whose data are ready to leave slice `at`.
    fn reply(&mut self, at: usize, request: &L2Request, origin: Origin, ready: Ticks, responses: &mut Vec<L2Response>) {
        let sectors = match request.kind {
            RequestKind::Load | RequestKind::Fetch | RequestKind::Atomic => request.sectors,
            RequestKind::Store | RequestKind::Reduction => 0,
        };
        let count = u64::from(ones(sectors));
        let number = request.local >> self.line_shift;
        let slice = &mut self.slices[at];
        if origin == Origin::Unit
            && let Some(leaves) = slice.shared_loads.leaves(number, request, ready)
        {
            self.answer(at, request, leaves, responses);
            return;
        }
        // The data stage is `latency` before the data leave; it is reserved in order of requests.
        let length = count * self.times.read_sector;
        let leaves = slice.read.reserve(ready, length) + length;
        if let Origin::Copy(miss) = origin {
            let other = self.map.opposite(at as u32) as u16;
            self.counters.far_sectors += count;
            let length = count * self.times.far_sector;
            let leaves = slice.far.reserve(leaves, length) + length;
            self.events.push(cycle_at(leaves + self.times.far), Event::Copy { slice: other, miss });
            return;
        }
        slice.shared_loads.answered(number, request, leaves);
        if self.map.near(at as u32, request.unit) as usize != at {
            self.counters.far_sectors += count;
        }
        self.answer(at, request, leaves, responses);
    }

    /// Sends the answer to a compute unit's request whose data leave slice `at` at `leaves`.
    pub(super) fn answer(&self, at: usize, request: &L2Request, leaves: Ticks, responses: &mut Vec<L2Response>) {
        let sectors = match request.kind {
            RequestKind::Load | RequestKind::Fetch | RequestKind::Atomic => request.sectors,
            RequestKind::Store | RequestKind::Reduction => 0,
        };
        let mut at_unit = cycle_at(leaves) + self.times.response + self.map.distance(at as u32, request.unit);
        if self.map.near(at as u32, request.unit) as usize != at {
            at_unit += self.times.far / TICKS;
        }
        responses.push(L2Response {
            at: at_unit,
            token: request.token,
            unit: request.unit,
            slot: request.slot,
            kind: request.kind,
            sectors,
            asked: request.passes() as u8,
            left: false,
        });
    }

    /// Data from DRAM are in.
    pub(super) fn fill_came(&mut self, at: usize, miss: u16, now: Ticks, responses: &mut Vec<L2Response>) {
        let slice = &mut self.slices[at];
        let (_, entry, sectors) = slice.misses.get(miss);
        if let Some(index) = entry {
            let state = slice.tags.entry_mut(index);
            let before = state.partial;
            state.valid |= sectors;
            state.partial &= !sectors;
            state.pending &= !sectors;
            state.mshr = slice.misses.unlink(state.mshr, miss);
            if before != 0 && state.partial == 0 {
                slice.partial_lines.ended();
            }
        }
        // What comes is written into the array as stores are, and passed on at the same time.
        let length = u64::from(ones(sectors)) * self.times.write_sector;
        let written = slice.write.reserve(now, length);
        let mut woken = std::mem::take(&mut self.woken);
        slice.misses.release(miss, |waiting| woken.push(waiting));
        for waiting in woken.drain(..) {
            if let Some(Waiting { request, origin, .. }) = self.slices[at].came(waiting) {
                // The data come from the fill, not from the array.
                self.serve(at, &request, origin, written.saturating_sub(self.times.latency), responses);
            }
        }
        self.woken = woken;
        self.resume(at, now, responses);
    }

    /// Data from the other half are in.
    pub(super) fn copy_came(&mut self, at: usize, miss: u16, now: Ticks, responses: &mut Vec<L2Response>) {
        let slice = &mut self.slices[at];
        let (_, entry, sectors) = slice.far_misses.get(miss);
        if let Some(index) = entry {
            let state = slice.tags.entry_mut(index);
            state.valid |= sectors;
            state.pending &= !sectors;
            state.mshr = slice.far_misses.unlink(state.mshr, miss);
        }
        let mut woken = std::mem::take(&mut self.woken);
        slice.far_misses.release(miss, |waiting| woken.push(waiting));
        for waiting in woken.drain(..) {
            if let Some(Waiting { request, .. }) = self.slices[at].came(waiting) {
                self.reply(at, &request, Origin::Unit, now, responses);
            }
        }
        self.woken = woken;
        self.resume(at, now, responses);
    }
}

/// The sectors of all aligned blocks of `size` among the first `sectors` that have one of `some`.
fn blocks(some: u8, sectors: u32, size: u32) -> u8 {
    let block = ((1u16 << size) - 1) as u8;
    (0..sectors).step_by(size as usize).map(|first| block << first).filter(|b| b & some != 0).fold(0, |all, b| all | b)
}
