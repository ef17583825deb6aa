//! The front end on what the toolchain emits, and on garbage.
mod common;
use common::{Level, assemble, compile};
use warpscope_exec::program::ParameterKind;
use warpscope_isa::frontend::{DecodeOptions, decode, decode_with};
use warpscope_isa::ir::{Opcode, Ty, UnrollHint};

const MIXED: &str = r#"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { char c; int i; float4 v; short s[3]; } S;
typedef union { float f; struct { char a; int b; } t; char raw[8]; } U;
__constant int table[4] = {1, 2, 3, 4};
int helper(int x, S *s) { s->i += x; return s->s[x & 1]; }
__kernel void mixed(__global int *out, S by_value, __local float *tmp, U u, long n, char3 c3, double d, half8 h8) {
    S s = by_value;
    size_t g = get_global_id(0);
    int r = helper((int)n, &s);
    switch (n) { case 1: r += 5; break; case 0x100000000L: r -= 7; break; default: r ^= 3; }
    for (int i = 0; i < 3; i++) r += s.s[i] * table[(i + r) & 3];
    __global int *q = out + g;
    generic int *gp = (n & 1) ? (generic int *)q : (generic int *)&s.i;
    *gp += r;
    tmp[get_local_id(0)] = by_value.v.wzyx.s1 + u.f + u.raw[3] + c3.y + (float)d + (float)h8.s5;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(out, convert_int_sat_rte(tmp[0]) + r + any(isnan(s.v)) + (int)dot(s.v, s.v) + popcount(r));
    vstore4(convert_int4(fmin(s.v, 3.0f)), g, out);
    out[g + 1] += as_int(as_short2(r).yx) + (int)as_long((int2)(r, 1)) + atomic_cmpxchg(out + 2, 1, 2);
}
"#;

#[test]
fn both_levels_decode_and_verify() {
    for level in [Level::O0, Level::O2] {
        let m = decode(&compile(MIXED, level, &[])).expect("decodes");
        assert_eq!(m.kernels.len(), 1);
        let k = &m.kernels[0];
        assert_eq!(k.name, "mixed");
        let kinds: Vec<_> = k.parameters.iter().map(|p| (p.kind.clone(), p.size, p.offset)).collect();
        use ParameterKind::{LocalPointer, Pointer, Value};
        // sizeof: struct 48 (float4 at 16, short[3] behind it), union 8, char3 4, half8 16.
        let expected = [
            (Pointer { constant: false }, 8, 0),
            (Value, 48, 16),
            (LocalPointer { align: 4 }, 8, 64),
            (Value, 8, 64),
            (Value, 8, 72),
            (Value, 4, 80),
            (Value, 8, 88),
            (Value, 16, 96),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(k.parameter_bytes, 112);
        let names: Vec<_> = k.parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names[0], "out");
        let types: Vec<_> = k.parameters.iter().map(|p| p.type_name.as_str()).collect();
        assert_eq!(types[..5], ["int*", "S", "float*", "U", "long"]);
        assert!(m.files.iter().any(|f| f.ends_with("test.cl")), "{:?}", m.files);
    }
}

#[test]
fn attributes_arrive() {
    let source = r#"
    __attribute__((reqd_work_group_size(8, 4, 2))) __attribute__((vec_type_hint(float4)))
    __kernel void a(__global float *p) { float x = p[1] * p[2]; p[0] = x + p[3]; }
    __attribute__((work_group_size_hint(64, 1, 1))) __kernel void b(__global int *p, int n) {
        __attribute__((opencl_unroll_hint(1))) for (int i = 0; i < n; i++) p[i] = i;
    }"#;
    let m = decode(&compile(source, Level::O2, &[])).expect("decodes");
    assert_eq!(m.kernels[0].required_group_size, Some([8, 4, 2]));
    assert_eq!(m.kernels[0].vec_type_hint, "float4");
    assert!(m.kernels[0].contraction_off);
    assert_eq!(m.kernels[1].group_size_hint, Some([64, 1, 1]));
    let hints = m.functions.iter().flat_map(|f| &f.blocks).filter(|b| b.unroll == UnrollHint::Never).count();
    assert_eq!(hints, 1);
}

#[test]
fn loop_hints_go_to_the_headers_of_their_loops() {
    // The translator repeats the hints of loops that are tested at their end, also in blocks behind them.
    let source = r#"__kernel void k(__global int *p, int n) {
        int j = 0, s = 0;
        _Pragma("unroll 3") for (int i = 0; i < n; i++) s += p[i];
        _Pragma("nounroll") do { s ^= p[j]; j += s; } while (j < n);
        while (s > 0) s -= p[s];
        _Pragma("unroll 1") for (int i = 0; i < s; i++) p[i] = i;
        _Pragma("unroll") for (int i = 0; i < 9; i++) p[i] *= s;
    }"#;
    let m = decode(&compile(source, Level::O2, &[])).expect("decodes");
    let hints = m.functions.iter().flat_map(|f| &f.blocks).map(|b| b.unroll);
    let mut hints: Vec<String> = hints.filter(|h| *h != UnrollHint::None).map(|h| format!("{h:?}")).collect();
    hints.sort();
    assert_eq!(hints, ["Factor(1)", "Factor(3)", "Never", "Unroll"]);
}

#[test]
fn asynchronous_copies_become_loops() {
    let source = r#"__kernel void k(__global const float4 *p, __local float4 *l, __global float4 *q, int n) {
        event_t e = async_work_group_copy(l, p, n, 0);
        wait_group_events(1, &e);
        e = async_work_group_strided_copy(q, l, n, 3, 0);
        wait_group_events(1, &e);
    }"#;
    for level in [Level::O0, Level::O2] {
        let m = decode(&compile(source, level, &[])).expect("decodes");
        let count = |f: fn(&Opcode) -> bool| m.functions.iter().flat_map(|g| &g.insts).filter(|d| f(&d.op)).count();
        assert_eq!(count(|o| matches!(o, Opcode::Barrier { .. })), 2);
        assert_eq!(count(|o| matches!(o, Opcode::Load(a) if a.count == 4)), 2);
    }
}

#[test]
fn specialisation_changes_constants() {
    let text = r#"
        OpCapability Kernel
        OpCapability Addresses
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %f "k"
        OpDecorate %c SpecId 7
        %void = OpTypeVoid
        %u32 = OpTypeInt 32 0
        %p = OpTypePointer CrossWorkgroup %u32
        %ft = OpTypeFunction %void %p
        %c = OpSpecConstant %u32 5
        %d = OpSpecConstantOp %u32 IMul %c %c
        %f = OpFunction %void None %ft
        %a = OpFunctionParameter %p
        %l = OpLabel
        OpStore %a %d Aligned 4
        OpReturn
        OpFunctionEnd"#;
    let spv = assemble(text);
    let stored = |options: &DecodeOptions| {
        let m = decode_with(&spv, options).expect("decodes");
        let f = &m.functions[0];
        let store = f.insts.iter().find(|d| matches!(d.op, Opcode::Store(_))).expect("a store");
        assert_eq!(f.ty(store.args[1]), Ty::I32);
        f.as_const(store.args[1])
    };
    assert_eq!(stored(&DecodeOptions::default()), Some(25));
    let nine = DecodeOptions { specialisation: vec![(7, 9u32.to_le_bytes().to_vec())] };
    assert_eq!(stored(&nine), Some(81));
    let wrong = DecodeOptions { specialisation: vec![(7, vec![1])] };
    assert!(decode_with(&spv, &wrong).expect_err("a size error").why.contains("4 bytes"));
}

#[test]
fn refusals_name_the_instruction_and_the_line() {
    let recursive = "int f(int n) { return n < 2 ? n : f(n - 1) * f(n - 2); }\n__kernel void k(__global int *p) { p[0] = f(p[1]); }";
    let e = decode(&compile(recursive, Level::O0, &[])).expect_err("recursion");
    assert!(e.why.contains("recursion"), "{e}");
    let imported = "int g(int);\n__kernel void k(__global int *p) {\n p[0] = g(p[1]); }";
    let e = decode(&compile(imported, Level::O2, &[])).expect_err("an import");
    assert_eq!((e.instruction.as_str(), e.line), ("OpFunctionCall", 3), "{e}");
    assert!(e.why.contains("\"g\"") && e.word > 5, "{e}");
    let groups = "__kernel void k(__global int *p) {\n\n p[0] = work_group_reduce_add(p[1]); }";
    let e = decode(&compile(groups, Level::O2, &[])).expect_err("not supported yet");
    assert_eq!((e.instruction.as_str(), e.line), ("OpGroupIAdd", 3), "{e}");
}

/// xorshift: tests must not depend on anything outside.
struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn garbage_is_refused_without_a_panic() {
    let whole = compile(MIXED, Level::O2, &[]);
    for n in 0..whole.len().min(400) {
        let _ = decode(&whole[..n]);
    }
    for n in (400..whole.len()).step_by(4) {
        assert!(decode(&whole[..n]).is_err(), "cut at {n}");
    }
    let mut r = Random(0x1234_5678_9abc_def1);
    for round in 0..6000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + r.next() % 3 {
            let word = 5 + (r.next() as usize) % (bytes.len() / 4 - 5);
            let value = match r.next() % 4 {
                0 => r.next() as u32,
                1 => (r.next() % 300) as u32,
                2 => u32::from_le_bytes(bytes[word * 4..word * 4 + 4].try_into().expect("4")) ^ 1 << (r.next() % 32),
                _ => 0,
            };
            bytes[word * 4..word * 4 + 4].copy_from_slice(&value.to_le_bytes());
        }
        if round % 50 == 0 {
            let noise: Vec<u8> = (0..200).map(|_| r.next() as u8).collect();
            bytes.splice(20..20, noise);
        }
        let _ = decode(&bytes);
    }
}

#[test]
fn dimensions_that_do_not_exist() {
    // OpenCL C 6.15.1: sizes are 1, ids 0.
    let source = "__kernel void k(__global ulong *p, uint d) {
        p[0] = get_global_size(3); p[1] = get_global_id(5); p[2] = get_num_groups(d); p[3] = get_local_id(d); }";
    for level in [Level::O0, Level::O2] {
        let m = decode(&compile(source, level, &[])).expect("decodes");
        let f = warpscope_isa::passes::optimise(&m, &m.kernels[0], &Default::default()).expect("optimises");
        let stores = f.blocks.iter().flat_map(|b| &b.insts).map(|&i| f.inst(i));
        let stored: Vec<_> =
            stores.filter(|d| matches!(d.op, Opcode::Store(_))).map(|d| f.as_const(d.args[1])).collect();
        assert_eq!(stored, [Some(1), Some(0), None, None]);
    }
}

/// Images, samplers and pipes are handles: a kernel may take them and pass them on, but not look behind one.
#[test]
fn handles_can_be_taken_but_not_used() {
    let taking = "void f(read_only image2d_t i, sampler_t s, __global int *o) { *o = 1; }
        __kernel void k(read_only image2d_t i, sampler_t s, __global int *o) { f(i, s, o); }";
    // llvm-spirv 15 does not survive images at -O0.
    let m = decode(&compile(taking, Level::O2, &[])).expect("decodes");
    let kinds: Vec<_> = m.kernels[0].parameters.iter().map(|p| (p.kind.clone(), p.size, p.offset)).collect();
    use ParameterKind::{Pointer, Value};
    assert_eq!(kinds, [(Value, 8, 0), (Value, 8, 8), (Pointer { constant: false }, 8, 16)]);
    let using = "__kernel void k(read_only image2d_t i, sampler_t s, __global float4 *o) {
        *o = read_imagef(i, s, (int2)(0, 0)); }";
    let error = decode(&compile(using, Level::O2, &[])).expect_err("there are no image functions").to_string();
    assert!(error.contains("OpSampledImage") && error.contains("not supported"), "{error}");
}

/// A struct that points to itself is written with OpTypeForwardPointer (SPIR-V 1.6, 3.52.6).
#[test]
fn structs_may_point_to_themselves() {
    let list = "typedef struct Node { int value; __global struct Node *next; } Node;\n\
                __kernel void sum(__global Node *head, __global int *out) {\n\
                    int total = 0;\n\
                    for (; head; head = head->next) total += head->value;\n\
                    *out = total;\n\
                }";
    for level in [Level::O0, Level::O2] {
        let module = decode(&compile(list, level, &[])).expect("decodes");
        assert_eq!(module.kernels[0].parameters.len(), 2);
    }
}

#[test]
fn decorations_of_loop_carried_values_are_found_again() {
    // The translator leaves the decorations of `r` and `i + 1` on ids that nothing defines.
    let source = "__kernel void k(__global long *o, __global long *a, int n) { long v = a[0]; char r = 0;
        for (int i = 0; i < n; i++) { r = convert_char_sat(v | r); v += r; } o[0] = r; }";
    let m = decode(&compile(source, Level::O2, &[])).expect("decodes");
    let all = || m.functions.iter().flat_map(|f| &f.insts);
    assert!(all().any(|d| matches!(d.op, Opcode::Convert(c) if c.saturate)));
    let kept = |d: &&warpscope_isa::ir::InstData| d.flags & warpscope_isa::ir::flag::NSW != 0;
    assert!(all().filter(kept).any(|d| d.op == Opcode::IBin(warpscope_isa::ir::IBin::Add)));
}
