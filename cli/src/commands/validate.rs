//! `warpscope validate`: a suite compared with measured hardware.
use crate::arguments::{MachineArguments, SuiteArguments};
use crate::failure::Failure;
use crate::output::{note, print, write_file};
use crate::run::{Show, folder, machines, run};
use clap::Args;
use std::path::{Path, PathBuf};
use warpscope_reports::compare::{Baseline, Comparison, Reference};
use warpscope_reports::{Check, read_entries};
use warpscope_sim::Mode;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArguments,
    /// Measured values: CSV with a column `case` (docs/reference.md).
    #[arg(long, value_name = "FILE")]
    reference: PathBuf,
    #[command(flatten)]
    machine: MachineArguments,
    /// List every case; otherwise kernels, with the mean over their cases.
    #[arg(long)]
    cases: bool,
    /// Compare the records of an earlier run in this folder instead of running.
    #[arg(long, value_name = "FOLDER")]
    records: Option<PathBuf>,
    /// Run the cases of this file, and fail where their mean errors are worse than it says.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the errors to the baseline file instead.
    #[arg(long, requires = "baseline")]
    bless: bool,
    /// Results folder: records.jsonl, comparison.csv, .txt, .md and .html, scatter.svg and .png.
    #[arg(long, value_name = "FOLDER", env = "WARPSCOPE_OUT", default_value = "warpscope-validation")]
    out: PathBuf,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let reference = Reference::read(&arguments.reference).map_err(Failure::usage)?;
    let baseline = arguments.baseline.as_deref().map(|path| read_baseline(path).map(|b| (path, b))).transpose()?;
    let mut suite = arguments.suite.clone();
    if let Some((_, baseline)) = &baseline {
        suite.filter.extend(baseline.cases.iter().cloned());
    }
    let (manifest, cases) = suite.cases()?;
    let machine = arguments.machine.load()?;
    let label = machine.label();
    let mut failed = Ok(());
    let entries = match &arguments.records {
        Some(records) => {
            let mut entries = read_entries(records).map_err(Failure::usage)?;
            entries.retain(|e| cases.iter().any(|c| c.name == e.case) && e.configuration == label);
            entries
        }
        None => {
            let options = suite.options(Mode::Timing);
            let mut results = folder(&arguments.out)?;
            let machines = machines(std::slice::from_ref(&machine));
            let outcome = run(&manifest.name, &cases, &machines, &options, Show::Progress, Some(&mut results))?;
            failed = crate::run::verdict(&outcome, Some(&arguments.out));
            outcome.entries
        }
    };
    let comparison = Comparison::new(&entries, &reference);
    if comparison.rows.is_empty() {
        return Err(Failure::Usage(format!(
            "no case of {} on {label} is in {}: nothing to compare",
            manifest.path.display(),
            arguments.reference.display()
        )));
    }
    let text = comparison.text(arguments.cases);
    print(&text)?;
    write(arguments, &label, &comparison, &text)?;
    note(&format!("results are in {}", arguments.out.display()));
    failed?;
    match entries.iter().filter(|e| matches!(e.check, Check::Failed(_))).count() {
        0 => {}
        n => return Err(Failure::Failed(format!("{n} launches failed"))),
    }
    baseline.map_or(Ok(()), |(path, baseline)| hold(path, &baseline, &comparison, arguments.bless))
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
    Baseline::parse(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

/// Compares with the baseline, or writes it.
fn hold(path: &Path, baseline: &Baseline, comparison: &Comparison, bless: bool) -> Result<(), Failure> {
    if bless {
        return write_file(path, baseline.blessed(comparison).text().as_bytes());
    }
    match baseline.worse(comparison) {
        worse if worse.is_empty() => Ok(()),
        worse => Err(Failure::Failed(format!(
            "worse than {} allows (--bless accepts it):\n  {}",
            path.display(),
            worse.join("\n  ")
        ))),
    }
}

fn write(arguments: &Arguments, label: &str, comparison: &Comparison, text: &str) -> Result<(), Failure> {
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    let title = format!("Simulated ({label}) and measured ({})", arguments.reference.display());
    for (name, content) in [
        ("comparison.csv", comparison.csv().into_bytes()),
        ("comparison.txt", text.as_bytes().to_vec()),
        ("comparison.md", comparison.markdown(&title).into_bytes()),
        ("comparison.html", comparison.page(&title).into_bytes()),
        ("scatter.svg", comparison.plot(0).into_bytes()),
        ("scatter.png", comparison.plot_png(0).map_err(Failure::Failed)?),
    ] {
        write_file(&folder.join(name), &content)?;
    }
    Ok(())
}
