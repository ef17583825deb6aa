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

/// Loops left of a kernel.
fn loops_left(body: &str) -> usize {
    let source = format!(
        "kernel void k(global float *a, global float *o, int n, float b) {{ int t = get_global_id(0); {body} }}"
    );
    let m = decode(&compile(&source, Level::O2, &[])).expect("decodes");
    let f = optimise(&m, &m.kernels[0], &PassOptions { verify: true, ..PassOptions::default() }).expect("optimises");
    let order: Vec<_> = f.block_ids().collect();
    let back = |&b: &_| {
        let targets = f.terminator(b).map(|t| f.inst(t).targets.clone()).unwrap_or_default();
        targets.iter().any(|t| t.block <= b)
    };
    order.iter().filter(|b| back(b)).count()
}

/// Which loops the H200's compiler unrolls whole (driver 580.159, PTX of these kernels).
#[test]
fn loops_with_loops_inside_are_unrolled_whole_up_to_a_size() {
    let steps = |m: usize| (0..m).map(|k| format!("s = fma(s, b, {k}.5f) * b;")).collect::<String>();
    let nest = |trips: usize, m: usize| {
        let inner = "for (int j = 0; j < n; j++) s += a[i * 64 + j] * a[j];";
        format!("float s = 0; for (int i = 0; i < {trips}; i++) {{ {inner} {} o[i * 1024 + t] = s; }}", steps(m))
    };
    let one = loops_left(&nest(8, 0));
    for (trips, steps, whole) in [(4, 4, true), (4, 6, false), (3, 16, true), (3, 24, false), (6, 0, false)] {
        assert_eq!(loops_left(&nest(trips, steps)) == (one - 1) * trips, whole, "{trips} trips, {steps} steps");
    }
}

/// The same of loops that index private memory: it becomes values where they are.
#[test]
fn loops_over_private_arrays_are_unrolled_whole_up_to_a_size() {
    let around = |n: usize, body: &str| {
        format!(
            "float m[{n}]; for (int i = 0; i < {n}; i++) m[i] = a[i * 1024 + t]; {body}
             for (int i = 0; i < {n}; i++) o[i * 1024 + t] = m[i];"
        )
    };
    let insertion = |n: usize| {
        let inner =
            format!("for (int j = i + 1; j < {n}; j++) {{ float x = m[j]; if (x < v) {{ m[j] = v; v = x; }} }}");
        around(n, &format!("for (int i = 0; i < {n}; i++) {{ float v = m[i]; {inner} m[i] = v; }}"))
    };
    let lu = |n: usize| {
        let row = format!("for (int j = k + 1; j < {n}; j++) m[i * {n} + j] -= f * m[k * {n} + j];");
        let rows = format!(
            "for (int i = k + 1; i < {n}; i++) {{ float f = m[i * {n} + k] / m[k * {n} + k]; m[i * {n} + k] = f; {row} }}"
        );
        around(n * n, &format!("for (int k = 0; k < {n}; k++) {rows}"))
    };
    let chain = |n: usize, steps: usize| {
        let steps: String = (0..steps).map(|k| format!("s = fma(s, b, {k}.5f) * b;")).collect();
        around(n, &format!("for (int i = 0; i < {n}; i++) {{ float s = m[i]; {steps} m[{} - i] = s; }}", n - 1))
    };
    let whole = [insertion(16), lu(6), chain(32, 32), chain(64, 8)];
    let left = [insertion(20), lu(7), chain(64, 16)];
    assert_eq!(whole.map(|k| loops_left(&k)), [0; 4]);
    assert!(left.iter().all(|k| loops_left(k) > 0));
}
