//! Simulation speed: warp instructions and sectors that one core of the host simulates in a second.
use crate::manifest::{Manifest, ManifestError};
use crate::suite::{CaseResult, NamedMachine, Stop, SuiteOptions, run};
use std::path::Path;
use warpscope_sim::{LaunchRecord, Mode};

/// Speed of one case in one mode.
#[derive(Clone, Debug)]
pub struct Speed {
    /// Case.
    pub case: String,
    /// Mode.
    pub mode: Mode,
    /// Warp instructions executed.
    pub warp_instructions: u64,
    /// Sectors that loads and stores touched; 0 in functional mode.
    pub sectors: u64,
    /// Seconds of processor time of the simulating thread: the fastest of the repetitions.
    pub seconds: f64,
    /// Why the case failed, if it did.
    pub failure: Option<String>,
}

impl Speed {
    /// Warp instructions a second.
    pub fn instruction_rate(&self) -> f64 {
        self.warp_instructions as f64 / self.seconds
    }

    /// Sectors a second.
    pub fn sector_rate(&self) -> f64 {
        self.sectors as f64 / self.seconds
    }
}

/// The manifest of the benchmark.
pub fn manifest() -> Result<Manifest, ManifestError> {
    Manifest::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("bench.toml"))
}

/// Runs every case of `manifest` `repetitions` times in each mode, on one thread, and passes on its best speed.
pub fn bench(
    manifest: &Manifest,
    machine: &NamedMachine,
    modes: &[Mode],
    repetitions: u32,
    stop: &Stop,
    mut done: impl FnMut(Speed),
) -> Result<(), String> {
    for case in &manifest.cases {
        for &mode in modes {
            let options = SuiteOptions { mode, jobs: 1, threads: 1, ..SuiteOptions::default() };
            let mut best: Option<CaseResult> = None;
            for _ in 0..repetitions.max(1) {
                run(std::slice::from_ref(case), std::slice::from_ref(machine), &options, stop, |result| {
                    if best.as_ref().is_none_or(|b| result.processor_seconds < b.processor_seconds) {
                        best = Some(result);
                    }
                    Ok(())
                })?;
            }
            let Some(result) = best else { return Ok(()) };
            done(Speed {
                case: case.name.clone(),
                mode,
                warp_instructions: result.records.iter().map(|r| r.counters.work.warp_instructions).sum(),
                sectors: result.records.iter().map(sectors).sum(),
                seconds: result.processor_seconds,
                failure: result.failure(),
            });
        }
    }
    Ok(())
}

/// Sectors of global and private loads and stores.
fn sectors(record: &LaunchRecord) -> u64 {
    let touched = |path: &str| path.ends_with("load_sectors") || path.ends_with("store_sectors");
    record.counters().into_iter().filter(|(info, _)| touched(&info.path)).map(|(_, value)| value as u64).sum()
}

/// The most memory that this process has used so far, in bytes; `None` where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_known_on_linux() {
        assert!(!cfg!(target_os = "linux") || peak_memory().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn the_manifest_is_there() {
        assert!(manifest().unwrap().cases.len() >= 8);
    }
}
