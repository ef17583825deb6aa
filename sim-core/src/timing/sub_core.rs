//! A sub-core: its warps' readiness, its pipes and its scheduler. What issuing means is the compute unit's business.
use super::code::{MAX_PIPES, Queue, TimedCode};
use super::scheduler::{MAX_SLOTS, Scheduler};
use crate::{Cause, CauseCycles};
use warpscope_configs::specs::ComputeUnitSpec;

/// `ready_at` of a slot that is empty or that an event will wake.
pub(crate) const ASLEEP: u64 = u64::MAX;

/// Queues that hold warps back, by index.
const QUEUES: usize = 2;

/// State of one sub-core. Arrays are indexed by slot.
#[derive(Clone, Debug)]
pub(crate) struct SubCore {
    /// When the slot's next operation can issue as far as its own state goes.
    ready_at: Vec<u64>,
    /// Why not earlier.
    cause: Vec<Cause>,
    /// Pipe set and queue of the next operation.
    set: Vec<u8>,
    queue: Vec<u8>,
    /// The slot's cycles are charged up to here.
    since: Vec<u64>,
    /// Order in which the slots' warps started.
    ages: Vec<u64>,
    /// Slots whose next operation uses a pipe set.
    set_users: Vec<u64>,
    /// Slots whose next operation goes through a queue.
    queue_users: [u64; QUEUES],
    /// When a queue has room again; `ASLEEP`: an event will say.
    pub queue_open: [u64; QUEUES],
    pipe_free: [u64; MAX_PIPES],
    resident: u64,
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
    held: [u32; 1 + QUEUES],
    held_from: u64,
    scheduler: Scheduler,
    /// Cycles of the scheduler by cause.
    pub cycles: CauseCycles,
    /// Cycles of its warps by cause.
    pub warp_cycles: CauseCycles,
    /// Cycles that warps were ready: what was neither pipe nor queue is "not selected".
    ready_cycles: u64,
}

impl SubCore {
    pub fn new(spec: &ComputeUnitSpec, sets: usize) -> SubCore {
        let slots = ((spec.max_warps / spec.sub_cores) as usize).clamp(1, MAX_SLOTS);
        SubCore {
            ready_at: vec![ASLEEP; slots],
            cause: vec![Cause::NoWarp; slots],
            set: vec![0; slots],
            queue: vec![0; slots],
            since: vec![0; slots],
            ages: vec![0; slots],
            set_users: vec![0; sets],
            queue_users: [0; QUEUES],
            queue_open: [0; QUEUES],
            pipe_free: [0; MAX_PIPES],
            resident: 0,
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
            cycles: CauseCycles::default(),
            warp_cycles: CauseCycles::default(),
            ready_cycles: 0,
        }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.ready_at.len()
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

    /// A warp takes a slot at `at`, asleep.
    pub fn occupy(&mut self, slot: usize, at: u64, age: u64) {
        self.resident |= 1 << slot;
        self.ready_at[slot] = ASLEEP;
        self.cause[slot] = Cause::Fetch;
        self.since[slot] = at;
        self.ages[slot] = age;
    }

    /// A warp leaves its slot at `at`.
    pub fn vacate(&mut self, slot: usize, at: u64) {
        self.charge(slot, at);
        self.forget(slot);
        self.resident &= !(1 << slot);
        self.ready_at[slot] = ASLEEP;
    }

    /// The slot's next operation uses pipe set `set` and `queue`, and can issue from `ready` on; `cause` says why not
    /// before.
    #[inline]
    pub fn arm(&mut self, slot: usize, set: u8, queue: Queue, ready: u64, cause: Cause) {
        self.forget(slot);
        let bit = 1 << slot;
        self.set[slot] = set;
        self.set_users[set as usize] |= bit;
        self.queue[slot] = match queue {
            Queue::None => 0,
            Queue::Lg => 1,
            Queue::Mio => 2,
        };
        if self.queue[slot] != 0 {
            self.queue_users[self.queue[slot] as usize - 1] |= bit;
        }
        self.ready_at[slot] = ready;
        self.cause[slot] = cause;
        self.next = self.next.min(ready);
    }

    /// The slot sleeps until an event wakes it.
    #[inline]
    pub fn sleep(&mut self, slot: usize, cause: Cause) {
        self.forget(slot);
        self.ready_at[slot] = ASLEEP;
        self.cause[slot] = cause;
    }

    /// Something outside has changed: looks again at `at`.
    #[inline]
    pub fn look(&mut self, at: u64) {
        self.next = self.next.min(at);
    }

    /// Whether an event must wake the slot.
    #[inline]
    pub fn is_asleep(&self, slot: usize) -> bool {
        self.ready_at[slot] == ASLEEP
    }

    #[inline]
    fn forget(&mut self, slot: usize) {
        let keep = !(1u64 << slot);
        self.set_users[self.set[slot] as usize] &= keep;
        for users in &mut self.queue_users {
            *users &= keep;
        }
    }

    /// Charges the slot's cycles before `at`.
    #[inline]
    pub fn charge(&mut self, slot: usize, at: u64) {
        let since = self.since[slot];
        let ready = self.ready_at[slot].clamp(since, at.max(since));
        self.warp_cycles[self.cause[slot]] += ready - since;
        self.ready_cycles += at.saturating_sub(ready);
        self.since[slot] = at;
    }

    /// The slot to issue from at `at`, the present; otherwise `next` says when to look again.
    #[inline]
    pub fn select(&mut self, at: u64, code: &TimedCode, shared_free: &[u64; MAX_PIPES]) -> Option<usize> {
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
        let (mut ready, mut soonest) = (0u64, ASLEEP);
        for (slot, &when) in self.ready_at.iter().enumerate() {
            let now = when <= at;
            ready |= u64::from(now) << slot;
            soonest = soonest.min(if now { ASLEEP } else { when });
        }
        let next_warp = soonest;
        let mut open = ready;
        if ready != 0 {
            for (set, users) in self.set_users.iter().enumerate() {
                if users & ready != 0 {
                    let free = self.set_free(code, set, shared_free);
                    if free > at {
                        open &= !users;
                        soonest = soonest.min(free);
                    }
                }
            }
            self.held[0] = (ready & !open).count_ones();
            for queue in 0..QUEUES {
                let users = self.queue_users[queue] & open;
                self.held[1 + queue] = 0;
                if users != 0 && self.queue_open[queue] > at {
                    open &= !users;
                    self.held[1 + queue] = users.count_ones();
                    soonest = soonest.min(self.queue_open[queue]);
                }
            }
            self.held_from = at;
        } else {
            self.held = [0; 1 + QUEUES];
        }
        if open != 0 {
            return Some(self.scheduler.pick(open, &self.ages));
        }
        self.next = soonest;
        self.idle_from = self.idle_from.max(at);
        self.idle_cause = self.why_idle(ready, next_warp);
        None
    }

    /// What the scheduler waits for: a pipe or queue if a warp is otherwise ready, else what the warp that comes next
    /// waits for; where no warp has a known time, what the oldest one waits for.
    fn why_idle(&self, ready: u64, next_warp: u64) -> Cause {
        if ready != 0 {
            return match self.held {
                [0, 0, _] => Cause::MioThrottle,
                [0, _, _] => Cause::LgThrottle,
                _ => Cause::PipeThrottle,
            };
        }
        if next_warp != ASLEEP
            && let Some(slot) = self.ready_at.iter().position(|when| *when == next_warp)
        {
            return self.cause[slot];
        }
        let oldest = (0..self.slots()).filter(|s| self.resident >> s & 1 != 0).min_by_key(|s| self.ages[*s]);
        oldest.map_or(Cause::NoWarp, |slot| self.cause[slot])
    }

    fn set_free(&self, code: &TimedCode, set: usize, shared_free: &[u64; MAX_PIPES]) -> u64 {
        let choices = code.sets[set].choices().iter();
        choices.map(|(pipe, _)| self.pipe(code, *pipe, shared_free)).min().unwrap_or(0)
    }

    #[inline]
    fn pipe(&self, code: &TimedCode, pipe: u8, shared_free: &[u64; MAX_PIPES]) -> u64 {
        let shared = code.shared_pipes >> pipe & 1 != 0;
        if shared { shared_free[pipe as usize] } else { self.pipe_free[pipe as usize] }
    }

    /// The slot issues at `at`: takes a free pipe of its set and holds the dispatch stage.
    #[inline]
    pub fn issue(&mut self, slot: usize, at: u64, dispatch: u8, code: &TimedCode, shared_free: &mut [u64; MAX_PIPES]) {
        let choices = code.sets[self.set[slot] as usize].choices();
        let free = choices.iter().find(|(pipe, _)| self.pipe(code, *pipe, shared_free) <= at);
        if let Some(&(pipe, busy)) = free {
            let shared = code.shared_pipes >> pipe & 1 != 0;
            let place = if shared { shared_free } else { &mut self.pipe_free };
            place[pipe as usize] = at + u64::from(busy);
        }
        self.charge(slot, at);
        self.warp_cycles[Cause::Issued] += 1;
        self.since[slot] = at + 1;
        if self.last_issue != at {
            self.cycles[Cause::Issued] += 1;
            (self.last_issue, self.issued) = (at, 0);
        }
        self.issued += 1;
        self.dispatch_free = at + u64::from(dispatch);
        self.idle_from = at + 1;
        self.idle_cause = Cause::Dispatch;
        self.next = if self.issued < self.width { at } else { self.dispatch_free.max(at + 1) };
    }

    /// Charges what has passed since the last look.
    #[inline]
    fn settle(&mut self, at: u64) {
        if at > self.idle_from {
            self.cycles[self.idle_cause] += at - self.idle_from;
            self.idle_from = at;
        }
        let passed = at.saturating_sub(self.held_from);
        for (held, cause) in self.held.iter_mut().zip([Cause::PipeThrottle, Cause::LgThrottle, Cause::MioThrottle]) {
            self.warp_cycles[cause] += u64::from(*held) * passed;
            *held = 0;
        }
        self.held_from = at;
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
