//! Every kernel of the workloads goes through decoding and the passes, checked after each pass.
mod common;
use common::{Level, compile};
use std::path::{Path, PathBuf};
use warpscope_isa::frontend::decode;
use warpscope_isa::ir::{Opcode, verify_function};
use warpscope_isa::passes::{PassOptions, optimise};

fn files(dir: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the workloads are in the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

fn workloads(extension: &str) -> Vec<PathBuf> {
    let mut list = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads"), extension, &mut list);
    list.sort();
    list
}

fn check(name: &str, spv: &[u8]) {
    let m = decode(spv).unwrap_or_else(|e| panic!("{name}: {e}"));
    for k in &m.kernels {
        let options = PassOptions { verify: true, aggregate: Some(32), ..PassOptions::default() };
        let f = optimise(&m, k, &options).unwrap_or_else(|e| panic!("{name}, {}: {e}", k.name));
        assert!(f.insts.iter().all(|d| !matches!(d.op, Opcode::Call(_))) || verify_function(&f).is_ok());
    }
}

#[test]
fn committed_binaries() {
    let list = workloads("spv");
    assert!(list.len() >= 90, "{} modules", list.len());
    for path in list {
        check(&path.display().to_string(), &std::fs::read(&path).expect("readable"));
    }
}

#[test]
fn sources_without_optimisation() {
    let list = workloads("cl");
    assert!(list.len() >= 70, "{} sources", list.len());
    for path in list {
        let source = std::fs::read_to_string(&path).expect("readable");
        let dir = format!("-I{}", path.parent().expect("a folder").display());
        check(&path.display().to_string(), &compile(&source, Level::O0, &[&dir]));
    }
}
