//! What kernels print: compared with PoCL (Debian: pocl-opencl-icd), text by text.
mod common;

use common::Programs;
use std::process::Command;

#[test]
fn texts_are_those_of_another_implementation() {
    let programs = Programs::new();
    let program = programs.compile("printf");
    let pocl = Command::new(&program)
        .arg("unbuffered")
        .env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd")
        .env("POCL_CACHE_DIR", programs.directory.path().join("pocl"))
        .output()
        .expect("the program can be run");
    assert!(pocl.status.success(), "{}", String::from_utf8_lossy(&pocl.stderr));
    let expected = String::from_utf8_lossy(&pocl.stdout);
    assert!(expected.lines().count() > 20, "{expected}");
    for mode in ["timing", "functional"] {
        // A locale with a decimal comma must change nothing; the program's own buffer must not spoil the order.
        let ours = programs.run(&program, &[("WARPSCOPE_MODE", mode), ("WARPSCOPE_CONFIG", "tiny")]);
        assert!(ours.status.success(), "{}", String::from_utf8_lossy(&ours.stderr));
        assert_eq!(String::from_utf8_lossy(&ours.stdout), expected, "{mode}");
    }
}

#[test]
fn a_full_buffer_is_told_to_the_kernel() {
    let programs = Programs::new();
    let program = programs.compile("printf_full");
    for mode in ["timing", "functional"] {
        let environment = [("WARPSCOPE_MODE", mode), ("WARPSCOPE_SET", "host.printf_buffer=4096")];
        let run = || programs.run(&program, &environment);
        let first = run();
        assert!(first.status.success(), "{mode}: {}", String::from_utf8_lossy(&first.stderr));
        let text = String::from_utf8_lossy(&first.stdout).into_owned();
        // Two launches with 128 lines each and one of the program's own behind them.
        assert_eq!(text.lines().count(), 2 * (128 + 1), "{mode}");
        assert_eq!(text.lines().nth(128), Some("printed 128"));
        assert_eq!(text, String::from_utf8_lossy(&run().stdout), "{mode}: the order is the same in every run");
    }
}
