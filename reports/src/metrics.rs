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

/// `1024x1024 /16x16`.
pub fn work_size(record: &LaunchRecord) -> String {
    let shape = &record.geometry;
    let dims = shape.work_dim as usize;
    let join = |sizes: Vec<String>| sizes.into_iter().take(dims).collect::<Vec<_>>().join("x");
    let global = join(shape.global.iter().map(u64::to_string).collect());
    let local = join(shape.local.iter().map(u32::to_string).collect());
    format!("{global}/{local}")
}

macro_rules! memory_metrics {
    ($( $(#[$doc:meta])+ $name:ident; )*) => { $( $(#[$doc])+ pub(crate) fn $name(_: &LaunchRecord) -> Option<f64> { None } )* };
}
memory_metrics! {
    /// Sectors that global loads ask of the L1.
    load_sectors;
    /// Sectors that global stores write.
    store_sectors;
    /// Sectors of global loads that hit in the L1, in percent.
    l1_hit_percent;
    /// Sectors that hit in the L2, in percent.
    l2_hit_percent;
    /// Sectors read from the L2.
    l2_read_sectors;
    /// Sectors written to the L2.
    l2_write_sectors;
    /// Bytes read from the DRAM.
    dram_read_bytes;
    /// Bytes written to the DRAM.
    dram_write_bytes;
    /// Extra passes through local memory because of bank conflicts.
    local_conflicts;
}

/// Intensity and rate of a launch for the roofline; none without DRAM traffic.
pub(crate) fn roofline_point(entry: &Entry) -> Option<Point> {
    let record = entry.record.as_ref().filter(|r| r.mode == Mode::Timing)?;
    let instructions = record.counters.work.warp_instructions as f64;
    let bytes = dram_read_bytes(record)? + dram_write_bytes(record)?;
    let time = record.counters.time.nanoseconds;
    (bytes > 0.0 && time > 0.0).then(|| Point {
        x: instructions / bytes,
        y: instructions / time,
        name: entry.case.clone(),
    })
}
