//! Many threads, many commands: right results, the same log for the same order of arrival, nothing left behind.
mod common;

use common::Programs;
use std::process::Command;

#[test]
fn many_threads_get_right_results() {
    let programs = Programs::new();
    let program = programs.compile("stress");
    let result = Command::new(program)
        .args(["8", "500"])
        .env("OCL_ICD_VENDORS", common::driver())
        .env("WARPSCOPE_CACHE", programs.directory.path().join("cache"))
        .env("WARPSCOPE_MODE", "functional")
        .output()
        .expect("the program can be run");
    let (text, errors) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    assert!(result.status.success(), "{errors}");
    // The checks print the errors that they provoke; the last line counts the commands that failed.
    let last = text.lines().last().unwrap_or("");
    let failed: u32 = last.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(failed > 50, "{last}");
}

#[test]
fn one_order_of_arrival_leaves_one_log() {
    let programs = Programs::new();
    let program = programs.compile("stress");
    let log = |name: &str| {
        let out = programs.directory.path().join(name);
        let result = Command::new(&program)
            .args(["8", "150", "single"])
            .env("OCL_ICD_VENDORS", common::driver())
            .env("WARPSCOPE_CACHE", programs.directory.path().join("cache"))
            .env("WARPSCOPE_CONFIG", "tiny")
            .env("WARPSCOPE_OUT", &out)
            .output()
            .expect("the program can be run");
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
        let file = std::fs::read_dir(&out).expect("a folder").next().expect("a file").expect("readable").path();
        std::fs::read_to_string(file).expect("text")
    };
    let first = log("first");
    assert!(first.lines().count() > 500);
    assert!(first == log("second"), "two runs with one order of arrival differ");
}

/// Debian: valgrind. Definite and indirect losses of the driver are errors.
#[test]
fn nothing_is_left_behind() {
    let programs = Programs::new();
    let program = programs.compile("stress");
    let run = |command: &mut Command| {
        command.env("OCL_ICD_VENDORS", common::driver());
        command.env("WARPSCOPE_CACHE", programs.directory.path().join("cache")).env("WARPSCOPE_MODE", "functional");
        let result = command.output().expect("valgrind can be run");
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    };
    // Fills the cache of compiled programs first: the compiler need not be watched.
    run(Command::new(&program).args(["1", "1"]));
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99"]);
    command.arg("--show-leak-kinds=definite,indirect").arg(&program).args(["3", "60"]);
    run(&mut command);
}
