//! What was executed.
use super::{Section, grouped, percent};
use crate::Entry;
use warpscope_configs::{CounterInfo, Counters};
use warpscope_sim::LaunchRecord;

pub(super) fn section(_: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Instructions");
    let work = &record.counters.work;
    let warp = work.warp_instructions.max(1) as f64;
    s.row("Warp instructions", grouped(work.warp_instructions), "", "Warp instructions executed.");
    let lanes = work.thread_instructions as f64 / warp;
    s.row(
        "Lanes taking part",
        format!("{lanes:.1}"),
        "per instruction",
        "Lanes that took part, averaged over warp instructions.",
    );
    s.row("Branches", grouped(work.branches), "", "Branch instructions executed.");
    if work.branches > 0 {
        let divergent = work.divergent_branches as f64 / work.branches as f64;
        s.row("Divergent branches", percent(divergent), "", "Branches whose lanes went different ways.");
    }
    let mut classes: Vec<_> = described(&work.classes).filter(|(_, v)| *v > 0.0).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (info, count) in classes {
        s.row(&info.path, format!("{} {:>6}", grouped(count as u64), percent(count / warp)), "", info.doc);
    }
    if lanes < 0.6 * f64::from(record.resources.width) {
        s.notes.push(format!(
            "Only {lanes:.1} of {} lanes take part on average: lanes diverge, or work-groups do not fill their warps.",
            record.resources.width
        ));
    }
    Some(s)
}

/// Descriptions and values of a group of counters.
fn described<T: Counters>(counters: &T) -> impl Iterator<Item = (CounterInfo, f64)> + use<T> {
    let (mut infos, mut values) = (Vec::new(), Vec::new());
    T::describe("", &mut infos);
    counters.values(&mut values);
    infos.into_iter().zip(values)
}
