//! The engine: time advances in windows, in which every compute unit runs alone; between windows requests and
//! responses are exchanged with the L2, groups with the dispatcher, and at epochs' ends stores with memory.
use super::code::TimedCode;
use super::compute_unit::{ComputeUnit, Context, Reins, Tally, UnitState};
use super::dispatch::Dispatcher;
use super::frontend::Frontend;
use super::prefetch::Stage;
use crate::check::Checked;
use crate::entry::rows_read_first;
use crate::functional::count_operation;
use crate::grid::Grid;
use crate::{Cause, Launch, LaunchCounters, LaunchError, MemoryCounters, TimeCounters, diagnosis};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use warpscope_configs::{Counters, MachineSpec};
use warpscope_exec::exec::Code;
use warpscope_exec::program::Program;
use warpscope_memory::compute_unit::CuMemory;
use warpscope_memory::device_memory::View;
use warpscope_memory::l2::L2System;
use warpscope_memory::request::{AtomicSink, L2Request, L2Response};

/// Simulated addresses of code, and of the constant banks of launches: below all allocations.
const CODE_BASE: u64 = 1 << 32;
const BANK_BASE: u64 = 1 << 37;
/// And of what others have left in the L2.
const OTHERS_BASE: u64 = 1 << 36;
/// Room for one launch's constant bank, and number of banks used in turn.
const BANK: u64 = 1 << 16;
const BANKS: u64 = 1 << 10;

/// What outlives launches: time, caches, and where programs lie.
pub(crate) struct Engine {
    spec: Arc<MachineSpec>,
    now: u64,
    units: Vec<Option<UnitState>>,
    l2: L2System,
    programs: Vec<KnownProgram>,
    next_code: u64,
    launches: u64,
    /// Nothing was launched since the caches were emptied.
    cold: bool,
}

/// A program that was launched.
struct KnownProgram {
    program: Weak<Program>,
    /// Simulated address of its code.
    base: u64,
    /// Registers that its warps must find zeroed.
    zeroed: Arc<[u32]>,
}

/// What stops a launch from outside, and how windows are cut.
pub(crate) struct Limits<'a> {
    pub instructions: u64,
    pub interrupt: &'a AtomicBool,
    /// Cycles of a window; 0: as long as the epoch, with units running on beyond it where they can. It never changes a
    /// result.
    pub window: u64,
}

/// The order in which atomics take effect at the L2.
#[derive(Default)]
struct AtomicLog(Vec<(u16, u32, u64)>);

impl AtomicSink for AtomicLog {
    fn perform(&mut self, request: &L2Request) {
        self.0.push((request.unit, request.token, request.lanes));
    }
}

impl Engine {
    pub fn new(spec: Arc<MachineSpec>) -> Engine {
        let units = (0..spec.chip.compute_units).map(|_| None).collect();
        let l2 = L2System::new(&spec.memory, &spec.chip);
        Engine { spec, now: 0, units, l2, programs: Vec::new(), next_code: CODE_BASE, launches: 0, cold: true }
    }

    /// Empties all caches; nothing is under way.
    pub fn flush(&mut self) {
        self.units.iter_mut().for_each(|u| *u = None);
        self.l2 = L2System::new(&self.spec.memory, &self.spec.chip);
        self.cold = true;
    }

    /// Something other than a kernel has written to a range of simulated addresses: its lines leave the L2.
    pub fn drop_range(&mut self, address: u64, bytes: u64) {
        self.l2.drop_range(address, bytes);
    }

    /// Longest time between two exchanges: what happens in one compute unit changes nothing in another any sooner.
    fn epoch(&self) -> u64 {
        let launch = &self.spec.launch;
        let shortest = self.l2.longest_window().min(2 * u64::from(launch.group_latency));
        u64::from(launch.epoch).min(shortest).max(1)
    }

    /// Simulated address of a program's code, the same for every launch of the same program, and the registers that its
    /// warps must find zeroed.
    fn know(&mut self, program: &Arc<Program>, code: &TimedCode) -> (u64, Arc<[u32]>) {
        self.programs.retain(|known| known.program.strong_count() > 0);
        let known = self.programs.iter().find(|known| std::ptr::eq(known.program.as_ptr(), Arc::as_ptr(program)));
        if let Some(known) = known {
            return (known.base, known.zeroed.clone());
        }
        let base = self.next_code;
        let bytes = u64::from(code.length) * u64::from(self.spec.frontend.instruction_bytes);
        self.next_code = (base + bytes).next_multiple_of(4096);
        let zeroed: Arc<[u32]> = rows_read_first(program).into();
        self.programs.push(KnownProgram { program: Arc::downgrade(program), base, zeroed: zeroed.clone() });
        (base, zeroed)
    }

    /// Runs a launch. After an error the caches are empty.
    pub fn launch<const W: usize>(
        &mut self,
        launch: &Launch,
        checked: &Checked,
        code: Code<'_, W>,
        view: &View,
        limits: &Limits<'_>,
    ) -> Result<LaunchCounters, LaunchError> {
        let spec = self.spec.clone();
        let timed = TimedCode::new(&spec, code.program());
        let grid = Grid::new(checked.geometry);
        let (code_base, zeroed) = self.know(&launch.program, &timed);
        let context = Context {
            code,
            timed: &timed,
            spec: &spec,
            grid: &grid,
            view,
            local_bytes: checked.resources.local_bytes,
            code_base,
            zeroed: &zeroed,
            bank_base: BANK_BASE + self.launches % BANKS * BANK,
        };
        self.launches += 1;
        let carve_out = checked.occupancy.carve_out;
        self.units.iter_mut().flatten().for_each(|u| u.memory.begin_launch(carve_out));
        let before = self.memory_counters();
        let cold = std::mem::take(&mut self.cold);
        self.l2.count_launch(&spec.launch, if cold { spec.launch.read_bytes } else { 0 });
        if cold {
            self.l2.leave_dirty(OTHERS_BASE, u64::from(spec.launch.dirty_bytes));
        }
        let mut run = Run::new(self, &context, checked, limits);
        let result = run.run_to_end();
        let end = run.last;
        let mut counters = run.finish();
        let (start, tail) = (self.now, u64::from(spec.launch.tail));
        let mut memory = self.memory_counters().since(&before);
        let (own, unit) = (&spec.launch, &memory.unit);
        let besides =
            own.l2_hits_stored * unit.store_sectors as f64 + own.l2_hits_loaded * unit.sectors_received as f64;
        memory.l2.lookup_hits += (besides as u64).min(u64::from(own.l2_hits_most));
        let wrote = memory.unit.store_requests + memory.unit.atomic_requests > 0;
        self.now = end + tail + if wrote { u64::from(spec.launch.fence) } else { 0 };
        if let Err(error) = result {
            self.flush();
            return Err(error);
        }
        counters.memory = memory;
        complete(&spec, &mut counters, self.now - start);
        Ok(counters)
    }

    fn memory_counters(&self) -> MemoryCounters {
        let mut counters = MemoryCounters::default();
        self.units.iter().flatten().for_each(|u| counters.unit.combine(u.memory.counters()));
        counters.l2 = self.l2.counters().clone();
        counters.dram = self.l2.dram_counters();
        counters
    }
}

/// One launch under way.
struct Run<'a, const W: usize> {
    engine: &'a mut Engine,
    context: &'a Context<'a, W>,
    limits: &'a Limits<'a>,
    units: Vec<Option<Box<ComputeUnit<W>>>>,
    /// When something happens in each unit next: looked at in every window, so it lies close together.
    next: Vec<u64>,
    /// Units that run in the window at hand.
    running: Vec<u32>,
    /// Units with stores that the others do not see yet.
    stored: Vec<u32>,
    dispatcher: Dispatcher,
    carve_out: u32,
    tally: Tally<W>,
    log: AtomicLog,
    requests: Vec<L2Request>,
    responses: Vec<L2Response>,
    epoch: u64,
    window: u64,
    /// Epoch that the stores in the logs belong to.
    current: u64,
    /// Latest cycle in which anything happened.
    last: u64,
    head: u64,
    /// Between the dispatcher and a compute unit.
    latency: u64,
}

impl<'a, const W: usize> Run<'a, W> {
    fn new(
        engine: &'a mut Engine,
        context: &'a Context<'a, W>,
        checked: &Checked,
        limits: &'a Limits<'a>,
    ) -> Run<'a, W> {
        let spec = context.spec;
        let head = u64::from(spec.launch.head);
        let epoch = engine.epoch();
        let groups = context.grid.count();
        let (room, warps) = (checked.occupancy.groups, checked.occupancy.warps_per_group);
        let start = engine.now + head;
        // A window is a part of an epoch: epochs' ends are always cuts.
        let window = if limits.window == 0 { epoch } else { limits.window.min(epoch) };
        Run {
            dispatcher: Dispatcher::new(&spec.launch, groups, warps, spec.chip.compute_units, room, start),
            units: (0..spec.chip.compute_units).map(|_| None).collect(),
            next: vec![u64::MAX; spec.chip.compute_units as usize],
            running: Vec::new(),
            stored: Vec::new(),
            carve_out: checked.occupancy.carve_out,
            tally: Tally::new(&spec.memory, context.code.program()),
            log: AtomicLog::default(),
            requests: Vec::new(),
            responses: Vec::new(),
            epoch,
            window,
            current: start / epoch,
            last: start,
            head,
            latency: u64::from(spec.launch.group_latency),
            engine,
            context,
            limits,
        }
    }

    fn run_to_end(&mut self) -> Result<(), LaunchError> {
        loop {
            if self.dispatcher.is_done() && self.units.iter().flatten().all(|u| u.is_idle()) {
                self.last = self.last.max(self.dispatcher.last_end());
                // What the L2 still writes back belongs to the launch up to the end of its last epoch, however time was
                // cut and whichever units ran ahead.
                self.exchange((self.last / self.epoch + 1) * self.epoch);
                return Ok(());
            }
            let Some(next) = self.next_event() else { return Err(self.deadlock()) };
            // Windows are counted from the epoch's start; the last one of an epoch may be shorter. Everything before
            // the window is over, so the L2 and the dispatcher can go on up to it.
            let epoch = next / self.epoch;
            let epoch_start = epoch * self.epoch;
            let start = epoch_start + (next - epoch_start) / self.window * self.window;
            if epoch != self.current {
                self.exchange(epoch_start);
                self.publish();
                self.current = epoch;
            }
            if start > epoch_start {
                self.exchange(start);
            }
            self.window((start + self.window).min(epoch_start + self.epoch))?;
            self.check_limits()?;
        }
    }

    /// When anything happens in a compute unit next.
    fn next_event(&self) -> Option<u64> {
        let units = self.next.iter().copied().min().unwrap_or(u64::MAX);
        let next = units.min(self.dispatcher.next_at_units()).min(self.engine.l2.next_response());
        (next != u64::MAX).then_some(next)
    }

    /// Every compute unit runs up to `until` at least; then what they sent is handed on.
    fn window(&mut self, until: u64) -> Result<(), LaunchError> {
        let after_request = self.engine.l2.longest_window();
        self.running.clear();
        self.running.extend((0..).zip(&self.next).filter(|(_, next)| **next < until).map(|(unit, _)| unit));
        for turn in 0..self.running.len() {
            self.prefetch(turn, until);
            let number = self.running[turn] as usize;
            let Some(unit) = &mut self.units[number] else { continue };
            let (mut groups, after_end) = self.dispatcher.quiet(number, until);
            if self.limits.window != 0 {
                groups = until;
            }
            unit.run(Reins { until, groups, after_end, after_request }, self.context, &mut self.tally)?;
            self.next[number] = unit.next_event();
            self.requests.append(unit.requests());
            for end in unit.ended.drain(..) {
                self.last = self.last.max(end);
                self.dispatcher.ended(end, number as u32);
            }
            self.last = self.last.max(unit.last_event());
            if unit.has_stored() {
                self.stored.push(number as u32);
            }
        }
        self.exchange(until);
        Ok(())
    }

    /// Lets the host bring near what the units whose turns come next will touch, a step of the way for each: all units
    /// together are larger than its caches.
    fn prefetch(&mut self, turn: usize, until: u64) {
        for (ahead, stage) in Stage::IN_ORDER {
            let first = if turn == 0 { 0 } else { ahead };
            for number in self.running.get(turn + first..=turn + ahead).into_iter().flatten() {
                if let Some(unit) = &mut self.units[*number as usize] {
                    unit.prefetch(stage, until, self.context);
                }
            }
        }
    }

    /// All that left compute units before `at` is known: the L2 and the dispatcher do what follows from it.
    fn exchange(&mut self, at: u64) {
        let Run { dispatcher, units, next, engine, context, carve_out, .. } = self;
        engine.l2.advance(at, &mut self.requests, &mut self.responses, &mut self.log);
        for response in self.responses.drain(..) {
            let number = response.unit as usize;
            if let Some(unit) = &mut units[number] {
                next[number] = next[number].min(response.at);
                unit.deliver(response);
            }
        }
        dispatcher.run(at + self.latency, |number, at, group| {
            let unit = units[number as usize].get_or_insert_with(|| {
                let state = engine.units[number as usize].take();
                let state = state.unwrap_or_else(|| fresh_unit(context.spec, number, *carve_out));
                Box::new(ComputeUnit::new(number, state, context))
            });
            next[number as usize] = next[number as usize].min(at);
            unit.announce(at, group);
        });
    }

    /// The epoch is over: its stores reach memory, then its atomics take effect.
    fn publish(&mut self) {
        self.stored.sort_unstable();
        self.stored.dedup();
        for number in self.stored.drain(..) {
            if let Some(unit) = &mut self.units[number as usize] {
                unit.publish();
            }
        }
        for (unit, token, lanes) in self.log.0.drain(..) {
            if let Some(unit) = &mut self.units[unit as usize] {
                unit.perform(self.context.view, token, lanes);
            }
        }
    }

    fn check_limits(&self) -> Result<(), LaunchError> {
        let kernel = || self.context.code.program().name.clone();
        if self.limits.interrupt.load(Relaxed) {
            return Err(LaunchError::Interrupted(kernel()));
        }
        if self.tally.instructions > self.limits.instructions {
            let place = self.some_place();
            return Err(LaunchError::Limit { kernel: kernel(), limit: self.limits.instructions, place });
        }
        Ok(())
    }

    /// Where a warp that has not ended is.
    fn some_place(&self) -> Box<crate::Place> {
        let program = self.context.code.program();
        let mut stuck = self.units.iter().flatten().flat_map(|u| u.stuck());
        stuck.next().map_or_else(Default::default, |(slot, group)| {
            diagnosis::place(program, self.context.grid, &group.group, &slot.warp, slot.warp.pc, None)
        })
    }

    fn deadlock(&self) -> LaunchError {
        let waiting = self.units.iter().flatten().flat_map(|u| u.stuck()).count();
        LaunchError::Deadlock {
            kernel: self.context.code.program().name.clone(),
            why: format!("{waiting} sub-groups wait and nothing is under way that could wake them"),
            place: self.some_place(),
        }
    }

    /// Publishes what is left and counts.
    fn finish(mut self) -> LaunchCounters {
        // After an error, also those of the unit in which it happened.
        self.stored.extend(0..self.units.len() as u32);
        self.publish();
        let mut counters = LaunchCounters { work: std::mem::take(&mut self.tally.work), ..Default::default() };
        for (op, (times, lanes)) in self.context.code.program().ops.iter().zip(&self.tally.executed) {
            count_operation(&mut counters.work, op.class, *times, *lanes);
        }
        let time = &mut counters.time;
        time.head_cycles = self.head;
        let mut active_sum = 0;
        for (state, unit) in self.engine.units.iter_mut().zip(self.units) {
            let Some(mut unit) = unit else { continue };
            let active = unit.finish();
            active_sum += active;
            time.cycles_active_max = time.cycles_active_max.max(active);
            for sub in unit.sub_cores() {
                time.schedulers.combine(&sub.cycles);
                time.warps.combine(&sub.warp_cycles);
            }
            let mut kept = unit.into_state();
            counters.fetch.combine(&std::mem::take(&mut kept.frontend.counters));
            *state = Some(kept);
        }
        time.cycles_active_avg = active_sum as f64 / f64::from(self.context.spec.chip.compute_units);
        time.active_unit_cycles = active_sum;
        counters
    }
}

fn fresh_unit(spec: &MachineSpec, number: u32, carve_out: u32) -> UnitState {
    let mut memory = CuMemory::new(&spec.memory, &spec.chip, number as u16);
    memory.begin_launch(carve_out);
    UnitState { memory, frontend: Frontend::new(&spec.frontend, spec.compute_unit.sub_cores) }
}

/// Fills in what follows from the other counters.
fn complete(spec: &MachineSpec, counters: &mut LaunchCounters, elapsed: u64) {
    let instructions = counters.work.warp_instructions as f64;
    let time: &mut TimeCounters = &mut counters.time;
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    time.cycles_elapsed = elapsed;
    time.tail_cycles = u64::from(spec.launch.tail);
    time.nanoseconds = elapsed as f64 * 1000.0 / spec.chip.core_mhz;
    time.warp_cycles = time.warps.total() - time.warps[Cause::NoWarp];
    let active = time.active_unit_cycles as f64;
    time.ipc_active = ratio(instructions, active);
    time.ipc_elapsed = ratio(instructions, elapsed as f64);
    time.warps_active = ratio(time.warp_cycles as f64, active);
    time.occupancy_achieved = time.warps_active / f64::from(spec.compute_unit.max_warps);
}
