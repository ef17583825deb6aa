//! `warpscope report`: tables, plots and pages from the records of earlier runs.
use crate::failure::Failure;
use crate::output::{note, print, write_file};
use clap::Args;
use std::path::{Path, PathBuf};
use warpscope_reports::compare::RunsComparison;
use warpscope_reports::render::{csv, occupancy_plot, rooflines, stall_stacks, suite_page, summary};
use warpscope_reports::{Entry, read_entries};

#[derive(Args)]
pub struct Arguments {
    /// Results folders or records files; several are put together.
    #[arg(required = true, value_name = "FOLDER")]
    records: Vec<PathBuf>,
    /// Write launches.csv, report.txt, report.html and the plots to this folder; otherwise only the table is printed.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Compare runs case by case: the first folder's machine with every other machine and folder. With --out the
    /// comparison is also written as compare.txt and compare.csv.
    #[arg(long)]
    compare: bool,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.compare {
        return compare(arguments);
    }
    let mut entries = Vec::new();
    for path in &arguments.records {
        entries.extend(read_entries(path).map_err(Failure::usage)?);
    }
    print(&summary(&entries))?;
    if let Some(out) = &arguments.out {
        let names: Vec<String> = arguments.records.iter().map(|p| p.display().to_string()).collect();
        write(out, &names.join(", "), &entries)?;
        note(&format!("results are in {}", out.display()));
    }
    Ok(())
}

fn compare(arguments: &Arguments) -> Result<(), Failure> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_entries(path).map_err(Failure::usage)?));
    let folders = arguments.records.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let comparison = RunsComparison::new(&folders).map_err(Failure::Usage)?;
    let text = comparison.text();
    print(&text)?;
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).map_err(|e| Failure::Usage(format!("{}: {e}", out.display())))?;
        write_file(&out.join("compare.txt"), text.as_bytes())?;
        write_file(&out.join("compare.csv"), comparison.csv().as_bytes())?;
        note(&format!("results are in {}", out.display()));
    }
    Ok(())
}

/// Writes every view of `entries` to `folder`.
pub fn write(folder: &Path, title: &str, entries: &[Entry]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::Usage(format!("{}: {e}", folder.display())))?;
    let mut files = vec![
        ("launches.csv".to_string(), csv(entries)),
        ("report.txt".to_string(), summary(entries)),
        ("report.html".to_string(), suite_page(title, entries)),
        ("stalls.svg".to_string(), stall_stacks(entries)),
        ("occupancy.svg".to_string(), occupancy_plot(entries)),
    ];
    for (i, (_, plot)) in rooflines(entries).into_iter().enumerate() {
        let number = if i == 0 { String::new() } else { format!("-{}", i + 1) };
        files.push((format!("roofline{number}.svg"), plot));
    }
    files.iter().try_for_each(|(name, text)| write_file(&folder.join(name), text.as_bytes()))
}
