//! C programs against the driver, through the system's ICD loader. Each file in `c/` is one area of the API; it checks
//! what the specification says and exits with 0. Needs gcc and the loader (Debian: gcc, ocl-icd-opencl-dev).
mod common;

use common::{Programs, driver};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn passes(name: &str, environment: &[(&str, &str)]) {
    let programs = Programs::new();
    let result = programs.run(&programs.compile(name), environment);
    assert!(result.status.success(), "{}\n{}", result.status, String::from_utf8_lossy(&result.stderr));
}

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            passes(stringify!($name), &[]);
        })*
    };
}

programs!(queries, handles, entries, buffers, events, svm, threads, fork, errors, kernels, programs, refusals);

/// Everything whose host side there is, also where kernels cannot use it yet.
const ALL_OBJECTS: (&str, &str) = ("WARPSCOPE_SET", "host.images=true;host.pipes=true;host.device_queues=true");

#[test]
fn images() {
    passes("images", &[ALL_OBJECTS]);
}

#[test]
fn objects() {
    passes("objects", &[ALL_OBJECTS]);
}

#[test]
fn children() {
    passes("children", &[]);
    passes("children", &[("ENDS_EARLY", "1"), ("WARPSCOPE_CLANG", "/bin/false")]);
}

#[test]
fn queries_of_all_objects() {
    passes("queries", &[ALL_OBJECTS]);
}

/// `errors.tsv` lists the errors of every function in the OpenCL 2.2 API specification but CL_OUT_OF_RESOURCES and
/// CL_OUT_OF_HOST_MEMORY, and some of OpenCL 3.0: the programs provoke each one, unless the list says why it cannot occur.
#[test]
fn every_error_is_provoked() {
    let programs = Programs::new();
    let runs: &[(&str, &[(&str, &str)])] = &[
        ("queries", &[]),
        ("handles", &[]),
        ("buffers", &[]),
        ("events", &[]),
        ("svm", &[]),
        ("errors", &[]),
        ("errors", &[ALL_OBJECTS]),
        ("kernels", &[]),
        ("programs", &[]),
        ("images", &[ALL_OBJECTS]),
        ("objects", &[ALL_OBJECTS]),
        ("refusals", &[]),
        ("refusals", &[ALL_OBJECTS]),
        ("refusals", &[("WITHOUT_TOOLS", "1"), ("PATH", ""), ("WARPSCOPE_CLANG", "/nowhere")]),
    ];
    let mut provoked = BTreeSet::new();
    for (name, environment) in runs {
        let result = programs.run(&programs.compile(name), environment);
        assert!(result.status.success(), "{name}: {}", String::from_utf8_lossy(&result.stderr));
        provoked.extend(String::from_utf8_lossy(&result.stdout).lines().map(str::to_string));
    }
    let list =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors.tsv")).expect("the list");
    let mut wrong = Vec::new();
    for row in list.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let possible = columns.get(2).is_none_or(|why| why.is_empty());
        if provoked.contains(&format!("{} {}", columns[0], columns[1])) != possible {
            wrong.push(row);
        }
    }
    assert!(wrong.is_empty(), "not provoked, or provoked though it cannot occur: {wrong:#?}");
}

#[test]
fn kernels_give_the_same_results_on_every_machine_with_timing() {
    let programs = Programs::new();
    let program = programs.compile("kernels");
    for machine in ["tiny", "wave64", "nvidia-h200"] {
        let result = programs.run(&program, &[("WARPSCOPE_MODE", "timing"), ("WARPSCOPE_CONFIG", machine)]);
        assert!(result.status.success(), "{machine}: {}", String::from_utf8_lossy(&result.stderr));
    }
}

/// The log of commands depends on what the program does, never on how threads happen to run.
#[test]
fn two_runs_leave_the_same_log() {
    let programs = Programs::new();
    for name in ["events", "kernels"] {
        let program = programs.compile(name);
        let log = |run: &str| {
            let out = programs.directory.path().join(format!("{name}-{run}"));
            let result = programs.run(&program, &[("WARPSCOPE_OUT", out.to_str().expect("plain text"))]);
            assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
            let file = std::fs::read_dir(&out).expect("a folder").next().expect("a file").expect("readable").path();
            // A diagnosis names host addresses, which differ from run to run.
            let text = std::fs::read_to_string(file).expect("text");
            text.lines().filter(|l| !l.contains("\"error\"")).map(str::to_string).collect::<Vec<_>>()
        };
        let first = log("first");
        assert!(first.len() > 10, "{first:#?}");
        assert_eq!(first, log("second"), "{name}");
    }
}

/// Debian's python3-pyopencl and python3-numpy.
#[test]
fn pyopencl_works_unchanged() {
    let programs = Programs::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python.py");
    let result = Command::new("/usr/bin/python3")
        .arg(script)
        .env("OCL_ICD_VENDORS", driver())
        .env("XDG_CACHE_HOME", programs.directory.path())
        .env("WARPSCOPE_MODE", "functional")
        .output()
        .expect("python3 can be run");
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(String::from_utf8_lossy(&result.stdout), "ok\n");
}

#[test]
fn clinfo_prints_no_error() {
    let programs = Programs::new();
    for environment in [&[][..], &[ALL_OBJECTS]] {
        let result = programs.run(Path::new("clinfo"), environment);
        let text = String::from_utf8_lossy(&result.stdout).into_owned() + &String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{text}");
        assert!(text.contains("Warpscope"), "{text}");
        let bad: Vec<&str> = text.lines().filter(|l| l.contains("error") || l.contains("BUILD_LOG")).collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }
}
