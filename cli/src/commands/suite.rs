//! `warpscope suite`: every case of a manifest on one or more machines, checked.
use crate::arguments::{MachinesArguments, ModeArgument, SuiteArguments};
use crate::commands::report;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::run::{Show, folder, run, verdict};
use clap::Args;
use std::path::PathBuf;
use warpscope_reports::render::summary;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArguments,
    #[command(flatten)]
    machines: MachinesArguments,
    #[command(flatten)]
    mode: ModeArgument,
    /// Results folder: records.jsonl, launches.csv, report.html, report.txt and plots.
    #[arg(long, value_name = "FOLDER", env = "WARPSCOPE_OUT", default_value = "warpscope-results")]
    out: PathBuf,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let (manifest, cases) = arguments.suite.cases()?;
    let machines = arguments.machines.load()?;
    let options = arguments.suite.options(arguments.mode.mode.into());
    let mut results = folder(&arguments.out)?;
    let outcome = run(&manifest.name, &cases, &machines, &options, Show::Progress, Some(&mut results))?;
    print(&summary(&outcome.entries))?;
    report::write(&arguments.out, &format!("Suite {}", manifest.name), &outcome.entries)?;
    note(&format!("results are in {}", arguments.out.display()));
    verdict(&outcome, Some(&arguments.out))
}
