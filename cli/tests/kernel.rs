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

/// Atomics of whole and partial warps to one address, on the machine that combines them, against a loop.
#[test]
fn combined_atomics_give_the_sums_of_single_ones() {
    const N: i32 = 480;
    let source = "kernel void k(global int *c, global uint *u, global int *up, global int *down, global int *part) {\n\
                  int g = get_global_id(0), v = g * 7919 - 1000000;\n\
                  if (get_local_id(0) % 5 != 3) {\n\
                  atomic_add(&c[0], v); atomic_sub(&c[1], v); atomic_and(&c[2], ~(1 << g % 31)); atomic_or(&c[3], v);\n\
                  atomic_xor(&c[4], v); atomic_min(&c[5], v); atomic_max(&c[6], v);\n\
                  atomic_min(&u[0], (uint)v); atomic_max(&u[1], (uint)v);\n\
                  part[g] = atomic_add(&c[9], 1); }\n\
                  up[g] = atomic_add(&c[7], 1 + (g & 3)); down[g] = atomic_sub(&c[8], 1 + (g & 3)); }\n";
    let dir = tempfile::tempdir().unwrap();
    let spv = module(dir.path(), source);
    let file = |n: usize| dir.path().join(format!("{n}.bin"));
    for mode in ["functional", "timing"] {
        let dumps: Vec<String> = (0..5).map(|n| format!("{n}={}", file(n).display())).collect();
        let buffers = ["i32[10]", "u32[2]=const(2147483647)", "i32[480]", "i32[480]", "i32[480]=const(-1)"];
        let mut arguments = vec!["kernel", spv.to_str().unwrap(), "--config", "nvidia-h200", "--mode", mode];
        arguments.extend(["-g", "480", "-l", "48", "--out"]);
        let out = dir.path().join("out");
        arguments.push(out.to_str().unwrap());
        buffers.iter().for_each(|b| arguments.extend(["-a", b]));
        dumps.iter().for_each(|d| arguments.extend(["--dump", d]));
        warpscope(&arguments).success();
        let read = |n: usize| -> Vec<i32> {
            let bytes = std::fs::read(file(n)).unwrap();
            bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
        };
        let taking: Vec<i32> = (0..N).filter(|g| g % 48 % 5 != 3).map(|g| g * 7919 - 1_000_000).collect();
        let sum = taking.iter().fold(0i32, |a, &v| a.wrapping_add(v));
        let or = taking.iter().fold(0, |a, v| a | v);
        let xor = taking.iter().fold(0, |a, v| a ^ v);
        let (least, most) = (*taking.iter().min().unwrap(), *taking.iter().max().unwrap());
        let total: i32 = (0..N).map(|g| 1 + (g & 3)).sum();
        let count = taking.len() as i32;
        let c = [sum, sum.wrapping_neg(), 0, or, xor, least.min(0), most.max(0), total, -total, count];
        assert_eq!(read(0), c, "{mode}");
        let unsigned = || taking.iter().map(|&v| v as u32).chain([i32::MAX as u32]);
        assert_eq!(read(1), [unsigned().min().unwrap() as i32, unsigned().max().unwrap() as i32], "{mode}");
        // Old values and what was added tile the whole way.
        let tiles = |old: Vec<i32>, sign: i32, step: fn(i32) -> i32| {
            let mut spans: Vec<(i32, i32)> =
                (0..N).zip(old).filter(|(_, o)| *o != -1 || sign < 0).map(|(g, o)| (o * sign, step(g))).collect();
            spans.sort();
            spans.iter().fold(0, |at, &(old, step)| {
                assert_eq!(old, at, "{mode}");
                at + step
            })
        };
        assert_eq!(tiles(read(2), 1, |g| 1 + (g & 3)), total);
        assert_eq!(tiles(read(3), -1, |g| 1 + (g & 3)), total);
        assert_eq!(tiles(read(4), 1, |_| 1), count);
    }
}
