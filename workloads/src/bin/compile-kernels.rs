//! Compiles every kernel of the given manifests to the SPIR-V module kept beside its source (`compile.sh` calls it).
//!
//! With `--check` nothing is written: the committed modules are compared with what the compiler makes now.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpscope_workloads::compile::{compile, module_path};
use warpscope_workloads::manifest::Manifest;

fn main() -> ExitCode {
    let (flags, manifests): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let check = flags.iter().any(|f| f == "--check");
    if manifests.is_empty() || flags.iter().any(|f| f != "--check") {
        eprintln!("usage: compile-kernels [--check] MANIFEST.toml...");
        return ExitCode::from(2);
    }
    match run(&manifests, check) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(bad) => {
            eprintln!("{bad} modules are out of date or failed to compile");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(manifests: &[String], check: bool) -> Result<usize, String> {
    let mut programs: BTreeMap<PathBuf, (PathBuf, String)> = BTreeMap::new();
    for manifest in manifests {
        for case in Manifest::read(Path::new(manifest)).map_err(|e| e.to_string())?.cases {
            let module = module_path(&case.source, &case.options);
            let program = (case.source, case.options);
            if let Some(other) = programs.insert(module.clone(), program.clone())
                && other != program
            {
                let why = format!("{}: options `{}` and `{}` share this name", module.display(), other.1, program.1);
                return Err(why);
            }
        }
    }
    let mut bad = 0;
    for (module, (source, options)) in &programs {
        let state = match compile(source, options) {
            Err(why) => {
                bad += 1;
                why
            }
            Ok(code) if check => {
                let same = std::fs::read(module).is_ok_and(|old| old == code);
                bad += usize::from(!same);
                if same { "up to date" } else { "out of date" }.to_string()
            }
            Ok(code) => {
                std::fs::write(module, &code).map_err(|e| format!("{}: {e}", module.display()))?;
                format!("{} bytes", code.len())
            }
        };
        println!("{}: {state}", module.display());
    }
    Ok(bad)
}
