//! Forms that the H200's compiler (driver 580.159) makes of these statements, counted in its machine code.
mod common;
use common::{Level, compile};
use warpscope_exec::ops::{Op, compares, minmax, modifiers};
use warpscope_exec::program::{MachineOp, flags};
use warpscope_isa::frontend::decode;

/// The machine program's operations of a kernel with this body, without those that only take time.
fn operations(body: &str) -> Vec<MachineOp> {
    let source = format!(
        "kernel void k(global float *f, global int *a, global uint *u, global uchar4 *c, int n, int m) {{ \
         int g = get_global_id(0), l = get_local_id(0); {body} }}"
    );
    let module = decode(&compile(&source, Level::O2, &[])).expect("decodes");
    let machine = warpscope_configs::load("nvidia-h200", &[]).expect("the preset loads").spec;
    let program = warpscope_isa::compile(&module, 0, &machine, 32).expect("compiles");
    program.ops.into_iter().filter(|o| o.flags & flags::GHOST == 0).collect()
}

fn count(ops: &[MachineOp], test: impl Fn(&MachineOp) -> bool) -> usize {
    ops.iter().filter(|o| test(o)).count()
}

#[test]
fn sums_go_into_minima() {
    // sass erode, srad: VIADDMNMX R4, R13, 0xffffffff, RZ, !PT; VIMNMX3 R19, R20, R19, R21, PT
    let ops = operations("a[g] = max(a[g + 64] - 1, 0);");
    assert_eq!(count(&ops, |o| o.op == Op::IAddMnMx && o.imm == minmax::MAX), 1);
    assert_eq!(count(&ops, |o| o.op == Op::SMax32), 0);
    let ops = operations("a[g] = min(min(a[g * n], a[g * m]), a[n]);");
    assert_eq!(count(&ops, |o| o.op == Op::IMnMx3 && o.imm == 0), 1);
}

#[test]
fn bits_are_tested_at_once() {
    // sass bitonic_global: LOP3.LUT P0, RZ, R7, UR7, RZ, 0xc0; ISETP.GT.U32.XOR P0, PT, R0, R9, !P0
    let ops =
        operations("uint x = u[g * n], y = u[g * m]; if ((x > y) == ((g & n) == 0)) { u[g * n] = y; u[g * m] = x; }");
    assert_eq!(count(&ops, |o| o.op == Op::Test32), 1);
    assert_eq!(count(&ops, |o| o.op == Op::ICmp32 && o.imm2 & compares::XOR != 0), 1);
    assert_eq!(count(&ops, |o| o.op == Op::PredToReg), 0);
    // sass reduce_interleaved: the lowest bit alone is compared.
    assert_eq!(count(&operations("if ((l & 1) == 0) a[l] = n;"), |o| o.op == Op::Test32), 0);
}

#[test]
fn signs_and_ranges_are_modifiers() {
    // sass maxabs: FMNMX R3, R4, |R3|, !PT; srad: FMUL.SAT
    let ops = operations("f[g] = fmax(f[g * n], fabs(f[g * m]));");
    assert_eq!(count(&ops, |o| o.op == Op::FMaxF32 && o.imm & (modifiers::ABS_A | modifiers::ABS_B) != 0), 1);
    assert_eq!(count(&ops, |o| o.op == Op::FAbsF32), 0);
    let ops = operations("f[g] = clamp(f[g * n] * f[g * m], 0.0f, 1.0f);");
    assert_eq!(count(&ops, |o| o.op == Op::FMulF32 && o.imm & modifiers::SATURATE != 0), 1);
    assert_eq!(count(&ops, |o| matches!(o.op, Op::FMaxF32 | Op::FMinF32)), 0);
}

#[test]
fn bytes_come_in_words() {
    // sass gray, gaussian: LDG.E, then PRMT for each byte; three PRMT before a STG.E.
    let ops = operations("uchar4 v = c[g]; a[g] = v.x * 3 + v.y * 5 + v.z * n + v.w * m;");
    assert_eq!(count(&ops, |o| o.op == Op::Bfe32U), 4);
    let ops = operations("int x = a[g]; c[g] = (uchar4)((uchar)(x >> 1), (uchar)(x >> 2), (uchar)(x >> 3), (uchar)x);");
    assert_eq!(count(&ops, |o| o.op == Op::Lea32 && o.imm == 8), 3);
    // Only copied, they stay where they are.
    assert_eq!(count(&operations("c[g] = c[g + n];"), |o| o.op == Op::Bfe32U), 0);
}

#[test]
fn choices_in_loops_are_guarded() {
    // sass binsearch: @!P0 VIADD R7, R9, 0x1
    let ops = operations(
        "uint lo = 0, hi = n; while (lo < hi) { uint mid = lo + (hi - lo) / 2; \
         if (a[mid] < m) lo = mid + 1; else hi = mid; } u[g] = lo;",
    );
    assert_eq!(count(&ops, |o| o.op == Op::IAdd32 && o.guard.get().is_some()), 1);
    assert_eq!(count(&ops, |o| o.op == Op::Sel32), 1);
}
