//! C programs against the driver, through the system's ICD loader. Each file in `c/` is one area of the API; it checks
//! what the specification says and exits with 0. Needs gcc and the loader (Debian: gcc, ocl-icd-opencl-dev).
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The driver that belongs to this build: it lies beside the test's own executable.
fn driver() -> PathBuf {
    let exe = std::env::current_exe().expect("the test has a path");
    let deps = exe.parent().expect("it lies in a directory");
    let candidates = [deps.join("libwarpscope_opencl.so"), deps.with_file_name("libwarpscope_opencl.so")];
    let newest = candidates.into_iter().filter_map(|p| Some((p.metadata().ok()?.modified().ok()?, p))).max();
    newest.expect("the driver was built with the test").1
}

struct Programs {
    directory: tempfile::TempDir,
}

impl Programs {
    fn new() -> Programs {
        Programs { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn compile(&self, name: &str) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(format!("{name}.c"));
        let out = self.directory.path().join(name);
        let built = Command::new("gcc")
            .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&out)
            .arg(&source)
            .args(["-lOpenCL", "-lpthread", "-lm"])
            .output()
            .expect("gcc can be run");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        out
    }

    /// Runs a program with only our platform visible.
    fn run(&self, program: &Path, environment: &[(&str, &str)]) -> Output {
        Command::new(program)
            .env("OCL_ICD_VENDORS", driver())
            .env("WARPSCOPE_CACHE", self.directory.path().join("cache"))
            .env("WARPSCOPE_MODE", "functional")
            .envs(environment.iter().copied())
            .output()
            .expect("the program can be run")
    }
}

fn passes(name: &str) {
    let programs = Programs::new();
    let result = programs.run(&programs.compile(name), &[]);
    assert!(result.status.success(), "{}\n{}", result.status, String::from_utf8_lossy(&result.stderr));
}

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            passes(stringify!($name));
        })*
    };
}

programs!(queries, handles, buffers, events, svm, threads, fork);
