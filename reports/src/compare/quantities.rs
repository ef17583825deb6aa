//! What is compared: for each quantity the reference's column and how it follows from a record.
use crate::metrics;
use warpscope_sim::LaunchRecord;

/// How a difference is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In percent of the measured value.
    Relative,
    /// In points: the values are percentages themselves.
    Points,
}

/// A quantity.
pub struct Quantity {
    /// Column of the reference.
    pub column: &'static str,
    /// Heading in tables.
    pub heading: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Definition.
    pub doc: &'static str,
    /// How a difference is expressed.
    pub kind: Kind,
    /// Measured values below this are not compared: overheads of the measurement hide them.
    pub floor: f64,
    /// The simulated value.
    pub simulated: fn(&LaunchRecord) -> Option<f64>,
}

macro_rules! quantities {
    ($( $column:literal $heading:literal [$unit:literal] $kind:ident above $floor:literal: $doc:literal => $value:expr; )*) => {
        /// All quantities, in the order of the tables.
        pub const QUANTITIES: &[Quantity] = &[$( Quantity {
            column: $column, heading: $heading, unit: $unit, doc: $doc, kind: Kind::$kind, floor: $floor,
            simulated: $value,
        } ),*];
    };
}

quantities! {
    "cold_cycles_active_max" "active" ["cycles"] Relative above 1.0:
        "Cycles in which the busiest compute unit has a resident warp." =>
        |r| Some(r.counters.time.cycles_active_max as f64);
    "cold_cycles_elapsed" "elapsed" ["cycles"] Relative above 1.0:
        "Cycles from the start of the launch to its end." =>
        |r| Some(r.counters.time.cycles_elapsed as f64);
    "cold_ns" "time" ["ns"] Relative above 1.0:
        "Time on the device with cold caches: the median of event times, or what a profiler gives." =>
        |r| Some(r.counters.time.nanoseconds);
    "warp_inst" "warp inst" ["instructions"] Relative above 1.0:
        "Warp instructions executed." =>
        |r| Some(r.counters.work.warp_instructions as f64);
    "thread_inst" "thread inst" ["instructions"] Relative above 1.0:
        "Warp instructions times the lanes that took part." =>
        |r| Some(r.counters.work.thread_instructions as f64);
    "regs" "regs" ["registers"] Relative above 1.0:
        "Registers of a work-item." =>
        |r| Some(f64::from(r.resources.registers));
    "occ_theoretical_pct" "occ.theo" ["%"] Points above 0.0:
        "Warps that fit on a compute unit, in percent of the warp slots." =>
        |r| Some(r.occupancy.ratio() * 100.0);
    "occ_achieved_pct" "occ.ach" ["%"] Points above 0.0:
        "Resident warps, averaged over active cycles, in percent of the warp slots." =>
        |r| Some(r.counters.time.occupancy_achieved * 100.0);
    "ld_sectors" "ld sect" ["sectors"] Relative above 32.0:
        "Sectors that global loads ask of the L1." => metrics::load_sectors;
    "st_sectors" "st sect" ["sectors"] Relative above 32.0:
        "Sectors that global stores write." => metrics::store_sectors;
    "ld_hit_pct" "L1 hit" ["%"] Points above 0.0:
        "Sectors of global loads that hit in the L1, in percent." => metrics::l1_hit_percent;
    "l2_hit_pct" "L2 hit" ["%"] Points above 0.0:
        "Sectors that hit in the L2, in percent." => metrics::l2_hit_percent;
    "l2_read_sectors" "L2 read" ["sectors"] Relative above 20000.0:
        "Sectors read from the L2." => metrics::l2_read_sectors;
    "l2_write_sectors" "L2 write" ["sectors"] Relative above 20000.0:
        "Sectors written to the L2." => metrics::l2_write_sectors;
    "dram_read_bytes" "DRAM read" ["B"] Relative above 262144.0:
        "Bytes read from the DRAM." => metrics::dram_read_bytes;
    "dram_write_bytes" "DRAM write" ["B"] Relative above 262144.0:
        "Bytes written to the DRAM." => metrics::dram_write_bytes;
    "smem_conflicts" "conflicts" ["wavefronts"] Relative above 1000.0:
        "Extra passes through local memory because of bank conflicts." => metrics::local_conflicts;
}

/// Index of a column in [`QUANTITIES`].
pub(super) fn index(column: &str) -> Option<usize> {
    QUANTITIES.iter().position(|q| q.column == column)
}

/// The columns of a reference file as Markdown, for the documentation.
pub fn quantity_reference() -> String {
    let mut out = String::from("\n| column | unit | compared | from | meaning |\n| --- | --- | --- | --- | --- |\n");
    for q in QUANTITIES {
        let kind = match q.kind {
            Kind::Relative => "in percent",
            Kind::Points => "in points",
        };
        out += &format!("| `{}` | {} | {kind} | {} | {} |\n", q.column, q.unit, q.floor, q.doc);
    }
    out
}
