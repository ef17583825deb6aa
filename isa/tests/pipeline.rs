//! Every kernel of the workloads goes through decoding and the passes, checked after each pass.
mod common;
use common::{Level, compile};
use std::path::{Path, PathBuf};
use warpscope_isa::frontend::decode;
use warpscope_isa::ir::{Block, Function, Opcode, Ty, verify_function};
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

/// A kernel after the passes; `restrict` stands before the names of its buffers if asked for.
fn optimised(body: &str, restrict: bool) -> Function {
    let word = if restrict { "restrict" } else { "" };
    let source = format!(
        "kernel void k(global float *{word} a, global float *{word} o, int n, float b, int w) {{
             local float q[64]; int t = get_global_id(0), gs = get_global_size(0); {body} }}"
    );
    let m = decode(&compile(&source, Level::O2, &[])).expect("decodes");
    optimise(&m, &m.kernels[0], &PassOptions { verify: true, ..PassOptions::default() }).expect("optimises")
}

/// Loops left of a kernel.
fn loops_left(body: &str) -> usize {
    let f = optimised(body, false);
    let back = |&b: &Block| {
        let targets = f.terminator(b).map(|t| f.inst(t).targets.clone()).unwrap_or_default();
        targets.iter().any(|t| t.block <= b)
    };
    f.block_ids().filter(back).count()
}

/// `m` dependent multiply-adds.
fn steps(m: usize) -> String {
    (0..m).map(|k| format!("s = fma(s, b, {k}.5f) * b;")).collect()
}

/// Which loops the H200's compiler unrolls whole (driver 580.159, PTX of these kernels).
#[test]
fn loops_with_loops_inside_are_unrolled_whole_up_to_a_size() {
    let nest = |trips: usize, m: usize| {
        let inner = "for (int j = 0; j < n; j++) s += a[i * 64 + j] * a[j];";
        format!("float s = 0; for (int i = 0; i < {trips}; i++) {{ {inner} {} o[i * 1024 + t] = s; }}", steps(m))
    };
    let one = loops_left(&nest(8, 0));
    for (trips, m, whole) in [(4, 4, true), (4, 6, false), (3, 16, true), (3, 24, false), (6, 0, false)] {
        assert_eq!(loops_left(&nest(trips, m)) == (one - 1) * trips, whole, "{trips} trips, {m} steps");
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
    let chain = |n: usize, m: usize| {
        around(n, &format!("for (int i = 0; i < {n}; i++) {{ float s = m[i]; {} m[{} - i] = s; }}", steps(m), n - 1))
    };
    let whole = [insertion(16), lu(6), chain(32, 32), chain(64, 8)];
    let left = [insertion(20), lu(7), chain(64, 16)];
    assert_eq!(whole.map(|k| loops_left(&k)), [0; 4]);
    assert!(left.iter().all(|k| loops_left(k) > 0));
}

/// Most loads of one block.
fn most_loads(f: &Function) -> usize {
    let loads = |b| f.block(b).insts.iter().filter(|&&i| matches!(f.inst(i).op, Opcode::Load(_))).count();
    f.block_ids().map(loads).max().unwrap_or(0)
}

/// How often the H200's compiler copies a loop (machine code of these kernels): its assembler adds sixteen copies to
/// the four of the compiler where a body is short and an address moves by a constant or by a 32-bit value.
#[test]
fn short_bodies_with_narrow_strides_get_the_larger_factor() {
    let sum = |index: &str, m: usize| {
        let fma: String = (0..m).map(|k| format!("s = fma(s, b, {k}.5f);")).collect();
        format!("float s = 0; for (int k = 0; k < n; k++) {{ s += a[{index}]; {fma} }} o[t] = s;")
    };
    for (index, m, copies) in [("k", 0, 16), ("k", 8, 16), ("k", 10, 4), ("k * gs + t", 0, 4), ("k * w + t", 0, 16)] {
        assert_eq!(most_loads(&optimised(&sum(index, m), false)), copies, "a[{index}], {m} multiply-adds");
    }
    let checksum = "uint s = 1, r = 0; global uchar *c = (global uchar *)a;
        for (int k = 0; k < n; k++) { s = (s + c[k * w + t]) % 65521; r = (r + s) % 65521; } o[t] = r << 16 | s;";
    assert_eq!(most_loads(&optimised(checksum, false)), 4, "two remainders are long");
}

/// Loads in front of an arm, as the H200's compiler orders them (machine code of these kernels).
#[test]
fn loads_move_in_front_of_arms_that_do_not_write_there() {
    let long: String = (0..24).map(|k| format!("y = native_sin(y * b + {k}.0f);")).collect();
    let around = |arm: &str| format!("float x = a[t], y = x; {arm} float z = a[t + 1024]; o[t] = y + z;");
    let first = |body: &str, restrict: bool| {
        let f = optimised(body, restrict);
        let loads = |&&i: &&_| matches!(f.inst(i).op, Opcode::Load(_)) && f.ty(f.inst(i).args[0]) == Ty::PtrGlobal;
        f.block(Function::ENTRY).insts.iter().filter(loads).count()
    };
    let arm = around(&format!("if (x > 0.5f) {{ {long} }}"));
    assert_eq!((first(&arm, true), first(&arm, false)), (2, 2));
    let nested = around(&format!("if (x > 0.5f) {{ {long} if (y > 0.7f) {{ {long} }} }}"));
    assert_eq!(first(&nested, false), 2);
    let repeats = around(&format!("if (x > 0.5f) for (int i = 0; i < n; i++) {{ {long} }}"));
    assert_eq!(first(&repeats, false), 2);
    let stores = around(&format!("if (x > 0.5f) {{ {long} o[t + 4096] = y; }}"));
    assert_eq!((first(&stores, true), first(&stores, false)), (2, 1), "only restrict tells what is written");
    let local = around(&format!("if (x > 0.5f) {{ {long} q[t & 63] = y; }}")) + "barrier(1); o[t] += q[n];";
    assert_eq!(first(&local, false), 2);
    let leaves = around(&format!("if (x > 0.5f) {{ {long} if (y > 0.25f) return; }}"));
    assert_eq!(first(&leaves, true), 1);
    let other = around(&format!("if (x > 0.5f) {{ {long} }} else {{ {} }}", long.replace("sin", "cos")));
    assert_eq!(first(&other, true), 1);
}

/// Without `restrict` a store may change what the next load reads; with it loads come first (C99 6.7.3.1).
#[test]
fn loads_of_restrict_pointers_pass_stores_of_others() {
    let moved = |restrict: bool| {
        let f = optimised("for (int i = 0; i < n; i++) o[t + i] = a[5] * b;", restrict);
        let back =
            f.block_ids().filter(|&b| f.terminator(b).is_some_and(|t| f.inst(t).targets.iter().any(|t| t.block <= b)));
        back.map(|b| f.block(b).insts.iter().filter(|&&i| matches!(f.inst(i).op, Opcode::Load(_))).count())
            .sum::<usize>()
    };
    assert!(moved(false) > 0, "every trip loads again");
    assert_eq!(moved(true), 0, "the loop loads nothing");
}

/// Tables in a constant bank are read at a bank and an offset (sass sha256, cprog_uniform), not through a pointer that
/// a loop carries on.
#[test]
fn loops_carry_no_pointers_into_constant_banks() {
    let source = "constant int table[4096] = {1, 2, 3};
        kernel void k(global int *o, int n) { int s = 0; for (int i = 0; i < 4096; i += 16) s = s * n + table[i]; o[n] = s; }";
    let m = decode(&compile(source, Level::O2, &[])).expect("decodes");
    let f = optimise(&m, &m.kernels[0], &PassOptions { verify: true, ..PassOptions::default() }).expect("optimises");
    let carried = |b| f.block(b).params.iter().any(|&p| f.ty(p) == Ty::PtrConstant);
    assert!(!f.block_ids().any(carried));
}
