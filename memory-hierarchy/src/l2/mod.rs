//! The L2: slices in one or two halves, their links, their DRAM channels, and the network's latency to and from them.
//!
//! Every line has a home slice, in front of whose DRAM channel it lies. A compute unit asks the slice in the same place
//! of its own half; where that is not the home, loads may be answered from a copy kept there, and everything else
//! goes on to the home. Atomics take effect at home, in the order in which the home starts them.

mod access;
mod exits;
mod map;
mod partial_lines;
mod shared_loads;
mod slice;
#[cfg(test)]
mod tests;

use crate::calendar::Calendar;
use crate::clock::{TICKS, Ticks, ticks_of, ticks_per};
use crate::counters::{DramCounters, L2Counters};
use crate::dram::DramTiming;
use crate::request::{AtomicSink, L2Request, L2Response, RequestKind, ones};
use exits::Exits;
pub use map::{AddressMap, Home};
use slice::{Origin, Slice};
use warpscope_configs::Counters;
use warpscope_configs::specs::{ChipSpec, LaunchSpec, MemorySpec};

/// Something that happens inside the L2.
#[derive(Copy, Clone, Debug)]
enum Event {
    /// A request from the other half reaches its home slice.
    Far { slice: u16, origin: Origin, request: L2Request },
    /// Data from the other half reach the slice that keeps a copy.
    Copy { slice: u16, miss: u16 },
    /// A DRAM channel decides what to serve.
    Dram { slice: u16 },
    /// Data from DRAM reach their slice.
    Fill { slice: u16, miss: u16 },
    /// A crowded slice takes atomics of compute units that wait for it.
    Turn { slice: u16 },
}

/// Times derived from the specification.
#[derive(Copy, Clone, Debug)]
struct Times {
    request: u64,
    response: u64,
    latency: Ticks,
    interval: Ticks,
    read_sector: Ticks,
    write_sector: Ticks,
    write_partial: Ticks,
    write_merged: Ticks,
    far: Ticks,
    far_sector: Ticks,
    atomic: Ticks,
    atomic_interval: Ticks,
    atomic_whole: Ticks,
}

impl Times {
    /// How long an atomic, `whole` sectors of which are complete, keeps a slice from starting another request.
    fn of_atomic(&self, request: &L2Request, whole: u64) -> Ticks {
        let others = request.passes().saturating_sub(whole);
        self.interval.max(whole * self.atomic_whole + others * self.atomic_interval)
    }
}

/// Everything that all compute units share.
#[derive(Clone, Debug)]
pub struct L2System {
    times: Times,
    line_shift: u32,
    /// Sectors of a DRAM granule, and of what a miss fetches.
    granule_sectors: u32,
    fetch_sectors: u32,
    /// Ways of a set that may be dirty.
    dirty_ways: usize,
    sectors: u32,
    keep_far: bool,
    fill_partial: bool,
    map: AddressMap,
    slices: Vec<Slice>,
    exits: Exits,
    events: Calendar<Event>,
    arrivals: Calendar<L2Request>,
    /// Scratch space.
    batch: Vec<Event>,
    arriving: Vec<L2Request>,
    coming: Vec<L2Request>,
    woken: Vec<u32>,
    counters: L2Counters,
    /// Bytes that launches themselves read from DRAM.
    launch_bytes: u64,
}

impl L2System {
    /// Empty caches, idle DRAM.
    pub fn new(spec: &MemorySpec, chip: &ChipSpec) -> L2System {
        let (l2, net) = (&spec.l2, &spec.interconnect);
        let core = chip.core_mhz;
        let l2_cycles = |cycles| ticks_of(cycles, chip.l2_mhz, core);
        let sector = |rate| ticks_per(spec.sector, rate, chip.l2_mhz, core);
        let timing = DramTiming::new(&spec.dram, chip, l2.slices);
        let granule_sectors = spec.dram.granule / spec.sector;
        L2System {
            times: Times {
                request: u64::from(net.request_latency),
                response: u64::from(net.response_latency),
                latency: u64::from(l2.latency) * TICKS,
                interval: l2_cycles(l2.interval),
                read_sector: sector(l2.read_bytes),
                write_sector: sector(l2.write_bytes),
                write_partial: sector(l2.partial_write_bytes),
                write_merged: sector(l2.merge_write_bytes),
                far: u64::from(l2.far_latency) * TICKS,
                far_sector: sector(l2.far_bytes),
                atomic: u64::from(l2.atomic_latency) * TICKS,
                atomic_interval: l2_cycles(l2.atomic_interval),
                atomic_whole: l2_cycles(l2.atomic_whole_interval),
            },
            line_shift: spec.line.trailing_zeros(),
            granule_sectors,
            fetch_sectors: granule_sectors.max(l2.fetch / spec.sector),
            dirty_ways: l2.dirty_ways as usize,
            sectors: spec.line / spec.sector,
            keep_far: l2.keep_far && l2.halves > 1,
            fill_partial: l2.fill_partial,
            map: AddressMap::new(l2, chip.compute_units),
            slices: (0..l2.slices).map(|i| Slice::new(spec, timing, i)).collect(),
            exits: Exits::new(
                chip.compute_units,
                l2.slices,
                u64::from(l2.atomic_queue) * l2_cycles(l2.atomic_interval),
            ),
            events: Calendar::new(),
            arrivals: Calendar::new(),
            batch: Vec::new(),
            arriving: Vec::new(),
            coming: Vec::new(),
            woken: Vec::new(),
            counters: L2Counters::default(),
            launch_bytes: 0,
        }
    }

    /// The longest window that compute units may run between two exchanges: a response to anything that the L2 has not
    /// yet seen arrives later than that.
    pub fn longest_window(&self) -> u64 {
        self.times.request + self.times.response
    }

    /// Takes the compute units' requests (in any order; the vector is left empty) and does all that is certain once
    /// every request that left before cycle `until` is known. Responses go to `responses`; each compute unit's must be
    /// delivered to it in their order. Results depend neither on the length of windows nor on how requests are
    /// spread over calls.
    pub fn advance(
        &mut self,
        until: u64,
        requests: &mut Vec<L2Request>,
        responses: &mut Vec<L2Response>,
        sink: &mut impl AtomicSink,
    ) {
        for mut request in requests.drain(..) {
            let home = self.map.home(request.line);
            (request.home, request.local) = (home.slice as u16, home.local);
            request.set = self.slices[0].tags.set_of(home.local >> self.line_shift);
            self.arrivals.push(request.at + self.times.request, request);
        }
        let limit = until.saturating_add(self.times.request);
        let mut arrival = self.next_arrivals(limit);
        loop {
            let event = self.events.next().unwrap_or(u64::MAX);
            let cycle = event.min(arrival);
            if cycle >= limit {
                break;
            }
            if event == cycle {
                self.handle_events(cycle, responses, sink);
            } else {
                self.events.advance_to(cycle);
                std::mem::swap(&mut self.coming, &mut self.arriving);
                arrival = self.next_arrivals(limit);
                self.handle_arrivals(cycle, responses, sink);
            }
        }
    }

    /// Takes the requests of the next cycle before `limit` that has any into `coming`, and lets the host bring near what
    /// their look-ups will read while those of the cycle before are handled. Gives the cycle.
    fn next_arrivals(&mut self, limit: u64) -> u64 {
        let Some(cycle) = self.arrivals.next().filter(|cycle| *cycle < limit) else { return u64::MAX };
        self.arrivals.take(cycle, &mut self.coming);
        for request in &self.coming {
            let near = self.map.near(u32::from(request.home), request.unit);
            let slice = &self.slices[near as usize];
            slice.tags.prefetch(request.set);
            if request.kind == RequestKind::Store && self.keep_far && near == u32::from(request.home) {
                self.slices[self.map.opposite(near) as usize].tags.prefetch_lines(request.set);
            }
            slice.shared_loads.prefetch(request.local >> self.line_shift, request);
        }
        cycle
    }

    /// The earliest cycle at which a response to what the L2 knows of can arrive anywhere, or `u64::MAX` if nothing is
    /// under way: an idle engine may skip to it.
    pub fn next_response(&self) -> u64 {
        let event = self.events.next().unwrap_or(u64::MAX);
        let arrival = self.arrivals.next().unwrap_or(u64::MAX);
        event.min(arrival).saturating_add(self.times.response)
    }

    /// Whether nothing is under way, write-backs to DRAM included.
    pub fn is_idle(&self) -> bool {
        self.events.is_empty() && self.arrivals.is_empty() && self.slices.iter().all(Slice::is_idle)
    }

    /// Counts what a launch itself brings, `bytes` from DRAM.
    pub fn count_launch(&mut self, spec: &LaunchSpec, bytes: u32) {
        self.counters.read_sectors += u64::from(spec.read_sectors);
        self.counters.lookup_hits += u64::from(spec.l2_hits);
        self.counters.lookup_misses += u64::from(spec.l2_misses);
        self.launch_bytes += u64::from(bytes);
    }

    /// Fills whole lines from `address` on with dirty data, without traffic or time. Nothing may be under way.
    pub fn leave_dirty(&mut self, address: u64, bytes: u64) {
        debug_assert!(self.is_idle());
        let all = ((1u16 << self.sectors) - 1) as u8;
        for line in (address..address + bytes).step_by(1 << self.line_shift) {
            let home = self.map.home(line);
            let tags = &mut self.slices[home.slice as usize].tags;
            if let Some((index, _)) = tags.allocate(tags.set_of(home.local >> self.line_shift), line) {
                let entry = tags.entry_mut(index);
                (entry.valid, entry.dirty) = (all, all);
            }
        }
    }

    /// What the L2 counted so far.
    pub fn counters(&self) -> &L2Counters {
        &self.counters
    }

    /// What the DRAM channels counted so far.
    pub fn dram_counters(&self) -> DramCounters {
        let mut sum = DramCounters::default();
        self.slices.iter().for_each(|s| sum.combine(&s.channel.counters));
        sum.read_bytes += self.launch_bytes;
        sum
    }

    /// Empties the caches without traffic or time, for a cold measurement. Nothing may be under way.
    pub fn invalidate(&mut self) {
        debug_assert!(self.is_idle());
        self.slices.iter_mut().for_each(|s| s.tags.clear(|_, _| {}));
        self.recount_partial();
    }

    /// Drops the lines of a range of simulated addresses without traffic or time: something else has written to the
    /// memory behind them. Nothing may be under way.
    pub fn drop_range(&mut self, address: u64, bytes: u64) {
        debug_assert!(self.is_idle());
        let size = 1u64 << self.line_shift;
        let lines: u64 = self.slices.iter().map(|s| s.tags.capacity() as u64).sum();
        if bytes >> self.line_shift > lines {
            let end = address.saturating_add(bytes);
            self.slices.iter_mut().for_each(|s| s.tags.drop_within(address & !(size - 1)..end));
            self.recount_partial();
            return;
        }
        let mut line = address & !(size - 1);
        while line < address.saturating_add(bytes) {
            let home = self.map.home(line);
            let set = self.slices[0].tags.set_of(home.local >> self.line_shift);
            for slice in [home.slice, self.map.opposite(home.slice)] {
                self.slices[slice as usize].tags.drop_line(set, line);
            }
            line += size;
        }
        self.recount_partial();
    }

    /// After lines were dropped.
    fn recount_partial(&mut self) {
        self.slices.iter_mut().for_each(|s| s.partial_lines.recount(&mut s.tags));
    }

    fn handle_events(&mut self, cycle: u64, responses: &mut Vec<L2Response>, sink: &mut impl AtomicSink) {
        let mut batch = std::mem::take(&mut self.batch);
        self.events.take(cycle, &mut batch);
        self.bring_near(&batch);
        let now = cycle * TICKS;
        for event in &batch {
            match *event {
                Event::Far { slice, origin, request } => {
                    let slice = usize::from(slice);
                    self.count_lookup(&request);
                    let queue = &self.slices[slice].stalled_far;
                    if !queue.is_empty() || !self.home(slice, &request, origin, now, responses) {
                        self.counters.stalled_requests += 1;
                        self.slices[slice].stalled_far.push_back((request, origin));
                    }
                }
                Event::Copy { slice, miss } => self.copy_came(usize::from(slice), miss, now, responses),
                Event::Fill { slice, miss } => self.fill_came(usize::from(slice), miss, now, responses),
                Event::Dram { slice } => self.step_dram(usize::from(slice), now, responses),
                Event::Turn { slice } => {
                    self.exits.turn_came(usize::from(slice));
                    self.turn(usize::from(slice), now, responses, sink);
                }
            }
        }
        batch.clear();
        self.batch = batch;
    }

    /// Lets the host bring near what a cycle's events will look at, for all of them at once: one after the other they would
    /// wait for it.
    fn bring_near(&self, batch: &[Event]) {
        for event in batch {
            match *event {
                Event::Far { slice, request, .. } => self.slices[usize::from(slice)].tags.prefetch(request.set),
                Event::Copy { slice, miss } => {
                    let slice = &self.slices[usize::from(slice)];
                    slice.prefetch_miss(&slice.far_misses, miss);
                }
                Event::Fill { slice, miss } => {
                    let slice = &self.slices[usize::from(slice)];
                    slice.prefetch_miss(&slice.misses, miss);
                }
                Event::Dram { slice } => self.slices[usize::from(slice)].channel.prefetch(),
                Event::Turn { .. } => {}
            }
        }
    }

    fn handle_arrivals(&mut self, cycle: u64, responses: &mut Vec<L2Response>, sink: &mut impl AtomicSink) {
        let mut arriving = std::mem::take(&mut self.arriving);
        // Same-time order is by compute unit, then in the unit's own order, whenever they were handed over.
        arriving.sort_unstable_by_key(|r| (r.unit, r.sequence));
        for request in &arriving {
            self.counters.requests += 1;
            if request.kind.is_atomic() {
                self.counters.atomic_repeats += request.passes() - u64::from(ones(request.sectors));
            }
            let now = cycle * TICKS;
            if self.exits.holds(request) || !self.admit(request, now) {
                self.exits.keep(request);
                self.counters.held_requests += 1;
            } else {
                self.enter(*request, now, responses, sink);
            }
        }
        arriving.clear();
        self.arriving = arriving;
    }

    /// A request comes from the exit of its compute unit to the slice that this asks.
    fn enter(
        &mut self,
        mut request: L2Request,
        now: Ticks,
        responses: &mut Vec<L2Response>,
        sink: &mut impl AtomicSink,
    ) {
        let near = self.map.near(u32::from(request.home), request.unit) as usize;
        if request.kind.is_atomic() {
            // Atomics take effect in the order in which slices take them; when they are answered is another matter.
            sink.perform(&request);
            self.report_left(&request, now, responses);
        }
        match self.slices[near].shared_loads.join(request.local >> self.line_shift, &request, now) {
            None => self.count_lookup(&request),
            Some(leaves) => {
                self.counters.coalesced_sectors += u64::from(ones(request.sectors));
                if leaves != Ticks::MAX {
                    self.answer(near, &request, leaves, responses);
                    return;
                }
                request.joined = true;
            }
        }
        if !self.slices[near].stalled.is_empty() || !self.unit_request(&request, near, now, responses) {
            self.counters.stalled_requests += 1;
            self.slices[near].stalled.push_back(request);
        }
    }

    /// Tells the compute unit that an atomic no longer takes room at its exit.
    fn report_left(&self, request: &L2Request, now: Ticks, responses: &mut Vec<L2Response>) {
        responses.push(L2Response {
            at: now / TICKS + self.times.response,
            token: request.token,
            unit: request.unit,
            slot: request.slot,
            kind: request.kind,
            sectors: 0,
            asked: request.passes() as u8,
            left: true,
        });
    }

    /// Whether a request may go on to its slice now; otherwise its compute unit waits for the slice.
    fn admit(&mut self, request: &L2Request, now: Ticks) -> bool {
        if !request.kind.is_atomic() {
            return true;
        }
        let slice = usize::from(request.home);
        let length = self.atomic_time(request);
        let admitted = self.exits.admit(slice, request.unit, length, now);
        let near = self.map.near(u32::from(request.home), request.unit) as usize;
        if admitted && near != slice {
            let pass = self.pass_time(request);
            self.exits.load(near, pass, now);
        }
        if let Some(at) = self.exits.next_turn(slice, now) {
            self.events.push(at.div_ceil(TICKS), Event::Turn { slice: slice as u16 });
        }
        admitted
    }

    /// A slice has room for atomics: the compute units that wait for it take turns.
    fn turn(&mut self, slice: usize, now: Ticks, responses: &mut Vec<L2Response>, sink: &mut impl AtomicSink) {
        while let Some(unit) = self.exits.turn(slice, now) {
            while let Some(request) = self.exits.first(unit) {
                if !self.admit(&request, now) {
                    break;
                }
                self.exits.pop(unit);
                self.enter(request, now, responses, sink);
            }
        }
        if let Some(at) = self.exits.next_turn(slice, now) {
            self.events.push(at.div_ceil(TICKS), Event::Turn { slice: slice as u16 });
        }
    }

    /// Lets stalled requests of a slice go on as far as possible.
    fn resume(&mut self, slice: usize, now: Ticks, responses: &mut Vec<L2Response>) {
        while let Some(&(request, origin)) = self.slices[slice].stalled_far.front() {
            if !self.home(slice, &request, origin, now, responses) {
                break;
            }
            self.slices[slice].stalled_far.pop_front();
        }
        while let Some(&request) = self.slices[slice].stalled.front() {
            if !self.unit_request(&request, slice, now, responses) {
                break;
            }
            self.slices[slice].stalled.pop_front();
        }
    }

    fn step_dram(&mut self, slice: usize, now: Ticks, responses: &mut Vec<L2Response>) {
        let step = self.slices[slice].channel.step(now);
        if let Some((miss, at)) = step.served {
            self.events.push(at.div_ceil(TICKS), Event::Fill { slice: slice as u16, miss: miss as u16 });
        }
        if let Some(next) = step.next {
            self.events.push(next.div_ceil(TICKS), Event::Dram { slice: slice as u16 });
        }
        if step.wrote {
            self.resume(slice, now, responses);
        }
    }

    /// A request comes to a slice, of a compute unit or from the other half.
    fn count_lookup(&mut self, request: &L2Request) {
        if request.joined {
            return;
        }
        let sectors = request.passes();
        let c = &mut self.counters;
        match request.kind {
            RequestKind::Load | RequestKind::Fetch => c.read_sectors += sectors,
            RequestKind::Store => c.write_sectors += sectors,
            RequestKind::Atomic | RequestKind::Reduction => c.atomic_sectors += sectors,
        }
    }
}
