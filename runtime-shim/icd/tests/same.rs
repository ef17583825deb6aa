//! C programs print on our device what they print on PoCL, another implementation of OpenCL (Debian: pocl-opencl-icd).
//! Only what the specification determines is printed: exact arithmetic, orders that the program enforces, queries.
mod common;

use common::Programs;
use std::path::Path;
use std::process::Command;

/// Where Debian's package says that PoCL is.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

fn same(name: &str) {
    let programs = Programs::new();
    let program = programs.compile(name);
    assert!(Path::new(POCL).exists(), "{POCL} is missing: install pocl-opencl-icd");
    let theirs = Command::new(&program)
        .env("OCL_ICD_VENDORS", POCL)
        .env("POCL_CACHE_DIR", programs.directory.path())
        .output()
        .expect("the program can be run");
    assert!(theirs.status.success(), "PoCL: {}", String::from_utf8_lossy(&theirs.stderr));
    let theirs = String::from_utf8_lossy(&theirs.stdout);
    assert!(theirs.lines().count() >= 4, "{theirs}");
    let images = ("WARPSCOPE_SET", "host.images=true");
    for mode in [&[images][..], &[images, ("WARPSCOPE_MODE", "timing"), ("WARPSCOPE_CONFIG", "tiny")]] {
        let ours = programs.run(&program, mode);
        assert!(ours.status.success(), "{}", String::from_utf8_lossy(&ours.stderr));
        let ours = String::from_utf8_lossy(&ours.stdout);
        let differing: Vec<_> = ours.lines().zip(theirs.lines()).filter(|(a, b)| a != b).collect();
        assert!(ours == theirs, "{mode:?}: ours and PoCL's: {differing:#?}");
    }
}

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            same(stringify!($name));
        })*
    };
}

programs!(
    same_atomics,
    same_buffers,
    same_events,
    same_floats,
    same_host,
    same_images,
    same_integers,
    same_kernels,
    same_printf,
    same_programs,
    same_svm,
    same_threads,
);
