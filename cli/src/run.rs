//! Running cases: the machines, the progress shown meanwhile, the results folder, Ctrl-C.
use crate::failure::Failure;
use crate::output::{note, print_bytes};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;
use warpscope_configs::Config;
use warpscope_reports::{Check, ENTRY_FORMAT, Entry, Folder, Peaks};
use warpscope_workloads::manifest::Case;
use warpscope_workloads::suite::{self, CaseResult, NamedMachine, Stop, SuiteOptions};

/// What a run gave.
pub struct Outcome {
    /// Every launch that was finished, in the order of the cases.
    pub entries: Vec<Entry>,
    /// The results behind them.
    pub results: Vec<CaseResult>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// Machines as the suite runner takes them.
pub fn machines(configs: &[Config]) -> Vec<NamedMachine> {
    configs.iter().map(|c| NamedMachine { name: c.label(), spec: Arc::new(c.spec.clone()) }).collect()
}

/// Runs `cases` on all machines; finished launches go to `folder` at once.
pub fn run(
    suite_name: &str,
    cases: &[Case],
    machines: &[NamedMachine],
    options: &SuiteOptions,
    show: Show,
    mut folder: Option<&mut Folder>,
) -> Result<Outcome, Failure> {
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(cases.len() * machines.len() - options.skip.len(), show);
    let mut outcome = Outcome { entries: Vec::new(), results: Vec::new(), interrupted: false };
    let ran = suite::run(cases, machines, options, &stop, |result| {
        let machine = &machines[result.machine];
        let entries = entries(suite_name, &result, machine);
        for entry in &entries {
            if let Some(folder) = &mut folder {
                folder.append(entry).map_err(|e| e.to_string())?;
            }
        }
        if let Some(folder) = &mut folder {
            folder.finished(&result.case.name, &machine.name).map_err(|e| e.to_string())?;
        }
        progress.printed(&result.printed)?;
        progress.finished(&result, &machine.name);
        outcome.entries.extend(entries);
        outcome.results.push(result);
        Ok(())
    });
    progress.done();
    outcome.interrupted = stop.requested() && ran.is_ok();
    ran.map_err(Failure::Failed)?;
    Ok(outcome)
}

/// What went wrong; an output that nothing is known about is no failure.
fn failure(result: &CaseResult) -> Option<String> {
    if result.unchecked() { None } else { result.failure() }
}

/// The entries of a result: one a launch, or one that says why there is none.
fn entries(suite: &str, result: &CaseResult, machine: &NamedMachine) -> Vec<Entry> {
    let check = match failure(result) {
        Some(why) => Check::Failed(why),
        None if result.unchecked() => Check::None,
        None => Check::Passed,
    };
    let case = &result.case;
    let entry = |launch: usize, record| Entry {
        format: ENTRY_FORMAT,
        suite: suite.to_string(),
        case: case.name.clone(),
        group: case.group.clone(),
        class: case.class.clone(),
        size: case.size.clone(),
        configuration: machine.name.clone(),
        launch: launch as u32,
        check: check.clone(),
        peaks: Peaks::of(&machine.spec),
        record,
    };
    match result.records.as_slice() {
        [] => vec![entry(0, None)],
        records => records.iter().cloned().enumerate().map(|(i, r)| entry(i, Some(r))).collect(),
    }
}

/// A stop that Ctrl-C (or SIGTERM) requests; asked a second time the program ends at once.
pub fn stop_on_interrupt() -> Result<Arc<Stop>, Failure> {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let stop = Arc::new(Stop::default());
    let shared = stop.clone();
    ctrlc::set_handler(move || {
        if ASKED.swap(true, SeqCst) {
            std::process::exit(i32::from(crate::failure::INTERRUPTED));
        }
        note("interrupted: finishing what is being written; once more ends at once");
        shared.request();
    })
    .map_err(|e| Failure::Failed(format!("interrupts cannot be caught: {e}")))?;
    Ok(stop)
}

/// What is shown while cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A bar on a terminal, a line a case elsewhere.
    Progress,
    /// Nothing.
    Nothing,
}

struct Progress {
    show: Show,
    bar: Option<ProgressBar>,
    total: usize,
    count: std::cell::Cell<usize>,
}

impl Progress {
    fn new(total: usize, show: Show) -> Progress {
        let bar = (show == Show::Progress && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(total as u64);
            // The template is a constant that is known to be well formed.
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Progress { show, bar, total, count: std::cell::Cell::new(0) }
    }

    fn finished(&self, result: &CaseResult, machine: &str) {
        self.count.set(self.count.get() + 1);
        let failure = failure(result);
        let line = match &failure {
            Some(why) => format!("{} on {machine}: FAILED: {why}", result.case.name),
            None => format!("{} on {machine}: done in {:.2} s", result.case.name, result.seconds),
        };
        match &self.bar {
            Some(bar) => {
                bar.inc(1);
                match failure {
                    Some(_) => bar.println(line),
                    None => bar.set_message(result.case.name.clone()),
                }
            }
            None if self.show == Show::Nothing => {}
            None => note(&format!("{}/{} {line}", self.count.get(), self.total)),
        }
    }

    /// Shows what kernels printed, on standard output.
    fn printed(&self, text: &[u8]) -> Result<(), String> {
        let show = || match print_bytes(text) {
            Ok(()) | Err(Failure::OutputClosed) => Ok(()),
            Err(Failure::Failed(why)) => Err(why),
            Err(other) => Err(format!("{other:?}")),
        };
        match &self.bar {
            _ if text.is_empty() => Ok(()),
            Some(bar) => bar.suspend(show),
            None => show(),
        }
    }

    fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Opens the results folder.
pub fn folder(path: &Path) -> Result<Folder, Failure> {
    Folder::create(path).map_err(Failure::usage)
}

/// Names what failed; an interrupt counts more.
pub fn verdict(outcome: &Outcome, kept: Option<&Path>) -> Result<(), Failure> {
    if outcome.interrupted {
        let place = kept.map_or(String::new(), |p| format!(" and kept in {}", p.display()));
        return Err(Failure::Interrupted(format!("interrupted; {} cases were finished{place}", outcome.results.len())));
    }
    let failed: Vec<String> =
        outcome.results.iter().filter(|r| failure(r).is_some()).map(|r| r.case.name.clone()).collect();
    match failed.len() {
        0 => Ok(()),
        n => Err(Failure::Failed(format!("{n} of {} cases failed: {}", outcome.results.len(), failed.join(", ")))),
    }
}
