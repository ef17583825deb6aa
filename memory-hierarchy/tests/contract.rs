//! What every configuration of the memory hierarchy keeps: no request lost, none answered twice, back-pressure honoured,
//! nothing under way at the end, the same result whatever the window.
mod common;

use common::*;
use warpscope_memory::compute_unit::AccessKind::{self, *};

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const KINDS: [AccessKind; 9] =
    [GlobalLoad, GlobalStore, Atomic, Reduction, LocalLoad, LocalStore, LocalAtomic, PrivateLoad, PrivateStore];

/// A mixture of everything over a small and a large area.
fn mixture(unit: usize, warp: usize, i: usize) -> Option<Access> {
    if i == 40 {
        return None;
    }
    let seed = mix((unit * 1000 + warp) as u64 * 1000 + i as u64);
    let kind = KINDS[(seed % 9) as usize];
    let bytes = [1u32, 2, 4, 8, 12, 16][(seed >> 8) as usize % 6];
    let aligned = u64::from(if bytes == 12 { 4 } else { bytes });
    let area = match kind {
        LocalLoad | LocalStore | LocalAtomic => 16 << 10,
        _ if seed >> 16 & 1 == 0 => 16 << 10,
        _ => 4 << 20,
    };
    let base = if area == 16 << 10 { 0 } else { 1 << 40 };
    let lane = |l: u64| match seed >> 20 & 3 {
        0 => (seed % area / 128 * 128 + l * u64::from(bytes)) % (area - 16),
        1 => mix(seed + l) % (area - 16),
        2 => seed % (area - 16),
        _ => (l * 128 + seed % 128) % (area - 16),
    };
    let mut access = Access::new(kind, bytes, (0..32).map(|l| base + lane(l) / aligned * aligned));
    if seed >> 24 & 1 == 0 {
        access.mask = (seed >> 32).max(1);
    }
    Some(access)
}

fn check(name: &str, set: &[&str]) -> Outcome {
    let spec = machine(name, set);
    let mut outcomes = vec![];
    for window in [1, 7, 60] {
        let mut system = System::new(&spec);
        system.window = window.min(system.l2.longest_window());
        let load = Load { units: 2, warps: 6, depth: 3, access: mixture };
        let outcome = system.run(&load);
        assert_eq!(outcome.ends.len(), 2 * 6 * 40);
        outcomes.push((outcome, system.l2.counters().clone(), system.l2.dram_counters()));
    }
    assert_eq!(outcomes[0], outcomes[1], "{name} {set:?}: the window matters");
    assert_eq!(outcomes[0], outcomes[2], "{name} {set:?}: the window matters");
    outcomes.pop().unwrap().0
}

#[test]
fn presets_keep_the_contract() {
    for name in ["generic", "tiny", "simd32", "wave64", "nvidia-h200"] {
        check(name, &[]);
    }
}

#[test]
fn every_policy_keeps_the_contract() {
    for policy in ["lru", "fifo", "nru", "random"] {
        let (l1, l2) = (format!("memory.l1.replacement={policy}"), format!("memory.l2.replacement={policy}"));
        check("tiny", &[&l1, &l2]);
    }
    for set in [
        "memory.l1.write=write-around",
        "memory.l1.write=write-through-allocate",
        "memory.l1.enabled=false",
        "memory.l1.private_write_back=false",
        "memory.l1.set_hash=mixed",
        "memory.l2.set_hash=modulo",
        "memory.l2.slice_hash=modulo",
        "memory.l2.halves=2",
        "memory.l2.fill_partial=false",
        "memory.dram.scheduler=fcfs",
        "memory.dram.row_policy=closed",
        "memory.dram.t_refi=0.0",
        "memory.dram.granule=32",
        "memory.dram.granule=128",
    ] {
        check("tiny", &[set]);
    }
    check("tiny", &["memory.l2.halves=2", "memory.l2.keep_far=true", "memory.l2.far_latency=50"]);
}

#[test]
fn the_scarcest_resources_hold_back_without_deadlock() {
    check(
        "tiny",
        &[
            "memory.l1.mshrs=1",
            "memory.l2.mshrs=1",
            "memory.l2.halves=2",
            "memory.l2.keep_far=true",
            "memory.lsu.queue=1",
            "memory.interconnect.stores=1",
            "memory.dram.write_queue=2",
            "memory.dram.write_high=2",
            "memory.dram.write_low=1",
            "memory.l1.ways=1",
            "memory.l2.ways=1",
            "memory.l2.capacity=8192",
        ],
    );
}

#[test]
fn atomics_of_one_line_take_effect_in_order_of_arrival() {
    let mut system = System::new(&machine("tiny", &[]));
    let load = Load {
        units: 2,
        warps: 1,
        depth: 1,
        access: |_, _, i| (i < 10).then(|| Access::strided(Atomic, 4, 1 << 40, 0)),
    };
    let outcome = system.run(&load);
    assert_eq!(outcome.atomics.len(), 20);
    assert!(outcome.atomics.iter().all(|a| a.2 == 0xffff_ffff));
    let of = |unit: u16| outcome.atomics.iter().filter(|a| a.0 == unit).map(|a| a.1).collect::<Vec<_>>();
    assert!(of(0).is_sorted() && of(1).is_sorted());
}
