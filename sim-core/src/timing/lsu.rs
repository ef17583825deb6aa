//! The way of memory instructions from the sub-cores to the load/store unit, and of their ends back to the scoreboard.
use super::access::{Captured, Request};
use super::code::{Kind, Queue, TimedOp};
use super::compute_unit::{ComputeUnit, Context, Tally};
use super::constants::ConstantWait;
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
    /// When it arrives at the load/store unit.
    at: u64,
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

/// Instruction queues and pending instructions of a compute unit.
#[derive(Clone, Debug)]
pub(crate) struct Lsu<const W: usize> {
    /// Waiting accesses by queue (global and private; local), in order of arrival.
    queues: [VecDeque<Queued>; 2],
    /// When each sub-core's way to the load/store unit is free, and cycles that a register takes on it.
    ways: Vec<u64>,
    register_cycles: u64,
    kept: Kept<W>,
    /// Waiting accesses of each sub-core by queue, and how many it may have.
    waiting: Vec<[u32; 2]>,
    room: [u32; 2],
    /// When a refused access can be tried again; `ASLEEP` for the first queue: the memory system will say.
    retry: [u64; 2],
    pending: Vec<Pending>,
    free: Vec<u32>,
    pub(super) constants: Vec<ConstantWait>,
    /// Lines and words of the constant load at hand: room that is kept from load to load.
    pub(super) lines: Vec<u64>,
    pub(super) words: Vec<u64>,
    completions: Vec<Completion>,
}

impl<const W: usize> Lsu<W> {
    pub fn new(spec: &QueueSpec, sub_cores: u32) -> Lsu<W> {
        Lsu {
            queues: [VecDeque::new(), VecDeque::new()],
            ways: vec![0; sub_cores as usize],
            register_cycles: u64::from(spec.register_cycles),
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

    /// An instruction of sub-core `sub` that reads this many vector registers sets out at `now`; when it arrives.
    fn pass(&mut self, sub: usize, registers: u64, now: u64) -> u64 {
        let at = now.max(self.ways[sub]);
        self.ways[sub] = at + registers * self.register_cycles;
        at
    }

    /// Whether an access waits that has arrived: later ones wait behind it.
    fn is_blocked(&self, queue: usize, now: u64) -> bool {
        self.queues[queue].front().is_some_and(|first| first.at <= now)
    }

    /// An access waits, behind those that arrive before it or with it. One that has arrived by `now` has been refused, so
    /// it is known when to try it again.
    fn enqueue(&mut self, queue: usize, access: Queued, now: u64) {
        let behind = self.queues[queue].iter().rev().take_while(|other| other.at > access.at).count();
        let place = self.queues[queue].len() - behind;
        if place == 0 && access.at > now {
            self.retry[queue] = self.retry[queue].min(access.at);
        }
        self.queues[queue].insert(place, access);
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

    /// The load from the constant bank at `pc` waits for lines.
    pub(super) fn await_constants(&mut self, slot: usize, pc: u32) -> u32 {
        let slot = slot as u32;
        self.insert(Pending { slot, pc, parts: 1, latest: 0, atomic: NO_ATOMIC, reduction: false, left: false })
    }

    /// Where the instruction with this token stands.
    pub(super) fn pc_of(&self, token: u32) -> u32 {
        self.pending[token as usize].pc
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
        let at = self.lsu.pass(index >> self.sub_shift, context.timed.registers_read(op), now);
        for n in 0..parts as usize {
            if capture.parts()[n].space == Space::Private {
                self.place_private(index, capture.part_mut(n), context);
            }
            let part = &capture.parts()[n];
            let blocked = at > now || self.lsu.is_blocked(queue, now);
            let kind = access_kind(part.request, part.space);
            if blocked || !self.submit_captured(part, kind, (index as u32, token), queue, now, context, coalescer) {
                let local = part.space == Space::Local;
                let addresses = if local { u32::MAX } else { self.lsu.kept.keep(&part.addresses) };
                let Captured { wavefronts, bytes, mask, .. } = *part;
                let queued = Queued { at, token, slot: index as u32, kind, addresses, wavefronts, bytes, mask };
                self.lsu.enqueue(queue, queued, now);
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
            if first.at > now {
                self.lsu.retry[queue] = first.at;
                return;
            }
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
    pub(super) fn end_part(&mut self, token: u32, at: u64, wake: bool, now: u64, context: &Context<'_, W>) {
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

    /// Hands the front end's misses to the memory system.
    pub(super) fn send_fetches(&mut self, now: u64, context: &Context<'_, W>) {
        let bytes = context.spec.frontend.l2_fetch.line;
        let memory = &mut self.state.memory;
        self.state.frontend.send(|at, address, token| memory.fetch(at.max(now), address, bytes, token));
    }
}

fn local_access<const W: usize>(kind: AccessKind, warp: u32, wavefronts: u32, bytes: u32, mask: u64) -> LocalAccess {
    LocalAccess { kind, bytes, mask, wavefronts, warp, lanes: W as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lsu() -> Lsu<32> {
        Lsu::new(&QueueSpec { lg: 5, mio: 5, register_cycles: 2 }, 4)
    }

    /// Clocks around bursts on an H200: two stores of one sub-core 4 cycles apart, two loads 2, other sub-cores apart.
    #[test]
    fn a_sub_cores_way_takes_its_time_for_each_register() {
        let mut lsu = lsu();
        let arrivals = [(0, 2, 100), (0, 2, 101), (1, 1, 101), (0, 1, 102), (0, 1, 102), (0, 1, 120)];
        assert_eq!(arrivals.map(|(sub, registers, now)| lsu.pass(sub, registers, now)), [100, 104, 101, 108, 110, 120]);
    }

    #[test]
    fn accesses_wait_in_order_of_arrival() {
        let mut lsu = lsu();
        for (token, at) in [(1, 104), (2, 102), (3, 104), (4, 103)] {
            let kind = AccessKind::LocalLoad;
            lsu.enqueue(
                1,
                Queued { at, token, slot: 0, kind, addresses: u32::MAX, wavefronts: 1, bytes: 4, mask: 1 },
                100,
            );
        }
        let tokens: Vec<u32> = lsu.queues[1].iter().map(|q| q.token).collect();
        assert_eq!(tokens, [2, 4, 1, 3]);
        assert_eq!((lsu.retry_at(), lsu.is_blocked(1, 101), lsu.is_blocked(1, 102)), (102, false, true));
    }
}
