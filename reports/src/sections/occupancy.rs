//! How many warps fit, and how many there were.
use super::{Section, percent};
use crate::Entry;
use warpscope_sim::{LaunchRecord, Limiter, Mode};

pub(super) fn section(_: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Occupancy");
    let o = &record.occupancy;
    s.row("Theoretical occupancy", percent(o.ratio()), "", "The most warps that fit, as a share of the warp slots.");
    s.row("Resident work-groups", o.groups, "per compute unit", "The most work-groups that fit.");
    s.row("Resident warps", format!("{} of {}", o.warps, o.max_warps), "per compute unit", "The most warps that fit.");
    s.row("Limited by", record.limiter().name(), "", "The scarcest resource.");
    let limits = [
        ("warp slots", o.limits.warps),
        ("work-group slots", o.limits.groups),
        ("work-item slots", o.limits.work_items),
        ("registers", o.limits.registers),
        ("local memory", o.limits.local_memory),
    ];
    for (name, groups) in limits {
        s.row(&format!("Groups by {name}"), groups, "per compute unit", "Work-groups that this resource has room for.");
    }
    s.row(
        "Local memory set aside",
        o.carve_out,
        "B",
        "Part of the combined store that serves as local memory; the rest is L1.",
    );
    if record.mode == Mode::Timing {
        let achieved = record.counters.time.occupancy_achieved;
        s.row("Achieved occupancy", percent(achieved), "", "Resident warps, averaged over active cycles.");
        if achieved < 0.7 * o.ratio() {
            s.notes.push(format!(
                "Achieved occupancy ({}) is well below what fits ({}): too few work-groups for the machine, an uneven end, or short work-groups.",
                percent(achieved),
                percent(o.ratio())
            ));
        }
    }
    if o.ratio() < 0.5 && record.limiter() != Limiter::Warps {
        s.notes
            .push(format!("Fewer than half of the warp slots can be used: {} run out first.", record.limiter().name()));
    }
    Some(s)
}
