//! C programs against the driver, through the system's ICD loader. Each file in `c/` is one area of the API; it checks
//! what the specification says and exits with 0. Needs gcc and the loader (Debian: gcc, ocl-icd-opencl-dev).
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The driver, built by this very cargo with this profile: a test does not depend on a cdylib by itself.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "warpscope-icd", "--profile", profile])
            .status()
            .expect("cargo can be run");
        assert!(built.success(), "the driver does not build");
        let exe = std::env::current_exe().expect("the test has a path");
        let deps = exe.parent().expect("it lies in a directory");
        deps.with_file_name("libwarpscope_opencl.so")
    })
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
