//! One host thread's work-groups.
use super::Job;
use super::memory::DirectMemory;
use crate::grid::{empty_group, items};
use crate::{LaunchError, WorkCounters, diagnosis};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use warpscope_exec::exec::{Effect, Group, Scratch, Warp, step};
use warpscope_exec::ops::OpClass;

/// A warp runs this many instructions before another one of its group has a turn: a warp that spins until another one
/// has done something must not keep it from doing so.
const TURN: u64 = 1 << 16;

/// Where a warp stands.
#[derive(Copy, Clone, PartialEq, Eq)]
enum State {
    Running,
    AtBarrier,
    Ended,
}

pub(super) struct Runner<'a, const W: usize> {
    job: &'a Job<'a, W>,
    memory: DirectMemory<'a>,
    group: Group,
    warps: Vec<Warp<W>>,
    scratch: Scratch<W>,
    states: Vec<State>,
    /// For each operation: times executed, and lanes that took part.
    executed: Vec<(u64, u64)>,
    counters: WorkCounters,
    instructions: &'a AtomicU64,
}

impl<'a, const W: usize> Runner<'a, W> {
    pub fn new(job: &'a Job<'a, W>, instructions: &'a AtomicU64) -> Runner<'a, W> {
        let operations = job.code.program().ops.len();
        Runner {
            job,
            memory: DirectMemory::new(job.view, operations),
            group: empty_group(job.local_bytes, job.reserved),
            warps: Vec::new(),
            scratch: Scratch::new(job.code.program()),
            states: Vec::new(),
            executed: vec![(0, 0); operations],
            counters: WorkCounters::default(),
            instructions,
        }
    }

    /// Runs work-group number `index` to its end.
    pub fn run_group(&mut self, index: u64) -> Result<(), LaunchError> {
        let program = self.job.code.program();
        let count = self.job.grid.begin(&mut self.group, index, W as u32) as usize;
        while self.warps.len() < count {
            self.warps.push(Warp::new(program));
        }
        for (number, warp) in self.warps[..count].iter_mut().enumerate() {
            warp.reset(number as u32, self.group.size);
        }
        self.states.clear();
        self.states.resize(count, State::Running);
        self.counters.groups += 1;
        self.counters.warps += count as u64;
        self.counters.work_items += u64::from(items(self.group.size));
        loop {
            for number in 0..count {
                if self.states[number] == State::Running {
                    self.states[number] = self.take_turn(number)?;
                }
            }
            if self.states.contains(&State::Running) {
                continue;
            }
            // All have arrived or ended; an ended warp counts as arrived.
            let mut waiting = self.states.iter_mut().filter(|s| **s == State::AtBarrier).peekable();
            if waiting.peek().is_none() {
                return Ok(());
            }
            waiting.for_each(|s| *s = State::Running);
        }
    }

    fn take_turn(&mut self, number: usize) -> Result<State, LaunchError> {
        let (job, warp) = (self.job, &mut self.warps[number]);
        let mut steps = 0;
        let mut end = State::Running;
        while steps < TURN {
            let (pc, active) = (warp.pc, warp.active);
            match self.executed.get_mut(pc as usize) {
                Some((times, lanes)) => {
                    *times += 1;
                    *lanes += u64::from(active.count_ones());
                }
                None => return Err(diagnosis::ran_off(job.code.program(), &job.grid, &self.group, warp)),
            }
            steps += 1;
            match step(&job.code, warp, &mut self.group, &mut self.memory, &mut self.scratch) {
                Ok(Effect::Next | Effect::Access | Effect::Fence) => {}
                Ok(Effect::Jumped) => self.counters.divergent_branches += u64::from(diverged(active, warp)),
                Ok(Effect::Barrier) => {
                    end = State::AtBarrier;
                    break;
                }
                Ok(Effect::Exit) => {
                    end = State::Ended;
                    break;
                }
                Err(fault) => {
                    return Err(diagnosis::fault(job.code.program(), &job.grid, &self.group, warp, pc, fault));
                }
            }
        }
        let total = self.instructions.fetch_add(steps, Relaxed) + steps;
        let kernel = || job.code.program().name.clone();
        if job.interrupt.load(Relaxed) {
            return Err(LaunchError::Interrupted(kernel()));
        }
        // Ended warps count too: many short work-groups also make a launch too long.
        if total > job.instruction_limit {
            let place = diagnosis::place(job.code.program(), &job.grid, &self.group, warp, warp.pc, None);
            return Err(LaunchError::Limit { kernel: kernel(), limit: job.instruction_limit, place });
        }
        Ok(end)
    }

    /// The counts of everything run so far.
    pub fn finish(mut self) -> WorkCounters {
        for (op, (times, lanes)) in self.job.code.program().ops.iter().zip(&self.executed) {
            count_operation(&mut self.counters, op.class, *times, *lanes);
        }
        self.counters
    }
}

/// Whether a branch of a warp with these active lanes has split them: some of them wait now.
fn diverged<const W: usize>(before: u64, warp: &Warp<W>) -> bool {
    warp.active != before && warp.active & !before == 0
}

/// Adds the executions of one operation.
pub(crate) fn count_operation(counters: &mut WorkCounters, class: OpClass, times: u64, lanes: u64) {
    counters.warp_instructions += times;
    counters.thread_instructions += lanes;
    counters.classes[class] += times;
    match class {
        OpClass::Branch => counters.branches += times,
        OpClass::Barrier => counters.barrier_arrivals += times,
        _ => {}
    }
}
