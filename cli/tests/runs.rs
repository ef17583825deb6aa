//! Many runs: sweeps over keys, resuming, comparing, and measuring a real device.
mod common;

use common::{command, repository, warpscope};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use std::path::Path;

fn full() -> String {
    repository("workloads/full.toml").to_str().unwrap().to_string()
}

/// Three cases on two machines.
fn sweep(out: &Path, more: &[&str]) -> assert_cmd::assert::Assert {
    let full = full();
    let mut arguments = vec!["suite", &full, "--config", "tiny", "--out", out.to_str().unwrap()];
    arguments.extend(["--sweep", "memory.lsu.queue=4,16", "--only", "vecadd_s", "--only", "queens_s"]);
    arguments.extend(["--only", "saxpy_s"]);
    arguments.extend(more);
    warpscope(&arguments)
}

const FILES: [&str; 5] = ["records.jsonl", "finished.tsv", "launches.csv", "report.txt", "report.html"];

fn contents(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|f| std::fs::read(folder.join(f)).unwrap()).collect()
}

/// What a killed run leaves: some whole lines and a part of one, in both files.
fn cut(folder: &Path, file: &str, lines: usize) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let end: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
    std::fs::write(&path, &text[..end + 20]).unwrap();
}

#[test]
fn a_resumed_run_equals_one_that_was_not_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    sweep(dir.path(), &[]).success();
    let whole = contents(dir.path());
    cut(dir.path(), "records.jsonl", 4);
    cut(dir.path(), "finished.tsv", 3);
    sweep(dir.path(), &["--resume"]).success().stderr(contains("3 of 6 cases are finished").and(contains("3/3")));
    for (name, (a, b)) in FILES.iter().zip(whole.iter().zip(contents(dir.path()))) {
        assert!(*a == b, "{name} differs");
    }
    sweep(dir.path(), &["--resume"]).success().stderr(contains("6 of 6 cases are finished"));
    // Another machine under the same name is another result.
    let set = ["--resume", "--limit", "1000000000"];
    sweep(dir.path(), &set).success().stderr(contains("0 of 6 cases are finished"));
}

#[test]
fn a_folder_that_is_not_there_is_resumed_from_nothing() {
    let dir = tempfile::tempdir().unwrap();
    sweep(&dir.path().join("new"), &["--resume"]).success().stderr(contains("0 of 6 cases are finished"));
}

#[test]
fn sweeps_make_every_combination() {
    let dir = tempfile::tempdir().unwrap();
    sweep(dir.path(), &["--sweep", "memory.l2.latency=50,60,70"]).success();
    let records = std::fs::read_to_string(dir.path().join("records.jsonl")).unwrap();
    assert_eq!(records.lines().count(), 3 * 2 * 3);
    sweep(dir.path(), &["--sweep", "chip.sub_group_sizes"]).code(2).stderr(contains("expected KEY=VALUE,VALUE"));
    sweep(dir.path(), &["--sweep", "memory.l2.latency=50,"]).code(2).stderr(contains("expected KEY=VALUE,VALUE"));
    let twice = ["--sweep", "memory.l2.latency=50,50"];
    sweep(dir.path(), &twice).code(2).stderr(contains("two machines are called"));
}

#[test]
fn runs_are_compared_case_by_case() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let run = |out: &Path, more: &[&str]| {
        let full = full();
        let mut arguments = vec!["suite", &full, "--config", "tiny", "--only", "saxpy_s", "--only", "queens_s"];
        arguments.extend(["--out", out.to_str().unwrap()]);
        arguments.extend(more);
        warpscope(&arguments).success();
    };
    run(&a, &[]);
    run(&b, &["--set", "memory.dram.request_latency=500.0"]);
    let folders = [a.to_str().unwrap(), b.to_str().unwrap()];
    let out = dir.path().join("c");
    let compared = ["report", "--compare", folders[0], folders[1], "--out", out.to_str().unwrap()];
    let text = contains("tiny [memory.dram.request_latency=500.0] compared with tiny");
    warpscope(&compared)
        .success()
        .stdout(text.and(contains("saxpy_s").and(contains("2 launches: 0 faster, 2 slower"))));
    let csv = std::fs::read_to_string(out.join("compare.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3);
    // The same folder twice is two equal runs, told apart by their folders' names.
    let same = ["report", "--compare", folders[0], folders[0]];
    warpscope(&same).success().stdout(contains("2 alike; time x 1.000"));
    warpscope(&["report", "--compare", folders[0]]).code(2).stderr(contains("there is one run only"));
}

/// PoCL stands for any vendor's device; what it measures can be validated against.
#[test]
fn a_measured_reference_can_be_validated_against() {
    let dir = tempfile::tempdir().unwrap();
    let (file, full) = (dir.path().join("m.csv"), full());
    let mut arguments = vec!["measure", &full, "--platform", "portable computing", "--samples", "3"];
    arguments.extend(["--only", "vecadd_s", "--only", "reduce_s", "--out", file.to_str().unwrap()]);
    command(&arguments).assert().success().stderr(contains("2 cases are in"));
    let csv = std::fs::read_to_string(&file).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let about = std::fs::read_to_string(dir.path().join("m.toml")).unwrap();
    let about: toml::Table = about.parse().unwrap();
    assert_eq!(about["samples"].as_integer(), Some(3));
    assert!(about["empty_kernel_ns"].is_float() || about["empty_kernel_ns"].is_integer());
    let out = dir.path().join("v");
    let mut arguments = vec!["validate", &full, "--reference", file.to_str().unwrap(), "--config", "tiny"];
    arguments.extend(["--only", "vecadd_s", "--only", "reduce_s", "--out", out.to_str().unwrap()]);
    command(&arguments).assert().success().stdout(contains("cold_ns"));
}

#[test]
fn a_device_that_is_not_there_is_a_sentence() {
    let full = full();
    warpscope(&["measure", &full, "--platform", "no such"]).code(2).stderr(contains("no OpenCL platform is called"));
    warpscope(&["measure", &full]).code(2).stderr(contains("--platform"));
}
