//! `warpscope validate`: a suite compared with measured hardware.
use crate::arguments::{MachineArguments, SuiteArguments};
use crate::failure::Failure;
use crate::output::{note, print};
use crate::run::{Show, folder, run};
use clap::Args;
use std::path::PathBuf;
use warpscope_reports::compare::{Comparison, Reference};
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
    /// Results folder: records.jsonl, comparison.csv, comparison.txt, comparison.html, scatter.svg.
    #[arg(long, value_name = "FOLDER", env = "WARPSCOPE_OUT", default_value = "warpscope-validation")]
    out: PathBuf,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let reference = Reference::read(&arguments.reference).map_err(Failure::usage)?;
    let (manifest, cases) = arguments.suite.cases()?;
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
            let options = arguments.suite.options(Mode::Timing);
            let mut results = folder(&arguments.out)?;
            let outcome = run(
                &manifest.name,
                &cases,
                std::slice::from_ref(&machine),
                &options,
                Show::Progress,
                Some(&mut results),
            )?;
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
    write(arguments, &comparison, &text)?;
    note(&format!("results are in {}", arguments.out.display()));
    failed?;
    match entries.iter().filter(|e| matches!(e.check, Check::Failed(_))).count() {
        0 => Ok(()),
        n => Err(Failure::Failed(format!("{n} launches failed"))),
    }
}

fn write(arguments: &Arguments, comparison: &Comparison, text: &str) -> Result<(), Failure> {
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    let title = format!("Simulated and measured: {}", arguments.reference.display());
    for (name, content) in [
        ("comparison.csv", comparison.csv()),
        ("comparison.txt", text.to_string()),
        ("comparison.html", comparison.page(&title)),
        ("scatter.svg", comparison.plot(0)),
    ] {
        crate::output::write_file(&folder.join(name), content.as_bytes())?;
    }
    Ok(())
}
