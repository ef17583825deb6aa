//! `warpscope suite`: every case of a manifest on one or more machines, checked.
use crate::arguments::{MachinesArguments, ModeArgument, SuiteArguments};
use crate::commands::report;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::resume;
use crate::run::{Show, machines, run, verdict};
use clap::Args;
use std::path::PathBuf;
use warpscope_configs::Config;
use warpscope_reports::Folder;
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
    /// Keep what an earlier run in the results folder finished, and run the rest. A case whose files, machine or
    /// program have changed since is run again, as is one that failed.
    #[arg(long)]
    resume: bool,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let (manifest, cases) = arguments.suite.cases()?;
    let configs = arguments.machines.load()?;
    distinct(&configs)?;
    let mut options = arguments.suite.options(arguments.mode.mode.into());
    let fingerprints = resume::fingerprints(&cases, &configs, &options)?;
    let (mut results, mut entries) =
        Folder::open(&arguments.out, fingerprints, arguments.resume).map_err(Failure::usage)?;
    options.skip = resume::finished(&entries, &cases, &configs);
    if arguments.resume {
        let (kept, all) = (options.skip.len(), cases.len() * configs.len());
        note(&format!("{kept} of {all} cases are finished in {}", arguments.out.display()));
    }
    let outcome = run(&manifest.name, &cases, &machines(&configs), &options, Show::Progress, Some(&mut results))?;
    let resumed = !entries.is_empty();
    entries.extend(outcome.entries.iter().cloned());
    if resumed {
        resume::sort(&mut entries, &cases, &configs);
        results.rewrite(&entries).map_err(Failure::failed)?;
    }
    print(&summary(&entries))?;
    report::write(&arguments.out, &format!("Suite {}", manifest.name), &entries)?;
    note(&format!("results are in {}", arguments.out.display()));
    if outcome.interrupted {
        note("the same command with --resume goes on from here");
    }
    verdict(&outcome, Some(&arguments.out))
}

/// Two machines of one name would be one in every table.
fn distinct(configs: &[Config]) -> Result<(), Failure> {
    let labels: Vec<String> = configs.iter().map(Config::label).collect();
    match (1..labels.len()).find(|i| labels[..*i].contains(&labels[*i])) {
        Some(i) => Err(Failure::Usage(format!(
            "two machines are called `{}` ({}): give them files of different names, or name one once",
            labels[i], configs[i].source
        ))),
        None => Ok(()),
    }
}
