//! Runs that are cut short: by Ctrl-C, by a request to terminate, by a disk that is full. Each ends with a sentence and a
//! code, and what had been written is whole.
mod common;

use common::{driver, repository};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const WARPSCOPE: &str = env!("CARGO_BIN_EXE_warpscope");

/// A manifest of `count` small cases and then one that takes minutes.
fn manifest(folder: &Path, count: usize) -> String {
    let source = folder.join("k.cl");
    let text = "kernel void k(global uint *x, uint n) { uint v = get_global_id(0);\n\
                for (uint i = 0; i < n; i++) v = v * 1664525u + 1013904223u; x[get_global_id(0)] = v; }\n";
    std::fs::write(&source, text).expect("writable");
    let case = |i: usize, n: u32| {
        format!(
            "[[case]]\nname = \"case{i}\"\nsource = \"k.cl\"\nkernel = \"k\"\nglobal = [256]\nlocal = [64]\nargs = [\n\
             {{ buffer = \"u32\", count = 256, init = \"zeros\", role = \"inout\", expected = \"x{i}.bin\" }},\n\
             {{ scalar = \"u32\", value = {n} }},\n]\n"
        )
    };
    // What one round leaves: 1664525 i + 1013904223.
    let words = (0..256u32).flat_map(|i| i.wrapping_mul(1664525).wrapping_add(1013904223).to_le_bytes());
    let words: Vec<u8> = words.collect();
    let mut cases = String::new();
    for i in 0..count {
        std::fs::write(folder.join(format!("x{i}.bin")), &words).expect("writable");
        cases += &case(i, 1);
    }
    cases += &case(count, u32::MAX);
    let path = folder.join("suite.toml");
    std::fs::write(&path, cases).expect("writable");
    path.to_str().expect("plain text").to_string()
}

fn start(command: &mut Command) -> Child {
    command.env_remove("WARPSCOPE_OUT").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("warpscope can be run")
}

/// Every line of a file of records is whole; how many there are.
fn whole_lines(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).expect("records");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    for line in text.lines() {
        let _: serde_json::Value = serde_json::from_str(line).expect("whole JSON");
    }
    text.lines().count()
}

fn send(child: &Child, signal: i32) {
    // SAFETY: a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

#[test]
fn signals_end_a_suite_with_what_was_finished() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (suite, out) = (manifest(dir.path(), 3), dir.path().join("out"));
        let mut command = Command::new(WARPSCOPE);
        command
            .args(["suite", &suite, "--config", "tiny", "--jobs", "1", "--limit", "1000000000000", "--out"])
            .arg(&out);
        let mut child = start(&mut command);
        let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut said = String::new();
        // The third case is done: the endless one runs.
        while !said.contains("3/4") {
            assert!(errors.read_line(&mut said).expect("text") > 0, "{said}");
        }
        send(&child, signal);
        while errors.read_line(&mut said).expect("text") > 0 {}
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(3), "{said}");
        assert!(said.contains("interrupted; 3 cases were finished and kept in"), "{said}");
        assert_eq!(whole_lines(&out.join("records.jsonl")), 3);
        assert!(out.join("report.html").exists() && out.join("launches.csv").exists());
    }
}

#[test]
fn an_interrupted_kernel_says_so() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    manifest(dir.path(), 0);
    let source = dir.path().join("k.cl");
    let mut command = Command::new(WARPSCOPE);
    command.arg("kernel").arg(&source).args([
        "--config",
        "tiny",
        "-g",
        "256",
        "-a",
        "u32[256]",
        "-a",
        "u32=4294967295",
    ]);
    command.args(["--limit", "1000000000000"]);
    let mut child = start(&mut command);
    // Once compiled it runs for minutes; an interrupt before that ends it as well.
    std::thread::sleep(std::time::Duration::from_secs(3));
    send(&child, libc::SIGINT);
    let status = child.wait().expect("it ends");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("it is piped"), &mut said).expect("text");
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("interrupted"), "{said}");
}

/// A limit on the size of files stands for a disk that fills up: writes fail in the middle of a line.
fn limited(blocks: u32, command: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    // Blocks of 512 bytes. Without the signal a write beyond the limit is an error.
    shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("sh").args(command);
    shell.env("WARPSCOPE_ICD", driver()).env("WARPSCOPE_CACHE", "off").env_remove("WARPSCOPE_OUT");
    shell.output().expect("sh can be run")
}

#[test]
fn a_disk_that_fills_up_leaves_whole_records() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let full = repository("workloads/full.toml");
    let out = dir.path().join("out");
    let (full, out) = (full.to_str().expect("plain text"), out.to_str().expect("plain text"));
    let line = [WARPSCOPE, "suite", full, "--config", "tiny", "--filter", "*_s", "--mode", "functional", "--out", out];
    let output = limited(16, &line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("records.jsonl: cannot be written") && said.contains("File too large"), "{said}");
    let lines = whole_lines(&Path::new(out).join("records.jsonl"));
    assert!((1..20).contains(&lines), "{lines}");
}

/// The program's results do not depend on whether its record can be kept.
#[test]
fn a_program_ends_well_where_its_record_does_not_fit() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/launches.c");
    let program = dir.path().join("launches");
    let built = Command::new("gcc").arg("-o").arg(&program).arg(&source).arg("-lOpenCL").status();
    assert!(built.expect("gcc can be run").success());
    let (out, capture) = (dir.path().join("out"), dir.path().join("capture"));
    let [program, out, capture] = [&program, &out, &capture].map(|p| p.to_str().expect("plain text"));
    let line = [WARPSCOPE, "run", "--config", "tiny", "--out", out, "--capture", capture, "--", program];
    let output = limited(8, &line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "263\n", "{said}");
    assert!(said.contains("the record of commands has gaps") && said.contains("is not captured"), "{said}");
    // The report on what there is does not fit either: that is this command's failure, not the program's.
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
}

/// A request to end reaches the program; the report comes all the same, and the code is the program's.
#[test]
fn a_program_is_ended_through_us() {
    let mut command = Command::new(WARPSCOPE);
    command.args(["run", "--config", "tiny", "--", "sh", "-c", "echo ready; exec sleep 60"]);
    command.env("WARPSCOPE_ICD", driver());
    let mut child = start(&mut command);
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    assert_eq!(line, "ready\n");
    send(&child, libc::SIGTERM);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(128 + libc::SIGTERM));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("gave the device no commands"));
}
