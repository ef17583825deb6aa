//! A compute unit: it runs alone through a window of time.
use super::access::Capture;
use super::atomics::AtomicTable;
use super::code::TimedCode;
use super::frontend::Frontend;
use super::groups::GroupSlot;
use super::lsu::Lsu;
use super::overlay::Overlay;
use super::slot::{Slot, State};
use super::sub_core::{Pipes, SubCore};
use crate::grid::{Grid, empty_group, items};
use crate::{LaunchError, WorkCounters};
use std::collections::VecDeque;
use warpscope_configs::MachineSpec;
use warpscope_configs::specs::MemorySpec;
use warpscope_exec::exec::{Code, Scratch, Warp};
use warpscope_exec::program::Program;
use warpscope_memory::coalescer::Coalescer;
use warpscope_memory::compute_unit::CuMemory;
use warpscope_memory::device_memory::{Span, View};
use warpscope_memory::request::{L2Request, L2Response};

/// What a launch's compute units share and do not change.
pub(crate) struct Context<'a, const W: usize> {
    pub code: Code<'a, W>,
    pub timed: &'a TimedCode,
    pub spec: &'a MachineSpec,
    pub grid: &'a Grid,
    pub view: &'a View,
    pub local_bytes: u32,
    /// Registers that a warp must find zeroed.
    pub zeroed: &'a [u32],
    /// Simulated address of the program's code, and of the launch's constant bank.
    pub code_base: u64,
    pub bank_base: u64,
}

/// What one host thread gathers while it runs compute units, and its scratch space: kept in one place for all units,
/// since the host's caches cannot hold one for each.
pub(crate) struct Tally<const W: usize> {
    /// Accesses of the operation at hand.
    pub capture: Capture<W>,
    pub scratch: Scratch<W>,
    pub coalescer: Box<Coalescer>,
    /// For each operation the allocation that it used last.
    pub spans: Vec<Span>,
    /// For each operation: times executed, and lanes that took part.
    pub executed: Vec<(u64, u64)>,
    pub instructions: u64,
    pub work: WorkCounters,
}

impl<const W: usize> Tally<W> {
    pub fn new(spec: &MemorySpec, program: &Program) -> Tally<W> {
        let operations = program.ops.len();
        Tally {
            capture: Capture::new(),
            scratch: Scratch::new(program),
            coalescer: Box::new(Coalescer::new(spec.line, spec.sector)),
            spans: vec![Span::EMPTY; operations],
            executed: vec![(0, 0); operations],
            instructions: 0,
            work: WorkCounters::default(),
        }
    }
}

/// Most cycles that a compute unit runs ahead: the launch's limits are looked at in between.
const MOST_AHEAD: u64 = 4096;

/// How far a compute unit can run alone.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reins {
    /// The window's end: what comes from outside before it is known.
    pub until: u64,
    /// No group comes before this cycle, other than those announced.
    pub groups: u64,
    /// Nor sooner than this after one has ended here.
    pub after_end: u64,
    /// No answer comes sooner than this after a request.
    pub after_request: u64,
}

/// State of a compute unit that outlives launches.
pub(crate) struct UnitState {
    pub memory: CuMemory,
    pub frontend: Frontend,
}

/// A compute unit during a launch.
pub(crate) struct ComputeUnit<const W: usize> {
    pub(super) number: u32,
    pub(super) state: UnitState,
    pub(super) subs: Vec<SubCore>,
    pub(super) shared_pipes: Pipes,
    pub(super) slots: Vec<Option<Box<Slot<W>>>>,
    /// Of an index in `slots`, the sub-core is above these bits, and the slot in it the bits of the mask.
    pub(super) sub_shift: u32,
    pub(super) slot_mask: usize,
    pub(super) groups: Vec<GroupSlot>,
    pub(super) lsu: Lsu<W>,
    pub(super) overlay: Overlay,
    pub(super) atomics: AtomicTable<W>,
    /// Slots that wait for a line of instructions or constants.
    pub(super) fetch_waiters: Vec<u32>,
    /// Warps that will issue soon, for the host's caches.
    pub(super) likely: Vec<u16>,
    pub(super) barrier_free: u64,
    /// Groups on their way here: cycle of arrival and number, rising by cycle.
    inbox: VecDeque<(u64, u64)>,
    /// Cycle of the first arrival; `u64::MAX` where none is known.
    arrival: u64,
    /// Groups that have ended, for the dispatcher.
    pub ended: Vec<u64>,
    start_free: u64,
    end_free: u64,
    resident: u32,
    /// Cycles with a resident group, closed intervals; and the open one.
    active: u64,
    active_from: u64,
    last_end: u64,
    was_active: bool,
    last_event: u64,
}

impl<const W: usize> ComputeUnit<W> {
    /// Unit number `number` at the start of a launch.
    pub fn new(number: u32, mut state: UnitState, context: &Context<'_, W>) -> ComputeUnit<W> {
        let (spec, timed) = (context.spec, context.timed);
        let cu = &spec.compute_unit;
        let code = u64::from(timed.length) * u64::from(spec.frontend.instruction_bytes);
        state.frontend.share(&spec.frontend, context.grid.count(), number, spec.chip.compute_units);
        state.frontend.preload(context.code_base, code.min(u64::from(spec.frontend.launch_preload)));
        let line = u64::from(spec.frontend.l0_constant.line);
        state.frontend.preload(context.bank_base, line);
        for number in &timed.bank_lines {
            state.frontend.preload(context.bank_base + u64::from(*number) * line, line);
        }
        let subs = vec![SubCore::new(cu); cu.sub_cores as usize];
        let per_sub = subs[0].slots().next_power_of_two();
        ComputeUnit {
            number,
            state,
            shared_pipes: Pipes::default(),
            slots: (0..per_sub * subs.len()).map(|_| None).collect(),
            sub_shift: per_sub.trailing_zeros(),
            slot_mask: per_sub - 1,
            groups: Vec::new(),
            lsu: Lsu::new(&cu.queues, cu.sub_cores),
            overlay: Overlay::new(),
            atomics: AtomicTable::default(),
            fetch_waiters: Vec::new(),
            likely: Vec::new(),
            barrier_free: 0,
            inbox: VecDeque::new(),
            arrival: u64::MAX,
            ended: Vec::new(),
            start_free: 0,
            end_free: 0,
            resident: 0,
            active: 0,
            active_from: 0,
            last_end: 0,
            was_active: false,
            last_event: 0,
            subs,
        }
    }

    /// A group will arrive at cycle `at`, not before groups announced earlier.
    pub fn announce(&mut self, at: u64, group: u64) {
        self.inbox.push_back((at, group));
        self.arrival = self.arrival.min(at);
    }

    /// When something happens here next; `u64::MAX` where nothing will unless it comes from outside.
    #[inline(always)]
    pub fn next_event(&self) -> u64 {
        let issue = self.subs.iter().fold(u64::MAX, |next, sub| next.min(sub.next));
        issue.min(self.next_other())
    }

    /// When something other than an issue happens next.
    #[inline(always)]
    fn next_other(&self) -> u64 {
        self.arrival.min(self.state.memory.next_event()).min(self.lsu.retry_at())
    }

    /// Runs to the window's end (exclusive), and on from there while nothing from outside can make a difference: while
    /// no answer is awaited, no group can come and no operation reaches beyond the unit. So a unit that computes on
    /// what it has runs long stretches with its state in the host's caches; when it does so changes no result.
    pub fn run(&mut self, reins: Reins, context: &Context<'_, W>, tally: &mut Tally<W>) -> Result<(), LaunchError> {
        let mut limit = reins.until;
        let mut ahead = false;
        // Before the first answer to a store, stores to private memory may lack room in the interconnect.
        let mut spills = false;
        let mut sent = 0;
        loop {
            let now = self.next_event();
            if now >= limit {
                if ahead || !self.is_alone() {
                    return Ok(());
                }
                ahead = true;
                limit = self.alone_until(reins);
                spills = self.state.memory.has_stores();
                sent = self.state.memory.requests().len();
                continue;
            }
            self.last_event = now;
            if self.next_other() <= now {
                self.handle_others(now, context, tally);
            }
            for sub in 0..self.subs.len() {
                while self.subs[sub].next <= now {
                    let core = &mut self.subs[sub];
                    let Some(slot) = core.select(now, context.timed, &self.shared_pipes) else { break };
                    if ahead && core.reaches_out(slot, spills) {
                        core.put_off(slot);
                        return Ok(());
                    }
                    self.issue(sub, slot, now, context, tally)?;
                }
            }
            if ahead {
                limit = limit.min(self.first_end().saturating_add(reins.after_end));
                if let Some(request) = self.state.memory.requests().get(sent) {
                    limit = limit.min(request.at + reins.after_request);
                }
            }
        }
    }

    /// What happens at `now` besides issues.
    fn handle_others(&mut self, now: u64, context: &Context<'_, W>, tally: &mut Tally<W>) {
        if self.state.memory.next_event() <= now {
            self.hear_memory(now, context);
        }
        if self.arrival <= now {
            while let Some((at, group)) = self.inbox.pop_front_if(|(at, _)| *at <= now) {
                self.start_group(at, group, context, tally);
            }
            self.arrival = self.inbox.front().map_or(u64::MAX, |(at, _)| *at);
        }
        if self.lsu.retry_at() <= now {
            self.drain_queues(now, context, &mut tally.coalescer);
        }
    }

    /// Whether nothing is awaited from the L2 that could matter here, and no access waits to go there.
    fn is_alone(&self) -> bool {
        self.lsu.sends_nothing() && self.state.memory.awaits_nothing()
    }

    /// How far the unit can run if it neither asks the L2 for anything nor ends a group.
    fn alone_until(&self, reins: Reins) -> u64 {
        let groups = reins.groups.min(self.first_end().saturating_add(reins.after_end));
        groups.min(reins.until + MOST_AHEAD)
    }

    /// The earliest end of a group that the dispatcher has not heard of.
    fn first_end(&self) -> u64 {
        self.ended.iter().copied().min().unwrap_or(u64::MAX)
    }

    fn start_group(&mut self, at: u64, number: u64, context: &Context<'_, W>, tally: &mut Tally<W>) {
        self.note_active(at);
        self.resident += 1;
        let index = match self.groups.iter().position(|g| !g.busy) {
            Some(index) => index,
            None => {
                let reserved = context.spec.memory.local.reserved_per_group;
                self.groups.push(GroupSlot::new(empty_group(context.local_bytes, reserved)));
                self.groups.len() - 1
            }
        };
        let slot = &mut self.groups[index];
        let warps = context.grid.begin(&mut slot.group, number, W as u32);
        slot.busy = true;
        slot.live = warps;
        slot.waiting = 0;
        slot.end = at;
        slot.slots.clear();
        let size = slot.group.size;
        tally.work.groups += 1;
        tally.work.warps += u64::from(warps);
        tally.work.work_items += u64::from(items(size));
        let launch = &context.spec.launch;
        for warp in 0..warps {
            let begins = at.max(self.start_free);
            self.start_free = begins + u64::from(launch.warp_interval);
            self.start_warp(begins + u64::from(launch.warp_setup), (index, warp, size), context);
        }
    }

    fn start_warp(&mut self, at: u64, (group, number, size): (usize, u32, [u32; 3]), context: &Context<'_, W>) {
        // The sub-core with the fewest warps; the dispatcher sends no more groups than fit.
        let free = |s: &usize| self.subs[*s].free_slot().is_some();
        let sub = (0..self.subs.len()).filter(free).min_by_key(|s| self.subs[*s].residents());
        let Some((sub, slot)) = sub.and_then(|s| Some((s, self.subs[s].free_slot()?))) else {
            unreachable!("more warps than slots");
        };
        let here = self.groups[group].slots.iter().filter(|other| **other as usize >> self.sub_shift == sub);
        let peers = here.fold(0, |peers, other| peers | 1 << (*other as usize & self.slot_mask));
        self.subs[sub].occupy(slot, peers, at);
        let index = sub << self.sub_shift | slot;
        let place = self.slots[index]
            .get_or_insert_with(|| Box::new(Slot::new(Warp::new(context.code.program()), context.timed.board)));
        place.begin(number, size, group as u32, at, context.zeroed);
        self.groups[group].slots.push(index as u32);
        self.prepare(index, at, context);
    }

    /// A warp has ended; its last memory instruction leaves at `at`.
    pub(super) fn end_warp(&mut self, index: usize, at: u64, context: &Context<'_, W>) {
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        slot.state = State::Ended;
        let at = at.max(self.end_free);
        self.end_free = at + u64::from(context.spec.launch.warp_end_interval);
        if slot.reductions > 0 {
            self.lsu.detach(index);
        }
        let group = slot.group as usize;
        self.subs[index >> self.sub_shift].retire(index & self.slot_mask, at);
        self.groups[group].leave(at);
        if self.groups[group].live == 0 {
            self.end_group(group);
        } else {
            self.release(group, context);
        }
    }

    fn end_group(&mut self, group: usize) {
        let GroupSlot { busy, slots, end, .. } = &mut self.groups[group];
        *busy = false;
        for &index in slots.iter() {
            let (sub, slot) = (index as usize >> self.sub_shift, index as usize & self.slot_mask);
            self.subs[sub].vacate(slot, *end);
            if let Some(slot) = self.slots[index as usize].as_deref_mut() {
                slot.state = State::Empty;
            }
        }
        self.resident -= 1;
        self.last_end = self.last_end.max(*end);
        self.ended.push(*end);
    }

    /// The unit has a resident group from `at` on.
    fn note_active(&mut self, at: u64) {
        if self.resident == 0 && (!self.was_active || at > self.last_end) {
            self.close_interval();
            self.active_from = at;
            self.was_active = true;
            self.subs.iter_mut().for_each(|s| s.activate(at));
        }
    }

    fn close_interval(&mut self) {
        if self.was_active {
            self.active += self.last_end.saturating_sub(self.active_from);
            let end = self.last_end;
            self.subs.iter_mut().for_each(|s| s.deactivate(end));
            self.was_active = false;
        }
    }

    /// Latest cycle in which anything happened here.
    pub fn last_event(&self) -> u64 {
        self.last_event
    }

    /// Requests for the L2 since they were last taken.
    pub fn requests(&mut self) -> &mut Vec<L2Request> {
        self.state.memory.requests()
    }

    /// Takes a response of the L2.
    pub fn deliver(&mut self, response: L2Response) {
        self.state.memory.deliver(response);
    }

    /// Whether it has stores that the other units do not see yet.
    pub fn has_stored(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// The epoch is over: its stores reach memory.
    pub fn publish(&mut self) {
        if !self.overlay.is_empty() {
            self.overlay.publish();
        }
    }

    /// The lanes `lanes` of the atomic with this token take effect.
    pub fn perform(&mut self, view: &View, token: u32, lanes: u64) {
        self.atomics.perform(view, self.lsu.atomic(token), lanes);
    }

    /// Whether nothing is left to do here.
    pub fn is_idle(&self) -> bool {
        self.resident == 0 && self.inbox.is_empty() && self.lsu.is_empty() && self.state.memory.is_idle()
    }

    /// Cycles with a resident group; ends the launch here.
    pub fn finish(&mut self) -> u64 {
        self.close_interval();
        self.subs.iter_mut().for_each(SubCore::finish);
        self.active
    }

    /// What outlives the launch.
    pub fn into_state(self) -> UnitState {
        self.state
    }

    /// The sub-cores, for their counters.
    pub fn sub_cores(&self) -> &[SubCore] {
        &self.subs
    }

    /// Warps that wait at a barrier or for each other, for a diagnosis.
    pub fn stuck(&self) -> impl Iterator<Item = (&Slot<W>, &GroupSlot)> {
        let alive = |s: &&Slot<W>| s.state != State::Empty && s.state != State::Ended;
        self.slots.iter().filter_map(|s| s.as_deref()).filter(alive).map(|s| (s, &self.groups[s.group as usize]))
    }
}
