//! The way of memory instructions from the sub-cores to the load/store unit, and of their ends back to the scoreboard.
use super::access::{Captured, Request};
use super::code::{Kind, Queue, TimedOp};
use super::compute_unit::{ComputeUnit, Context, Tally};
use super::fetch_cache::PENDING;
use super::slot::FUTURE;
use super::sub_core::ASLEEP;
use std::collections::VecDeque;
use warpscope_configs::specs::QueueSpec;
use warpscope_exec::exec::Space;
use warpscope_memory::coalescer::Coalescer;
use warpscope_memory::compute_unit::{Accepted, AccessKind, Completion, LocalAccess, TimedAccess};
use warpscope_memory::host_cache::prefetch;

/// Simulated address of the first compute unit's private memory.
const PRIVATE_BASE: u64 = 1 << 38;
const NO_ATOMIC: u32 = u32::MAX;
/// Slot of a reduction whose warp has ended.
const DETACHED: u32 = u32::MAX;
/// Pending instructions that are brought near: as many as there are in most kernels.
const MOST_PREFETCHED: usize = 96;

/// An instruction whose end is awaited.
#[derive(Copy, Clone, Debug)]
struct Pending {
    slot: u32,
    pc: u32,
    /// Accesses (a generic instruction can make several) that have not ended.
    parts: u32,
    /// When the latest part so far ends.
    latest: u64,
    /// Entry in the table of atomics.
    atomic: u32,
    /// Whether it is a global atomic without a result, and whether that has left the compute unit.
    reduction: bool,
    left: bool,
}

/// An access that the load/store unit has not taken yet.
#[derive(Copy, Clone, Debug)]
struct Queued {
    token: u32,
    slot: u32,
    kind: AccessKind,
    /// Where its addresses are kept; nowhere for local memory.
    addresses: u32,
    wavefronts: u32,
    bytes: u32,
    mask: u64,
}

/// Addresses of waiting accesses.
#[derive(Clone, Debug, Default)]
struct Kept<const W: usize> {
    addresses: Vec<[u64; W]>,
    free: Vec<u32>,
}

impl<const W: usize> Kept<W> {
    fn keep(&mut self, addresses: &[u64; W]) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.addresses[place as usize] = *addresses;
                place
            }
            None => {
                self.addresses.push(*addresses);
                self.addresses.len() as u32 - 1
            }
        }
    }
}

/// An indexed constant load that waits for lines.
#[derive(Clone, Debug)]
struct ConstantWait {
    token: u32,
    /// Lines that have not come yet.
    lines: Vec<u64>,
    /// When the last of the others came.
    latest: u64,
    /// Cycles that it takes once the lines are there.
    extra: u64,
}

/// Instruction queues and pending instructions of a compute unit.
#[derive(Clone, Debug)]
pub(crate) struct Lsu<const W: usize> {
    /// Waiting accesses by queue (global and private; local), oldest first.
    queues: [VecDeque<Queued>; 2],
    kept: Kept<W>,
    /// Waiting accesses of each sub-core by queue, and how many it may have.
    waiting: Vec<[u32; 2]>,
    room: [u32; 2],
    /// When a refused access can be tried again; `ASLEEP` for the first queue: the memory system will say.
    retry: [u64; 2],
    pending: Vec<Pending>,
    free: Vec<u32>,
    constants: Vec<ConstantWait>,
    /// Lines and words of the constant load at hand: room that is kept from load to load.
    lines: Vec<u64>,
    words: Vec<u64>,
    completions: Vec<Completion>,
}

impl<const W: usize> Lsu<W> {
    pub fn new(spec: &QueueSpec, sub_cores: u32) -> Lsu<W> {
        Lsu {
            queues: [VecDeque::new(), VecDeque::new()],
            kept: Kept { addresses: Vec::new(), free: Vec::new() },
            waiting: vec![[0; 2]; sub_cores as usize],
            room: [spec.lg, spec.mio],
            retry: [ASLEEP; 2],
            pending: Vec::new(),
            free: Vec::new(),
            constants: Vec::new(),
            lines: Vec::new(),
            words: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// When waiting accesses are tried next.
    #[inline(always)]
    pub fn retry_at(&self) -> u64 {
        self.retry[0].min(self.retry[1])
    }

    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty) && self.free.len() == self.pending.len()
    }

    /// Whether no access waits that goes beyond local memory, and no constants are awaited.
    pub fn sends_nothing(&self) -> bool {
        self.queues[0].is_empty() && self.constants.is_empty()
    }

    /// Whether accesses of a slot wait.
    pub fn holds(&self, slot: usize) -> bool {
        self.queues.iter().flatten().any(|q| q.slot as usize == slot)
    }

    fn insert(&mut self, pending: Pending) -> u32 {
        match self.free.pop() {
            Some(token) => {
                self.pending[token as usize] = pending;
                token
            }
            None => {
                self.pending.push(pending);
                self.pending.len() as u32 - 1
            }
        }
    }

    /// The warp in a slot ends; its reductions go on without it.
    pub fn detach(&mut self, slot: usize) {
        for pending in self.pending.iter_mut().filter(|p| p.reduction && p.slot as usize == slot) {
            pending.slot = DETACHED;
        }
    }

    /// Lets the host bring near what [`Lsu::slot_of`] looks at.
    pub fn prefetch(&self) {
        prefetch(&self.pending[..self.pending.len().min(MOST_PREFETCHED)]);
    }

    /// Slot of the warp that waits for an instruction.
    pub fn slot_of(&self, token: u32) -> Option<u16> {
        self.pending.get(token as usize).filter(|p| p.slot != DETACHED).map(|p| p.slot as u16)
    }

    /// Table entry of the atomic with this token.
    pub fn atomic(&self, token: u32) -> u32 {
        self.pending[token as usize].atomic
    }
}

fn queue_index(queue: Queue) -> usize {
    usize::from(queue == Queue::Mio)
}

fn access_kind(request: Request, space: Space) -> AccessKind {
    match (space, request) {
        (Space::Local, Request::Load) => AccessKind::LocalLoad,
        (Space::Local, Request::Store) => AccessKind::LocalStore,
        (Space::Local, Request::Atomic | Request::Reduction) => AccessKind::LocalAtomic,
        (Space::Private, Request::Store) => AccessKind::PrivateStore,
        (Space::Private, _) => AccessKind::PrivateLoad,
        (_, Request::Load) => AccessKind::GlobalLoad,
        (_, Request::Store) => AccessKind::GlobalStore,
        (_, Request::Atomic) => AccessKind::Atomic,
        (_, Request::Reduction) => AccessKind::Reduction,
    }
}

impl<const W: usize> ComputeUnit<W> {
    /// The captured accesses of the instruction at `pc`, issued at `now`, go to the load/store unit.
    pub(super) fn access(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        now: u64,
        context: &Context<'_, W>,
        tally: &mut Tally<W>,
    ) {
        let (capture, coalescer) = (&mut tally.capture, &mut *tally.coalescer);
        if op.kind == Kind::Constant {
            self.load_constant(index, pc, op, capture.parts().first(), now, context);
            return;
        }
        let parts = capture.parts().len() as u32;
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        if parts == 0 || !Self::is_timed_by_memory(op) {
            slot.produce(context.timed, op, now + u64::from(op.latency));
            return;
        }
        slot.produce(context.timed, op, FUTURE);
        slot.outstanding += 1;
        let mut atomic = NO_ATOMIC;
        let mut reduction = parts == 1;
        for part in capture.parts() {
            reduction &= access_kind(part.request, part.space) == AccessKind::Reduction;
            if matches!(part.request, Request::Atomic | Request::Reduction)
                && !matches!(part.space, Space::Local | Space::Private)
            {
                slot.atomics += 1;
                atomic = part.atomic;
            }
        }
        let token =
            self.lsu.insert(Pending { slot: index as u32, pc, parts, latest: 0, atomic, reduction, left: false });
        let queue = queue_index(op.needs.queue);
        for n in 0..parts as usize {
            if capture.parts()[n].space == Space::Private {
                self.place_private(index, capture.part_mut(n), context);
            }
            let part = &capture.parts()[n];
            let blocked = !self.lsu.queues[queue].is_empty();
            let kind = access_kind(part.request, part.space);
            if blocked || !self.submit_captured(part, kind, (index as u32, token), queue, now, context, coalescer) {
                let local = part.space == Space::Local;
                let addresses = if local { u32::MAX } else { self.lsu.kept.keep(&part.addresses) };
                let Captured { wavefronts, bytes, mask, .. } = *part;
                let queued = Queued { token, slot: index as u32, kind, addresses, wavefronts, bytes, mask };
                self.lsu.queues[queue].push_back(queued);
                self.hold(index >> self.sub_shift, queue);
            }
        }
    }

    /// Gives an access in private memory the simulated addresses that interleaving leads to.
    fn place_private(&self, index: usize, part: &mut Captured<W>, context: &Context<'_, W>) {
        let bytes = u64::from(context.code.program().private_bytes.next_multiple_of(4)) * W as u64;
        let per_sub = self.subs[0].slots();
        let unit = u64::from(self.number) * (per_sub * self.subs.len()) as u64;
        let warp = (index >> self.sub_shift) * per_sub + (index & self.slot_mask);
        let base = PRIVATE_BASE + (unit + warp as u64) * bytes.next_multiple_of(512);
        let size = u64::from(part.bytes);
        for (lane, address) in part.addresses.iter_mut().enumerate() {
            let rows = *address / 4 * 4 * W as u64;
            *address = base + rows + lane as u64 * size.max(4) + if size < 4 { *address % 4 } else { 0 };
        }
    }

    /// One more access of the sub-core waits; a full queue keeps its warps from issuing.
    fn hold(&mut self, sub: usize, queue: usize) {
        let waiting = &mut self.lsu.waiting[sub][queue];
        *waiting += 1;
        if *waiting >= self.lsu.room[queue] {
            self.subs[sub].queue_open[queue] = ASLEEP;
        }
    }

    fn submit_captured(
        &mut self,
        part: &Captured<W>,
        kind: AccessKind,
        (warp, token): (u32, u32),
        queue: usize,
        now: u64,
        context: &Context<'_, W>,
        coalescer: &mut Coalescer,
    ) -> bool {
        let Captured { addresses, wavefronts, bytes, mask, .. } = part;
        let accepted = match part.space {
            Space::Local => {
                let access = local_access::<W>(kind, warp, *wavefronts, *bytes, *mask);
                self.state.memory.access_local(now, &access)
            }
            _ => {
                let access = TimedAccess { kind, addresses, offset: 0, mask: *mask, bytes: *bytes, warp, token };
                self.state.memory.access(now, &access, coalescer)
            }
        };
        self.note_accepted(accepted, (token, queue, false), now, context)
    }

    /// `false`: refused; it must be tried again. `queued`: it has waited, so its warp may sleep for it.
    fn note_accepted(
        &mut self,
        accepted: Accepted,
        (token, queue, queued): (u32, usize, bool),
        now: u64,
        context: &Context<'_, W>,
    ) -> bool {
        match accepted {
            Accepted::Done(at) => self.end_part(token, at, queued, now, context),
            Accepted::Pending => self.leave(token, now),
            Accepted::Inside => {}
            Accepted::Busy(at) => {
                self.lsu.retry[queue] = at.max(now + 1);
                return false;
            }
            Accepted::Wait => {
                self.lsu.retry[queue] = ASLEEP;
                return false;
            }
        }
        true
    }

    /// Tries waiting accesses again.
    pub(super) fn drain_queues(&mut self, now: u64, context: &Context<'_, W>, coalescer: &mut Coalescer) {
        for queue in 0..2 {
            if self.lsu.retry[queue] <= now {
                self.drain_queue(queue, now, context, coalescer);
            }
        }
    }

    fn drain_queue(&mut self, queue: usize, now: u64, context: &Context<'_, W>, coalescer: &mut Coalescer) {
        self.lsu.retry[queue] = ASLEEP;
        while let Some(&first) = self.lsu.queues[queue].front() {
            let Queued { token, kind, wavefronts, bytes, mask, .. } = first;
            let index = first.slot as usize;
            let accepted = match self.lsu.kept.addresses.get(first.addresses as usize) {
                None => {
                    let access = local_access::<W>(kind, first.slot, wavefronts, bytes, mask);
                    self.state.memory.access_local(now, &access)
                }
                Some(addresses) => {
                    let access = TimedAccess { kind, addresses, offset: 0, mask, bytes, warp: first.slot, token };
                    self.state.memory.access(now, &access, coalescer)
                }
            };
            if !self.note_accepted(accepted, (token, queue, true), now, context) {
                return;
            }
            self.lsu.queues[queue].pop_front();
            if first.addresses != u32::MAX {
                self.lsu.kept.free.push(first.addresses);
            }
            let sub = index >> self.sub_shift;
            self.lsu.waiting[sub][queue] -= 1;
            if self.subs[sub].queue_open[queue] == ASLEEP {
                self.subs[sub].queue_open[queue] = now;
                self.subs[sub].look(now);
            }
            self.wake_if_draining(index, now, context);
        }
    }

    fn wake_if_draining(&mut self, index: usize, now: u64, context: &Context<'_, W>) {
        if self.slots[index].as_deref().is_some_and(|s| s.state == super::slot::State::Draining) {
            self.wake(index, now, context);
        }
    }

    /// Hears what the memory system has to say at `now`.
    pub(super) fn hear_memory(&mut self, now: u64, context: &Context<'_, W>) {
        let mut completions = std::mem::take(&mut self.lsu.completions);
        completions.clear();
        let room = self.state.memory.advance(now, &mut completions);
        let mut fetched = false;
        for completion in &completions {
            if completion.fetch {
                self.state.frontend.arrive_request(completion.token, completion.at);
                fetched = true;
            } else if completion.left {
                self.leave(completion.token, completion.at);
                let index = self.lsu.pending[completion.token as usize].slot as usize;
                self.wake_if_draining(index, now, context);
            } else {
                self.end_part(completion.token, completion.at, true, now, context);
            }
        }
        self.lsu.completions = completions;
        if fetched {
            self.finish_constants(now, context);
            let mut waiters = std::mem::take(&mut self.fetch_waiters);
            for index in waiters.drain(..) {
                self.wake(index as usize, now, context);
            }
            // Those that still wait have put themselves on the new list.
            waiters.append(&mut self.fetch_waiters);
            self.fetch_waiters = waiters;
            self.state.frontend.forget_arrived();
        }
        if room && !self.lsu.queues[0].is_empty() {
            self.lsu.retry[0] = now;
        }
    }

    /// An access has left for the L2: its warp does not wait for it, if it is a reduction.
    fn leave(&mut self, token: u32, now: u64) {
        let pending = &mut self.lsu.pending[token as usize];
        pending.left = true;
        if let Some(slot) = self.slots[pending.slot as usize].as_deref_mut() {
            slot.departure = slot.departure.max(now);
            slot.reductions += u32::from(pending.reduction);
        }
    }

    /// One access of an instruction has ended, or will at the known cycle `at`. `wake`: the warp may sleep for it.
    fn end_part(&mut self, token: u32, at: u64, wake: bool, now: u64, context: &Context<'_, W>) {
        let pending = &mut self.lsu.pending[token as usize];
        pending.latest = pending.latest.max(at);
        pending.parts -= 1;
        let done = *pending;
        if done.slot == DETACHED {
            pending.reduction = false;
            self.atomics.remove(done.atomic);
            self.lsu.free.push(token);
            return;
        }
        let index = done.slot as usize;
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        let op = &context.timed.ops[done.pc as usize];
        // What has no result has yet to leave the unit.
        let is_store = context.timed.writes(op).is_empty();
        slot.departure = slot.departure.max(if is_store { at.max(now) + u64::from(op.latency) } else { now });
        if done.parts > 0 {
            return;
        }
        let program = context.code.program();
        if done.atomic != NO_ATOMIC {
            let (rows, mask) = self.atomics.remove(done.atomic);
            slot.warp.write_result(program, program.ops[done.pc as usize].dst, mask, rows);
            slot.atomics -= 1;
        }
        slot.produce(context.timed, op, done.latest + u64::from(op.latency));
        slot.outstanding -= 1;
        slot.reductions -= u32::from(done.reduction && done.left);
        self.lsu.pending[token as usize].reduction = false;
        self.lsu.free.push(token);
        if wake {
            self.wake(index, now, context);
        }
    }

    /// A load from the constant bank's first line.
    pub(super) fn load_launch_constant(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let line_bytes = u64::from(context.spec.frontend.l1_constant.line);
        self.lsu.lines.clear();
        self.lsu.lines.push(context.bank_base / line_bytes * line_bytes);
        self.read_constant_lines(index, pc, op, 1, now, context);
    }

    /// An indexed load from the constant bank: each distinct word takes the constant cache's port.
    fn load_constant(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        part: Option<&Captured<W>>,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let Some(part) = part else {
            let Some(slot) = self.slots[index].as_deref_mut() else { return };
            slot.produce(context.timed, op, now + u64::from(op.latency));
            return;
        };
        let line_bytes = u64::from(context.spec.frontend.l1_constant.line);
        let (lines, words) = (&mut self.lsu.lines, &mut self.lsu.words);
        lines.clear();
        words.clear();
        crate::lanes::for_lanes::<W>(part.mask, |lane| {
            let address = part.addresses[lane];
            if !words.contains(&address) {
                words.push(address);
                let line = address / line_bytes * line_bytes;
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        });
        let words = words.len() as u64;
        self.read_constant_lines(index, pc, op, words, now, context);
    }

    /// Charges a read of `words` words in `lsu.lines`; it waits for those that are not in the constant cache.
    fn read_constant_lines(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        words: u64,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        let replay = context.spec.frontend.constant_replay.max(context.spec.frontend.l1_constant.interval);
        let extra = u64::from(op.latency) + words.saturating_sub(1) * u64::from(replay);
        let frontend = &mut self.state.frontend;
        let start = frontend.start_indexed(words, now);
        let mut latest = now;
        self.lsu.lines.retain(|line| note_arrival(frontend.indexed(*line, start), &mut latest));
        if self.lsu.lines.is_empty() {
            slot.produce(context.timed, op, latest + extra);
            return;
        }
        slot.produce(context.timed, op, FUTURE);
        slot.outstanding += 1;
        let token = self.lsu.insert(Pending {
            slot: index as u32,
            pc,
            parts: 1,
            latest: 0,
            atomic: NO_ATOMIC,
            reduction: false,
            left: false,
        });
        let lines = self.lsu.lines.clone();
        self.lsu.constants.push(ConstantWait { token, lines, latest, extra });
        self.send_fetches(now, context);
    }

    /// Ends the indexed constant loads whose lines are all there.
    fn finish_constants(&mut self, now: u64, context: &Context<'_, W>) {
        let mut waiting = std::mem::take(&mut self.lsu.constants);
        waiting.retain_mut(|wait| {
            let frontend = &mut self.state.frontend;
            wait.lines.retain(|line| note_arrival(frontend.indexed(*line, now), &mut wait.latest));
            if !wait.lines.is_empty() {
                return true;
            }
            let at = wait.latest;
            let op = &context.timed.ops[self.lsu.pending[wait.token as usize].pc as usize];
            let latency = u64::from(op.latency);
            self.end_part(wait.token, at + wait.extra - latency, true, now, context);
            false
        });
        self.lsu.constants = waiting;
        self.send_fetches(now, context);
    }

    /// Hands the front end's misses to the memory system.
    pub(super) fn send_fetches(&mut self, now: u64, context: &Context<'_, W>) {
        let bytes = context.spec.frontend.l2_fetch.line;
        let memory = &mut self.state.memory;
        self.state.frontend.send(|at, address, token| memory.fetch(at.max(now), address, bytes, token));
    }
}

/// Whether a line is still under way; else `latest` becomes the time of the last that is there.
fn note_arrival(at: u64, latest: &mut u64) -> bool {
    if at != PENDING {
        *latest = at.max(*latest);
    }
    at == PENDING
}

fn local_access<const W: usize>(kind: AccessKind, warp: u32, wavefronts: u32, bytes: u32, mask: u64) -> LocalAccess {
    LocalAccess { kind, bytes, mask, wavefronts, warp, lanes: W as u32 }
}
