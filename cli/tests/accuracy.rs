//! The model's errors on some small cases may not get worse; `BLESS=1` accepts that they have changed.
mod common;

use common::{command, repository};
use predicates::str::contains;
use std::path::Path;

fn validate(out: &Path, more: &[&str]) -> assert_cmd::assert::Assert {
    let path = |p: &str| repository(p).to_str().unwrap().to_string();
    let suite = path("workloads/validation/suite.toml");
    let reference = path("workloads/validation/results/h200_summary.csv");
    let arguments = ["validate", &suite, "--reference", &reference, "--out", out.to_str().unwrap()];
    command(&[&arguments, more].concat()).assert()
}

#[test]
fn errors_are_no_worse_than_the_baseline() {
    let dir = tempfile::tempdir().unwrap();
    let baseline = repository("workloads/validation/baseline.toml");
    let mut more = vec!["--baseline", baseline.to_str().unwrap()];
    if std::env::var_os("BLESS").is_some() {
        more.push("--bless");
    }
    validate(dir.path(), &more).success();
    let png = std::fs::read(dir.path().join("scatter.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "PNG's signature (RFC 2083, 3.1)");
}

/// A machine that is far off is noticed, and every class that got worse is named.
#[test]
fn a_worse_model_fails() {
    let dir = tempfile::tempdir().unwrap();
    let baseline = dir.path().join("baseline.toml");
    std::fs::write(&baseline, "slack = 2.0\ncases = [\"lat_fadd_16\", \"vecadd_s\"]\n").unwrap();
    let file = baseline.to_str().unwrap();
    validate(dir.path(), &["--baseline", file]).code(1).stderr(contains("has no errors yet: bless it"));
    validate(dir.path(), &["--baseline", file, "--bless"]).success();
    let blessed = std::fs::read_to_string(&baseline).unwrap();
    assert!(blessed.starts_with("# Errors of the model") && blessed.contains("slack = 2.0\n"), "{blessed}");
    validate(dir.path(), &["--baseline", file]).success();
    let slow = ["--baseline", file, "--set", "memory.dram.request_latency=5000.0"];
    validate(dir.path(), &slow).code(1).stderr(contains("cold_cycles_active_max of apps, memory: mean error"));
}

#[test]
fn every_mechanism_can_be_switched_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = |p: &str| repository(p).to_str().unwrap().to_string();
    let suite = path("workloads/validation/suite.toml");
    let reference = path("workloads/validation/results/h200_summary.csv");
    let mechanisms = path("workloads/ablation.toml");
    let out = dir.path().to_str().unwrap();
    let mut arguments = vec!["ablation", &suite, "--reference", &reference, "--mechanisms", &mechanisms];
    arguments.extend(["--out", out, "--only", "vecadd_s"]);
    let listed = std::fs::read_to_string(&mechanisms).unwrap().matches("[[mechanism]]").count();
    command(&arguments).assert().success().stdout(contains("DRAM latency"));
    let csv = std::fs::read_to_string(dir.path().join("ablation.csv")).unwrap();
    assert_eq!(csv.lines().count(), listed + 1);
    // Without its latencies, a kernel that waits for memory is faster: columns measured, simulated, simulated without.
    let line = csv.lines().find(|l| l.starts_with("DRAM latency,")).unwrap();
    let field = |i: usize| line.split(',').nth(i).unwrap().parse::<f64>().unwrap();
    assert!(field(6) < field(5) * 0.95, "{line}");
}

/// Library functions, long divisions and the like take the instructions that the profiler counted on an H200
/// (`workloads/results/h200_builtins.csv`: warp instructions of 1056 warps).
#[test]
fn functions_take_the_measured_instructions() {
    let measured = [
        ("m_pow", 124_608.0),
        ("m_exp", 38_016.0),
        ("m_log", 54_912.0),
        ("m_sin", 54_912.0),
        ("m_erf", 57_024.0),
        ("m_atan2", 73_920.0),
        ("m_fmod", 54_912.0),
        ("m_d_pow", 250_272.0),
        ("m_d_log", 115_104.0),
        ("m_l_div", 52_800.0),
        ("m_u_mod", 44_352.0),
        ("m_l_addsat", 39_072.0),
        ("m_l_mulhi", 44_352.0),
        ("m_i_mul", 27_456.0),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = |p: &str| repository(p).to_str().unwrap().to_string();
    let suite = path("workloads/builtins.toml");
    let reference = path("workloads/results/h200_builtins.csv");
    let mut arguments = vec!["validate", &suite, "--reference", &reference, "--out", dir.path().to_str().unwrap()];
    arguments.extend(measured.iter().flat_map(|(case, _)| ["--only", case]));
    command(&arguments).assert().success();
    let csv = std::fs::read_to_string(dir.path().join("comparison.csv")).unwrap();
    let column = |line: &str, n: usize| line.split(',').nth(n).unwrap().to_string();
    let header = csv.lines().next().unwrap();
    let simulated = header.split(',').position(|h| h == "warp_inst_simulated").unwrap();
    for (case, expected) in measured {
        let line = csv.lines().find(|l| l.starts_with(&format!("{case},"))).expect(case);
        let found: f64 = column(line, simulated).parse().unwrap();
        assert!((found / expected - 1.0).abs() < 0.03, "{case}: {found} warp instructions instead of {expected}");
    }
}
