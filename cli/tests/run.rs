//! `warpscope run` with a C program: output and exit codes pass through, the report goes to standard error. Needs gcc and
//! the ICD loader's development files.
mod common;

use common::driver;
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpscope"))
        .arg("run")
        .args(arguments)
        .env("WARPSCOPE_ICD", driver())
        .env("WARPSCOPE_CACHE", "off")
        .output()
        .expect("warpscope can be run")
}

#[test]
fn a_program_is_reported_on() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-shim/icd/tests/c/kernels.c");
    let program = directory.path().join("kernels");
    let built = Command::new("gcc").arg("-o").arg(&program).arg(&source).args(["-lOpenCL", "-lm"]).status();
    assert!(built.expect("gcc can be run").success());
    let out = directory.path().join("records");
    let (program, out) = (program.to_str().expect("plain text"), out.to_str().expect("plain text"));
    let result = run(&["--config", "tiny", "--out", out, "--", program]);
    let report = String::from_utf8_lossy(&result.stderr);
    assert_eq!(result.status.code(), Some(0), "{report}");
    assert!(!String::from_utf8_lossy(&result.stdout).contains("timeline of process"));
    for expected in ["saxpy", "read_buffer", "timeline of process", "longest launch of", "FAILED: command"] {
        assert!(report.contains(expected), "{expected} is missing:\n{report}");
    }
    // A second run would mix its log into the first one's.
    let again = run(&["--out", out, "--", program]);
    assert_eq!(again.status.code(), Some(2), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn exit_codes_pass_through() {
    let code = |program: &[&str]| run(&[&["--"], program].concat()).status.code();
    assert_eq!(code(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["sh", "-c", "kill -9 $$"]), Some(137));
    assert_eq!(code(&["/no/such/program"]), Some(127));
    assert_eq!(code(&["/etc/passwd"]), Some(126));
    let shown = run(&["--", "echo", "--version", "-x"]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), "--version -x\n");
}
