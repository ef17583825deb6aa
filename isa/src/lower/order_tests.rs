//! Where operations stand and which registers they take.
use super::disassemble;
use super::tests::{Builder, F32_ACCESS, compile_with, machine};
use crate::ir::*;
use warpscope_configs::MachineSpec;
use warpscope_exec::ops::{MathFn, Op, OpClass};
use warpscope_exec::program::{OperandKind, Program};

fn h200() -> MachineSpec {
    warpscope_configs::load("nvidia-h200", &[]).expect("the preset loads").spec
}

fn vector_registers(p: &Program) -> impl Iterator<Item = u16> + '_ {
    let operands = p.ops.iter().flat_map(|o| o.src.iter().chain([&o.dst, &o.dst2]));
    operands.filter_map(|o| if let OperandKind::Register(r) = o.kind() { Some(r) } else { None })
}

/// R1 of NVIDIA's machines is the stack pointer: no code of the set names it, and vectors of four begin at R4.
#[test]
fn fixed_registers_are_left_alone() {
    let mut b = Builder::new();
    let i = b.global_id();
    let access = Access { count: 4, align: 16, volatile: false };
    let (p, q) = (b.element(0, i), b.element(8, i));
    let v = b.many(Opcode::Load(access), &[p], &[Ty::F32; 4]);
    let w: Vec<Value> = v.iter().map(|&x| b.one(Opcode::FBin(FBin::Add), &[x, x], Ty::F32)).collect();
    b.effect(Opcode::Store(access), &[q, w[0], w[1], w[2], w[3]]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &h200());
    assert!(vector_registers(&p).all(|r| r != 1), "{}", disassemble(&p));
    let load = p.ops.iter().find(|o| o.op == Op::LdGlobal).expect("a load");
    assert!(matches!(load.dst.kind(), OperandKind::Register(r) if r >= 4), "{}", disassemble(&p));
    let highest = vector_registers(&p).max().expect("registers");
    assert!(p.registers >= u32::from(highest) + 3, "two more than the code names: {}", p.registers);
}

/// `y = sin(x); out = y + in[8]`: sines branch to the reduction of large angles, and the H200's compiler moves no load
/// over that branch (sass of a loop over sincos: the LDG stands behind the BSYNC).
#[test]
fn nothing_crosses_the_branches_of_recipes() {
    let mut b = Builder::new();
    let i = b.global_id();
    let (p, q) = (b.element(0, i), b.element(8, i));
    let x = b.one(Opcode::Load(F32_ACCESS), &[p], Ty::F32);
    let y = b.one(Opcode::Math(MathFn::Sin), &[x], Ty::F32);
    let z = b.one(Opcode::Load(F32_ACCESS), &[q], Ty::F32);
    let sum = b.one(Opcode::FBin(FBin::Add), &[y, z], Ty::F32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &h200());
    let conditional = |o: &warpscope_exec::program::MachineOp| {
        o.class == OpClass::Branch && o.src.iter().any(|s| matches!(s.kind(), OperandKind::Predicate(..)))
    };
    let branch = p.ops.iter().position(conditional).expect("the branch of the recipe");
    let loads: Vec<usize> = (0..p.ops.len()).filter(|&n| p.ops[n].op == Op::LdGlobal).collect();
    assert!(loads[0] < branch && branch < loads[1], "{}", disassemble(&p));
}

/// `m = n * 7; for (k = 0; k < gid; k++) acc += k; out = acc + m`: `m` needs no register in the loop.
#[test]
fn what_only_code_behind_a_loop_reads_is_computed_there() {
    let mut b = Builder::new();
    let n = b.global_id();
    let (zero, seven) = (b.int(0), b.int(7));
    let scale = b.one(Opcode::Parameter(16), &[], Ty::I32);
    let m = b.one(Opcode::IBin(IBin::Mul), &[scale, seven], Ty::I32);
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    b.end(Opcode::Jump, &[], &[(head, &[zero, zero])]);
    b.at = head;
    let (k, acc) = (b.f.add_param(head, Ty::I32), b.f.add_param(head, Ty::I32));
    let sum = b.add(acc, k);
    let one = b.int(1);
    let next = b.add(k, one);
    let more = b.one(Opcode::ICmp(Cond::SLt), &[next, n], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[next, sum]), (exit, &[])]);
    b.at = exit;
    let total = b.one(Opcode::IBin(IBin::Xor), &[sum, m], Ty::I32);
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, total]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &machine());
    let back = p.ops.iter().enumerate().position(|(i, o)| o.op == Op::Bra && o.imm <= i as i32).expect("a loop");
    let product = p.ops.iter().position(|o| o.op == Op::IMul32).expect("the product");
    assert!(product > back, "{}", disassemble(&p));
}

/// Four loads of 16 bytes and numbers that only the ends of their chains read: within 32 registers the loads stand
/// together, as in the H200's code for a search of the nearest point.
#[test]
fn loads_go_before_what_only_fills_gaps() {
    let mut b = Builder::new();
    let i = b.global_id();
    let access = Access { count: 4, align: 16, volatile: false };
    let (base, out) = (b.element(0, i), b.element(8, i));
    let mut result = i;
    let mut best = b.one(Opcode::Const(0x7f7f_ffff), &[], Ty::F32);
    let parts: Vec<Vec<Value>> = (0..4)
        .map(|n| {
            let offset = b.wide(16 * n);
            let p = b.one(Opcode::PtrAdd { inbounds: true }, &[base, offset], Ty::PtrGlobal);
            b.many(Opcode::Load(access), &[p], &[Ty::F32; 4])
        })
        .collect();
    for (n, v) in parts.iter().enumerate() {
        let length = v[1..].iter().fold(v[0], |a, &x| b.one(Opcode::FBin(FBin::Mul), &[a, x], Ty::F32));
        let k = b.int(n as u32 + 1);
        let number = b.add(i, k);
        let less = b.one(Opcode::FCmp(FCond::OLt), &[length, best], Ty::Bool);
        best = b.one(Opcode::Select, &[less, length, best], Ty::F32);
        result = b.one(Opcode::Select, &[less, number, result], Ty::I32);
    }
    b.effect(Opcode::Store(F32_ACCESS), &[out, result]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &h200());
    let loads: Vec<usize> = (0..p.ops.len()).filter(|&n| p.ops[n].op == Op::LdGlobal).collect();
    assert_eq!(loads.len(), 4);
    let between = &p.ops[loads[0]..loads[3]];
    assert!(between.iter().all(|o| o.op != Op::FMulF32), "{}", disassemble(&p));
    assert!(p.registers <= 32, "{} registers", p.registers);
}

/// Twelve sums that a loop carries on, two loads for each: a sum takes no second register, so that loads of the second step
/// start while the first step's are added (the H200's code for a matrix product in tiles of registers does so within 62).
#[test]
fn sums_that_a_loop_carries_on_leave_registers_to_loads() {
    const SUMS: usize = 12;
    let mut b = Builder::new();
    let n = b.global_id();
    let (base, out) = (b.element(0, n), b.element(8, n));
    let zero = b.one(Opcode::Const(0), &[], Ty::F32);
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    let mut first = vec![n, base];
    first.resize(2 + SUMS, zero);
    b.end(Opcode::Jump, &[], &[(head, &first)]);
    b.at = head;
    let (k, p) = (b.f.add_param(head, Ty::I32), b.f.add_param(head, Ty::PtrGlobal));
    let mut sums: Vec<Value> = (0..SUMS).map(|_| b.f.add_param(head, Ty::F32)).collect();
    for step in 0..2 {
        for (j, sum) in sums.iter_mut().enumerate() {
            let offset = b.wide(4 * (step * SUMS + j) as u64);
            let at = b.one(Opcode::PtrAdd { inbounds: true }, &[p, offset], Ty::PtrGlobal);
            let v = b.one(Opcode::Load(F32_ACCESS), &[at], Ty::F32);
            *sum = b.one(Opcode::FBin(FBin::Add), &[*sum, v], Ty::F32);
        }
    }
    let (one, stride) = (b.int(1), b.wide(96));
    let after = b.one(Opcode::PtrAdd { inbounds: true }, &[p, stride], Ty::PtrGlobal);
    let next = b.one(Opcode::IBin(IBin::Sub), &[k, one], Ty::I32);
    let more = b.one(Opcode::ICmp(Cond::SGt), &[next, one], Ty::Bool);
    let carried: Vec<Value> = [next, after].into_iter().chain(sums.iter().copied()).collect();
    b.end(Opcode::Branch, &[more], &[(head, &carried), (exit, &[])]);
    b.at = exit;
    let total = sums[1..].iter().fold(sums[0], |a, &x| b.one(Opcode::FBin(FBin::Add), &[a, x], Ty::F32));
    b.effect(Opcode::Store(F32_ACCESS), &[out, total]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &h200());
    let last = p.ops.iter().rposition(|o| o.op == Op::LdGlobal).expect("loads");
    let added = p.ops[..last].iter().filter(|o| o.op == Op::FAddF32).count();
    assert!(added <= SUMS, "{added} additions stand before the last load\n{}", disassemble(&p));
}

/// `for (k = 0; k < 8; k++) acc = (acc ^ table[k]) + k` over a constant table: all lanes read the same word, which comes
/// into a uniform register (sass sha256: ULDC UR5, c[0x3][UR8+0x4]).
#[test]
fn tables_at_uniform_places_are_read_by_the_uniform_datapath() {
    let table = Global {
        name: String::new(),
        space: Ty::PtrConstant,
        init: vec![1; 32],
        align: 4,
        relocations: Vec::new(),
        uninitialised: false,
        printf: false,
    };
    let mut b = Builder::new();
    let n = b.global_id();
    let (zero, one, eight) = (b.int(0), b.int(1), b.int(8));
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    b.end(Opcode::Jump, &[], &[(head, &[zero, n])]);
    b.at = head;
    let (k, acc) = (b.f.add_param(head, Ty::I32), b.f.add_param(head, Ty::I32));
    let base = b.one(Opcode::GlobalAddress(0), &[], Ty::PtrConstant);
    let wide = b.one(Opcode::Sext, &[k], Ty::I64);
    let two = b.wide(2);
    let bytes = b.one(Opcode::IBin(IBin::Shl), &[wide, two], Ty::I64);
    let at = b.one(Opcode::PtrAdd { inbounds: true }, &[base, bytes], Ty::PtrConstant);
    let word = b.one(Opcode::Load(F32_ACCESS), &[at], Ty::I32);
    let sum = b.add(acc, word);
    let next = b.add(k, one);
    let more = b.one(Opcode::ICmp(Cond::SLt), &[next, eight], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[next, sum]), (exit, &[])]);
    b.at = exit;
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let p = compile_with(b.f, &Module { globals: vec![table], ..Module::default() }, &h200());
    let load = p.ops.iter().find(|o| o.op == Op::LdConstant).expect("a load from the table");
    assert_eq!(load.class, OpClass::LoadUniform, "{}", disassemble(&p));
    assert!(matches!(load.dst.kind(), OperandKind::Uniform(_)), "{}", disassemble(&p));
}
