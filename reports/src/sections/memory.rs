//! What the memory hierarchy carried, level by level.
use super::{Section, grouped, percent};
use crate::Entry;
use crate::metrics::{dram_bandwidth, dram_bytes, l1_hit, l2_hit, of_peak, share};
use warpscope_sim::LaunchRecord;

pub(super) fn section(entry: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Memory");
    compute_unit(&mut s, entry, record);
    l2(&mut s, record);
    dram(&mut s, entry, record);
    Some(s)
}

fn compute_unit(s: &mut Section, entry: &Entry, record: &LaunchRecord) {
    let unit = &record.counters.memory.unit;
    let sector = entry.peaks.sector;
    for (name, requests, sectors) in [
        ("Global loads", unit.load_requests, unit.load_sectors),
        ("Global stores", unit.store_requests, unit.store_sectors),
        ("Global atomics", unit.atomic_requests, unit.atomic_sectors),
        ("Private loads", unit.private_load_requests, unit.private_load_sectors),
        ("Private stores", unit.private_store_requests, unit.private_store_sectors),
    ] {
        if requests == 0 {
            continue;
        }
        s.row(name, grouped(requests), "warp accesses", "Warp-level accesses.");
        let each = sectors as f64 / requests as f64;
        s.row(
            &format!("{name}, sectors"),
            format!("{each:.1}"),
            "per access",
            "Sectors that a warp-level access touches.",
        );
        // Four bytes a lane, side by side, are what a coalesced access takes.
        let coalesced = f64::from(record.resources.width * 4).max(f64::from(sector)) / f64::from(sector.max(1));
        if each > 2.0 * coalesced {
            s.notes.push(format!(
                "{name} touch {each:.1} sectors of {sector} B an access; neighbouring work-items that use neighbouring words would touch about {coalesced:.0}."
            ));
        }
    }
    if let Some(hit) = l1_hit(record) {
        s.row(
            "L1 hit rate",
            percent(hit),
            "",
            "Share of the sectors of global loads whose data were in the L1 or on their way to it.",
        );
    }
    let local = unit.local_load_requests + unit.local_store_requests + unit.local_atomic_requests;
    if local > 0 {
        s.row(
            "Local memory accesses",
            grouped(local),
            "warp accesses",
            "Warp-level loads, stores and atomics of local memory.",
        );
        s.row(
            "Bank conflicts",
            grouped(unit.local_conflicts),
            "cycles",
            "Cycles of local memory beyond those without conflicts.",
        );
        if let Some(lost) = share(unit.local_conflicts, unit.local_wavefronts).filter(|lost| *lost > 0.2) {
            s.notes.push(format!(
                "{} of local memory's cycles are bank conflicts: another layout or padding would avoid them.",
                percent(lost)
            ));
        }
    }
}

fn l2(s: &mut Section, record: &LaunchRecord) {
    let l2 = &record.counters.memory.l2;
    s.row("L2 reads", grouped(l2.read_sectors), "sectors", "Sectors that compute units read.");
    s.row("L2 writes", grouped(l2.write_sectors), "sectors", "Sectors that compute units wrote.");
    if l2.atomic_sectors > 0 {
        s.row("L2 atomics", grouped(l2.atomic_sectors), "sectors", "Sectors of atomics.");
    }
    if let Some(hit) = l2_hit(record) {
        s.row(
            "L2 hit rate",
            percent(hit),
            "",
            "Share of the sectors looked up in the L2 that were there; stores always count as hits.",
        );
    }
}

fn dram(s: &mut Section, entry: &Entry, record: &LaunchRecord) {
    let dram = &record.counters.memory.dram;
    s.row("DRAM reads", grouped(dram.read_bytes), "B", "Bytes read from the DRAM.");
    s.row("DRAM writes", grouped(dram.write_bytes), "B", "Bytes written to the DRAM.");
    if dram_bytes(record) == 0 {
        return;
    }
    if let Some(bandwidth) = dram_bandwidth(record) {
        s.row("DRAM bandwidth", format!("{bandwidth:.1}"), "GB/s", "Bytes moved over the duration of the launch.");
    }
    if let Some(peak) = of_peak(entry, record) {
        s.row("Share of the peak", percent(peak), "", "DRAM bandwidth over what the DRAM could deliver at best.");
        if peak > 0.7 {
            s.notes.push(
                "The DRAM is the limit: only less traffic or better reuse in the caches would make this faster.".into(),
            );
        }
    }
    let accesses = dram.row_hits + dram.row_empties + dram.row_conflicts;
    if let Some(hit) = share(dram.row_hits, accesses) {
        s.row("Row hits", percent(hit), "", "Accesses that found their row open.");
    }
}
