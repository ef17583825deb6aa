//! A compute unit's side of the memory hierarchy: load/store unit, coalescer, L1, local-memory banks, and the ports of
//! the interconnect.
//!
//! It runs alone between exchanges with the L2. Everything that only needs its own state is answered at once, with the
//! cycle at which it will be done: ports and banks are reservations. What needs the L2 is answered by [`Completion`]s.
//! Nothing is polled: [`CuMemory::next_event`] tells when to call [`CuMemory::advance`].

mod global;
mod outbox;
#[cfg(test)]
mod tests;

use crate::banks::Banks;
use crate::clock::ticks_per;
use crate::coalescer::{Coalescer, LineAccess, is_consecutive};
use crate::counters::CuCounters;
use crate::device_memory::full_mask;
use crate::host_cache::prefetch;
use crate::request::{L2Request, L2Response, RequestKind};
use global::{GlobalPath, Job};
use outbox::{Outbox, Rates};
use std::collections::VecDeque;
use warpscope_configs::specs::{ChipSpec, LocalMemorySpec, LsuSpec, MemorySpec};

/// What a warp-level memory access is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AccessKind {
    /// Load from global or constant memory.
    GlobalLoad,
    /// Store to global memory.
    GlobalStore,
    /// Atomic on global memory whose result is used.
    Atomic,
    /// Atomic on global memory without a result.
    Reduction,
    /// Load from local memory.
    LocalLoad,
    /// Store to local memory.
    LocalStore,
    /// Atomic on local memory.
    LocalAtomic,
    /// Load from private memory.
    PrivateLoad,
    /// Store to private memory.
    PrivateStore,
}

impl AccessKind {
    const fn is_local(self) -> bool {
        matches!(self, AccessKind::LocalLoad | AccessKind::LocalStore | AccessKind::LocalAtomic)
    }
    const fn is_atomic(self) -> bool {
        matches!(self, AccessKind::Atomic | AccessKind::Reduction)
    }
    const fn is_store(self) -> bool {
        matches!(self, AccessKind::GlobalStore | AccessKind::PrivateStore)
    }
}

/// A warp-level memory access.
#[derive(Copy, Clone, Debug)]
pub struct TimedAccess<'a> {
    /// What it is.
    pub kind: AccessKind,
    /// One address a lane: local accesses have offsets in local memory, all others become simulated addresses by
    /// adding `offset`. At most 64; lanes outside the mask are not looked at.
    pub addresses: &'a [u64],
    /// Added (wrapping) to every address of a global or private access.
    pub offset: u64,
    /// Lanes that take part; not 0.
    pub mask: u64,
    /// Bytes a lane, 1 to 16.
    pub bytes: u32,
    /// Number of the warp on its compute unit.
    pub warp: u32,
    /// Returned in the completion; for atomics also given to the L2's [`AtomicSink`](crate::request::AtomicSink).
    pub token: u32,
}

/// A warp-level access to local memory: all that its time depends on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LocalAccess {
    /// What it is.
    pub kind: AccessKind,
    /// Bytes a lane, 1 to 16.
    pub bytes: u32,
    /// Lanes that take part; where there are none it takes one wavefront.
    pub mask: u64,
    /// Wavefronts that it takes ([`Banks`]).
    pub wavefronts: u32,
    /// Number of the warp on its compute unit: its wavefronts have a distance.
    pub warp: u32,
    /// Lanes of the warp.
    pub lanes: u32,
}

/// The answer to an access.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// It is under way. A load's data are there at this cycle; a store has left its registers. No completion follows.
    Done(u64),
    /// It is under way; a completion follows (loads that miss, and every global atomic, with or without a result).
    Pending,
    /// It waits for room on the way to the L2. A completion says when it has left: a store's only one, a reduction's
    /// first.
    Inside,
    /// The load/store unit's queue is full; it has room at this cycle. Nothing has happened.
    Busy(u64),
    /// The load/store unit is held back by misses; `advance` will report room. Nothing has happened.
    Wait,
}

/// The end of an access that was [`Accepted::Pending`] or [`Accepted::Inside`], or of a fetch.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Cycle at which the data are there; not before the `now` of the `advance` that tells it.
    pub at: u64,
    /// The access's or fetch's token.
    pub token: u32,
    /// Whether it was a fetch.
    pub fetch: bool,
    /// A reduction that was [`Accepted::Inside`] has only left; its end follows.
    pub left: bool,
}

/// A response that is wholly in.
#[derive(Copy, Clone, Debug)]
struct Arrival {
    at: u64,
    response: L2Response,
}

/// Responses taken before their room is used again.
const MOST_TAKEN: usize = 256;

/// The memory side of one compute unit. Times given to its methods must not fall.
#[derive(Clone, Debug)]
pub struct CuMemory {
    lsu: LsuSpec,
    local: LocalMemorySpec,
    banks: Banks,
    path: GlobalPath,
    /// When the load/store unit can start the next instruction.
    lsu_free: u64,
    /// When each warp's next wavefront in local memory can begin.
    warp_free: Vec<u64>,
    /// When each instruction in the queue leaves it, in order.
    queue: VecDeque<u64>,
    /// Accesses held back by misses, oldest first; the first is in the middle of its lines.
    stalled: VecDeque<Stalled>,
    /// Line lists of finished stalled accesses, for reuse.
    spare: Vec<Vec<LineAccess>>,
    /// Responses on their way, rising by time, from `taken` on.
    inbox: Vec<L2Response>,
    taken: usize,
    /// Whether the inbox must be sorted before its next use.
    unsorted: bool,
    /// Responses that came through the port, rising by time.
    arrived: VecDeque<Arrival>,
    /// When the first of either is due; `u64::MAX` where none is on its way.
    next: u64,
}

#[derive(Clone, Debug)]
struct Stalled {
    job: Job,
    lines: Vec<LineAccess>,
}

impl CuMemory {
    /// The memory side of compute unit number `unit`.
    pub fn new(spec: &MemorySpec, chip: &ChipSpec, unit: u16) -> CuMemory {
        let net = &spec.interconnect;
        let time = |bytes, rate| ticks_per(bytes, rate, chip.core_mhz, chip.core_mhz);
        let rates = Rates {
            send_header: time(net.header, net.request_bytes),
            send_sector: time(spec.sector, net.request_bytes),
            send_mask: time(net.mask, net.request_bytes),
            receive_header: time(net.header, net.response_bytes),
            receive_sector: time(spec.sector, net.response_bytes),
        };
        let smallest = spec.local.carve_outs.first().copied().unwrap_or(0);
        CuMemory {
            lsu: spec.lsu.clone(),
            local: spec.local.clone(),
            banks: Banks::new(spec.local.banks, spec.local.bank_width),
            path: GlobalPath::new(spec, Outbox::new(unit, rates, spec), spec.local.combined.saturating_sub(smallest)),
            lsu_free: 0,
            warp_free: Vec::new(),
            queue: VecDeque::new(),
            stalled: VecDeque::new(),
            spare: Vec::new(),
            inbox: Vec::new(),
            taken: 0,
            unsorted: false,
            arrived: VecDeque::new(),
            next: u64::MAX,
        }
    }

    /// Prepares for a launch whose groups use a local-memory carve-out of `local` bytes: sizes the L1, and empties it
    /// where the machine does. The compute unit must be idle.
    pub fn begin_launch(&mut self, local: u32) {
        debug_assert!(self.is_idle());
        self.path.begin_launch(self.local.combined.saturating_sub(local));
    }

    /// Starts an access at cycle `now`. All events up to `now` must have been handled by `advance`. The coalescer, which
    /// holds nothing from access to access, is of the machine's line and sector size.
    pub fn access(&mut self, now: u64, access: &TimedAccess<'_>, coalescer: &mut Coalescer) -> Accepted {
        if access.kind.is_local() {
            let TimedAccess { kind, bytes, mask, addresses, .. } = *access;
            let wavefronts = match kind {
                AccessKind::LocalAtomic => self.banks.atomic_wavefronts(addresses, mask, bytes),
                _ => self.banks.wavefronts(addresses, mask, bytes),
            };
            let (warp, lanes) = (access.warp, addresses.len() as u32);
            return self.access_local(now, &LocalAccess { kind, bytes, mask, wavefronts, warp, lanes });
        }
        if let Some(at) = self.full_until(now) {
            return Accepted::Busy(at);
        }
        if self.stalled.len() >= self.lsu.queue as usize || !self.path.has_slot() {
            return Accepted::Wait;
        }
        self.access_global(now, access, coalescer)
    }

    fn access_global(&mut self, now: u64, access: &TimedAccess<'_>, coalescer: &mut Coalescer) -> Accepted {
        let start = self.take_lsu(now, access.addresses.len());
        let TimedAccess { kind, addresses, offset, mask, bytes, .. } = *access;
        let range = mask == full_mask(addresses.len()) && is_consecutive(addresses, u64::from(bytes));
        let wavefronts = match kind.is_atomic() {
            true => Some(1),
            false if range => self.banks.wavefronts_of_range(addresses[0].wrapping_add(offset), addresses.len(), bytes),
            false => None,
        }
        .unwrap_or_else(|| self.wavefronts(access));
        let lines = match range {
            true => coalescer.coalesce_range(addresses[0].wrapping_add(offset), addresses.len(), bytes),
            false => coalescer.coalesce_any(addresses, offset, mask, bytes, kind.is_atomic()),
        };
        self.path.count(access.kind, lines);
        self.path.prefetch(lines);
        let mut job = Job::new(access.kind, access.token, wavefronts);
        if self.stalled.is_empty() {
            let leaves = self.path.begin(&mut job, lines, start);
            if self.path.run(&mut job, lines, start) {
                let done = self.path.finish(&job, start);
                self.note_leaving(leaves);
                return done.map_or(Accepted::Pending, Accepted::Done);
            }
            self.path.counters.stalled_requests += 1;
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.extend_from_slice(lines);
        self.stalled.push_back(Stalled { job, lines: kept });
        let leaves = access.kind.is_store() || access.kind == AccessKind::Reduction;
        if leaves { Accepted::Inside } else { Accepted::Pending }
    }

    /// Wavefronts of a global or private access in the data banks.
    fn wavefronts(&self, access: &TimedAccess<'_>) -> u32 {
        // The offset moves all lanes alike; only its place within one row of the banks matters.
        let shift = access.offset % u64::from(self.banks.bytes());
        if shift == 0 {
            return self.banks.wavefronts(access.addresses, access.mask, access.bytes);
        }
        let mut moved = [0; 64];
        for (to, from) in moved.iter_mut().zip(access.addresses) {
            *to = from.wrapping_add(shift);
        }
        self.banks.wavefronts(&moved[..access.addresses.len()], access.mask, access.bytes)
    }

    /// The banks of local memory.
    #[inline(always)]
    pub fn banks(&self) -> &Banks {
        &self.banks
    }

    /// Where the load/store unit's queue is full at `now`: when it has room.
    #[inline(always)]
    fn full_until(&mut self, now: u64) -> Option<u64> {
        while self.queue.front().is_some_and(|&leaves| leaves <= now) {
            self.queue.pop_front();
        }
        if self.queue.len() >= self.lsu.queue as usize { self.queue.front().copied() } else { None }
    }

    /// As [`CuMemory::access`], to local memory.
    pub fn access_local(&mut self, now: u64, access: &LocalAccess) -> Accepted {
        if let Some(at) = self.full_until(now) {
            return Accepted::Busy(at);
        }
        let start = self.take_lsu(now, access.lanes as usize);
        let counters = &mut self.path.counters;
        let ideal = (access.mask.count_ones() * access.bytes).div_ceil(self.banks.bytes()).max(1);
        let mut least = 1;
        let wavefronts = access.wavefronts;
        let (interval, distance, latency) = match access.kind {
            AccessKind::LocalAtomic => {
                counters.local_atomic_requests += 1;
                least = self.local.atomic_minimum;
                (self.local.atomic_interval, self.local.atomic_interval, self.local.atomic_latency)
            }
            kind => {
                let store = kind == AccessKind::LocalStore;
                *(if store { &mut counters.local_store_requests } else { &mut counters.local_load_requests }) +=
                    u64::from(access.mask != 0);
                (1, self.local.warp_interval, self.local.latency)
            }
        };
        counters.local_wavefronts += u64::from(wavefronts);
        counters.local_conflicts += u64::from(wavefronts.saturating_sub(ideal));
        let first = self.path.take_banks(start, u64::from((wavefronts * interval).max(least)));
        let warp = access.warp as usize;
        if warp >= self.warp_free.len() {
            self.warp_free.resize(warp + 1, 0);
        }
        let first = first.max(self.warp_free[warp]);
        let last = first + u64::from((wavefronts - 1) * distance);
        self.warp_free[warp] = last + u64::from(distance);
        self.note_leaving(first);
        Accepted::Done(if access.kind == AccessKind::LocalStore { last } else { last + u64::from(latency) })
    }

    /// Reserves the load/store unit for one instruction; gives its start.
    fn take_lsu(&mut self, now: u64, lanes: usize) -> u64 {
        let start = now.max(self.lsu_free);
        self.lsu_free = start + u64::from(self.lsu.interval * (lanes as u32).div_ceil(self.lsu.lanes));
        start
    }

    fn note_leaving(&mut self, leaves: u64) {
        let leaves = leaves.max(self.queue.back().copied().unwrap_or(0));
        self.queue.push_back(leaves);
    }

    /// Asks the L2 for `bytes` bytes at simulated address `address` (within one line) for instruction or constant
    /// fetch. A completion with this token and `fetch` set follows.
    pub fn fetch(&mut self, now: u64, address: u64, bytes: u32, token: u32) {
        self.path.fetch(now, address, bytes, token);
    }

    /// Takes a response of the L2, in the order in which the L2 gives them.
    pub fn deliver(&mut self, response: L2Response) {
        self.unsorted |= self.inbox.last().is_some_and(|last| last.at > response.at);
        self.inbox.push(response);
        self.next = self.next.min(response.at);
    }

    /// When [`CuMemory::advance`] is next due; `u64::MAX` where nothing is on its way here.
    #[inline(always)]
    pub fn next_event(&self) -> u64 {
        self.next
    }

    fn first_due(&self) -> u64 {
        let inbox = self.inbox.get(self.taken).map_or(u64::MAX, |r| r.at);
        inbox.min(self.arrived.front().map_or(u64::MAX, |a| a.at))
    }

    /// Puts what was delivered in order: those of the same time stay in the order in which they came. To be called before
    /// what is due is looked at.
    pub fn sort_responses(&mut self) {
        if std::mem::take(&mut self.unsorted) {
            self.inbox[self.taken..].sort_by_key(|response| response.at);
        }
    }

    /// Responses that are on their way and due before `until`.
    fn due(&self, until: u64) -> impl Iterator<Item = &L2Response> {
        let arrived = self.arrived.iter().map(|a| &a.response);
        arrived.chain(&self.inbox[self.taken..]).take_while(move |r| r.at < until)
    }

    /// Lets the host bring near the responses on their way here,
    pub fn prefetch_responses(&self) {
        let due = &self.inbox[self.taken..];
        prefetch(&due[..due.len().min(32)]);
    }

    /// what answering those that are due before `until` looks at first,
    pub fn prefetch_misses(&self, until: u64) {
        self.path.prefetch_waiting();
        self.due(until).filter(|r| r.kind == RequestKind::Load).for_each(|r| self.path.prefetch_miss(r.slot));
    }

    /// and what it looks at next. `waiting` gets the tokens of the accesses that wait for them.
    pub fn upcoming(&self, until: u64, mut waiting: impl FnMut(u32)) {
        for response in self.due(until) {
            match response.kind {
                RequestKind::Load => self.path.upcoming(response.slot, &mut waiting),
                RequestKind::Atomic => waiting(response.token),
                RequestKind::Fetch | RequestKind::Store | RequestKind::Reduction => {}
            }
        }
    }

    /// Handles every event up to and including `now`. Completions go to `out`, not sorted by time; `true` means that an
    /// access refused with [`Accepted::Wait`] can be tried again.
    pub fn advance(&mut self, now: u64, out: &mut Vec<Completion>) -> bool {
        self.sort_responses();
        let full = self.lsu.queue as usize;
        let refusing = self.stalled.len() >= full || !self.path.has_slot();
        loop {
            let event = self.first_due();
            if event > now {
                self.next = event;
                break;
            }
            match self.arrived.front() {
                Some(&Arrival { at, response }) if at == event => {
                    self.arrived.pop_front();
                    self.path.respond(at, &response, out);
                    self.resume(at, out);
                }
                _ => self.receive(),
            }
        }
        refusing && self.stalled.len() < full && self.path.has_slot()
    }

    /// Moves the first response through the port.
    fn receive(&mut self) {
        let Some(&response) = self.inbox.get(self.taken) else { return };
        self.taken += 1;
        if self.taken == self.inbox.len() {
            self.inbox.clear();
            self.taken = 0;
        } else if self.taken >= MOST_TAKEN {
            self.inbox.drain(..self.taken);
            self.taken = 0;
        }
        let at = self.path.outbox.receive(response.at, response.kind, response.sectors);
        // Fetches come by a port of their own and may overtake.
        let mut place = self.arrived.len();
        while place > 0 && self.arrived[place - 1].at > at {
            place -= 1;
        }
        self.arrived.insert(place, Arrival { at, response });
    }

    /// Goes on with stalled accesses as far as possible.
    fn resume(&mut self, at: u64, out: &mut Vec<Completion>) {
        while let Some(Stalled { job, lines }) = self.stalled.front_mut() {
            if !job.begun {
                self.path.begin(job, lines, at);
            }
            if !self.path.run(job, lines, at) {
                return;
            }
            let left = job.kind == AccessKind::Reduction;
            if let Some(at) = self.path.finish(job, at).or(left.then_some(at)) {
                out.push(Completion { at, token: job.token, fetch: false, left });
            }
            let mut lines = std::mem::take(lines);
            lines.clear();
            self.spare.push(lines);
            self.stalled.pop_front();
        }
    }

    /// Requests for the L2 since they were last taken; the engine drains them at each exchange.
    pub fn requests(&mut self) -> &mut Vec<L2Request> {
        &mut self.path.outbox.requests
    }

    /// Whether nothing is under way: no request unanswered, no access stalled.
    pub fn is_idle(&self) -> bool {
        self.stalled.is_empty()
            && self.taken == self.inbox.len()
            && self.arrived.is_empty()
            && self.path.outbox.requests.is_empty()
            && self.path.is_idle()
    }

    /// Whether no answer is awaited but to stores, and nothing is held back: until the next access past the L1, answers
    /// change nothing here.
    pub fn awaits_nothing(&self) -> bool {
        self.stalled.is_empty() && self.path.awaits_nothing()
    }

    /// Whether stores or atomics have not been answered yet.
    pub fn has_stores(&self) -> bool {
        !self.path.outbox.is_idle()
    }

    /// What was counted so far.
    pub fn counters(&self) -> &CuCounters {
        &self.path.counters
    }

    /// Empties the L1. Dirty private data are dropped: they belong to work-items that have ended.
    pub fn invalidate(&mut self) {
        self.path.invalidate();
    }
}
