//! The report on a program: the commands that it gave to the device, as the OpenCL library logged them.
mod page;

pub use page::program_page;

use crate::render::{Align, table};
use crate::{Check, ENTRY_FORMAT, Entry, Peaks, sections};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use warpscope_configs::MachineSpec;
use warpscope_sim::{LaunchRecord, Mode};

/// Launches that are shown in full.
const IN_FULL: usize = 3;
/// Characters of the timeline.
const TIMELINE: usize = 72;

/// One line of the log: a command that has ended. Times are picoseconds of virtual time.
#[derive(Clone, Debug, Deserialize)]
pub struct CommandLine {
    /// Version of the format.
    pub version: u32,
    /// Number of the context within its process.
    #[serde(default)]
    pub context: u32,
    /// Number in the context's order of arrival.
    pub sequence: u64,
    /// Command type, as the API calls it.
    pub command: String,
    /// When execution began.
    #[serde(default)]
    pub start_ps: u64,
    /// When it ended.
    #[serde(default)]
    pub end_ps: u64,
    /// Bytes moved.
    #[serde(default)]
    pub bytes: u64,
    /// What a kernel launch did.
    #[serde(default)]
    pub launch: Option<LaunchRecord>,
    /// Why the command failed.
    #[serde(default)]
    pub error: Option<String>,
}

impl CommandLine {
    fn microseconds(&self) -> f64 {
        self.end_ps.saturating_sub(self.start_ps) as f64 / 1e6
    }
}

/// The commands of one process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Process id, from the log's name.
    pub id: String,
    /// Commands in the order in which they ended.
    pub commands: Vec<CommandLine>,
}

/// Reads the logs in a directory. The last line of a process that was killed may be cut short; it is left out.
pub fn read_processes(directory: &Path) -> std::io::Result<Vec<Process>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let id = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_none_or(|e| e != "jsonl") || id.parse::<u32>().is_err() {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let commands = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        out.push(Process { id, commands });
    }
    out.sort_by_key(|p| p.id.parse::<u32>().unwrap_or(0));
    Ok(out)
}

/// The report.
pub fn program_report(processes: &[Process], configuration: &str, spec: &MachineSpec) -> String {
    let all: Vec<&CommandLine> = processes.iter().flat_map(|p| &p.commands).collect();
    if all.is_empty() {
        return "warpscope: the program gave the device no commands\n".into();
    }
    let mut out = format!("warpscope: {}\n\n", summary_line(processes, configuration, spec));
    for (headings, rows) in [kernel_rows(&all), transfer_rows(&all)] {
        if !rows.is_empty() {
            let mut align = vec![Align::Right; headings.len()];
            align[0] = Align::Left;
            out += &(table(headings, &align, &rows) + "\n");
        }
    }
    for process in processes {
        out += &timeline(process);
    }
    out += &largest(&all, configuration, spec);
    for command in all.iter().filter(|c| c.error.is_some()) {
        let why = command.error.as_deref().unwrap_or("");
        out += &format!("FAILED: command {} ({}): {why}\n", command.sequence, command.command);
    }
    out
}

/// What ran where, and for how long.
fn summary_line(processes: &[Process], configuration: &str, spec: &MachineSpec) -> String {
    let all = || processes.iter().flat_map(|p| &p.commands);
    let end = all().map(|c| c.end_ps).max().unwrap_or(0);
    let mut out = format!(
        "{} commands on {} ({configuration}), {} of simulated time",
        all().count(),
        spec.chip.name,
        time(end as f64 / 1e6)
    );
    if processes.len() > 1 {
        out += &format!(", {} processes", processes.len());
    }
    let untimed = all().filter(|c| c.launch.as_ref().is_some_and(|r| r.mode == Mode::Functional)).count();
    if untimed > 0 {
        out += &format!("; {untimed} launches ran functionally, their times are nominal");
    }
    out
}

fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.2} us"),
        us if us < 1e6 => format!("{:.3} ms", us / 1e3),
        us => format!("{:.3} s", us / 1e6),
    }
}

/// Headings and rows of a table.
type Rows = (&'static [&'static str], Vec<Vec<String>>);

/// Kernels by name: the one with most time first.
fn kernel_rows(all: &[&CommandLine]) -> Rows {
    #[derive(Default)]
    struct Sum {
        launches: u64,
        total: f64,
        least: f64,
        most: f64,
        instructions: u64,
    }
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for (command, record) in all.iter().filter_map(|c| Some((c, c.launch.as_ref()?))) {
        let us = command.microseconds();
        let sum = sums.entry(&record.kernel).or_insert(Sum { least: f64::MAX, ..Sum::default() });
        sum.launches += 1;
        sum.total += us;
        sum.least = sum.least.min(us);
        sum.most = sum.most.max(us);
        sum.instructions += record.counters.work.warp_instructions;
    }
    let whole: f64 = sums.values().map(|s| s.total).sum();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total.total_cmp(&a.1.total).then(a.0.cmp(b.0)));
    let row = |(name, s): &(&str, Sum)| {
        vec![
            name.to_string(),
            s.launches.to_string(),
            format!("{:.2}", s.total),
            if whole > 0.0 { format!("{:.1}", s.total / whole * 100.0) } else { "-".into() },
            format!("{:.2}", s.total / s.launches as f64),
            format!("{:.2}", s.least),
            format!("{:.2}", s.most),
            s.instructions.to_string(),
        ]
    };
    let rows: Vec<_> = sums.iter().map(row).collect();
    (&["kernel", "launches", "total us", "%", "mean us", "least us", "most us", "warp instructions"], rows)
}

/// Commands that move bytes, by type.
fn transfer_rows(all: &[&CommandLine]) -> Rows {
    let mut sums: BTreeMap<&str, (u64, u64, f64)> = BTreeMap::new();
    for command in all.iter().filter(|c| c.launch.is_none() && c.error.is_none()) {
        let sum = sums.entry(&command.command).or_default();
        sum.0 += 1;
        sum.1 += command.bytes;
        sum.2 += command.microseconds();
    }
    let row = |(name, (count, bytes, us)): (&&str, &(u64, u64, f64))| {
        let rate = if *us > 0.0 && *bytes > 0 { format!("{:.2}", *bytes as f64 / us / 1e3) } else { "-".into() };
        vec![
            name.trim_start_matches("CL_COMMAND_").to_lowercase(),
            count.to_string(),
            bytes.to_string(),
            format!("{us:.2}"),
            rate,
        ]
    };
    let rows: Vec<_> = sums.iter().map(row).collect();
    (&["other command", "count", "bytes", "total us", "GB/s"], rows)
}

/// When kernels ran and bytes moved, in characters: how full each slice of time was, in tenths.
fn timeline(process: &Process) -> String {
    let end = process.commands.iter().map(|c| c.end_ps).max().unwrap_or(0);
    if end == 0 {
        return String::new();
    }
    let bar = |kernel: bool| {
        let mut filled = [0.0f64; TIMELINE];
        let slice = end as f64 / TIMELINE as f64;
        for c in process.commands.iter().filter(|c| c.launch.is_some() == kernel && c.end_ps > c.start_ps) {
            let (from, to) = (c.start_ps as f64 / slice, c.end_ps as f64 / slice);
            for (i, cell) in filled.iter_mut().enumerate() {
                *cell += (to.min(i as f64 + 1.0) - from.max(i as f64)).max(0.0);
            }
        }
        filled
            .iter()
            .map(|f| match (f * 10.0).ceil() as u32 {
                0 => '.',
                n @ 1..=9 => char::from_digit(n, 10).unwrap_or('#'),
                _ => '#',
            })
            .collect::<String>()
    };
    format!(
        "timeline of process {}, {} a character (., 1-9 tenths, # full)\n  kernels    {}\n  transfers  {}\n\n",
        process.id,
        time(end as f64 / 1e6 / TIMELINE as f64),
        bar(true),
        bar(false)
    )
}

/// The longest launch of each of the kernels with the longest launches, in full.
fn largest(all: &[&CommandLine], configuration: &str, spec: &MachineSpec) -> String {
    let entries = largest_entries(all, configuration, spec);
    entries.iter().map(|(title, entry)| format!("{title}\n{}", sections::text(entry))).collect()
}

/// The longest launch of each of the kernels with the longest launches, with titles.
fn largest_entries(all: &[&CommandLine], configuration: &str, spec: &MachineSpec) -> Vec<(String, Entry)> {
    let mut longest: BTreeMap<&str, &CommandLine> = BTreeMap::new();
    let weight = |c: &CommandLine| {
        let work = c.launch.as_ref().map_or(0, |r| r.counters.work.warp_instructions);
        (c.end_ps.saturating_sub(c.start_ps), work)
    };
    for (command, record) in all.iter().filter_map(|c| Some((*c, c.launch.as_ref()?))) {
        let best = longest.entry(&record.kernel).or_insert(command);
        if weight(command) > weight(best) {
            *best = command;
        }
    }
    let mut chosen: Vec<_> = longest.into_iter().collect();
    chosen.sort_by(|a, b| weight(b.1).cmp(&weight(a.1)).then(a.0.cmp(b.0)));
    let title = |kernel: &str, c: &CommandLine| format!("longest launch of {kernel} (command {})", c.sequence);
    let chosen = chosen.into_iter().take(IN_FULL);
    chosen.map(|(kernel, c)| (title(kernel, c), entry(kernel, c, configuration, spec))).collect()
}

fn entry(kernel: &str, command: &CommandLine, configuration: &str, spec: &MachineSpec) -> Entry {
    Entry {
        format: ENTRY_FORMAT,
        suite: String::new(),
        case: kernel.to_string(),
        group: String::new(),
        class: String::new(),
        size: String::new(),
        configuration: configuration.to_string(),
        launch: 0,
        check: Check::None,
        peaks: Peaks::of(spec),
        record: command.launch.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let whole = r#"{"version":1,"sequence":0,"command":"CL_COMMAND_READ_BUFFER","queued_ps":0,"submit_ps":0,"start_ps":5000000,"end_ps":7000000,"bytes":4000}"#;
        std::fs::write(directory.path().join("12.jsonl"), format!("{whole}\n{}", &whole[..40])).unwrap();
        std::fs::write(directory.path().join("entries.jsonl"), whole).unwrap();
        let processes = read_processes(directory.path()).unwrap();
        assert_eq!(processes.len(), 1);
        assert_eq!((processes[0].id.as_str(), processes[0].commands.len()), ("12", 1));
        // 4000 bytes in 2 us: 2 GB/s.
        let (_, rows) = transfer_rows(&processes[0].commands.iter().collect::<Vec<_>>());
        assert_eq!(rows, [["read_buffer", "1", "4000", "2.00", "2.00"]]);
    }
}
