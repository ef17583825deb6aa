//! Whatever is wrong with the input ends with a sentence and a non-zero code, and never with a panic.
mod common;

use assert_cmd::assert::Assert;
use common::{command, module, warpscope};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use std::path::Path;

/// Asserts the code and part of the sentence, and that nothing panicked.
fn refused(assert: Assert, code: i32, part: &str) {
    assert.code(code).stderr(contains(part).and(contains("panicked").not()).and(contains("internal error").not()));
}

/// Runs `kernel` on the tiny machine.
fn kernel(file: &Path, arguments: &[&str]) -> Assert {
    let mut all = vec!["kernel", file.to_str().unwrap(), "--config", "tiny"];
    all.extend(arguments);
    warpscope(&all)
}

/// Misbehaviour is found in every mode.
const MODES: &[&str] = &["functional", "timing"];

const FILL: &str =
    "kernel void fill(global int *a, int n) { for (int i = 0; i < n; ++i) a[get_global_id(0) + i] = i; }";

#[test]
fn modules_that_are_no_modules() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read(module(dir.path(), FILL)).unwrap();
    let file = dir.path().join("bad.spv");
    let path = file.to_str().unwrap();
    for bytes in [&b""[..], b"abc", &[0xff; 64], &whole[..20], &whole[..whole.len() / 2], &whole[..whole.len() - 2]] {
        std::fs::write(&file, bytes).unwrap();
        refused(warpscope(&["disasm", path]), 2, "bad.spv");
    }
    // Every word in turn replaced: never a panic; what is still valid may run.
    for word in (0..whole.len() / 4).step_by(7) {
        let mut bytes = whole.clone();
        bytes[word * 4..word * 4 + 4].copy_from_slice(&0xdead_beef_u32.to_le_bytes());
        std::fs::write(&file, &bytes).unwrap();
        warpscope(&["disasm", path]).stderr(contains("panicked").not());
    }
    refused(warpscope(&["disasm", "/nonexistent/k.spv"]), 2, "No such file");
    let text = dir.path().join("bad.cl");
    std::fs::write(&text, [0xff; 64]).unwrap();
    refused(warpscope(&["disasm", text.to_str().unwrap()]), 2, "bad.cl: neither a SPIR-V module (.spv) nor text");
}

#[test]
fn launches_that_do_not_fit_the_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let spv = module(dir.path(), FILL);
    let good = ["-a", "i32[64]", "-a", "i32=1"];
    let with = |size: &[&'static str], args: &[&'static str]| kernel(&spv, &[size, args].concat());
    refused(with(&["-g", "64"], &["-a", "i32[64]"]), 1, "has 2 parameters, but 1 arguments are given");
    refused(with(&["-g", "64"], &["-a", "i32[64]", "-a", "u64=1"]), 1, "argument 1");
    refused(with(&["-g", "64"], &["-a", "i32=1", "-a", "i32=1"]), 1, "argument 0 of kernel `fill`: it takes");
    refused(with(&["-g", "64", "-k", "fil"], &good), 2, "did you mean `fill`?");
    refused(with(&["-g", "64x0x", "-l", "1"], &good), 2, "--global");
    refused(with(&["-g", "64x0"], &good), 2, "--global 64x0: nothing would run");
    refused(with(&["-g", "64", "-l", "0"], &good), 1, "a dimension is 0");
    refused(with(&["-g", "4096", "-l", "4096"], &good), 1, "4096 work-items; the machine allows 256");
    refused(with(&["-g", "18446744073709551615", "--offset", "2"], &good), 1, "exceed");
    refused(with(&["-g", "64"], &["-a", "i32[64", "-a", "i32=1"]), 2, "--arg");
    refused(with(&["-g", "64", "--dump", "1"], &good), 2, "is not a buffer");
}

#[test]
fn kernels_that_misbehave() {
    let dir = tempfile::tempdir().unwrap();
    for (source, arguments, part) in [
        (FILL, vec!["-g", "64", "-a", "i32[64]", "-a", "i32=2"], "out of bounds"),
        (FILL, vec!["-g", "64", "-a", "null", "-a", "i32=1"], "at 0x0 in global memory is out of bounds"),
        (
            "kernel void f(global int *a) { while (a[0] == 0) a[1]++; }",
            vec!["-g", "32", "-a", "i32[2]", "--limit", "100000"],
            "was stopped after 100000 warp instructions",
        ),
        (
            "kernel void f(global int *a) { if (get_local_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = 1; }",
            vec!["-g", "64", "-l", "64", "-a", "i32[64]"],
            "barrier",
        ),
        (
            "kernel void f(global int *a) { *(global int *)((global char *)a + 1) = 1; }",
            vec!["-g", "1", "-a", "i32[4]"],
            "is not aligned to 4 bytes",
        ),
        (
            "kernel void f(global int *a) { local int t[100000]; t[get_local_id(0)] = 1; barrier(1); a[0] = t[a[1]]; }",
            vec!["-g", "32", "-a", "i32[4]"],
            "local memory",
        ),
    ] {
        let spv = module(dir.path(), source);
        for mode in MODES {
            let mut all = arguments.clone();
            all.extend(["--mode", mode]);
            let assert = kernel(&spv, &all);
            let error = String::from_utf8_lossy(&assert.get_output().stderr).to_lowercase();
            assert_eq!(assert.get_output().status.code(), Some(1), "{mode}: {source}: {error}");
            assert!(error.contains(part) && !error.contains("panicked"), "{mode}: {source}: {error}");
        }
    }
}

#[test]
fn division_by_zero_has_a_value() {
    let dir = tempfile::tempdir().unwrap();
    let spv = module(dir.path(), "kernel void f(global int *a) { a[0] = a[1] / a[2]; a[3] = a[1] % a[2]; }");
    kernel(&spv, &["-g", "1", "-a", "i32[4]", "--mode", "functional"]).success();
}

#[test]
fn suites_and_machines_with_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    let suite = dir.path().join("s.toml");
    let path = suite.to_str().unwrap();
    let out = dir.path().join("out");
    let run = |text: &str| {
        std::fs::write(&suite, text).unwrap();
        warpscope(&["suite", path, "--config", "tiny", "--out", out.to_str().unwrap()])
    };
    refused(run("[[case]\n"), 2, "s.toml:1");
    refused(run("[[case]]\nname = \"a\"\nkernle = \"k\"\n"), 2, "kernle");
    refused(warpscope(&["suite", "/nonexistent.toml"]), 2, "nonexistent.toml");
    let case = "[[case]]\nname = \"a\"\ngroup = \"g\"\nsource = \"k.cl\"\nkernel = \"missing\"\nglobal = [64]\nlocal = [64]\n\
                args = [{ buffer = \"i32\", count = 64, init = \"zeros\", role = \"out\" }]\n";
    std::fs::write(dir.path().join("k.cl"), "kernel void k(global int *a) { a[get_global_id(0)] = 1; }").unwrap();
    refused(run(case), 1, "has no kernel `missing`");
    assert!(std::fs::read_to_string(out.join("records.jsonl")).unwrap().contains("has no kernel"));
    refused(warpscope(&["suite", path, "--set", "chip.compute_units=0"]), 2, "out of range");
    refused(warpscope(&["suite", path, "--mode", "fast"]), 2, "fast");
    refused(warpscope(&["suite", path, "--filter", "zzz"]), 2, "matches no case");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_and_a_closed_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let spv = module(dir.path(), FILL);
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::symlink("/dev/full", out.join("records.jsonl")).unwrap();
    let run = |rest: &[&str]| {
        kernel(&spv, &[&["-g", "32", "-a", "i32[64]", "-a", "i32=1", "--mode", "functional"], rest].concat())
    };
    refused(run(&["--out", out.to_str().unwrap()]), 1, "No space left on device");
    refused(run(&["--dump", "0=/dev/full"]), 1, "");
    refused(run(&["--out", "/proc/nope"]), 2, "/proc/nope");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = std::process::Command::new(command(&[]).get_program());
    let status = child.args(["config", "list"]).stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}
