//! `warpscope suite`: every case of a manifest on one or more machines, checked.
use crate::arguments::{MachinesArguments, ModeArgument, SuiteArguments};
use crate::failure::Failure;
use crate::output::{note, print};
use crate::run::{Outcome, Show, folder, run, verdict};
use clap::Args;
use std::path::PathBuf;
use warpscope_reports::render::{csv, suite_page, summary};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArguments,
    #[command(flatten)]
    machines: MachinesArguments,
    #[command(flatten)]
    mode: ModeArgument,
    /// Results folder: records.jsonl, launches.csv, report.html, report.txt.
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
    write(&results, &manifest.name, &outcome)?;
    note(&format!("results are in {}", arguments.out.display()));
    verdict(&outcome, Some(&arguments.out))
}

fn write(folder: &warpscope_reports::Folder, name: &str, outcome: &Outcome) -> Result<(), Failure> {
    let entries = &outcome.entries;
    folder.write("launches.csv", &csv(entries)).map_err(Failure::failed)?;
    folder.write("report.txt", &summary(entries)).map_err(Failure::failed)?;
    folder.write("report.html", &suite_page(&format!("Suite {name}"), entries)).map_err(Failure::failed)
}
