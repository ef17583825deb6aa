//! How close the launch came to what the machine can do.
use super::{Section, percent};
use crate::Entry;
use warpscope_sim::{Cause, LaunchRecord};

pub(super) fn section(entry: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Speed of light");
    let time = &record.counters.time;
    let peaks = &entry.peaks;
    let schedulers = &time.schedulers;
    let issue = schedulers[Cause::Issued] as f64 / schedulers.total().max(1) as f64;
    s.row(
        "Issue slots used",
        percent(issue),
        "",
        "Cycles in which a scheduler issued, of all cycles of schedulers of active compute units.",
    );
    s.row(
        "IPC, active",
        format!("{:.2}", time.ipc_active),
        "of a compute unit",
        "Warp instructions per compute unit and active cycle.",
    );
    s.row(
        "IPC, machine",
        format!("{:.2}", time.ipc_elapsed),
        "",
        "Warp instructions per cycle elapsed, on the whole machine.",
    );
    let busy = time.cycles_active_avg / time.cycles_active_max.max(1) as f64;
    s.row(
        "Compute units busy",
        percent(busy),
        "",
        "Active cycles of the average compute unit over those of the busiest.",
    );
    if busy < 0.8 {
        s.notes.push(format!(
            "The average of {} compute units is active for {} of the busiest one's time: work-groups are too few or uneven.",
            peaks.compute_units,
            percent(busy)
        ));
    }
    Some(s)
}
