//! What schedulers and warps spent their cycles on.
use super::{Section, percent};
use crate::Entry;
use warpscope_sim::{Cause, LaunchRecord};

pub(super) fn section(_: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Warp states");
    let time = &record.counters.time;
    let issued = time.warps[Cause::Issued].max(1) as f64;
    let total = time.warps.total().max(1) as f64;
    s.row(
        "Cycles between two issues",
        format!("{:.2}", total / issued),
        "cycles per warp",
        "Cycles of resident warps over instructions issued.",
    );
    let mut causes: Vec<Cause> = Cause::ALL.iter().copied().filter(|c| time.warps[*c] > 0).collect();
    causes.sort_by_key(|c| std::cmp::Reverse(time.warps[*c]));
    for cause in causes {
        let cycles = time.warps[cause] as f64;
        let value = format!("{:.2}  {:>6}", cycles / issued, percent(cycles / total));
        s.row(cause.key(), value, "cycles per issue, share", cause.doc());
    }
    if let Some((cause, share)) = record.top_stall().filter(|(_, share)| *share > 0.3) {
        s.notes.push(format!("{} of the warps' time goes to {}: {}", percent(share), cause.key(), advice(cause)));
    }
    Some(s)
}

/// What a cause usually means for the kernel.
fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::Issued | Cause::NoWarp => "nothing is lost here.",
        Cause::Fetch => {
            "the code is larger than the instruction caches, jumps much, or is executed too few times to be warm."
        }
        Cause::ConstantMiss => "constants are read for the first time, or from too many places.",
        Cause::Wait => {
            "chains of dependent arithmetic; more independent work in a work-item, or more warps, would hide it."
        }
        Cause::LongScoreboard => {
            "data of global memory are awaited; more loads in flight, better locality or more warps would hide it."
        }
        Cause::ShortScoreboard => {
            "local memory or a special-function unit is awaited; look for bank conflicts and slow functions."
        }
        Cause::PipeThrottle => "an execution pipe is the limit.",
        Cause::LgThrottle => {
            "memory instructions come faster than the load/store unit takes them; wider or fewer accesses help."
        }
        Cause::MioThrottle => "local-memory instructions come faster than the unit takes them.",
        Cause::Barrier => "warps wait for the slowest of their work-group; smaller work-groups or more even work help.",
        Cause::Membar => "fences wait for outstanding accesses.",
        Cause::Branch => "short basic blocks with many branches.",
        Cause::Dispatch => "operands collide in the register banks.",
        Cause::Drain => "stores are still leaving when the warps end: the memory system is the limit.",
        Cause::NotSelected => "more warps are ready than can be issued: the schedulers are well fed.",
    }
}
