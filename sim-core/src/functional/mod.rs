//! Functional mode: results and counts, no time. Work-groups run in parallel on the host's cores, except those of
//! order-sensitive programs, which run one after the other in dispatch order.
mod memory;
mod runner;

use crate::grid::Grid;
use crate::{LaunchError, WorkCounters};
use runner::Runner;
pub(crate) use runner::count_operation;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use warpscope_exec::exec::Code;
use warpscope_memory::device_memory::View;

/// What all work-groups of a launch share.
pub(crate) struct Job<'a, const W: usize> {
    pub code: Code<'a, W>,
    pub grid: Grid,
    pub view: &'a View,
    /// Local memory of a group, and the offset at which its addresses start.
    pub local_bytes: u32,
    pub reserved: u32,
    pub instruction_limit: u64,
    pub interrupt: &'a AtomicBool,
    pub threads: usize,
}

/// Work shared by the host threads of one launch.
struct Shared {
    next_group: AtomicU64,
    instructions: AtomicU64,
    /// The lowest group that failed, and how.
    failed: Mutex<Option<(u64, LaunchError)>>,
    /// Groups from here on need not run.
    end: AtomicU64,
}

/// Runs all work-groups. Of several failing groups the lowest one is reported.
pub(crate) fn run<const W: usize>(job: &Job<'_, W>) -> Result<WorkCounters, LaunchError> {
    let shared = Shared {
        next_group: AtomicU64::new(0),
        instructions: AtomicU64::new(0),
        failed: Mutex::new(None),
        end: AtomicU64::new(job.grid.count()),
    };
    let threads = if job.code.program().order_sensitive { 1 } else { threads(job) };
    let mut counters = WorkCounters::default();
    if threads <= 1 {
        counters = work(job, &shared);
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(job, &shared))).collect();
            for worker in workers {
                match worker.join() {
                    Ok(part) => warpscope_configs::Counters::combine(&mut counters, &part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    match shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(counters),
    }
}

/// The host's cores. Asking takes a dozen system calls, which is more than a small launch costs.
fn host_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn threads<const W: usize>(job: &Job<'_, W>) -> usize {
    let host = if job.threads == 0 { host_cores() } else { job.threads };
    host.min(job.grid.count().min(1 << 16) as usize)
}

/// One host thread: takes groups in order until none is left.
fn work<const W: usize>(job: &Job<'_, W>, shared: &Shared) -> WorkCounters {
    let mut runner = Runner::new(job, &shared.instructions);
    loop {
        let group = shared.next_group.fetch_add(1, Relaxed);
        if group >= shared.end.load(Relaxed) {
            break;
        }
        if let Err(error) = runner.run_group(group) {
            shared.end.fetch_min(group, Relaxed);
            let mut failed = shared.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(first, _)| group < *first) {
                *failed = Some((group, error));
            }
        }
    }
    runner.finish()
}
