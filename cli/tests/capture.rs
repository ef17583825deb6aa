//! `warpscope run`: launches captured and run again alone; which launches are timed; the report that is kept.
mod common;

use common::{driver, warpscope};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The small program of `programs/` that launches kernels.
fn program(folder: &Path) -> PathBuf {
    compiled("launches", folder)
}

fn compiled(name: &str, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let program = folder.join(name);
    let built = Command::new("gcc").arg("-o").arg(&program).arg(&source).arg("-lOpenCL").status();
    assert!(built.expect("gcc can be run").success());
    program
}

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpscope"));
    command.arg("run").args(arguments).env("WARPSCOPE_ICD", driver()).env("WARPSCOPE_CACHE", "off");
    command.envs(environment.iter().copied());
    let output = command.output().expect("warpscope can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(path: &Path) -> &str {
    path.to_str().expect("plain text")
}

/// Kernel, mode and cycles of the launches in a log or in a records file.
fn launches(folder: &Path) -> Vec<(String, String, u64)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(path).expect("text").lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let record = if line["launch"].is_object() { &line["launch"] } else { &line["record"] };
            let word = |v: &serde_json::Value| v.as_str().map(str::to_string);
            if let (Some(kernel), Some(mode)) = (word(&record["kernel"]), word(&record["mode"])) {
                out.push((kernel, mode, record["counters"]["time"]["cycles_elapsed"].as_u64().unwrap_or(0)));
            }
        }
    }
    out
}

#[test]
fn a_captured_program_runs_again_launch_by_launch() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let folder = |name: &str| directory.path().join(name);
    let (capture, log, again) = (folder("capture"), folder("log"), folder("again"));
    let program = program(directory.path());
    let line = ["--config", "tiny", "--out", text(&log), "--capture", text(&capture), "--", text(&program)];
    let result = run(&line, &[]);
    // ((2.5 * 40 + 3) + 1) * 2.5 + 3
    assert_eq!(String::from_utf8_lossy(&result.stdout), "263\n");
    let suite = capture.join("suite.toml");
    warpscope(&["suite", text(&suite), "--config", "tiny", "--out", text(&again)]).success();
    let (before, after) = (launches(&log), launches(&again));
    assert_eq!(before.len(), 4);
    let kernels = |all: &[(String, String, u64)]| all.iter().map(|l| l.0.clone()).collect::<Vec<_>>();
    assert_eq!(kernels(&before), kernels(&after));
    // The first launch found cold caches in the program as well.
    assert!(before[0].2 > 0 && before[0].2 == after[0].2, "{before:?} {after:?}");
    warpscope(&["kernel", text(&suite), "--case", "0_0002_scatter", "--config", "tiny"]).success();
    warpscope(&["kernel", text(&suite), "--case", "0_0002_scater"]).code(2);
    // What does not come out as it did is a failure.
    let wrong = std::fs::read_to_string(&suite).expect("text").replace("bytes = \"02\"", "bytes = \"03\"");
    std::fs::write(&suite, wrong).expect("writable");
    warpscope(&["suite", text(&suite), "--config", "tiny", "--out", text(&folder("wrong"))]).code(1);
    // A second capture would be mixed with the first.
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpscope"));
    command.args(["run", "--capture", text(&capture), "--", "true"]).env("WARPSCOPE_ICD", driver());
    assert_eq!(command.status().expect("it can be run").code(), Some(2));
}

#[test]
fn variables_of_a_program_are_captured_with_its_launches() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let capture = directory.path().join("capture");
    let program = compiled("variables", directory.path());
    let result = run(&["--config", "tiny", "--capture", text(&capture), "--", text(&program)], &[]);
    // 64 * (1 + 2); 2 + 1 + 2; as it was.
    assert_eq!(String::from_utf8_lossy(&result.stdout), "192 5 1\n");
    let suite = capture.join("suite.toml");
    let again = |out: &str| {
        let out = directory.path().join(out);
        warpscope(&["suite", text(&suite), "--config", "tiny", "--mode", "functional", "--out", text(&out)])
    };
    again("again").success();
    let cases = std::fs::read_to_string(&suite).expect("text");
    // As initialised before the first launch, with contents before the second and the third.
    let total: Vec<&str> = cases.lines().filter(|l| l.contains("name = \"total\"")).collect();
    let keys = |key: &str| total.iter().map(|l| l.contains(key)).collect::<Vec<_>>();
    assert_eq!(keys("file = "), [false, true, true], "{cases}");
    assert_eq!(keys("expected = "), [true, true, false], "{cases}");
    // A launch that finds other contents leaves others.
    let (head, tail) = (total[1].split_once(", file"), total[1].split_once(", expected"));
    let other = format!("{}, expected{}", head.expect("contents").0, tail.expect("contents").1);
    std::fs::write(&suite, cases.replace(total[1], &other)).expect("writable");
    again("wrong").code(1).stderr(predicates::str::contains("variable `total`"));
}

/// Debian: python3-pyopencl, python3-numpy.
#[test]
fn a_python_program_is_captured() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let script = directory.path().join("program.py");
    let lines = [
        "import numpy as np, pyopencl as cl, pyopencl.array as ca",
        "c = cl.create_some_context(interactive=False); q = cl.CommandQueue(c)",
        "a = ca.to_device(q, np.arange(1000, dtype=np.float32)); b = a * 2 + a",
        "assert ca.sum(b).get() == 3 * 999 * 500, ca.sum(b).get()",
        "print('ok')",
    ];
    std::fs::write(&script, lines.join("\n")).expect("writable");
    let capture = directory.path().join("capture");
    let cache = text(directory.path());
    let line = ["--config", "tiny", "--capture", text(&capture), "--", "/usr/bin/python3", text(&script)];
    let result = run(&line, &[("XDG_CACHE_HOME", cache)]);
    assert_eq!(String::from_utf8_lossy(&result.stdout), "ok\n");
    let (suite, out) = (capture.join("suite.toml"), directory.path().join("again"));
    warpscope(&["suite", text(&suite), "--config", "tiny", "--mode", "functional", "--out", text(&out)]).success();
}

#[test]
fn only_chosen_launches_are_timed() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = program(directory.path());
    let modes = |name: &str, arguments: &[&str], environment: &[(&str, &str)]| {
        let log = directory.path().join(name);
        let fixed = ["--config", "tiny", "--out", text(&log)];
        let result = run(&[&fixed, arguments, &["--", text(&program)]].concat(), environment);
        assert_eq!(String::from_utf8_lossy(&result.stdout), "263\n", "{name}");
        let report = std::fs::read_to_string(log.join("report.txt")).expect("a report");
        assert!(report.contains("run functionally") || report.contains("ran functionally"), "{report}");
        assert!(std::fs::read_to_string(log.join("report.html")).expect("a page").contains("<svg"));
        launches(&log).into_iter().map(|l| l.1).collect::<Vec<_>>()
    };
    // The launches are scale, sum, scatter, scale.
    let (t, f) = ("timing", "functional");
    assert_eq!(modes("after", &["--functional-after", "2"], &[]), [t, t, f, f]);
    assert_eq!(modes("names", &["--kernels", "sc*", "--exclude", "scatter"], &[]), [t, f, f, t]);
    assert_eq!(modes("window", &["--kernels", "sc*", "--skip", "1", "--limit", "1"], &[]), [f, f, t, f]);
    assert_eq!(modes("each", &["--per-kernel", "1"], &[]), [t, t, t, f]);
    assert_eq!(modes("environment", &[], &[("WARPSCOPE_SKIP", "3")]), [f, f, f, t]);
}
