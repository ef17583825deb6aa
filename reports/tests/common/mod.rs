//! A made-up record with figures that are easy to check by hand.
use warpscope_configs::load;
use warpscope_reports::{Check, ENTRY_FORMAT, Entry, Peaks};
use warpscope_sim::{
    Cause, Convention, Geometry, LaunchCounters, LaunchRecord, Mode, ProgramFacts, RECORD_VERSION, Resources, occupancy,
};

/// 64 groups of 128 work-items on the tiny machine; warps wait 60 % of their time for global memory.
pub fn entry(case: &str) -> Entry {
    let spec = load("tiny", &[]).unwrap().spec;
    let resources = Resources { width: 32, registers: 64, local_bytes: 1024, group_size: 128 };
    let mut counters = LaunchCounters::default();
    counters.work.warp_instructions = 25_600;
    counters.work.thread_instructions = 25_600 * 24;
    counters.work.groups = 64;
    counters.work.warps = 256;
    counters.time.cycles_elapsed = 10_000;
    counters.time.cycles_active_max = 9_900;
    counters.time.cycles_active_avg = 9_900.0;
    counters.time.nanoseconds = 10_000.0;
    counters.time.ipc_active = 1.28;
    counters.time.occupancy_achieved = 0.375;
    counters.time.warps[Cause::Issued] = 25_600;
    counters.time.warps[Cause::LongScoreboard] = 60_000;
    counters.time.warps[Cause::Wait] = 14_400;
    counters.memory.unit.load_requests = 512;
    counters.memory.unit.load_sectors = 8192;
    counters.memory.unit.load_sector_hits = 2048;
    counters.memory.l2.read_sectors = 6144;
    counters.memory.l2.lookup_hits = 1536;
    counters.memory.l2.lookup_misses = 4608;
    counters.memory.dram.read_bytes = 196_608;
    Entry {
        format: ENTRY_FORMAT,
        suite: "s".into(),
        case: case.into(),
        group: "apps".into(),
        class: "memory, mostly".into(),
        size: "s".into(),
        configuration: "tiny".into(),
        launch: 0,
        check: Check::Passed,
        peaks: Peaks::of(&spec),
        record: Some(LaunchRecord {
            version: RECORD_VERSION,
            machine: spec.chip.name.clone(),
            configuration: "0123".into(),
            kernel: "vec<add>".into(),
            index: 0,
            mode: Mode::Timing,
            convention: Convention::Cold,
            geometry: Geometry {
                work_dim: 1,
                offset: [0; 3],
                global: [8192, 1, 1],
                local: [128, 1, 1],
                groups: [64, 1, 1],
            },
            program: ProgramFacts {
                operations: 20,
                registers: 64,
                uniform_registers: 2,
                local_bytes: 1024,
                private_bytes: 0,
                spill_bytes: 0,
            },
            resources,
            occupancy: occupancy(&spec, &resources),
            counters,
        }),
    }
}
