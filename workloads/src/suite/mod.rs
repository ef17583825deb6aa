//! The suite runner: every case of a manifest on every machine, in parallel, reported in a fixed order.
mod case;
mod programs;
mod stop;

pub use programs::Programs;
pub use stop::Stop;

use crate::check::{Check, complaint, unchecked};
use crate::data::digest::Recorded;
use crate::manifest::{Case, Manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use warpscope_configs::MachineSpec;
use warpscope_sim::{LaunchRecord, Mode};

/// A machine under the name by which reports call it.
#[derive(Clone, Debug)]
pub struct NamedMachine {
    /// Name: preset or path, with overrides.
    pub name: String,
    /// The machine.
    pub spec: Arc<MachineSpec>,
}

/// How a suite is run.
#[derive(Clone, Debug)]
pub struct SuiteOptions {
    /// Functional or timing.
    pub mode: Mode,
    /// Cases that run at the same time; 0: as many as the host has cores.
    pub jobs: usize,
    /// Host threads of one functional launch; 0: the host's cores shared among the jobs.
    pub threads: usize,
    /// Cycles of the engine's window; 0: as long as it can be. It never changes a result.
    pub window: u64,
    /// Compile sources even where a compiled module is there.
    pub from_source: bool,
    /// Run only cases whose name, group, class or size is one of these, or whose name matches with `*`; empty: all.
    pub only: Vec<String>,
    /// Recorded outputs for cases whose manifest names none.
    pub digests: Option<PathBuf>,
    /// Warp instructions after which a launch is stopped as a runaway; 0: the machine's default.
    pub instruction_limit: u64,
    /// Keep the contents of the buffers after the last launch.
    pub keep_outputs: bool,
    /// Pairs of (machine, case), by index, that are not run: they were finished before.
    pub skip: BTreeSet<(usize, usize)>,
}

impl Default for SuiteOptions {
    fn default() -> Self {
        SuiteOptions {
            mode: Mode::Timing,
            jobs: 0,
            threads: 0,
            window: 0,
            from_source: false,
            only: Vec::new(),
            digests: None,
            instruction_limit: 0,
            keep_outputs: false,
            skip: BTreeSet::new(),
        }
    }
}

/// What became of one case on one machine.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// Index of the machine in the list that was given.
    pub machine: usize,
    /// One record a launch.
    pub records: Vec<LaunchRecord>,
    /// One check an output.
    pub checks: Vec<Check>,
    /// FNV-1a of each output buffer's bytes, by argument index.
    pub digests: Vec<(usize, u64)>,
    /// Contents of the buffers after the last launch, by argument index, where they are kept.
    pub outputs: Vec<(usize, Vec<u8>)>,
    /// What its kernels printed (`printf`).
    pub printed: Vec<u8>,
    /// Why the case did not run to its end.
    pub error: Option<String>,
    /// Whether it was interrupted from outside: neither passed nor failed.
    pub interrupted: bool,
    /// Seconds that the simulation itself took on the host.
    pub seconds: f64,
    /// Processor time of the case's own thread in them: what other programs on the host take does not count. Helper
    /// threads (functional mode) are not in it.
    pub processor_seconds: f64,
}

impl CaseResult {
    /// Whether it ran and every output is right.
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(|c| c.passed)
    }

    /// What went wrong, in a sentence; `None` if nothing did.
    pub fn failure(&self) -> Option<String> {
        if let Some(error) = &self.error {
            return Some(error.clone());
        }
        complaint(&self.checks)
    }

    /// Whether it ran, but some output had nothing to be compared with and no other failed.
    pub fn unchecked(&self) -> bool {
        self.error.is_none() && unchecked(&self.checks)
    }
}

/// The cases of `manifest` that `only` chooses.
pub fn choose(manifest: &Manifest, only: &[String]) -> Result<Vec<Case>, String> {
    let matches = |case: &Case, pattern: &String| {
        wildcard(pattern, &case.name)
            || [&case.group, &case.class, &case.size].into_iter().any(|field| field == pattern)
    };
    if let Some(pattern) = only.iter().find(|p| !manifest.cases.iter().any(|c| matches(c, p))) {
        return Err(format!("`{pattern}` matches no case, group, class or size of suite `{}`", manifest.name));
    }
    let chosen = |case: &&Case| only.is_empty() || only.iter().any(|p| matches(case, p));
    Ok(manifest.cases.iter().filter(chosen).cloned().collect())
}

/// Whether `name` is `pattern`, in which `*` stands for any text. The parts between the stars are found from left to
/// right, each as early as it can be, so that the time is at most the product of the lengths.
fn wildcard(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_prefix(head).and_then(|name| name.strip_suffix(tail)) else { return false };
    middle.split('*').all(|part| match name.find(part) {
        Some(at) => {
            name = &name[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Everything that workers share.
struct Shared<'a> {
    machines: &'a [NamedMachine],
    options: &'a SuiteOptions,
    programs: Programs,
    recorded: BTreeMap<PathBuf, Arc<Recorded>>,
    stop: &'a Stop,
    threads: usize,
}

/// Runs `cases` on `machines`, machine by machine.
///
/// `done` receives each result in that order, whatever `jobs` is, from the calling thread; an error from it stops the
/// run. The error returned is `done`'s, or a sentence about recorded outputs that cannot be read.
pub fn run(
    cases: &[Case],
    machines: &[NamedMachine],
    options: &SuiteOptions,
    stop: &Stop,
    mut done: impl FnMut(CaseResult) -> Result<(), String>,
) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let all = (0..machines.len()).flat_map(|machine| (0..cases.len()).map(move |case| (machine, case)));
    let todo: Vec<(usize, usize)> = all.filter(|pair| !options.skip.contains(pair)).collect();
    let jobs = if options.jobs == 0 { cores } else { options.jobs }.min(todo.len().max(1));
    let shared = Shared {
        machines,
        options,
        programs: Programs::new(options.from_source),
        recorded: read_recorded(cases, options)?,
        stop,
        threads: if options.threads == 0 { (cores / jobs).max(1) } else { options.threads },
    };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel::<(usize, CaseResult)>();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, shared, next, todo) = (sender.clone(), &shared, &next, &todo);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Relaxed);
                    let Some((machine, case)) = todo.get(index).filter(|_| !shared.stop.requested()) else { return };
                    let result = case::run(shared, &cases[*case], *machine);
                    if sender.send((index, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut following = 0;
        let mut outcome = Ok(());
        loop {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok((index, result)) => {
                    waiting.insert(index, result);
                }
                Err(RecvTimeoutError::Timeout) => stop.repeat(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(result) = waiting.remove(&following) {
                following += 1;
                if outcome.is_ok() && !result.interrupted {
                    outcome = done(result);
                    if outcome.is_err() {
                        stop.request();
                    }
                }
            }
        }
        outcome
    })
}

fn read_recorded(cases: &[Case], options: &SuiteOptions) -> Result<BTreeMap<PathBuf, Arc<Recorded>>, String> {
    let mut recorded = BTreeMap::new();
    for path in cases.iter().filter_map(|c| c.digests.as_ref()).chain(&options.digests) {
        if !recorded.contains_key(path) {
            recorded.insert(path.clone(), Arc::new(Recorded::read(path)?));
        }
    }
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn wildcards() {
        for (pattern, name, expected) in [
            ("vecadd", "vecadd", true),
            ("vecadd", "vecadd_s", false),
            ("vec*", "vecadd_s", true),
            ("*_s", "vecadd_s", true),
            ("*add*", "vecadd_s", true),
            ("v*d*l", "vecadd_s", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
            ("*ab*ab*", "abab", true),
            ("*ab*ab*", "aab", false),
        ] {
            assert_eq!(wildcard(pattern, name), expected, "{pattern} {name}");
        }
    }
}
