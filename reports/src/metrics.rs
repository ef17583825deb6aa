//! The columns of tables and CSV files: each with key, heading, unit, definition and how it follows from a record.
use crate::Entry;
use crate::render::Point;
use warpscope_sim::{LaunchRecord, Mode};

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A number, shown with so many digits behind the point.
    Number(f64, usize),
    /// A share of 1, shown in percent.
    Share(f64),
    /// Nothing to show.
    Missing,
}

impl Value {
    /// For people.
    pub fn show(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number(value, digits) => format!("{value:.digits$}"),
            Value::Share(share) => format!("{:.1}%", share * 100.0),
            Value::Missing => "-".into(),
        }
    }

    /// For programs: full precision, shares as fractions, nothing where there is nothing.
    pub fn plain(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number(value, _) | Value::Share(value) => value.to_string(),
            Value::Missing => String::new(),
        }
    }

    /// Whether it is to be aligned as a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Number(..) | Value::Share(_))
    }
}

/// A column.
pub struct Column {
    /// Name in CSV files.
    pub key: &'static str,
    /// Heading in tables.
    pub heading: &'static str,
    /// Unit in CSV files and legends; empty for names and ratios.
    pub unit: &'static str,
    /// Definition.
    pub doc: &'static str,
    /// The value.
    pub value: fn(&Entry) -> Value,
}

/// All columns of the summary table, in order.
pub const COLUMNS: &[Column] = &[
    Column {
        key: "case",
        heading: "case",
        unit: "",
        doc: "Name of the case in its suite, or of the kernel.",
        value: |e| Value::Text(if e.launch > 0 { format!("{}#{}", e.case, e.launch) } else { e.case.clone() }),
    },
    Column {
        key: "work",
        heading: "work size",
        unit: "work-items",
        doc: "Work-items in each dimension, and work-items of a work-group behind the slash.",
        value: |e| e.record.as_ref().map_or(Value::Missing, |r| Value::Text(work_size(r))),
    },
    Column {
        key: "cycles",
        heading: "cycles",
        unit: "cycles",
        doc: "Core cycles from the start of the launch to its end, launch head and tail included.",
        value: |e| timed(e, |r| Value::Number(r.counters.time.cycles_elapsed as f64, 0)),
    },
    Column {
        key: "time_us",
        heading: "time us",
        unit: "us",
        doc: "Simulated duration of the launch.",
        value: |e| timed(e, |r| Value::Number(r.counters.time.nanoseconds * 1e-3, 2)),
    },
    Column {
        key: "warp_instructions",
        heading: "warp inst",
        unit: "instructions",
        doc: "Warp instructions executed.",
        value: |e| number(e, |r| Value::Number(r.counters.work.warp_instructions as f64, 0)),
    },
    Column {
        key: "ipc",
        heading: "IPC",
        unit: "instructions/cycle",
        doc: "Warp instructions per compute unit and cycle in which a compute unit has a resident warp.",
        value: |e| timed(e, |r| Value::Number(r.counters.time.ipc_active, 2)),
    },
    Column {
        key: "occupancy_achieved",
        heading: "occ.",
        unit: "",
        doc: "Achieved occupancy: resident warps as a share of the warp slots, averaged over active cycles.",
        value: |e| timed(e, |r| Value::Share(r.counters.time.occupancy_achieved)),
    },
    Column {
        key: "occupancy_theoretical",
        heading: "of",
        unit: "",
        doc: "Theoretical occupancy: the most warps that fit, as a share of the warp slots.",
        value: |e| number(e, |r| Value::Share(r.occupancy.ratio())),
    },
    Column {
        key: "limiter",
        heading: "limited by",
        unit: "",
        doc: "The scarcest resource: what keeps more work-groups from being resident.",
        value: |e| number(e, |r| Value::Text(r.limiter().name().to_string())),
    },
    Column {
        key: "top_stall",
        heading: "top stall",
        unit: "",
        doc: "What resident warps waited for most, with its share of their time.",
        value: |e| {
            timed(e, |r| {
                let top = r.top_stall();
                top.map_or(Value::Missing, |(c, share)| Value::Text(format!("{} {:.0}%", c.key(), share * 100.0)))
            })
        },
    },
    Column {
        key: "l1_hit",
        heading: "L1 hit",
        unit: "",
        doc: "Share of the sectors of global loads whose data were in the L1.",
        value: |e| timed(e, |r| l1_hit(r).map_or(Value::Missing, Value::Share)),
    },
    Column {
        key: "l2_hit",
        heading: "L2 hit",
        unit: "",
        doc: "Share of the sectors read from or written to the L2 that it held.",
        value: |e| timed(e, |r| l2_hit(r).map_or(Value::Missing, Value::Share)),
    },
    Column {
        key: "dram_gb_s",
        heading: "DRAM GB/s",
        unit: "GB/s",
        doc: "Bytes moved between L2 and DRAM over the duration of the launch.",
        value: |e| timed(e, |r| dram_bandwidth(r).map_or(Value::Missing, |b| Value::Number(b, 1))),
    },
    Column {
        key: "dram_of_peak",
        heading: "of peak",
        unit: "",
        doc: "DRAM bandwidth as a share of what the DRAM could deliver at best.",
        value: |e| timed(e, |r| of_peak(e, r).map_or(Value::Missing, Value::Share)),
    },
    Column {
        key: "check",
        heading: "check",
        unit: "",
        doc: "Whether the results were right.",
        value: |e| Value::Text(e.check.word().to_string()),
    },
];

fn number(entry: &Entry, value: impl Fn(&LaunchRecord) -> Value) -> Value {
    entry.record.as_ref().map_or(Value::Missing, value)
}

/// As [`number`], for what only exists where time was simulated.
fn timed(entry: &Entry, value: impl Fn(&LaunchRecord) -> Value) -> Value {
    entry.record.as_ref().filter(|r| r.mode == Mode::Timing).map_or(Value::Missing, value)
}

/// DRAM bandwidth as a share of the peak.
pub(crate) fn of_peak(entry: &Entry, record: &LaunchRecord) -> Option<f64> {
    dram_bandwidth(record).filter(|_| entry.peaks.dram > 0.0).map(|b| b / entry.peaks.dram)
}

/// `1024x1024/16x16`.
pub fn work_size(record: &LaunchRecord) -> String {
    let shape = &record.geometry;
    let dims = shape.work_dim as usize;
    let join = |sizes: Vec<String>| sizes.into_iter().take(dims).collect::<Vec<_>>().join("x");
    let global = join(shape.global.iter().map(u64::to_string).collect());
    let local = join(shape.local.iter().map(u32::to_string).collect());
    format!("{global}/{local}")
}

/// A share, where there is something to take it of.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|s| s * 100.0)
}

/// Share of the sectors of global loads whose data were in the L1 or on their way to it.
pub(crate) fn l1_hit(record: &LaunchRecord) -> Option<f64> {
    let unit = &record.counters.memory.unit;
    share(unit.load_sector_hits + unit.load_sector_merges, unit.load_sectors)
}

/// Share of the sectors looked up in the L2 that were there.
pub(crate) fn l2_hit(record: &LaunchRecord) -> Option<f64> {
    let l2 = &record.counters.memory.l2;
    share(l2.lookup_hits, l2.lookup_hits + l2.lookup_misses)
}

/// Bytes moved between L2 and DRAM.
pub(crate) fn dram_bytes(record: &LaunchRecord) -> u64 {
    let dram = &record.counters.memory.dram;
    dram.read_bytes + dram.write_bytes
}

/// DRAM bandwidth in bytes a nanosecond (GB/s) over the whole launch.
pub(crate) fn dram_bandwidth(record: &LaunchRecord) -> Option<f64> {
    let time = record.counters.time.nanoseconds;
    (time > 0.0).then(|| dram_bytes(record) as f64 / time)
}

/// Sectors that global loads ask of the L1.
pub(crate) fn load_sectors(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.unit.load_sectors as f64)
}

/// Sectors that global stores write.
pub(crate) fn store_sectors(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.unit.store_sectors as f64)
}

/// [`l1_hit`] in percent.
pub(crate) fn l1_hit_percent(record: &LaunchRecord) -> Option<f64> {
    percent(l1_hit(record))
}

/// [`l2_hit`] in percent.
pub(crate) fn l2_hit_percent(record: &LaunchRecord) -> Option<f64> {
    percent(l2_hit(record))
}

/// Sectors read from the L2.
pub(crate) fn l2_read_sectors(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.l2.read_sectors as f64)
}

/// Sectors written to the L2.
pub(crate) fn l2_write_sectors(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.l2.write_sectors as f64)
}

/// Bytes read from the DRAM.
pub(crate) fn dram_read_bytes(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.dram.read_bytes as f64)
}

/// Bytes written to the DRAM.
pub(crate) fn dram_write_bytes(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.dram.write_bytes as f64)
}

/// Extra passes through local memory because of bank conflicts.
pub(crate) fn local_conflicts(record: &LaunchRecord) -> Option<f64> {
    Some(record.counters.memory.unit.local_conflicts as f64)
}

/// Intensity and rate of a launch for the roofline; none without DRAM traffic.
pub(crate) fn roofline_point(entry: &Entry) -> Option<Point> {
    let record = entry.record.as_ref().filter(|r| r.mode == Mode::Timing)?;
    let instructions = record.counters.work.warp_instructions as f64;
    let bytes = dram_bytes(record) as f64;
    let time = record.counters.time.nanoseconds;
    (bytes > 0.0 && time > 0.0).then(|| Point {
        x: instructions / bytes,
        y: instructions / time,
        name: entry.case.clone(),
    })
}
