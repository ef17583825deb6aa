//! The driver, and C programs of `c/` built for it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The driver: the one that `WARPSCOPE_ICD` names, else the one that this very cargo builds with this profile.
pub fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        if let Some(path) = std::env::var_os("WARPSCOPE_ICD") {
            return path.into();
        }
        // Both packages, although one is wanted: alone it would have fewer features of shared dependencies, and everything
        // that uses these would be compiled a second time.
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "warpscope", "--package", "warpscope-icd", "--profile", profile])
            .status()
            .expect("cargo can be run");
        assert!(built.success(), "the driver does not build");
        let exe = std::env::current_exe().expect("the test has a path");
        let deps = exe.parent().expect("it lies in a directory");
        deps.with_file_name("libwarpscope_opencl.so")
    })
}

/// C programs in a temporary directory.
pub struct Programs {
    pub directory: tempfile::TempDir,
}

impl Programs {
    pub fn new() -> Programs {
        Programs { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    pub fn compile(&self, name: &str) -> PathBuf {
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
    pub fn run(&self, program: &Path, environment: &[(&str, &str)]) -> Output {
        Command::new(program)
            .env("OCL_ICD_VENDORS", driver())
            .env("WARPSCOPE_CACHE", self.directory.path().join("cache"))
            .env("WARPSCOPE_MODE", "functional")
            .envs(environment.iter().copied())
            .output()
            .expect("the program can be run")
    }
}
