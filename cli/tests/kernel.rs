//! `warpscope kernel`, `disasm` and `occupancy` on small kernels.
mod common;

use common::{module, warpscope};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

const ADD: &str = "kernel void add(global const float *a, global float *b, float x, local float *t) {\n\
                   size_t i = get_global_id(0), l = get_local_id(0);\n\
                   t[l] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); b[i] = t[l] + x; }\n";

#[test]
fn a_kernel_runs_and_its_buffer_is_dumped() {
    let dir = tempfile::tempdir().unwrap();
    let spv = module(dir.path(), ADD);
    let npy = dir.path().join("b.npy");
    let out = dir.path().join("out");
    let dump = format!("1={}", npy.display());
    let arguments = [
        "kernel",
        spv.to_str().unwrap(),
        "--mode",
        "functional",
        "--config",
        "tiny",
        "-g",
        "64",
        "-l",
        "32",
        "-a",
        "f32[64]=index(0,1)",
        "-a",
        "f32[64]",
        "-a",
        "f32=0.5",
        "-a",
        "local=128",
        "--dump",
        "1",
        "--dump",
        &dump,
        "--out",
        out.to_str().unwrap(),
    ];
    warpscope(&arguments).success().stdout(contains("0.5 1.5 2.5 3.5")).stdout(contains("Work size"));
    let saved = std::fs::read(&npy).unwrap();
    assert!(saved.starts_with(b"\x93NUMPY"));
    assert_eq!(saved[saved.len() - 4..], 63.5f32.to_le_bytes());
    for file in ["records.jsonl", "launches.csv", "report.txt", "report.html"] {
        assert!(out.join(file).metadata().unwrap().len() > 0, "{file}");
    }
}

#[test]
fn sources_compile_and_their_errors_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("k.cl");
    std::fs::write(&source, ADD).unwrap();
    let path = source.to_str().unwrap();
    warpscope(&["disasm", path, "--config", "tiny"])
        .success()
        .stdout(contains("kernel add:").and(contains("registers")).and(contains("k.cl:3")));
    warpscope(&["occupancy", path, "--config", "tiny", "-l", "64"]).success().stdout(contains("limited by"));
    std::fs::write(&source, "kernel void f() { nonsense; }").unwrap();
    warpscope(&["disasm", path]).code(2).stderr(contains("k.cl:1:19: error: use of undeclared identifier"));
}

#[test]
fn a_missing_compiler_names_the_packages() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("k.cl");
    std::fs::write(&source, ADD).unwrap();
    common::command(&["disasm", source.to_str().unwrap()])
        .env("WARPSCOPE_CLANG", "/nonexistent/clang")
        .env("WARPSCOPE_CACHE", "off")
        .assert()
        .code(2)
        .stderr(contains("apt install clang-15 llvm-15 llvm-spirv-15"));
}

#[test]
fn occupancy_without_a_kernel() {
    warpscope(&["occupancy", "--registers", "64", "-l", "256"])
        .success()
        .stdout(contains("32 of 64 warps (50.0%): 4 work-groups of 256 work-items, limited by registers"));
    warpscope(&["occupancy", "--registers", "999"]).code(2).stderr(contains("at most 255"));
    warpscope(&["occupancy", "--registers", "8", "-l", "0"]).code(2).stderr(contains("1 to 1024"));
}

/// Parameters of 8 and 16 bits begin anywhere in a word; literals are what the command line gives.
#[test]
fn narrow_vectors_arrive_as_they_are_given() {
    let dir = tempfile::tempdir().unwrap();
    let source = "kernel void f(global int *x, short8 s, long l, char4 c, uchar u) {\n\
                  vstore8(convert_int8(s), 0, x); vstore4(convert_int4(c), 2, x); x[12] = u; x[13] = l; }\n";
    let spv = module(dir.path(), source);
    let arguments = ["i32[14]", "i16x8=1,2,3,4,5,6,7,-1", "i64=11", "i8x4=-1,2,-3,4", "u8=200"];
    for mode in ["timing", "functional"] {
        let mut line =
            vec!["kernel", spv.to_str().unwrap(), "--config", "tiny", "--mode", mode, "-g", "1", "--dump", "0"];
        arguments.iter().for_each(|a| line.extend(["-a", a]));
        let dump = contains("1 2 3 4 5 6 7 -1\n").and(contains("-1 2 -3 4 200 11\n"));
        warpscope(&line).success().stdout(dump);
    }
}

#[test]
fn what_a_kernel_prints_comes_before_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let source = "kernel void hello(void) { printf(\"%s %v2hhd\\n\", \"hello\", (char2)(1, -1)); }\n";
    let spv = module(dir.path(), source);
    for mode in ["timing", "functional"] {
        warpscope(&["kernel", spv.to_str().unwrap(), "--config", "tiny", "--mode", mode, "-g", "2", "-l", "2"])
            .success()
            .stdout(predicates::str::starts_with("hello 1,-1\nhello 1,-1\nLaunch\n"));
    }
}
