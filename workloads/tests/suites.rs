//! The suites through the runner: right results, however they are compiled, on every machine, and the same records
//! however the work is cut and spread.
use std::path::Path;
use std::sync::Arc;
use warpscope_sim::Mode;
use warpscope_workloads::manifest::{Case, Manifest};
use warpscope_workloads::suite::{CaseResult, NamedMachine, Stop, SuiteOptions, choose, run};

fn cases(suite: &str, only: &[&str]) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(suite);
    let only: Vec<String> = only.iter().map(|s| s.to_string()).collect();
    choose(&Manifest::read(&path).unwrap(), &only).unwrap()
}

fn machine(name: &str, set: &[&str]) -> NamedMachine {
    NamedMachine { name: name.to_string(), spec: Arc::new(warpscope_configs::load(name, set).unwrap().spec) }
}

fn results(cases: &[Case], machines: &[NamedMachine], options: &SuiteOptions) -> Vec<CaseResult> {
    let mut all = Vec::new();
    let collect = |result| {
        all.push(result);
        Ok(())
    };
    run(cases, machines, options, &Stop::default(), collect).unwrap();
    assert_eq!(all.len(), cases.len() * machines.len());
    all
}

fn assert_passed(results: &[CaseResult], machines: &[NamedMachine]) {
    let failure = |r: &CaseResult| r.failure().map(|w| format!("{} on {}: {w}", r.case.name, machines[r.machine].name));
    let failed: Vec<String> = results.iter().filter_map(failure).collect();
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), results.len(), failed.join("\n"));
}

fn functional() -> SuiteOptions {
    SuiteOptions { mode: Mode::Functional, ..SuiteOptions::default() }
}

#[test]
fn own_kernels_are_right_on_every_machine() {
    let machines = ["nvidia-h200", "wave64", "simd32", "tiny"].map(|name| machine(name, &[]));
    assert_passed(&results(&cases("full.toml", &["s"]), &machines, &functional()), &machines);
}

#[test]
fn own_kernels_are_right_in_timing_mode() {
    let machines = [machine("nvidia-h200", &[]), machine("tiny", &[])];
    assert_passed(&results(&cases("full.toml", &["s"]), &machines, &SuiteOptions::default()), &machines);
}

/// The second set of kernels: clang's output at -O0, in which every variable lives in memory.
#[test]
fn unoptimised_kernels_are_right() {
    let mut cases = cases("full.toml", &["s"]);
    for case in &mut cases {
        case.options = format!("{} -cl-opt-disable", case.options).trim().to_string();
    }
    let options = SuiteOptions { from_source: true, ..functional() };
    let machines = [machine("nvidia-h200", &[])];
    assert_passed(&results(&cases, &machines, &options), &machines);
}

/// Outputs as they were recorded on hardware, for the smallest case of every application.
#[test]
fn applications_give_the_recorded_outputs() {
    let machines = [machine("nvidia-h200", &[])];
    assert_passed(&results(&cases("validation/suite.toml", &["s"]), &machines, &functional()), &machines);
}

/// The hardware executes 27 instructions a warp for a vector addition (`warp_inst` of the measured results), and so does
/// what the compiler makes of it.
#[test]
fn a_vector_addition_takes_27_instructions_a_warp() {
    let measured =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/results/h200_summary.csv"))
            .unwrap();
    let mut rows = measured.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = rows.next().unwrap().iter().position(|name| *name == "warp_inst").unwrap();
    let measured: Vec<(&str, Option<u64>)> = rows.map(|row| (row[0], row[column].parse().ok())).collect();
    let machines = [machine("nvidia-h200", &[])];
    let found = results(&cases("validation/suite.toml", &["vecadd_s", "vecadd_m"]), &machines, &functional());
    assert_passed(&found, &machines);
    for result in &found {
        let work = &result.records[0].counters.work;
        assert_eq!(work.warp_instructions, 27 * work.warps, "{}", result.case.name);
        assert!(measured.contains(&(&result.case.name, Some(work.warp_instructions))), "{}", result.case.name);
    }
}

/// Cases of different kinds: streaming, barriers, local and global atomics, divergence, double precision.
const MIXED: &[&str] = &["vecadd_s", "reduce_s", "histogram_s", "hashtable_s", "bfs_s", "queens_s", "dot_s", "spmv_s"];

fn records(results: &[CaseResult]) -> String {
    let line = |r: &CaseResult| format!("{} {}\n", r.case.name, serde_json::to_string(&r.records).unwrap());
    results.iter().map(line).collect()
}

#[test]
fn records_do_not_depend_on_jobs_threads_or_windows() {
    let (cases, machines) = (cases("full.toml", MIXED), [machine("nvidia-h200", &[]), machine("tiny", &[])]);
    for mode in [Mode::Timing, Mode::Functional] {
        let one = SuiteOptions { mode, jobs: 1, threads: 1, ..SuiteOptions::default() };
        let expected = results(&cases, &machines, &one);
        assert_passed(&expected, &machines);
        for (jobs, threads, window) in [(1, 1, 0), (2, 1, 0), (3, 2, 0), (1, 2, 1), (2, 1, 17), (2, 1, 64)] {
            let other = results(&cases, &machines, &SuiteOptions { jobs, threads, window, ..one.clone() });
            let same = records(&expected) == records(&other);
            assert!(same, "{mode:?}: records differ with jobs {jobs}, threads {threads}, window {window}");
        }
    }
}

/// Compute units that run on beyond the window (kernels that compute for long) make no difference, nor does the cut of
/// time on machines with other sub-groups, schedulers and latencies, nor what ran before in the same process.
#[test]
fn records_do_not_depend_on_windows_on_any_machine() {
    let names = ["mandelbrot_s", "nbody_s", "xtea_s", "matmul_s", "reduce_s", "histogram_s"];
    let machines = ["nvidia-h200", "wave64", "simd32"].map(|name| machine(name, &[]));
    let cases = cases("full.toml", &names);
    let whole = SuiteOptions { mode: Mode::Timing, jobs: 2, threads: 1, ..SuiteOptions::default() };
    let expected = results(&cases, &machines, &whole);
    assert_passed(&expected, &machines);
    for window in [0, u64::MAX, 29] {
        let other = results(&cases, &machines, &SuiteOptions { window, ..whole.clone() });
        assert!(records(&expected) == records(&other), "records differ with window {window}");
    }
}

#[test]
fn timing_parameters_change_times_and_never_results() {
    let cases = cases("full.toml", MIXED);
    let plain = [machine("nvidia-h200", &[])];
    let expected = results(&cases, &plain, &SuiteOptions::default());
    assert_passed(&expected, &plain);
    // What the order of atomics decides is compared by the check; all other outputs must be the same bit for bit.
    let digests = |results: &[CaseResult]| -> Vec<(String, Vec<(usize, u64)>)> {
        let fixed = results.iter().filter(|r| !r.case.name.starts_with("hashtable"));
        fixed.map(|r| (r.case.name.clone(), r.digests.clone())).collect()
    };
    for set in [
        &["chip.compute_units=16", "chip.core_mhz=1000"][..],
        &["chip.dram_mhz=800", "compute_unit.max_warps=32"][..],
        &["launch.group_interval=40", "launch.group_latency=100"][..],
    ] {
        let other = [machine("nvidia-h200", set)];
        let changed = results(&cases, &other, &SuiteOptions::default());
        assert_passed(&changed, &other);
        assert_eq!(digests(&expected), digests(&changed), "{set:?}");
        assert_ne!(records(&expected), records(&changed), "{set:?}");
    }
}

/// Both ends of the range of every key, one at a time: the machine is refused with a sentence or the results are right,
/// and the same bit for bit unless the key is the compiler's.
#[test]
fn no_value_in_a_keys_range_breaks_a_run() {
    let cases = cases("full.toml", &["ndrange_1d", "histogram_s"]);
    let digests = |found: &[CaseResult]| found.iter().map(|r| r.digests.clone()).collect::<Vec<_>>();
    let plain = digests(&results(&cases, &[machine("tiny", &[])], &SuiteOptions::default()));
    let (mut refused, mut failed) = (0, Vec::new());
    for key in warpscope_configs::machine_keys().keys {
        let path = key.path.replace("pipes.*", "pipes.fma").replace("classes.*", "classes.load-local");
        let both = key.range.split_once("..=").map(|(low, high)| [low, high]);
        for value in both.into_iter().flatten().chain(["true", "false"].into_iter().filter(|_| key.ty == "bool")) {
            let set = format!("{path}={value}");
            let Ok(config) = warpscope_configs::load("tiny", &[&set]) else {
                refused += 1;
                continue;
            };
            let machines = [NamedMachine { name: set, spec: Arc::new(config.spec) }];
            let found = results(&cases, &machines, &SuiteOptions::default());
            let why = found.iter().filter_map(|r| r.failure()).map(|why| format!("{}: {why}", machines[0].name));
            // Work-groups that such a machine cannot hold are refused.
            failed.extend(why.filter(|why| !why.contains("the machine allows") && !why.contains("does not fit on a")));
            let ran = found.iter().all(|r| r.failure().is_none());
            if ran && !path.starts_with("target.") && digests(&found) != plain {
                failed.push(format!("{}: the outputs differ", machines[0].name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!((1..100).contains(&refused), "{refused} machines were refused");
}

/// Caches of one line on the way of instructions and constants: warps take turns, and all get what they wait for.
#[test]
fn the_smallest_fetch_caches_let_every_warp_go_on() {
    let levels = ["l0_instruction", "l1_instruction", "l0_constant", "l1_constant", "l2_fetch"];
    let set: Vec<String> = levels.map(|level| format!("frontend.{level}.capacity=128")).into();
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let machines = [machine("nvidia-h200", &set), machine("tiny", &set)];
    let cases = cases("full.toml", &["boxfilter_s", "crc32_s", "conv2d_s"]);
    assert_passed(&results(&cases, &machines, &SuiteOptions::default()), &machines);
}

/// A stopped run hands on what is finished, in order, and nothing else.
#[test]
fn a_stopped_run_ends_early() {
    let (cases, machines, stop) = (cases("full.toml", &["s"]), [machine("tiny", &[])], Stop::default());
    let mut names = Vec::new();
    let options = SuiteOptions { jobs: 2, ..functional() };
    let outcome = run(&cases, &machines, &options, &stop, |result| {
        names.push(result.case.name.clone());
        if names.len() == 3 {
            stop.request();
        }
        Ok(())
    });
    assert!(outcome.is_ok());
    assert!(names.len() < cases.len());
    // A case that another worker was in the middle of when the stop came is left out; what finished behind it is not.
    let mut order = cases.iter().map(|case| &case.name);
    assert!(names.iter().all(|name| order.any(|case| case == name)), "{names:?}");
}

/// A launch beyond the limit is stopped, however short its work-groups are, and the other cases still run.
#[test]
fn a_runaway_is_stopped() {
    let (cases, machines) = (cases("full.toml", &["vecadd_s", "mandelbrot_s"]), [machine("nvidia-h200", &[])]);
    let options = SuiteOptions { instruction_limit: 200_000, ..functional() };
    let results = results(&cases, &machines, &options);
    let failed: Vec<_> = results.iter().filter_map(|r| r.error.clone().map(|e| (r.case.name.as_str(), e))).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].0 == "mandelbrot_s" && failed[0].1.contains("limit"), "{failed:?}");
}

/// Work-items that get places in a list from a counter, some of each sub-group and each taking two: the places are all
/// different and none is left out, also where less than a sub-group is there and where counters are local.
#[test]
fn counters_hand_out_every_place_once() {
    let dir = std::env::temp_dir().join(format!("warpscope-places-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let source = "kernel void places(global uint *out, global uint *count) {\n\
                  uint i = get_global_id(0);\n\
                  if (i % 7 < 4) { uint at = atomic_add(count, 2); out[at] = i; out[at + 1] = i + 1000; } }\n\
                  kernel void local_places(global uint *out, global uint *count) {\n\
                  local uint n; if (get_local_id(0) == 0) n = 0; barrier(CLK_LOCAL_MEM_FENCE);\n\
                  uint i = get_global_id(0);\n\
                  if (i % 7 < 4) { uint at = atomic_inc(&n); out[get_group_id(0) * 100 + at] = i; }\n\
                  if (i == 0) count[0] = 100; }\n";
    std::fs::write(dir.join("places.cl"), source).unwrap();
    let chosen: Vec<u32> = (0..333).filter(|i| i % 7 < 4).collect();
    let twice: Vec<u32> = chosen.iter().flat_map(|&i| [i, i + 1000]).collect();
    // In the order of their numbers within a group, as the counter hands them out to neighbours.
    let mut by_group = vec![0u32; 400];
    for group in 0..4 {
        let own = chosen.iter().filter(|&&i| i / 100 == group);
        own.enumerate().for_each(|(at, &i)| by_group[group as usize * 100 + at] = i);
    }
    let mut manifest = String::new();
    for (kernel, mut expected, last) in [("places", twice.clone(), twice.len() as u32), ("local_places", by_group, 100)]
    {
        expected.resize(if kernel == "places" { 700 } else { 400 }, 0);
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        std::fs::write(dir.join(format!("{kernel}.bin")), bytes(&expected)).unwrap();
        std::fs::write(dir.join(format!("{kernel}-count.bin")), bytes(&[last])).unwrap();
        manifest += &format!(
            "[[case]]\nname = \"{kernel}\"\nsource = \"places.cl\"\nkernel = \"{kernel}\"\nglobal = [333]\nlocal = [100]\n\
             args = [\n{{ buffer = \"u32\", count = {}, init = \"zeros\", role = \"out\", expected = \"{kernel}.bin\", \
             order = \"any\" }},\n{{ buffer = \"u32\", count = 1, init = \"zeros\", role = \"inout\", \
             expected = \"{kernel}-count.bin\" }},\n]\n",
            expected.len()
        );
    }
    let file = dir.join("places.toml");
    std::fs::write(&file, manifest).unwrap();
    let cases = choose(&Manifest::read(&file).unwrap(), &[]).unwrap();
    let machines = ["nvidia-h200", "wave64", "simd32", "tiny"].map(|name| machine(name, &[]));
    for options in [functional(), SuiteOptions::default()] {
        assert_passed(&results(&cases, &machines, &options), &machines);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
