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
