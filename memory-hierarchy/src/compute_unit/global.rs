//! Global and private accesses: through the L1, or past it to the L2.
use super::outbox::Outbox;
use super::{AccessKind, Completion};
use crate::cache::{Entry, Mshrs, SetIndex, Tags, TagsSpec};
use crate::coalescer::LineAccess;
use crate::counters::CuCounters;
use crate::host_cache::prefetch;
use crate::request::{L2Response, RequestKind, ones};
use warpscope_configs::specs::{L1Spec, L1WritePolicy, MemorySpec};

const NO_SLOT: u16 = u16::MAX;

/// A warp access on its way through the L1, line by line.
#[derive(Copy, Clone, Debug)]
pub(super) struct Job {
    pub(super) kind: AccessKind,
    pub(super) token: u32,
    wavefronts: u32,
    /// Slot of what waits for the L2, once anything does.
    slot: u16,
    /// Next line.
    next: u16,
    /// First cycle of its tag look-ups.
    tags_from: u64,
    /// Cycles that they take.
    tag_cycles: u32,
    /// Whether `begin` was called.
    pub(super) begun: bool,
}

impl Job {
    pub(super) fn new(kind: AccessKind, token: u32, wavefronts: u32) -> Job {
        Job { kind, token, wavefronts, slot: NO_SLOT, next: 0, tags_from: 0, tag_cycles: 0, begun: false }
    }
}

/// A warp access that waits for lines.
#[derive(Copy, Clone, Debug, Default)]
struct Slot {
    token: u32,
    wavefronts: u32,
    /// Lines still to come, and one for the job itself while it is not through.
    remaining: u16,
}

/// Tags, miss registers, ports and slots of one compute unit.
#[derive(Clone, Debug)]
pub(super) struct GlobalPath {
    spec: L1Spec,
    line: u32,
    sector_shift: u32,
    line_shift: u32,
    all_sectors: u8,
    tags: Tags,
    mshrs: Mshrs<u16>,
    slots: Vec<Slot>,
    free_slots: Vec<u16>,
    /// Scratch space.
    woken: Vec<u16>,
    tags_free: u64,
    banks_free: u64,
    fetches: u32,
    pub(super) outbox: Outbox,
    pub(super) counters: CuCounters,
}

impl GlobalPath {
    pub(super) fn new(spec: &MemorySpec, outbox: Outbox, l1_bytes: u32) -> GlobalPath {
        let sectors = spec.line / spec.sector;
        GlobalPath {
            spec: spec.l1.clone(),
            line: spec.line,
            sector_shift: spec.sector.trailing_zeros(),
            line_shift: spec.line.trailing_zeros(),
            all_sectors: ((1u16 << sectors) - 1) as u8,
            tags: Tags::new(tags_spec(&spec.l1, l1_bytes, spec.line)),
            mshrs: Mshrs::new(spec.l1.mshrs as usize),
            slots: Vec::new(),
            free_slots: Vec::new(),
            woken: Vec::new(),
            tags_free: 0,
            banks_free: 0,
            fetches: 0,
            outbox,
            counters: CuCounters::default(),
        }
    }

    pub(super) fn begin_launch(&mut self, l1_bytes: u32) {
        let spec = tags_spec(&self.spec, l1_bytes, self.line);
        if Tags::capacity_of(&spec) != self.tags.capacity() {
            self.tags = Tags::new(spec);
        } else if self.spec.invalidate_at_launch {
            self.invalidate();
        }
    }

    pub(super) fn invalidate(&mut self) {
        self.tags.clear(|_, _| {});
    }

    pub(super) fn is_idle(&self) -> bool {
        self.outbox.is_idle() && self.awaits_nothing()
    }

    /// Whether no loads, atomics or fetches are under way.
    pub(super) fn awaits_nothing(&self) -> bool {
        self.fetches == 0 && self.mshrs.busy() == 0 && self.free_slots.len() == self.slots.len()
    }

    /// Whether another access can be noted.
    #[inline(always)]
    pub(super) fn has_slot(&self) -> bool {
        !self.free_slots.is_empty() || self.slots.len() < usize::from(NO_SLOT)
    }

    pub(super) fn count(&mut self, kind: AccessKind, lines: &[LineAccess]) {
        let atomic = matches!(kind, AccessKind::Atomic | AccessKind::Reduction);
        let of = |l: &LineAccess| if atomic { l.atomic_passes() } else { ones(l.sectors) };
        let sectors: u64 = lines.iter().map(|l| u64::from(of(l))).sum();
        let c = &mut self.counters;
        let (requests, total) = match kind {
            AccessKind::GlobalLoad => (&mut c.load_requests, &mut c.load_sectors),
            AccessKind::GlobalStore => (&mut c.store_requests, &mut c.store_sectors),
            AccessKind::Atomic | AccessKind::Reduction => (&mut c.atomic_requests, &mut c.atomic_sectors),
            AccessKind::PrivateLoad => (&mut c.private_load_requests, &mut c.private_load_sectors),
            AccessKind::PrivateStore => (&mut c.private_store_requests, &mut c.private_store_sectors),
            AccessKind::LocalLoad | AccessKind::LocalStore | AccessKind::LocalAtomic => return,
        };
        *requests += 1;
        *total += sectors;
    }

    /// Lets the host bring near the tags that an access of several lines will look at one after the other.
    #[inline(always)]
    pub(super) fn prefetch(&self, lines: &[LineAccess]) {
        for access in lines.iter().skip(1) {
            self.tags.prefetch(self.set_of(access.line));
        }
    }

    #[inline(always)]
    fn set_of(&self, line: u64) -> SetIndex {
        self.tags.set_of(line >> self.line_shift)
    }

    /// Reserves the data banks; gives the start.
    #[inline(always)]
    pub(super) fn take_banks(&mut self, from: u64, cycles: u64) -> u64 {
        let start = from.max(self.banks_free);
        self.banks_free = start + cycles;
        start
    }

    /// Reserves the tag stage; gives the cycle at which the access enters it.
    pub(super) fn begin(&mut self, job: &mut Job, lines: &[LineAccess], at: u64) -> u64 {
        let banks = u64::from(self.spec.tag_banks);
        // The usual number of banks needs no division.
        let mask = if banks.is_power_of_two() { banks - 1 } else { u64::MAX };
        let mut load = [0u8; 64];
        let mut cycles = 1;
        for access in lines {
            let line = access.line >> self.line_shift;
            let bank = (if mask < banks { line & mask } else { line % banks }) as usize;
            load[bank] += 1;
            cycles = cycles.max(load[bank]);
        }
        job.begun = true;
        job.tag_cycles = u32::from(cycles);
        job.tags_from = at.max(self.tags_free);
        self.tags_free = job.tags_from + u64::from(cycles);
        self.counters.tag_cycles += u64::from(cycles);
        job.tags_from
    }

    /// Goes on with an access from where it stands; `false` where it must wait for a response.
    pub(super) fn run(&mut self, job: &mut Job, lines: &[LineAccess], at: u64) -> bool {
        // Where every line has a cycle of its own, or all have the same, there is nothing to share out.
        let (cycles, count) = (job.tag_cycles, lines.len() as u32);
        while usize::from(job.next) < lines.len() {
            let access = &lines[usize::from(job.next)];
            let next = u32::from(job.next);
            let share = match cycles {
                1 => 0,
                _ if cycles == count => next,
                _ => next * cycles / count,
            };
            let cycle = (job.tags_from + u64::from(share)).max(at) + u64::from(self.spec.miss_latency);
            let through = match job.kind {
                AccessKind::GlobalLoad | AccessKind::PrivateLoad => self.load(job, access, cycle),
                AccessKind::GlobalStore => self.store(access, cycle),
                AccessKind::PrivateStore if self.spec.private_write_back => self.store_private(access, cycle),
                AccessKind::PrivateStore => self.store(access, cycle),
                AccessKind::Atomic => self.atomic(job, access, cycle, RequestKind::Atomic),
                AccessKind::Reduction => self.atomic(job, access, cycle, RequestKind::Reduction),
                AccessKind::LocalLoad | AccessKind::LocalStore | AccessKind::LocalAtomic => true,
            };
            if !through {
                // The tag stage stays with this access.
                self.tags_free = self.tags_free.max(at + 1);
                return false;
            }
            job.next += 1;
        }
        true
    }

    /// Ends an access whose lines have all been through; gives its end where that is known.
    pub(super) fn finish(&mut self, job: &Job, at: u64) -> Option<u64> {
        let through = (job.tags_from + u64::from(job.tag_cycles) - 1).max(at);
        if job.slot != NO_SLOT {
            let slot = &mut self.slots[usize::from(job.slot)];
            slot.remaining -= 1;
            if slot.remaining > 0 {
                return None;
            }
            self.free_slots.push(job.slot);
        }
        self.counters.data_wavefronts += u64::from(job.wavefronts);
        let first = self.take_banks(through, u64::from(job.wavefronts));
        let last = first + u64::from(job.wavefronts) - 1;
        Some(if job.kind.is_store() { last } else { last + u64::from(self.spec.latency) })
    }

    /// The job's slot, taken at first need.
    fn slot_of(&mut self, job: &mut Job) -> u16 {
        if job.slot == NO_SLOT {
            job.slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots.push(Slot::default());
                self.slots.len() as u16 - 1
            });
            let slot = Slot { token: job.token, wavefronts: job.wavefronts, remaining: 1 };
            self.slots[usize::from(job.slot)] = slot;
        }
        job.slot
    }

    fn load(&mut self, job: &mut Job, access: &LineAccess, cycle: u64) -> bool {
        let private = job.kind == AccessKind::PrivateLoad;
        let cached = self.spec.enabled || private;
        let set = self.set_of(access.line);
        let found = if cached { self.tags.find(set, access.line) } else { None };
        let state = found.map_or(Entry::default(), |index| *self.tags.entry(index));
        let missing = access.sectors & !state.valid;
        let fresh = missing & !state.pending;
        if fresh != 0 && self.mshrs.free() == 0 {
            return false;
        }
        if let Some(index) = found {
            self.tags.touch(index);
        }
        let hits = u64::from(ones(access.sectors & state.valid));
        if private {
            self.counters.private_load_sector_hits += hits;
        } else {
            self.counters.load_sector_hits += hits;
            self.counters.load_sector_merges += u64::from(ones(missing & state.pending));
        }
        if missing == 0 {
            return true;
        }
        let slot = self.slot_of(job);
        if missing & state.pending != 0 {
            self.join(state.mshr, missing, slot);
        }
        if fresh != 0 {
            let entry = found.or_else(|| if cached { self.allocate(set, access.line, cycle) } else { None });
            self.miss(access, entry, fresh, slot, cycle);
        }
        true
    }

    /// Waits for every miss under way that brings one of these sectors.
    fn join(&mut self, newest: u16, sectors: u8, slot: u16) {
        let mut id = newest;
        while id != Entry::NO_MISS {
            let (older, brings) = self.mshrs.older(id);
            if brings & sectors != 0 {
                self.mshrs.wait(id, slot);
                self.slots[usize::from(slot)].remaining += 1;
            }
            id = older;
        }
    }

    /// Sends for sectors that are neither there nor under way; a miss register is free.
    fn miss(&mut self, access: &LineAccess, entry: Option<usize>, sectors: u8, slot: u16, cycle: u64) {
        let older = entry.map_or(Entry::NO_MISS, |index| self.tags.entry(index).mshr);
        let Some(id) = self.mshrs.take(access.line, entry, sectors, older) else { return };
        if let Some(index) = entry {
            let state = self.tags.entry_mut(index);
            state.mshr = id;
            state.pending |= sectors;
        }
        self.mshrs.wait(id, slot);
        self.slots[usize::from(slot)].remaining += 1;
        self.send(cycle, RequestKind::Load, &LineAccess { sectors, ..*access }, id, 0);
    }

    /// Makes room in the L1; what leaves dirty goes to the L2.
    fn allocate(&mut self, set: SetIndex, line: u64, cycle: u64) -> Option<usize> {
        let Some((index, evicted)) = self.tags.allocate(set, line) else {
            self.counters.bypasses += 1;
            return None;
        };
        if let Some((victim, state)) = evicted {
            self.counters.evictions += 1;
            if state.dirty != 0 {
                self.counters.write_back_sectors += u64::from(ones(state.dirty));
                self.send(cycle, RequestKind::Store, &self.whole(victim, state.dirty), 0, 0);
            }
        }
        Some(index)
    }

    /// A write of whole sectors.
    fn whole(&self, line: u64, sectors: u8) -> LineAccess {
        let covered = (0..8).filter(|s| sectors >> s & 1 != 0).fold(0, |mask, s| mask | self.parts(s));
        LineAccess { line, lanes: 0, covered, sectors, passes: 0 }
    }

    /// The 32nds of a line that make a sector.
    fn parts(&self, sector: u32) -> u32 {
        let per = 32 / ones(self.all_sectors);
        (u32::MAX >> (32 - per)) << (sector * per)
    }

    fn store(&mut self, access: &LineAccess, cycle: u64) -> bool {
        if !self.outbox.takes_store() {
            return false;
        }
        let set = self.set_of(access.line);
        let found = self.tags.find(set, access.line);
        match (self.spec.write, found) {
            (L1WritePolicy::WriteThrough, _) | (L1WritePolicy::WriteAround, None) => {}
            (L1WritePolicy::WriteAround, Some(index)) => self.tags.entry_mut(index).valid &= !access.sectors,
            (L1WritePolicy::WriteThroughAllocate, found) => {
                let whole = (0..ones(self.all_sectors))
                    .filter(|s| access.covered & self.parts(*s) == self.parts(*s))
                    .fold(0u8, |mask, s| mask | 1 << s);
                if whole != 0
                    && let Some(index) = found.or_else(|| self.allocate(set, access.line, cycle))
                {
                    self.tags.entry_mut(index).valid |= whole;
                }
            }
        }
        self.send(cycle, RequestKind::Store, access, 0, 0);
        true
    }

    fn store_private(&mut self, access: &LineAccess, cycle: u64) -> bool {
        let set = self.set_of(access.line);
        let found = self.tags.find(set, access.line);
        if found.is_none() && !self.outbox.takes_store() {
            return false;
        }
        match found.or_else(|| self.allocate(set, access.line, cycle)) {
            Some(index) => {
                self.tags.touch(index);
                let state = self.tags.entry_mut(index);
                state.valid |= access.sectors;
                state.dirty |= access.sectors;
            }
            None => self.send(cycle, RequestKind::Store, &self.whole(access.line, access.sectors), 0, 0),
        }
        true
    }

    fn atomic(&mut self, job: &mut Job, access: &LineAccess, cycle: u64, kind: RequestKind) -> bool {
        if !self.outbox.takes_atomic() {
            return false;
        }
        if let Some(index) = self.tags.find(self.set_of(access.line), access.line) {
            self.tags.entry_mut(index).valid &= !access.sectors;
        }
        let slot = self.slot_of(job);
        self.slots[usize::from(slot)].remaining += 1;
        self.send(cycle, kind, access, slot, job.token);
        true
    }

    pub(super) fn fetch(&mut self, now: u64, address: u64, bytes: u32, token: u32) {
        let line = address >> self.line_shift << self.line_shift;
        let first = (address - line) >> self.sector_shift;
        let last = (address - line + u64::from(bytes.max(1)) - 1) >> self.sector_shift;
        let sectors = (first..=last.min(7)).fold(0u8, |mask, s| mask | 1 << s) & self.all_sectors;
        self.fetches += 1;
        self.send(now, RequestKind::Fetch, &LineAccess { line, sectors, ..Default::default() }, 0, token);
    }

    fn send(&mut self, cycle: u64, kind: RequestKind, access: &LineAccess, slot: u16, token: u32) {
        self.counters.requests_sent += 1;
        if kind == RequestKind::Store {
            self.counters.sectors_sent += u64::from(ones(access.sectors));
        } else if kind.is_atomic() {
            self.counters.sectors_sent += u64::from(access.atomic_passes());
        }
        self.outbox.send(cycle, kind, access, slot, token);
    }

    pub(super) fn prefetch_waiting(&self) {
        self.mshrs.prefetch_waiters();
        prefetch(&self.slots[..self.slots.len().min(64)]);
    }

    pub(super) fn prefetch_miss(&self, id: u16) {
        self.mshrs.prefetch(id);
    }

    pub(super) fn upcoming(&self, id: u16, mut waiting: impl FnMut(u32)) {
        if let Some(index) = self.mshrs.get(id).1 {
            self.tags.prefetch_entry(index);
        }
        self.mshrs.for_waiters(id, |slot| waiting(self.slots[usize::from(slot)].token));
    }

    /// A response is in.
    pub(super) fn respond(&mut self, at: u64, response: &L2Response, out: &mut Vec<Completion>) {
        if response.left {
            self.outbox.atomics -= u32::from(response.asked);
            return;
        }
        let sectors = u64::from(ones(response.sectors));
        match response.kind {
            RequestKind::Fetch => {
                self.fetches -= 1;
                self.counters.fetch_sectors += sectors;
                out.push(Completion { at, token: response.token, fetch: true, left: false });
            }
            RequestKind::Store => self.outbox.stores -= u32::from(response.asked),
            RequestKind::Atomic | RequestKind::Reduction => {
                self.counters.sectors_received += sectors;
                self.line_came(at, response.slot, out);
            }
            RequestKind::Load => {
                self.counters.sectors_received += sectors;
                self.fill(at, response.slot, out);
            }
        }
    }

    fn fill(&mut self, at: u64, id: u16, out: &mut Vec<Completion>) {
        let (_, entry, sectors) = self.mshrs.get(id);
        if let Some(index) = entry {
            let state = self.tags.entry_mut(index);
            state.valid |= sectors;
            state.pending &= !sectors;
            state.mshr = self.mshrs.unlink(state.mshr, id);
        }
        let mut woken = std::mem::take(&mut self.woken);
        self.mshrs.release(id, |slot| woken.push(slot));
        for slot in woken.drain(..) {
            self.line_came(at, slot, out);
        }
        self.woken = woken;
    }

    fn line_came(&mut self, at: u64, id: u16, out: &mut Vec<Completion>) {
        let slot = &mut self.slots[usize::from(id)];
        slot.remaining -= 1;
        if slot.remaining > 0 {
            return;
        }
        let Slot { token, wavefronts, .. } = *slot;
        self.free_slots.push(id);
        self.counters.data_wavefronts += u64::from(wavefronts);
        let last = self.take_banks(at, u64::from(wavefronts)) + u64::from(wavefronts) - 1;
        out.push(Completion { at: last + u64::from(self.spec.fill_latency), token, fetch: false, left: false });
    }
}

fn tags_spec(spec: &L1Spec, bytes: u32, line: u32) -> TagsSpec {
    TagsSpec {
        lines: ((bytes / line) as usize).max(1),
        ways: spec.ways as usize,
        hash: spec.set_hash,
        replacement: spec.replacement,
    }
}
