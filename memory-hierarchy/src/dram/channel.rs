//! A DRAM channel: banks, bus, command gaps, queues.
use super::bank::{Bank, CLOSED};
use super::scheduler;
use super::timing::DramTiming;
use crate::clock::{TICKS, Ticks, mix};
use crate::counters::DramCounters;
use crate::host_cache::prefetch;
use warpscope_configs::specs::{DramScheduler, DramSpec, RowPolicy};

/// No one waits for the data.
pub const NO_TARGET: u32 = u32::MAX;

/// A waiting access: some granules of one row.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// When it reaches the controller.
    pub ready: Ticks,
    /// Returned when it is served; [`NO_TARGET`] for writes and fills that no one waits for.
    pub target: u32,
    /// Row.
    pub row: u32,
    /// Bank.
    pub bank: u16,
    /// Granules.
    pub bursts: u8,
    /// Whether it writes.
    pub write: bool,
    /// Granules of the same place to write once these have been read: a sector that had to be completed.
    pub then_write: u8,
}

/// Times of the commands of one access.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Precharge, where another row is open.
    pub precharge: Option<Ticks>,
    /// Activate, where the row is not open.
    pub activate: Option<Ticks>,
    /// First read or write.
    pub column: Ticks,
    /// First data on the bus.
    pub data: Ticks,
}

/// Spreads the phases of neighbouring channels: 0.618 of a thousand, and a prime.
const GOLDEN: u64 = 619;

/// Banks and bus of a channel with the gaps between their commands.
#[derive(Clone, Debug)]
pub struct Rank {
    timing: DramTiming,
    banks: Vec<Bank>,
    /// The last four activates, a ring.
    activates: [Ticks; 4],
    oldest_activate: usize,
    any_activates: u8,
    bus_free: Ticks,
    /// Direction and end of the last data.
    last_write: bool,
    last_end: Ticks,
    next_refresh: Ticks,
}

impl Rank {
    /// All banks closed. `phase` (of `phases`) shifts its refreshes against those of other channels; those of neighbours,
    /// which addresses in a row share, are far apart.
    pub fn new(timing: DramTiming, banks: u32, phase: u32, phases: u32) -> Rank {
        Rank {
            timing,
            banks: vec![Bank::IDLE; banks as usize],
            activates: [0; 4],
            oldest_activate: 0,
            any_activates: 0,
            bus_free: 0,
            last_write: false,
            last_end: 0,
            next_refresh: timing.refi * (u64::from(phase) * GOLDEN % u64::from(phases.max(1)))
                / u64::from(phases.max(1)),
        }
    }

    /// Timing parameters.
    pub fn timing(&self) -> &DramTiming {
        &self.timing
    }

    /// When the data bus is free next.
    #[inline(always)]
    pub fn bus_free(&self) -> Ticks {
        self.bus_free
    }

    /// When the first data of an access could be on the bus if it were begun at `now`.
    #[inline(always)]
    pub fn earliest_data(&self, access: &Access, now: Ticks) -> Ticks {
        self.plan(access, now).data
    }

    /// The earliest times of an access's commands.
    #[inline]
    pub fn plan(&self, access: &Access, now: Ticks) -> Plan {
        let t = &self.timing;
        let bank = &self.banks[usize::from(access.bank)];
        let (mut precharge, mut activate) = (None, None);
        let mut column = now.max(bank.next_col);
        if bank.row != access.row {
            let mut from = now.max(bank.next_act);
            if bank.row != CLOSED {
                let at = now.max(bank.next_pre);
                precharge = Some(at);
                from = from.max(at + t.rp);
            }
            let at = self.activate_from(from);
            activate = Some(at);
            column = at + t.rcd;
        }
        let wait = if access.write { t.cwl } else { t.cl };
        let mut bus = self.bus_free;
        if access.write != self.last_write && self.last_end != 0 {
            if access.write {
                bus = bus.max(self.last_end + t.rtw);
            } else {
                column = column.max(self.last_end + t.wtr);
            }
        }
        let data = (column + wait).max(bus);
        Plan { precharge, activate, column: data - wait, data }
    }

    /// The first activate at or after `from` that tRRD and tFAW allow.
    #[inline(always)]
    fn activate_from(&self, from: Ticks) -> Ticks {
        let mut at = from;
        if self.any_activates > 0 {
            at = at.max(self.activates[(self.oldest_activate + 3) % 4] + self.timing.rrd);
        }
        if self.any_activates >= 4 {
            at = at.max(self.activates[self.oldest_activate] + self.timing.faw);
        }
        at
    }

    /// Carries out a plan; gives the end of its data. `close`: precharge as soon as possible afterwards.
    pub fn commit(&mut self, access: &Access, plan: &Plan, close: bool) -> Ticks {
        let t = self.timing;
        let bursts = u64::from(access.bursts);
        let bank = &mut self.banks[usize::from(access.bank)];
        if let Some(at) = plan.activate {
            bank.row = access.row;
            bank.next_pre = at + t.ras;
            self.activates[self.oldest_activate] = at;
            self.oldest_activate = (self.oldest_activate + 1) % 4;
            self.any_activates = (self.any_activates + 1).min(4);
        }
        let step = t.ccd.max(t.burst);
        let last_column = plan.column + (bursts - 1) * step;
        let end = plan.data + (bursts - 1) * step + t.burst;
        bank.next_col = last_column + t.ccd;
        bank.next_pre = bank.next_pre.max(if access.write { end + t.wr } else { last_column + t.rtp });
        if close {
            bank.row = CLOSED;
            bank.next_act = bank.next_act.max(bank.next_pre + t.rp);
        }
        self.bus_free = end;
        self.last_write = access.write;
        self.last_end = end;
        end
    }

    /// Applies refreshes that are due by `now`; gives how many.
    fn refresh(&mut self, now: Ticks) -> u64 {
        let t = self.timing;
        if t.refi == 0 || now < self.next_refresh {
            return 0;
        }
        let missed = (now - self.next_refresh) / t.refi;
        self.next_refresh += missed * t.refi;
        let ready = self.banks.iter().map(|b| if b.row == CLOSED { b.next_act } else { b.next_pre + t.rp });
        let start = ready.max().unwrap_or(0).max(self.next_refresh);
        for bank in &mut self.banks {
            *bank = Bank { row: CLOSED, next_act: start + t.rfc, next_pre: 0, next_col: 0 };
        }
        self.next_refresh += t.refi;
        missed + 1
    }
}

/// A channel with its queues.
#[derive(Clone, Debug)]
pub struct Channel {
    rank: Rank,
    scheduler: DramScheduler,
    row_policy: RowPolicy,
    window: usize,
    row_shift: u32,
    bank_mask: u64,
    bank_shift: u32,
    hash_banks: bool,
    granule: u64,
    write_queue: usize,
    write_high: usize,
    write_low: usize,
    reads: Vec<Access>,
    writes: Vec<Access>,
    /// Reads that a write will follow.
    completions: usize,
    /// Writing until the queue is down to `write_low`.
    draining: bool,
    /// Whether a step is due.
    stepping: bool,
    /// What was counted so far.
    pub counters: DramCounters,
}

/// What a step did.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// A read that someone waits for, and when its data are at the slice.
    pub served: Option<(u32, Ticks)>,
    /// When the next step is due, if any is.
    pub next: Option<Ticks>,
    /// Whether a write left the queue.
    pub wrote: bool,
}

impl Channel {
    /// Channel `index` of `channels`.
    pub fn new(spec: &DramSpec, timing: DramTiming, index: u32, channels: u32) -> Channel {
        Channel {
            rank: Rank::new(timing, spec.banks, index, channels),
            scheduler: spec.scheduler,
            row_policy: spec.row_policy,
            window: spec.window as usize,
            row_shift: spec.row.trailing_zeros(),
            bank_mask: u64::from(spec.banks) - 1,
            bank_shift: spec.banks.trailing_zeros(),
            hash_banks: spec.hash_banks,
            granule: u64::from(spec.granule),
            write_queue: spec.write_queue as usize,
            write_high: spec.write_high as usize,
            write_low: spec.write_low as usize,
            reads: Vec::new(),
            writes: Vec::new(),
            completions: 0,
            draining: false,
            stepping: false,
            counters: DramCounters::default(),
        }
    }

    /// Whether another write can wait here.
    #[inline(always)]
    pub fn has_write_room(&self) -> bool {
        self.writes.len() + self.completions < self.write_queue
    }

    /// Whether nothing waits.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Adds an access of `bursts` granules at channel-local address `address`, leaving the slice at `now`. Gives when
    /// `step` must be called, unless a call is due already.
    pub fn push(&mut self, now: Ticks, address: u64, bursts: u8, write: bool, target: u32) -> Option<Ticks> {
        let (row, bank) = self.place(address);
        let ready = now + self.rank.timing.request;
        let then_write = 0;
        let access = Access { ready, target, row, bank, bursts, write, then_write };
        self.add(access)
    }

    /// Adds a read of `bursts` granules, and behind it a write of `writes` granules of the same line.
    pub fn push_completion(&mut self, now: Ticks, address: u64, bursts: u8, writes: u8) -> Option<Ticks> {
        let (row, bank) = self.place(address);
        let ready = now + self.rank.timing.request;
        self.completions += 1;
        self.add(Access { ready, target: NO_TARGET, row, bank, bursts, write: false, then_write: writes })
    }

    /// Row and bank of a channel-local address.
    fn place(&self, address: u64) -> (u32, u16) {
        let number = address >> self.row_shift;
        let row = number >> self.bank_shift;
        let bank = if self.hash_banks { number ^ mix(row) } else { number } & self.bank_mask;
        (row as u32, bank as u16)
    }

    fn add(&mut self, access: Access) -> Option<Ticks> {
        let ready = access.ready;
        if access.write {
            self.writes.push(access)
        } else {
            self.reads.push(access)
        }
        if self.stepping {
            return None;
        }
        self.stepping = true;
        Some(self.due(ready))
    }

    /// When something that is ready at `ready` should be decided: no earlier than the bus needs it.
    fn due(&self, ready: Ticks) -> Ticks {
        ready.max(self.rank.bus_free.saturating_sub(self.rank.timing.lead()))
    }

    /// Lets the host bring near the accesses that [`Channel::step`] looks at first.
    pub fn prefetch(&self) {
        prefetch(&self.reads[..self.reads.len().min(8)]);
    }

    /// Serves one access if any is ready.
    pub fn step(&mut self, now: Ticks) -> Step {
        self.counters.refreshes += self.rank.refresh(now);
        let mut step = Step { served: None, next: None, wrote: false };
        let taken = self.take(now);
        // Where nothing could be taken the next step is later, so that time goes on.
        let from = if taken.is_some() { now } else { now + TICKS };
        if let Some(access) = taken {
            step.wrote = access.write;
            let end = self.serve(&access, now);
            if access.then_write > 0 {
                self.completions -= 1;
                let ready = end + self.rank.timing.response + self.rank.timing.request;
                let bursts = access.then_write;
                self.writes.push(Access { ready, bursts, write: true, then_write: 0, ..access });
            }
            if access.target != NO_TARGET {
                step.served = Some((access.target, end + self.rank.timing.response));
            }
        }
        step.next = self.first_ready(from).map(|ready| self.due(ready));
        self.stepping = step.next.is_some();
        step
    }

    /// When the first access is ready, `from` at the earliest; `None` where none waits.
    fn first_ready(&self, from: Ticks) -> Option<Ticks> {
        let mut first = None;
        for access in self.reads.iter().chain(&self.writes) {
            // Mostly the oldest is.
            if access.ready <= from {
                return Some(from);
            }
            first = Some(first.map_or(access.ready, |first: Ticks| first.min(access.ready)));
        }
        first
    }

    /// Takes the access to serve next out of its queue.
    fn take(&mut self, now: Ticks) -> Option<Access> {
        let waiting = self.writes.len();
        if waiting >= self.write_high {
            self.draining = true;
        } else if waiting <= self.write_low {
            self.draining = false;
        }
        let order = if self.draining { [true, false] } else { [false, true] };
        for write in order {
            let queue = if write { &mut self.writes } else { &mut self.reads };
            let seen = &queue[..queue.len().min(self.window)];
            if let Some(at) = scheduler::choose(self.scheduler, &self.rank, seen, now) {
                return Some(queue.remove(at));
            }
        }
        None
    }

    fn serve(&mut self, access: &Access, now: Ticks) -> Ticks {
        let plan = self.rank.plan(access, now);
        let c = &mut self.counters;
        match (plan.activate, plan.precharge) {
            (None, _) => c.row_hits += u64::from(access.bursts),
            (Some(_), None) => {
                c.row_empties += 1;
                c.row_hits += u64::from(access.bursts) - 1;
            }
            (Some(_), Some(_)) => {
                c.row_conflicts += 1;
                c.row_hits += u64::from(access.bursts) - 1;
            }
        }
        let bytes = u64::from(access.bursts) * self.granule;
        *(if access.write { &mut c.write_bytes } else { &mut c.read_bytes }) += bytes;
        c.turnarounds += u64::from(access.write != self.rank.last_write && self.rank.last_end != 0);
        let close = self.row_policy == RowPolicy::Closed
            && !self.reads.iter().chain(&self.writes).any(|a| a.bank == access.bank && a.row == access.row);
        self.rank.commit(access, &plan, close)
    }
}
