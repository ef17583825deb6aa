//! The program under test, and small files for it.
#![allow(dead_code)]

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The program without the caller's settings.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("warpscope").unwrap();
    for variable in ["WARPSCOPE_CONFIG", "WARPSCOPE_SET", "WARPSCOPE_MODE", "WARPSCOPE_OUT"] {
        command.env_remove(variable);
    }
    command.args(arguments);
    command
}

/// Runs it.
pub fn warpscope(arguments: &[&str]) -> Assert {
    command(arguments).assert()
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Compiles OpenCL C to a module in `folder`, through the tested program's own compiler.
pub fn module(folder: &Path, source: &str) -> PathBuf {
    use warpscope_compiler::{BuildOptions, Compiler, Request, Standard};
    let compiler = Compiler::find().expect("clang-15, llvm-15 and llvm-spirv-15 are needed for this test");
    let options = BuildOptions::new(Standard::Cl30);
    let path = folder.join("k.spv");
    std::fs::write(&path, compiler.compile(&Request::new(source, "k.cl", &options)).unwrap().spirv).unwrap();
    path
}

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
        let built = std::process::Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "warpscope", "--package", "warpscope-icd", "--profile", profile])
            .status()
            .expect("cargo can be run");
        assert!(built.success(), "the driver does not build");
        Path::new(env!("CARGO_BIN_EXE_warpscope")).with_file_name("libwarpscope_opencl.so")
    })
}
