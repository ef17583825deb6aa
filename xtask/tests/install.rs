//! Installs into an empty directory; what is installed works from there.
use std::path::Path;
use std::process::Command;

#[test]
fn what_is_installed_finds_its_library_and_runs() {
    let prefix = tempfile::tempdir().expect("a temporary directory");
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let installed = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["install", "--profile", profile, "--prefix"])
        .arg(prefix.path())
        .output()
        .expect("the task can be run");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let prefix = prefix.path().canonicalize().expect("it is there");
    let library = prefix.join("lib/warpscope/libwarpscope_opencl.so");
    let program = |arguments: &[&str]| {
        let mut command = Command::new(prefix.join("bin/warpscope"));
        command.args(arguments).env_remove("WARPSCOPE_ICD");
        let output = command.output().expect("the installed program can be run");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(Path::new(program(&["icd", "path"]).trim()), library);
    assert!(program(&["run", "--", "clinfo", "-l"]).contains("Warpscope"));
    let machine = prefix.join("share/warpscope/machines/tiny.toml");
    program(&["config", "check", machine.to_str().expect("plain text")]);
    // The .icd file, as any OpenCL program would meet it.
    let vendors = prefix.join("etc/OpenCL/vendors");
    let listed = Command::new("clinfo").arg("-l").env("OCL_ICD_VENDORS", &vendors).output().expect("clinfo can be run");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("Warpscope"));
    // `icd install` into a directory of one's own.
    let own = prefix.join("own");
    program(&["icd", "install", "--vendors", own.to_str().expect("plain text")]);
    let text = std::fs::read_to_string(own.join("warpscope.icd")).expect("a file");
    assert_eq!(Path::new(text.trim()), library);
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    for arguments in [&["install"][..], &["uninstall"], &["install", "--prefix"], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("it can be run");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("usage:"));
    }
}
