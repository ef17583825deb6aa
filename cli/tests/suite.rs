//! `warpscope suite` and `warpscope bench` as a user meets them.
mod common;

use common::{command, repository, warpscope};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use std::path::Path;

fn suite(name: &str) -> String {
    repository(name).to_str().unwrap().to_string()
}

/// Runs some small cases into `out`.
fn run_into(out: &Path, more: &[&str]) -> assert_cmd::assert::Assert {
    let full = suite("workloads/full.toml");
    let mut arguments = vec!["suite", &full, "--config", "tiny", "--out", out.to_str().unwrap()];
    for case in ["vecadd_s", "histogram_s", "queens_s"] {
        arguments.extend(["--filter", case]);
    }
    arguments.extend(more);
    warpscope(&arguments)
}

#[test]
fn a_suite_writes_table_records_and_report() {
    let dir = tempfile::tempdir().unwrap();
    run_into(dir.path(), &[]).success().stdout(contains("vecadd_s").and(contains("queens_s"))).stderr(contains("3/3"));
    let records = std::fs::read_to_string(dir.path().join("records.jsonl")).unwrap();
    assert_eq!(records.lines().count(), 3);
    let csv = std::fs::read_to_string(dir.path().join("launches.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4);
    let html = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(html.contains("<svg") && html.contains("histogram_s"));
}

#[test]
fn two_runs_are_byte_identical_whatever_the_jobs() {
    let dirs = [1, 2, 2].map(|jobs| {
        let dir = tempfile::tempdir().unwrap();
        run_into(dir.path(), &["--jobs", &jobs.to_string()]).success();
        dir
    });
    for name in ["records.jsonl", "launches.csv", "report.txt", "report.html"] {
        let files = dirs.each_ref().map(|d| std::fs::read(d.path().join(name)).unwrap());
        assert!(files[0] == files[1] && files[1] == files[2], "{name} differs");
    }
}

/// A case that adds 64 floats; nothing checks its outputs where `reference` is empty.
fn vecadd(name: &str, reference: &str) -> String {
    let module = suite("workloads/kernels/vecadd/vecadd.spv");
    let reference = if reference.is_empty() { String::new() } else { format!("reference = \"{reference}\"\n") };
    format!(
        "[[case]]\nname = \"{name}\"\nsource = \"{module}\"\nkernel = \"vecadd\"\nglobal = [64]\nlocal = [64]\n\
         {reference}args = [\n{{ buffer = \"f32\", count = 64, init = \"index(0,1)\" }},\n\
         {{ buffer = \"f32\", count = 64, init = \"index(1,1)\" }},\n\
         {{ buffer = \"f32\", count = 64, init = \"zeros\", role = \"out\" }},\n{{ scalar = \"u32\", value = 64 }},\n]\n"
    )
}

/// A wrong result names the case and gives code 1; the other cases are reported all the same.
#[test]
fn a_wrong_result_fails_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("wrong.toml");
    std::fs::write(&manifest, vecadd("right", "vecadd") + &vecadd("wrong", "dot").replace("f32", "f64")).unwrap();
    let out = dir.path().join("out");
    command(&["suite", manifest.to_str().unwrap(), "--config", "tiny", "--out", out.to_str().unwrap()])
        .assert()
        .code(1)
        .stdout(contains("right").and(contains("FAILED")))
        .stderr(contains("1 of 2 cases failed: wrong"));
    assert_eq!(std::fs::read_to_string(out.join("records.jsonl")).unwrap().lines().count(), 2);
}

/// Outputs that nothing is known about are no failure; an input that the kernel writes is one all the same.
#[test]
fn a_changed_input_fails_the_run_even_where_no_output_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("inputs.toml");
    let writes = vecadd("writes", "").replace(", role = \"out\"", "");
    let both = vecadd("unknown", "") + &writes.replace("index(1,1)\" }", "index(1,1)\", role = \"out\" }");
    std::fs::write(&manifest, both).unwrap();
    command(&["suite", manifest.to_str().unwrap(), "--config", "tiny", "--out", dir.path().to_str().unwrap()])
        .assert()
        .code(1)
        .stderr(contains("1 of 2 cases failed: writes").and(contains("changed an input")));
}

#[test]
fn bench_prints_both_modes() {
    let matmul = suite("workloads/kernels/matmul/suite.toml");
    warpscope(&["bench", &matmul, "--config", "tiny", "--repetitions", "1"])
        .success()
        .stdout(contains("matmul_s").and(contains("matmul_m")).and(contains("peak memory")));
}
