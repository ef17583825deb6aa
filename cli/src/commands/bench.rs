//! `warpscope bench`: how fast the simulator itself is, on one core of this computer.
use crate::arguments::{MachineArguments, ModeName};
use crate::failure::Failure;
use crate::output::{note, print};
use crate::run::{machines, stop_on_interrupt};
use clap::Args;
use std::path::PathBuf;
use warpscope_reports::render::{Align, table};
use warpscope_sim::Mode;
use warpscope_workloads::bench::{self, Speed};
use warpscope_workloads::manifest::Manifest;

#[derive(Args)]
pub struct Arguments {
    /// A suite whose cases are measured, instead of the benchmark's own.
    #[arg(value_name = "SUITE.toml")]
    suite: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArguments,
    /// Only this mode; otherwise both.
    #[arg(long, value_enum)]
    mode: Option<ModeName>,
    /// Runs of each case; the fastest counts.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repetitions: u32,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine.load()?;
    let machine = machines(std::slice::from_ref(&machine)).remove(0);
    let manifest = match &arguments.suite {
        Some(path) => Manifest::read(path),
        None => bench::manifest(),
    };
    let manifest = manifest.map_err(Failure::usage)?;
    let modes: Vec<Mode> = match arguments.mode {
        Some(mode) => vec![mode.into()],
        None => vec![Mode::Functional, Mode::Timing],
    };
    let stop = stop_on_interrupt()?;
    let mut speeds: Vec<Speed> = Vec::new();
    let ran = bench::bench(&manifest, &machine, &modes, arguments.repetitions, &stop, |speed| {
        note(&format!("{} ({}): {:.3} s", speed.case, name(speed.mode), speed.seconds));
        speeds.push(speed);
    });
    ran.map_err(Failure::Failed)?;
    print(&text(&machine.name, &speeds))?;
    if stop.requested() {
        return Err(Failure::Interrupted("interrupted; the table holds what was finished".into()));
    }
    let failures: Vec<String> =
        speeds.iter().filter_map(|s| s.failure.as_ref().map(|why| format!("{}: {why}", s.case))).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Failed(failures.join("\n"))) }
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Functional => "functional",
        Mode::Timing => "timing",
    }
}

fn text(machine: &str, speeds: &[Speed]) -> String {
    let millions = |rate: f64| format!("{:.2}", rate * 1e-6);
    let row = |s: &Speed| {
        let sectors = if s.sectors > 0 { millions(s.sector_rate()) } else { "-".into() };
        vec![
            s.case.clone(),
            name(s.mode).into(),
            s.warp_instructions.to_string(),
            format!("{:.3}", s.seconds),
            millions(s.instruction_rate()),
            sectors,
        ]
    };
    let headings = ["case", "mode", "warp inst", "seconds", "M warp inst/s", "M sectors/s"];
    let mut align = [Align::Right; 6];
    align[..2].fill(Align::Left);
    let mut out = format!("Speed of the simulator on one core, machine {machine}\n\n");
    out += &table(&headings, &align, &speeds.iter().map(row).collect::<Vec<_>>());
    if let Some(bytes) = bench::peak_memory() {
        out += &format!("\npeak memory {:.0} MiB\n", bytes as f64 / 1_048_576.0);
    }
    out
}
