//! Tasks of the repository. `cargo xtask install --prefix DIR` builds the program and the OpenCL library and copies them,
//! an `.icd` file and the machines to DIR.
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask install --prefix DIR [--profile PROFILE]

Installs
  DIR/bin/warpscope
  DIR/lib/warpscope/libwarpscope_opencl.so
  DIR/etc/OpenCL/vendors/warpscope.icd       names the library; loaders read it with OCL_ICD_VENDORS, or
                                             `warpscope icd install` puts one where they look
  DIR/share/warpscope/machines/*.toml        the machines, to start one's own from
";

/// What to do.
struct Install {
    prefix: PathBuf,
    profile: String,
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match parse(&arguments) {
        Ok(Some(install)) => install.run(),
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("error: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The command line; none: help is wanted.
fn parse(arguments: &[OsString]) -> Result<Option<Install>, String> {
    let mut rest = arguments.iter();
    match rest.next().and_then(|a| a.to_str()) {
        Some("install") => {}
        Some("help" | "--help" | "-h") => return Ok(None),
        Some(other) => return Err(format!("there is no task `{other}`")),
        None => return Err("a task is missing".into()),
    }
    let (mut prefix, mut profile) = (None, String::from("release"));
    while let Some(flag) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{} takes a value", flag.display()));
        match flag.to_str() {
            Some("--prefix") => prefix = Some(PathBuf::from(value()?)),
            Some("--profile") => profile = value()?.to_string_lossy().into_owned(),
            Some("--help" | "-h") => return Ok(None),
            _ => return Err(format!("`{}` is not known", flag.display())),
        }
    }
    let prefix = prefix.ok_or("--prefix DIR is missing")?;
    Ok(Some(Install { prefix, profile }))
}

impl Install {
    fn run(&self) -> Result<(), String> {
        let built = self.build()?;
        std::fs::create_dir_all(&self.prefix).map_err(|e| format!("{}: {e}", self.prefix.display()))?;
        let prefix = self.prefix.canonicalize().map_err(|e| format!("{}: {e}", self.prefix.display()))?;
        let library = prefix.join("lib/warpscope/libwarpscope_opencl.so");
        copy(&built.join("warpscope"), &prefix.join("bin/warpscope"))?;
        copy(&built.join("libwarpscope_opencl.so"), &library)?;
        let text = format!("{}\n", library.display());
        place(&prefix.join("etc/OpenCL/vendors/warpscope.icd"), |to| std::fs::write(to, &text))?;
        let machines = root().join("configs/machines");
        let listed = std::fs::read_dir(&machines).map_err(|e| format!("{}: {e}", machines.display()))?;
        for entry in listed {
            let path = entry.map_err(|e| format!("{}: {e}", machines.display()))?.path();
            if let (Some(name), Some("toml")) = (path.file_name(), path.extension().and_then(|e| e.to_str())) {
                copy(&path, &prefix.join("share/warpscope/machines").join(name))?;
            }
        }
        println!("installed in {}", prefix.display());
        Ok(())
    }

    /// Builds both; gives the directory where they are.
    fn build(&self) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .current_dir(root())
            .args([
                "build",
                "--quiet",
                "--package",
                "warpscope",
                "--package",
                "warpscope-icd",
                "--profile",
                &self.profile,
            ])
            .status()
            .map_err(|e| format!("cargo cannot be run: {e}"))?;
        if !status.success() {
            return Err("the build failed".into());
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        // Cargo's own name for the directory of the profile `dev`.
        Ok(target.join(if self.profile == "dev" { "debug" } else { &self.profile }))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    place(to, |to| std::fs::copy(from, to).map(|_| ())).map_err(|e| format!("{}: {e}", from.display()))
}

/// Makes a file whole or not at all: an older one may be in use.
fn place(to: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", to.display());
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let partial = to.with_extension("new");
    make(&partial).and_then(|()| std::fs::rename(&partial, to)).map_err(failed)
}
