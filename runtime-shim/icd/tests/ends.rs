//! What is left of a program that ends abruptly, and what does not disturb one that goes on.
mod common;

use common::Programs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;

fn run(programs: &Programs, how: &str, out: &Path) -> Output {
    let program = programs.compile("ends");
    let mut command = Command::new(program);
    command.arg(how).env("OCL_ICD_VENDORS", common::driver()).env("WARPSCOPE_OUT", out);
    command.env("WARPSCOPE_CACHE", programs.directory.path().join("cache")).env("WARPSCOPE_MODE", "functional");
    command.output().expect("the program can be run")
}

/// The kernels in the logs of a directory; every line is whole JSON.
fn launches(out: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(out).expect("a directory") {
        let text = std::fs::read_to_string(entry.expect("readable").path()).expect("text");
        assert!(text.ends_with('\n'), "{text}");
        for line in text.lines() {
            assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
            count += usize::from(line.contains("CL_COMMAND_NDRANGE_KERNEL"));
        }
    }
    count
}

#[test]
fn a_kill_loses_at_most_the_command_in_flight() {
    let programs = Programs::new();
    let out = programs.directory.path().join("out");
    let result = run(&programs, "kill", &out);
    assert_eq!(result.status.signal(), Some(SIGKILL), "{}", String::from_utf8_lossy(&result.stderr));
    assert!((3..=4).contains(&launches(&out)));
}

#[test]
fn an_abort_in_a_callback_ends_the_program_and_keeps_the_log() {
    let programs = Programs::new();
    let out = programs.directory.path().join("out");
    let result = run(&programs, "abort", &out);
    assert_eq!(result.status.signal(), Some(SIGABRT), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(launches(&out), 4);
}

#[test]
fn an_exec_keeps_what_was_logged_before() {
    let programs = Programs::new();
    let out = programs.directory.path().join("out");
    let result = run(&programs, "exec", &out);
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(launches(&out), 6);
}

#[test]
fn signals_stay_with_the_programs_threads() {
    let programs = Programs::new();
    let out = programs.directory.path().join("out");
    let result = run(&programs, "signals", &out);
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
}

#[test]
fn a_forked_child_gets_errors_and_does_not_hang() {
    let programs = Programs::new();
    let out = programs.directory.path().join("out");
    let result = run(&programs, "fork", &out);
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(launches(&out), 5);
}
