//! A sub-core: its warps' readiness, its pipes and its scheduler. What issuing means is the compute unit's business.
use super::code::{Choice, MAX_PIPES, Needs, Reach, TimedCode, TimedOp};
use super::scheduler::{MAX_SLOTS, Order, Scheduler};
use crate::{Cause, CauseCycles};
use warpscope_configs::specs::ComputeUnitSpec;
use warpscope_exec::ops::OpClass;
use warpscope_memory::host_cache::prefetch;

/// `ready_at` of a slot that is empty or that an event will wake.
pub(crate) const ASLEEP: u64 = u64::MAX;

/// Queues that hold warps back, by index.
const QUEUES: usize = 2;

/// Most pipe sets of a program, bits of a word: at most one a class of operations.
pub(crate) const MAX_SETS: usize = 64;
const _: () = assert!(OpClass::ALL.len() <= MAX_SETS);

/// When each pipe is free next, and the latest of these times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipes {
    free: [u64; MAX_PIPES],
    latest: u64,
}

impl Pipes {
    #[inline]
    fn occupy(&mut self, pipe: u8, until: u64) {
        self.free[pipe as usize % MAX_PIPES] = until;
        self.latest = self.latest.max(until);
    }
}

/// What a sub-core knows of a slot.
#[derive(Copy, Clone, Debug)]
struct Waiting {
    /// When the slot's next operation can issue as far as its own state goes.
    ready_at: u64,
    /// The slot's cycles are charged up to here.
    since: u64,
    /// Why not earlier.
    cause: Cause,
    /// Pipe set and queue of the next operation, and how far it reaches.
    set: u8,
    queue: u8,
    reach: Reach,
}

/// State of one sub-core. A slot with a warp is ready, timed (ready at a known time to come) or asleep.
#[derive(Clone, Debug)]
pub(crate) struct SubCore {
    slots: Vec<Waiting>,
    order: Order,
    resident: u64,
    ready: u64,
    timed: u64,
    /// The first cycle in which a timed slot becomes ready; 0: to be found out.
    next_warp: u64,
    /// Slots whose next operation uses a pipe set, and the sets that have any. What a slot that is asleep was last armed
    /// for stays: only slots that are ready count.
    set_users: [u64; MAX_SETS],
    sets_used: u64,
    /// Sets whose pipes may all be occupied: those of pipes that have been, until seen to be open.
    closed: u64,
    /// Likewise slots by the queue that it goes through; the first of these is none.
    queue_users: [u64; 1 + QUEUES],
    /// When a queue has room again; `ASLEEP`: an event will say.
    pub queue_open: [u64; QUEUES],
    pipes: Pipes,
    /// When to look again.
    pub next: u64,
    dispatch_free: u64,
    /// Instructions that can issue in a cycle; cycle of the last issue, and issues in it.
    width: u32,
    last_issue: u64,
    issued: u32,
    idle_from: u64,
    idle_cause: Cause,
    /// Slots that were ready at the last look but held by pipe, or by queue.
    held: [u64; 1 + QUEUES],
    held_from: u64,
    scheduler: Scheduler,
    /// What was selected but not issued.
    put_off: Option<u8>,
    /// Cycles of the scheduler by cause.
    pub cycles: CauseCycles,
    /// Cycles of its warps by cause.
    pub warp_cycles: CauseCycles,
    /// Cycles that warps were ready: what was neither pipe nor queue is "not selected".
    ready_cycles: u64,
}

/// The slots in a mask, rising.
#[inline(always)]
fn slots_in(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let slot = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(slot)
    })
}

impl SubCore {
    pub fn new(spec: &ComputeUnitSpec) -> SubCore {
        let slots = ((spec.max_warps / spec.sub_cores) as usize).clamp(1, MAX_SLOTS);
        let empty = Waiting { ready_at: ASLEEP, since: 0, cause: Cause::NoWarp, set: 0, queue: 0, reach: Reach::Unit };
        SubCore {
            slots: vec![empty; slots],
            order: Order::default(),
            resident: 0,
            ready: 0,
            timed: 0,
            next_warp: ASLEEP,
            set_users: [0; MAX_SETS],
            sets_used: 0,
            closed: 0,
            queue_users: [0; 1 + QUEUES],
            queue_open: [0; QUEUES],
            pipes: Pipes::default(),
            next: ASLEEP,
            dispatch_free: 0,
            width: spec.issue_width,
            last_issue: u64::MAX,
            issued: 0,
            idle_from: 0,
            idle_cause: Cause::NoWarp,
            held: [0; 1 + QUEUES],
            held_from: 0,
            scheduler: Scheduler::new(spec),
            put_off: None,
            cycles: CauseCycles::default(),
            warp_cycles: CauseCycles::default(),
            ready_cycles: 0,
        }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Warps resident.
    pub fn residents(&self) -> u32 {
        self.resident.count_ones()
    }

    /// A free slot; none where all are taken.
    pub fn free_slot(&self) -> Option<usize> {
        let slot = (!self.resident).trailing_zeros() as usize;
        (slot < self.slots()).then_some(slot)
    }

    /// A warp takes a slot at `at`, asleep; `peers`: slots of its group here.
    pub fn occupy(&mut self, slot: usize, peers: u64, at: u64) {
        self.order.start(slot, self.resident, peers);
        self.resident |= 1 << slot;
        let waiting = &mut self.slots[slot];
        (waiting.ready_at, waiting.cause, waiting.since) = (ASLEEP, Cause::Fetch, at);
    }

    /// A slot's warp has ended at `at`; it keeps the slot until its group ends, but waits for nothing.
    pub fn retire(&mut self, slot: usize, at: u64) {
        self.charge(slot, at);
        self.slots[slot].cause = Cause::NoWarp;
    }

    /// A warp leaves its slot at `at`.
    pub fn vacate(&mut self, slot: usize, at: u64) {
        self.charge(slot, at);
        self.forget(slot);
        self.resident &= !(1 << slot);
        self.slots[slot].ready_at = ASLEEP;
    }

    /// The slot's next operation has these needs and can issue from `ready` on; `cause` says why not before.
    #[inline]
    pub fn arm(&mut self, slot: usize, needs: Needs, ready: u64, cause: Cause) {
        self.forget(slot);
        let bit = 1u64 << slot;
        let waiting = &mut self.slots[slot];
        (waiting.ready_at, waiting.cause, waiting.reach) = (ready, cause, needs.reach);
        if waiting.set != needs.set {
            let users = &mut self.set_users[waiting.set as usize % MAX_SETS];
            *users &= !bit;
            self.sets_used &= !(u64::from(*users == 0) << waiting.set);
            waiting.set = needs.set;
        }
        self.set_users[needs.set as usize % MAX_SETS] |= bit;
        self.sets_used |= 1 << needs.set;
        let queue = needs.queue as u8;
        if waiting.queue != queue {
            self.queue_users[waiting.queue as usize] &= !bit;
            self.queue_users[queue as usize] |= bit;
            waiting.queue = queue;
        }
        self.timed |= bit;
        self.next_warp = self.next_warp.min(ready);
        self.next = self.next.min(ready);
    }

    /// The slot sleeps until an event wakes it.
    #[inline]
    pub fn sleep(&mut self, slot: usize, cause: Cause) {
        self.forget(slot);
        let waiting = &mut self.slots[slot];
        (waiting.ready_at, waiting.cause) = (ASLEEP, cause);
    }

    /// Something outside has changed: looks again at `at`.
    #[inline]
    pub fn look(&mut self, at: u64) {
        self.next = self.next.min(at);
    }

    /// Whether an event must wake the slot.
    #[inline]
    pub fn is_asleep(&self, slot: usize) -> bool {
        self.slots[slot].ready_at == ASLEEP
    }

    #[inline]
    fn forget(&mut self, slot: usize) {
        let bit = 1u64 << slot;
        if self.timed & bit != 0 {
            self.timed &= !bit;
            self.next_warp = 0;
        }
        self.ready &= !bit;
    }

    /// Charges the slot's cycles before `at`.
    #[inline]
    pub fn charge(&mut self, slot: usize, at: u64) {
        let waiting = &mut self.slots[slot];
        let since = waiting.since;
        let ready = waiting.ready_at.clamp(since, at.max(since));
        waiting.since = at;
        self.warp_cycles[waiting.cause] += ready - since;
        self.ready_cycles += at.saturating_sub(ready);
    }

    /// Charges the slot's cycles before `at` to what it waited for until then: something else holds it from there on.
    pub fn charge_as(&mut self, slot: usize, at: u64, cause: Cause) {
        let waiting = &mut self.slots[slot];
        self.warp_cycles[cause] += at.saturating_sub(waiting.since);
        waiting.since = waiting.since.max(at);
    }

    /// Timed slots whose time has come become ready.
    #[inline]
    fn promote(&mut self, at: u64) {
        let mut next = ASLEEP;
        let mut ready = 0;
        for slot in slots_in(self.timed) {
            let when = self.slots[slot].ready_at;
            if when <= at {
                ready |= 1 << slot;
            } else {
                next = next.min(when);
            }
        }
        self.timed &= !ready;
        self.ready |= ready;
        self.next_warp = next;
    }

    /// Whether a slot's next operation reaches beyond the compute unit; with `spills`, stores to private memory do.
    #[inline]
    pub fn reaches_out(&self, slot: usize, spills: bool) -> bool {
        match self.slots[slot].reach {
            Reach::Unit => false,
            Reach::Spill => spills,
            Reach::Machine => true,
        }
    }

    /// Puts off what was selected at the present; the next call of [`SubCore::select`], at the same cycle, gives it again.
    pub fn put_off(&mut self, slot: usize) {
        self.put_off = Some(slot as u8);
    }

    /// Passes on the slots that may issue before `until`, as far as is known; of the first `favoured` those that started
    /// first.
    pub fn candidates(&self, until: u64, favoured: usize, mut pass: impl FnMut(usize)) {
        let mut rest = 0u64;
        for slot in slots_in(self.ready | self.timed) {
            rest |= u64::from(self.slots[slot].ready_at < until) << slot;
        }
        for _ in 0..favoured {
            if rest == 0 {
                return;
            }
            let slot = self.order.oldest(rest);
            rest &= !(1 << slot);
            pass(slot);
        }
        slots_in(rest).for_each(pass);
    }

    /// Lets the host bring near what [`SubCore::candidates`] looks at.
    pub fn prefetch(&self) {
        prefetch(&self.slots);
    }

    /// The slot to issue from at `at`, the present; otherwise `next` says when to look again.
    #[inline]
    pub fn select(&mut self, at: u64, code: &TimedCode, shared: &Pipes) -> Option<usize> {
        if let Some(slot) = self.put_off.take() {
            return Some(usize::from(slot));
        }
        self.settle(at);
        let full = if self.last_issue == at {
            self.issued >= self.width || self.dispatch_free > at + 1
        } else {
            self.dispatch_free > at
        };
        if full {
            self.next = self.dispatch_free.max(at + 1);
            return None;
        }
        if self.next_warp <= at {
            self.promote(at);
        }
        let ready = self.ready;
        let mut soonest = self.next_warp;
        let mut open = ready;
        if ready != 0 {
            let closed = self.closed | if shared.latest > at { code.sets_shared } else { 0 };
            for set in slots_in(closed & self.sets_used) {
                let users = self.set_users[set % MAX_SETS];
                if users & ready != 0 {
                    let free = self.set_free(code, set, shared);
                    if free > at {
                        open &= !users;
                        soonest = soonest.min(free);
                    } else {
                        self.closed &= !(1 << set);
                    }
                }
            }
            self.held[0] = ready & !open;
            for queue in 0..QUEUES {
                let users = self.queue_users[1 + queue] & open;
                self.held[1 + queue] = 0;
                if users != 0 && self.queue_open[queue] > at {
                    open &= !users;
                    self.held[1 + queue] = users;
                    soonest = soonest.min(self.queue_open[queue]);
                }
            }
            self.held_from = at;
        }
        if open != 0 {
            return Some(self.scheduler.pick(open, &self.order));
        }
        self.next = soonest;
        self.idle_from = self.idle_from.max(at);
        self.idle_cause = self.why_idle();
        None
    }

    /// What the scheduler waits for: a pipe or queue if a warp is otherwise ready, else what the warp that comes next
    /// waits for; where no warp has a known time, what the oldest one waits for.
    fn why_idle(&self) -> Cause {
        if self.ready != 0 {
            return match self.held {
                [0, 0, _] => Cause::MioThrottle,
                [0, _, _] => Cause::LgThrottle,
                _ => Cause::PipeThrottle,
            };
        }
        let first = slots_in(self.timed).find(|slot| self.slots[*slot].ready_at == self.next_warp);
        let slot = first.or_else(|| (self.resident != 0).then(|| self.order.oldest(self.resident)));
        slot.map_or(Cause::NoWarp, |slot| self.slots[slot].cause)
    }

    #[inline]
    fn set_free(&self, code: &TimedCode, set: usize, shared: &Pipes) -> u64 {
        let choices = code.sets[set].choices().iter();
        choices.map(|c| self.pipe(code, c.pipe, shared).saturating_sub(u64::from(c.ahead))).min().unwrap_or(0)
    }

    #[inline]
    fn pipe(&self, code: &TimedCode, pipe: u8, shared: &Pipes) -> u64 {
        let is_shared = code.shared_pipes >> pipe & 1 != 0;
        (if is_shared { shared } else { &self.pipes }).free[pipe as usize % MAX_PIPES]
    }

    /// The slot issues at `at`: takes the first pipe of its set with room and holds the dispatch stage. Returns when the
    /// pipe starts on it.
    #[inline]
    pub fn issue(&mut self, slot: usize, at: u64, op: &TimedOp, code: &TimedCode, shared: &mut Pipes) -> u64 {
        let choices = code.sets[op.needs.set as usize].choices();
        let open = choices.iter().find(|c| self.pipe(code, c.pipe, shared) <= at + u64::from(c.ahead));
        let mut start = at;
        if let Some(&Choice { pipe, busy, .. }) = open {
            let is_shared = code.shared_pipes >> pipe & 1 != 0;
            let pipes = if is_shared { shared } else { &mut self.pipes };
            start = at.max(pipes.free[pipe as usize % MAX_PIPES]);
            pipes.occupy(pipe, start + u64::from(busy));
            self.closed |= code.sets_of_pipe[pipe as usize % MAX_PIPES];
        }
        self.charge(slot, at);
        self.warp_cycles[Cause::Issued] += 1;
        self.slots[slot].since = at + 1;
        if self.last_issue != at {
            self.cycles[Cause::Issued] += 1;
            (self.last_issue, self.issued) = (at, 0);
        }
        self.issued += 1;
        self.dispatch_free = at + u64::from(op.dispatch);
        self.idle_from = at + 1;
        self.idle_cause = Cause::Dispatch;
        self.next = if self.issued < self.width { at } else { self.dispatch_free.max(at + 1) };
        start
    }

    /// Charges what has passed since the last look.
    #[inline]
    fn settle(&mut self, at: u64) {
        if at > self.idle_from {
            self.cycles[self.idle_cause] += at - self.idle_from;
            self.idle_from = at;
        }
        if self.held == [0; 1 + QUEUES] {
            return;
        }
        let passed = at.saturating_sub(self.held_from);
        for (held, cause) in self.held.iter_mut().zip([Cause::PipeThrottle, Cause::LgThrottle, Cause::MioThrottle]) {
            if *held != 0 {
                self.warp_cycles[cause] += slots_in(*held).count() as u64 * passed;
                *held = 0;
            }
        }
    }

    /// The compute unit's first group arrives at `at`: the scheduler counts from here.
    pub fn activate(&mut self, at: u64) {
        self.idle_from = at;
        self.idle_cause = Cause::NoWarp;
    }

    /// The compute unit's last group has left at `at`.
    pub fn deactivate(&mut self, at: u64) {
        self.settle(at);
        self.next = ASLEEP;
    }

    /// Ready cycles that no pipe or queue explains.
    pub fn finish(&mut self) {
        let cycles = &mut self.warp_cycles;
        let held = cycles[Cause::PipeThrottle] + cycles[Cause::LgThrottle] + cycles[Cause::MioThrottle];
        cycles[Cause::NotSelected] = self.ready_cycles.saturating_sub(held);
    }
}
