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
use warpscope_exec::exec::{Code, Warp};
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
    /// Simulated address of the program's code, and of the launch's constant bank.
    pub code_base: u64,
    pub bank_base: u64,
}

/// What one host thread gathers while it runs compute units.
pub(crate) struct Tally {
    /// For each operation the allocation that it used last.
    pub spans: Vec<Span>,
    /// For each operation: times executed, and lanes that took part.
    pub executed: Vec<(u64, u64)>,
    pub instructions: u64,
    pub work: WorkCounters,
}

impl Tally {
    pub fn new(operations: usize) -> Tally {
        Tally {
            spans: vec![Span::EMPTY; operations],
            executed: vec![(0, 0); operations],
            instructions: 0,
            work: WorkCounters::default(),
        }
    }
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
    pub(super) capture: Capture<W>,
    /// Slots that wait for a line of instructions or constants.
    pub(super) fetch_waiters: Vec<u32>,
    pub(super) barrier_free: u64,
    /// Groups on their way here: cycle of arrival and number, rising by cycle.
    inbox: VecDeque<(u64, u64)>,
    /// Groups that have ended, for the dispatcher.
    pub ended: Vec<u64>,
    start_free: u64,
    ages: u64,
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
        let code = timed.ops.len() as u64 * u64::from(spec.frontend.instruction_bytes);
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
            capture: Capture::new(),
            fetch_waiters: Vec::new(),
            barrier_free: 0,
            inbox: VecDeque::new(),
            ended: Vec::new(),
            start_free: 0,
            ages: 0,
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
    }

    /// When something happens here next; `u64::MAX` where nothing will unless it comes from outside.
    pub fn next_event(&self) -> u64 {
        let issue = self.subs.iter().map(|s| s.next).min().unwrap_or(u64::MAX);
        let arrival = self.inbox.front().map_or(u64::MAX, |(at, _)| *at);
        issue.min(arrival).min(self.state.memory.next_event()).min(self.lsu.retry_at())
    }

    /// The warps that will issue first in the window: while one unit after the other had its turn, the host's caches
    /// have forgotten them.
    fn prefetch(&self, until: u64, context: &Context<'_, W>) {
        self.candidates(until).for_each(Slot::prefetch);
        for slot in self.candidates(until) {
            if let Some(op) = context.timed.ops.get(slot.warp.pc as usize) {
                slot.prefetch_operands(context.timed.operands(op));
            }
        }
    }

    /// Warps that may issue before `until`, as far as is known.
    fn candidates(&self, until: u64) -> impl Iterator<Item = &Slot<W>> {
        let subs = self.subs.iter().enumerate();
        let indices = subs.flat_map(move |(sub, s)| s.candidates(until).map(move |slot| sub << self.sub_shift | slot));
        indices.filter_map(|index| self.slots[index].as_deref())
    }

    /// Runs up to `until` (exclusive).
    pub fn run(&mut self, until: u64, context: &Context<'_, W>, tally: &mut Tally) -> Result<(), LaunchError> {
        self.prefetch(until, context);
        loop {
            let now = self.next_event();
            if now >= until {
                return Ok(());
            }
            self.last_event = now;
            if self.state.memory.next_event() <= now {
                self.hear_memory(now, context);
            }
            while self.inbox.front().is_some_and(|(at, _)| *at <= now) {
                if let Some((at, group)) = self.inbox.pop_front() {
                    self.start_group(at, group, context, tally);
                }
            }
            if self.lsu.retry_at() <= now {
                self.drain_queues(now, context);
            }
            for sub in 0..self.subs.len() {
                while self.subs[sub].next <= now {
                    match self.subs[sub].select(now, context.timed, &self.shared_pipes) {
                        Some(slot) => self.issue(sub, slot, now, context, tally)?,
                        None => break,
                    }
                }
            }
        }
    }

    fn start_group(&mut self, at: u64, number: u64, context: &Context<'_, W>, tally: &mut Tally) {
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
        self.ages += 1;
        self.subs[sub].occupy(slot, at, self.ages);
        let index = sub << self.sub_shift | slot;
        let place = self.slots[index]
            .get_or_insert_with(|| Box::new(Slot::new(Warp::new(context.code.program()), context.timed.board)));
        place.begin(number, size, group as u32, at);
        self.groups[group].slots.push(index as u32);
        self.prepare(index, at, context);
    }

    /// A warp has ended; its last memory instruction leaves at `at`.
    pub(super) fn end_warp(&mut self, index: usize, at: u64, context: &Context<'_, W>) {
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        slot.state = State::Ended;
        if slot.reductions > 0 {
            self.lsu.detach(index);
        }
        let group = slot.group as usize;
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

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
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
