//! One line of a results file: a launch's record, the case it belongs to and how its check went.
use serde::{Deserialize, Serialize};
use warpscope_configs::MachineSpec;
use warpscope_sim::LaunchRecord;

/// Version of [`Entry`]'s format; changes when a field changes its meaning or goes.
pub const ENTRY_FORMAT: u32 = 1;

/// How the check of a case's results went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// All outputs are right.
    Passed,
    /// Nothing to compare with.
    None,
    /// Some output is wrong, or the launch was refused or stopped: the sentence says why.
    Failed(String),
}

impl Check {
    /// Word for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Check::Passed => "passed",
            Check::None => "-",
            Check::Failed(_) => "FAILED",
        }
    }
}

/// What the machine could do at best, so that a record can be read without its configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Compute units.
    pub compute_units: u32,
    /// Instructions that a compute unit can issue each cycle.
    pub issue: u32,
    /// Core clock in MHz.
    pub core_mhz: f64,
    /// DRAM bandwidth in bytes a nanosecond (GB/s).
    pub dram: f64,
    /// Bytes of a sector.
    pub sector: u32,
}

impl Peaks {
    /// Of a machine.
    pub fn of(spec: &MachineSpec) -> Peaks {
        Peaks {
            compute_units: spec.chip.compute_units,
            issue: spec.compute_unit.sub_cores * spec.compute_unit.issue_width,
            core_mhz: spec.chip.core_mhz,
            dram: f64::from(spec.memory.dram.bus_bits) / 8.0 * 2.0 * spec.chip.dram_mhz * 1e-3,
            sector: spec.memory.sector,
        }
    }

    /// Warp instructions a nanosecond that the whole machine can issue.
    pub fn issue_rate(&self) -> f64 {
        f64::from(self.compute_units) * f64::from(self.issue) * self.core_mhz * 1e-3
    }
}

/// One launch of one case on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`ENTRY_FORMAT`].
    pub format: u32,
    /// Suite's name; empty for a single kernel.
    pub suite: String,
    /// Case's name.
    pub case: String,
    /// Case's group.
    pub group: String,
    /// What the case is bound by, as its manifest says.
    pub class: String,
    /// Name of the size.
    pub size: String,
    /// Machine and overrides, as asked for.
    pub configuration: String,
    /// Number of the launch within the case, from 0.
    pub launch: u32,
    /// The check of the case's results (after its last launch).
    pub check: Check,
    /// What the machine could do at best.
    pub peaks: Peaks,
    /// The record; absent where the launch was refused or stopped.
    pub record: Option<LaunchRecord>,
}
