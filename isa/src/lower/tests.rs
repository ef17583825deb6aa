//! Hand-built IR through the whole back end.
use super::{Options, disassemble, lower, verify};
use crate::ir::*;
use warpscope_configs::MachineSpec;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{AccessShape, AtomicOp, LaunchConstant, NO_RECONVERGENCE, OperandKind, Program, Special};

pub(super) fn machine() -> MachineSpec {
    warpscope_configs::load("generic", &[]).expect("the preset loads").spec
}

/// Builds straight-line and branching IR.
pub(super) struct Builder {
    pub f: Function,
    pub at: Block,
}

impl Builder {
    pub fn new() -> Builder {
        let mut f = Function::default();
        let at = f.add_block();
        Builder { f, at }
    }
    pub fn one(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.append(self.at, op, args, &[ty], Loc::default());
        self.f.inst(i).results[0]
    }
    pub fn many(&mut self, op: Opcode, args: &[Value], tys: &[Ty]) -> Vec<Value> {
        let i = self.f.append(self.at, op, args, tys, Loc::default());
        self.f.inst(i).results.to_vec()
    }
    pub fn effect(&mut self, op: Opcode, args: &[Value]) {
        self.f.append(self.at, op, args, &[], Loc::default());
    }
    pub fn int(&mut self, v: u32) -> Value {
        self.one(Opcode::Const(v as u64), &[], Ty::I32)
    }
    pub fn wide(&mut self, v: u64) -> Value {
        self.one(Opcode::Const(v), &[], Ty::I64)
    }
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.one(Opcode::IBin(IBin::Add), &[a, b], ty)
    }
    pub fn global_id(&mut self) -> Value {
        let group = self.one(Opcode::Special(Special::GroupIdX), &[], Ty::I32);
        let size = self.one(Opcode::Launch(LaunchConstant::EnqueuedLocalSize(0)), &[], Ty::I32);
        let local = self.one(Opcode::Special(Special::LocalIdX), &[], Ty::I32);
        let base = self.one(Opcode::IBin(IBin::Mul), &[group, size], Ty::I32);
        self.add(base, local)
    }
    /// Address of element `index` (32 bits) of the pointer parameter at `offset`.
    pub fn element(&mut self, offset: u32, index: Value) -> Value {
        let p = self.one(Opcode::Parameter(offset), &[], Ty::PtrGlobal);
        let wide = self.one(Opcode::Sext, &[index], Ty::I64);
        let two = self.wide(2);
        let bytes = self.one(Opcode::IBin(IBin::Shl), &[wide, two], Ty::I64);
        self.one(Opcode::PtrAdd { inbounds: true }, &[p, bytes], Ty::PtrGlobal)
    }
    pub fn end(&mut self, op: Opcode, args: &[Value], targets: &[(Block, &[Value])]) {
        let i = self.f.append(self.at, op, args, &[], Loc::default());
        self.f.inst_mut(i).targets = targets.iter().map(|&(block, args)| Target { block, args: args.into() }).collect();
    }
    pub fn ret(&mut self) {
        self.end(Opcode::Return, &[], &[]);
    }
}

fn kernel() -> Kernel {
    Kernel {
        name: "k".into(),
        function: 0,
        parameters: Vec::new(),
        parameter_bytes: 64,
        required_group_size: None,
        group_size_hint: None,
        vec_type_hint: String::new(),
        required_sub_group_size: None,
        restricted: Vec::new(),
        contraction_off: false,
        flush_denormals: false,
    }
}

pub(super) fn compile_with(f: Function, module: &Module, machine: &MachineSpec) -> Program {
    verify_function(&f).expect("the test's IR is valid");
    let p = lower(&f, &kernel(), module, &Options::of(machine, 32)).expect("it lowers");
    assert_eq!(verify(&p), Vec::<String>::new(), "\n{}", disassemble(&p));
    p
}

fn compile(f: Function) -> Program {
    compile_with(f, &Module::default(), &machine())
}

fn count(p: &Program, op: Op) -> usize {
    p.ops.iter().filter(|o| o.op == op).count()
}

pub(super) const F32_ACCESS: Access = Access { count: 1, align: 4, volatile: false };

#[test]
fn vector_add_loads_before_it_adds() {
    let mut b = Builder::new();
    let i = b.global_id();
    let (pa, pb, pc) = (b.element(0, i), b.element(8, i), b.element(16, i));
    let x = b.one(Opcode::Load(F32_ACCESS), &[pa], Ty::F32);
    let y = b.one(Opcode::Load(F32_ACCESS), &[pb], Ty::F32);
    let sum = b.one(Opcode::FBin(FBin::Add), &[x, y], Ty::F32);
    b.effect(Opcode::Store(F32_ACCESS), &[pc, sum]);
    b.ret();
    let p = compile(b.f);
    assert_eq!((count(&p, Op::LdGlobal), count(&p, Op::StGlobal), count(&p, Op::FAddF32)), (2, 1, 1));
    assert_eq!(count(&p, Op::IMad32), 1, "the multiply of the global id is folded into the add");
    let position = |op| p.ops.iter().position(|o| o.op == op).expect("it is there");
    let last_load = p.ops.iter().rposition(|o| o.op == Op::LdGlobal).expect("there are loads");
    assert!(last_load < position(Op::FAddF32));
    assert!(p.registers <= 12, "{} registers", p.registers);
}

#[test]
fn constant_offsets_become_immediates() {
    let mut b = Builder::new();
    let i = b.global_id();
    let p = b.element(0, i);
    let off = b.wide(0u64.wrapping_sub(8));
    let q = b.one(Opcode::PtrAdd { inbounds: true }, &[p, off], Ty::PtrGlobal);
    let x = b.one(Opcode::Load(F32_ACCESS), &[q], Ty::F32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, x]);
    b.ret();
    let p = compile(b.f);
    let load = p.ops.iter().find(|o| o.op == Op::LdGlobal).expect("a load");
    assert_eq!(load.imm, -8);
}

#[test]
fn vectors_take_consecutive_registers_and_wide_accesses() {
    let mut b = Builder::new();
    let i = b.global_id();
    let p = b.element(0, i);
    let access = Access { count: 4, align: 16, volatile: false };
    let v = b.many(Opcode::Load(access), &[p], &[Ty::F32; 4]);
    let w: Vec<Value> = v.iter().map(|&x| b.one(Opcode::FBin(FBin::Add), &[x, x], Ty::F32)).collect();
    b.effect(Opcode::Store(access), &[p, w[3], w[2], w[1], w[0]]);
    b.ret();
    let p = compile(b.f);
    assert_eq!((count(&p, Op::LdGlobal), count(&p, Op::StGlobal)), (1, 1));
    assert_eq!(count(&p, Op::Mov32), 0, "the sums are computed in place\n{}", disassemble(&p));
    let load = p.ops.iter().find(|o| o.op == Op::LdGlobal).expect("a load");
    assert!(matches!(load.dst.kind(), OperandKind::Register(r) if r % 4 == 0));
}

#[test]
fn words_of_vectors_are_free_at_their_own_last_use() {
    let mut b = Builder::new();
    let i = b.global_id();
    let p = b.element(0, i);
    let access = |count| Access { count, align: 16, volatile: true };
    let v = b.many(Opcode::Load(access(4)), &[p], &[Ty::F32; 4]);
    let mut sum = b.one(Opcode::FBin(FBin::Add), &[v[1], v[2]], Ty::F32);
    sum = b.one(Opcode::FBin(FBin::Add), &[sum, v[3]], Ty::F32);
    let kept: Vec<_> = (1..12)
        .map(|n| {
            let offset = b.wide(16 * n);
            let q = b.one(Opcode::PtrAdd { inbounds: true }, &[p, offset], Ty::PtrGlobal);
            b.one(Opcode::Load(access(1)), &[q], Ty::F32)
        })
        .collect();
    for x in kept.into_iter().chain([v[0]]) {
        sum = b.one(Opcode::FBin(FBin::Mul), &[sum, x], Ty::F32);
    }
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let mut machine = machine();
    machine.target.schedule.enabled = false;
    let p = compile_with(b.f, &Module::default(), &machine);
    // Live at most: the address's two words, the sum, eleven words and the vector's first. With the other three kept it
    // would be 18.
    assert_eq!(p.registers, 15, "{}", disassemble(&p));
}

#[test]
fn spilled_vectors_keep_the_words_that_are_not_written() {
    let mut machine = machine();
    machine.compute_unit.max_registers_per_work_item = 12;
    let mut b = Builder::new();
    let i = b.global_id();
    let p = b.element(0, i);
    let access = Access { count: 4, align: 16, volatile: true };
    let mut vectors = Vec::new();
    for n in 0..5 {
        let offset = b.wide(16 * n);
        let q = b.one(Opcode::PtrAdd { inbounds: true }, &[p, offset], Ty::PtrGlobal);
        vectors.push(b.many(Opcode::Load(access), &[q], &[Ty::F32; 4]));
    }
    let column = |b: &mut Builder, n: usize| {
        let mut sum = vectors[4][n];
        for v in &vectors[..4] {
            sum = b.one(Opcode::FBin(FBin::Add), &[sum, v[n]], Ty::F32);
        }
        sum
    };
    let sums: Vec<Value> = (0..4).map(|n| column(&mut b, n)).collect();
    b.effect(Opcode::Store(access), &[p, sums[0], sums[1], sums[2], sums[3]]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &machine);
    assert!(p.registers <= 12 && p.spill_bytes > 0);
    // Each access moves words that lie in one of its own size.
    for o in p.ops.iter().filter(|o| matches!(o.op, Op::LdPrivate | Op::StPrivate)) {
        let words = AccessShape::unpack(o.imm2).count;
        assert!([1, 2, 4].contains(&words), "{words} words");
    }
}

/// `for (k = 0; k < bound; k++) acc += local[k]`, the bound being a parameter or the work-item's id.
fn local_sum(uniform: bool) -> Function {
    let mut b = Builder::new();
    let id = b.global_id();
    let n = if uniform { b.one(Opcode::Parameter(16), &[], Ty::I32) } else { id };
    let (zero, none) = (b.int(0), b.one(Opcode::Const(0), &[], Ty::F32));
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    let some = b.one(Opcode::ICmp(Cond::SGt), &[n, zero], Ty::Bool);
    b.end(Opcode::Branch, &[some], &[(head, &[zero, none]), (exit, &[none])]);
    b.at = head;
    let (k, acc) = (b.f.add_param(head, Ty::I32), b.f.add_param(head, Ty::F32));
    let base = b.one(Opcode::LocalParameter(0), &[], Ty::PtrLocal);
    let two = b.int(2);
    let offset = b.one(Opcode::IBin(IBin::Shl), &[k, two], Ty::I32);
    let place = b.one(Opcode::PtrAdd { inbounds: true }, &[base, offset], Ty::PtrLocal);
    let x = b.one(Opcode::Load(F32_ACCESS), &[place], Ty::F32);
    let sum = b.one(Opcode::FBin(FBin::Add), &[acc, x], Ty::F32);
    let one = b.int(1);
    let next = b.add(k, one);
    let more = b.one(Opcode::ICmp(Cond::SLt), &[next, n], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[next, sum]), (exit, &[sum])]);
    b.at = exit;
    let result = b.f.add_param(exit, Ty::F32);
    let p = b.element(0, id);
    b.effect(Opcode::Store(F32_ACCESS), &[p, result]);
    b.ret();
    b.f
}

#[test]
fn the_uniform_datapath_counts_loops_that_all_lanes_run_alike() {
    let uniform = |p: &Program| p.ops.iter().filter(|o| o.class == OpClass::Uniform).count();
    let mut machine = machine();
    let without = compile_with(local_sum(true), &Module::default(), &machine);
    assert_eq!(uniform(&without), 0, "the machine has no uniform operations");
    machine.target.uniform_operations = ["mov", "iadd", "lea", "shl"].map(String::from).into();
    let with = compile_with(local_sum(true), &Module::default(), &machine);
    let load = with.ops.iter().find(|o| o.op == Op::LdLocal).expect("a load");
    assert!(matches!(load.src[0].kind(), OperandKind::Uniform(_)), "{}", disassemble(&with));
    assert!(uniform(&with) >= 2, "counter and address\n{}", disassemble(&with));
    assert_eq!(uniform(&compile_with(local_sum(false), &Module::default(), &machine)), 0, "lanes leave one by one");
}

/// The listing of the micro-benchmark ilp_2: of two interleaved chains every second FFMA finds the multiplier and the
/// addend in the operand cache, although the chains' first values come from two loads.
#[test]
fn interleaved_chains_reuse_their_common_operands() {
    let mut b = Builder::new();
    let id = b.global_id();
    let (p, q) = (b.element(0, id), b.element(8, id));
    let (m, c) = (b.element(16, id), b.element(24, id));
    let m = b.one(Opcode::Load(F32_ACCESS), &[m], Ty::F32);
    let c = b.one(Opcode::Load(F32_ACCESS), &[c], Ty::F32);
    let mut x = b.one(Opcode::Load(F32_ACCESS), &[p], Ty::F32);
    let mut y = b.one(Opcode::Load(F32_ACCESS), &[q], Ty::F32);
    for _ in 0..8 {
        x = b.one(Opcode::Fma, &[x, m, c], Ty::F32);
        y = b.one(Opcode::Fma, &[y, m, c], Ty::F32);
    }
    let sum = b.one(Opcode::FBin(FBin::Add), &[x, y], Ty::F32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let mut machine = machine();
    machine.compute_unit.register_file.reuse_cache = true;
    let p = compile_with(b.f, &Module::default(), &machine);
    let both = 0b110 << warpscope_exec::program::flags::REUSE_SHIFT;
    let reusing = p.ops.iter().filter(|o| o.op == Op::FFmaF32 && o.flags & both == both).count();
    assert!(reusing >= 8, "{}", disassemble(&p));
}

/// A loop with a divergent trip count: `for (k = 0; k < gid; k++) acc += k`.
fn counting_loop() -> Function {
    let mut b = Builder::new();
    let n = b.global_id();
    let zero = b.int(0);
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    let some = b.one(Opcode::ICmp(Cond::SGt), &[n, zero], Ty::Bool);
    b.end(Opcode::Branch, &[some], &[(head, &[zero, zero]), (exit, &[zero])]);
    b.at = head;
    let (k, acc) = (b.f.add_param(head, Ty::I32), b.f.add_param(head, Ty::I32));
    let sum = b.add(acc, k);
    let one = b.int(1);
    let next = b.add(k, one);
    let more = b.one(Opcode::ICmp(Cond::SLt), &[next, n], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[next, sum]), (exit, &[sum])]);
    b.at = exit;
    let result = b.f.add_param(exit, Ty::I32);
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, result]);
    b.ret();
    b.f
}

#[test]
fn loops_need_no_copies_and_meet_at_their_exit() {
    let p = compile(counting_loop());
    let text = disassemble(&p);
    let back = p.ops.iter().enumerate().find(|(i, o)| o.op == Op::Bra && o.imm <= *i as i32).expect("a back branch");
    let body = &p.ops[back.1.imm as usize..=back.0];
    assert_eq!(body.len(), 4, "add, add, compare, branch\n{text}");
    assert!(back.1.imm2 as usize > back.0, "lanes that leave wait behind the loop\n{text}");
}

#[test]
fn swapped_loop_values_keep_their_order() {
    // (a, b) = (b, a) each iteration: a cycle of copies needs a temporary.
    let mut b = Builder::new();
    let n = b.global_id();
    let (zero, seven) = (b.int(0), b.int(7));
    let (head, exit) = (b.f.add_block(), b.f.add_block());
    b.end(Opcode::Jump, &[], &[(head, &[n, seven, zero])]);
    b.at = head;
    let [x, y, k] = [(); 3].map(|_| b.f.add_param(head, Ty::I32));
    let one = b.int(1);
    let next = b.add(k, one);
    let more = b.one(Opcode::ICmp(Cond::SLt), &[next, n], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[y, x, next]), (exit, &[])]);
    b.at = exit;
    let p = b.element(0, n);
    let d = b.one(Opcode::IBin(IBin::Sub), &[x, y], Ty::I32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, d]);
    b.ret();
    let p = compile(b.f);
    assert!(count(&p, Op::Mov32) >= 3, "{}", disassemble(&p));
}

#[test]
fn too_many_live_values_are_spilled() {
    let mut machine = machine();
    machine.compute_unit.max_registers_per_work_item = 12;
    let mut b = Builder::new();
    let n = b.global_id();
    let p = b.element(0, n);
    let values: Vec<Value> = (0..24)
        .map(|k| {
            let off = b.wide(k * 4);
            let q = b.one(Opcode::PtrAdd { inbounds: true }, &[p, off], Ty::PtrGlobal);
            let access = Access { volatile: true, ..F32_ACCESS };
            b.one(Opcode::Load(access), &[q], Ty::F32)
        })
        .collect();
    let mut sum = values[23];
    for &v in values[..23].iter() {
        sum = b.one(Opcode::FBin(FBin::Add), &[sum, v], Ty::F32);
    }
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &machine);
    assert!(p.registers <= 12);
    assert!(p.spill_bytes >= 40 && p.spill_bytes.is_multiple_of(4), "{} bytes", p.spill_bytes);
    assert_eq!(p.private_bytes, p.spill_bytes);
    assert!(count(&p, Op::StPrivate) >= 10 && count(&p, Op::LdPrivate) >= 10);
}

#[test]
fn predicates_spill_to_registers() {
    let mut b = Builder::new();
    let n = b.global_id();
    let p = b.element(0, n);
    let flags: Vec<Value> = (0..20)
        .map(|k| {
            let c = b.int(k);
            b.one(Opcode::ICmp(Cond::SLt), &[n, c], Ty::Bool)
        })
        .collect();
    b.effect(Opcode::Barrier { flags: fence::LOCAL, scope: Scope::WorkGroup }, &[]);
    let mut sum = n;
    for &f in &flags {
        let z = b.one(Opcode::Zext, &[f], Ty::I32);
        sum = b.add(sum, z);
    }
    b.effect(Opcode::Store(F32_ACCESS), &[p, sum]);
    b.ret();
    let p = compile(b.f);
    assert!(p.has_barrier);
    assert!(count(&p, Op::PredToReg) >= 20, "{}", disassemble(&p));
}

#[test]
fn dense_switches_jump_through_a_table() {
    let mut b = Builder::new();
    let n = b.global_id();
    let exit = b.f.add_block();
    let arms: Vec<Block> = (0..5).map(|_| b.f.add_block()).collect();
    let zero = b.int(0);
    let targets: Vec<(Block, &[Value])> = std::iter::once((exit, std::slice::from_ref(&zero)))
        .chain(arms.iter().map(|&a| (a, &[] as &[Value])))
        .collect();
    b.end(Opcode::Switch(vec![10, 11, 12, 13, 15]), &[n], &targets);
    for (k, &arm) in arms.iter().enumerate() {
        b.at = arm;
        let c = b.int(k as u32 * 100);
        let v = b.add(n, c);
        b.end(Opcode::Jump, &[], &[(exit, &[v])]);
    }
    b.at = exit;
    let r = b.f.add_param(exit, Ty::I32);
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, r]);
    b.ret();
    let p = compile(b.f);
    assert_eq!(count(&p, Op::Brx), 1);
    // Cases 10..=15 (14 is the default) and the default behind them.
    assert_eq!(p.jump_tables[0].len(), 7);
    assert_eq!(p.jump_tables[0][4], p.jump_tables[0][6]);
    assert_ne!(p.jump_tables[0][0], p.jump_tables[0][6]);
}

#[test]
fn local_variables_start_behind_the_reserved_bytes() {
    let machine = machine();
    let reserved = machine.memory.local.reserved_per_group;
    let global = |bytes: usize, align| Global {
        name: String::new(),
        space: Ty::PtrLocal,
        init: vec![0; bytes],
        align,
        relocations: Vec::new(),
        uninitialised: true,
        printf: false,
    };
    let module = Module { globals: vec![global(6, 4), global(64, 16)], ..Module::default() };
    let mut b = Builder::new();
    let x = b.one(Opcode::GlobalAddress(0), &[], Ty::PtrLocal);
    let y = b.one(Opcode::GlobalAddress(1), &[], Ty::PtrLocal);
    let v = b.one(Opcode::Load(F32_ACCESS), &[x], Ty::F32);
    b.effect(Opcode::Store(F32_ACCESS), &[y, v]);
    b.ret();
    let p = compile_with(b.f, &module, &machine);
    assert_eq!(p.local_bytes, 80);
    let store = p.ops.iter().find(|o| o.op == Op::StLocal).expect("a store");
    assert_eq!(store.imm as u32, reserved + 16);
}

#[test]
fn large_copies_are_loops() {
    let mut b = Builder::new();
    let big = b.one(Opcode::Alloca { size: 1000, align: 8 }, &[], Ty::PtrPrivate);
    let src = b.one(Opcode::Parameter(0), &[], Ty::PtrGlobal);
    b.effect(Opcode::Copy { bytes: 1000, align: 8 }, &[big, src]);
    b.effect(Opcode::Copy { bytes: 7, align: 4 }, &[src, big]);
    b.ret();
    let p = compile(b.f);
    assert!(p.ops.len() < 60, "{}", disassemble(&p));
    assert!(p.ops.iter().enumerate().any(|(i, o)| o.op == Op::Bra && o.imm <= i as i32));
    assert_eq!(p.private_bytes, 1000);
}

#[test]
fn atomics_order_later_plain_accesses() {
    let mut b = Builder::new();
    let n = b.global_id();
    let p = b.element(0, n);
    let before = b.one(Opcode::Load(F32_ACCESS), &[p], Ty::I32);
    let atomic = |op| Opcode::Atomic { op, order: Order::Relaxed, scope: Scope::Device };
    b.effect(atomic(AtomicOp::Add), &[p, before]);
    let after = b.one(Opcode::Load(F32_ACCESS), &[p], Ty::I32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, after]);
    b.ret();
    let p = compile(b.f);
    let marked = |o: &warpscope_exec::program::MachineOp| o.flags & warpscope_exec::program::flags::AFTER_ATOMICS != 0;
    let loads: Vec<bool> = p.ops.iter().filter(|o| o.op == Op::LdGlobal).map(marked).collect();
    assert_eq!(loads, [false, true]);
    let atom = p.ops.iter().find(|o| o.op == Op::AtomGlobal).expect("an atomic");
    assert!(atom.dst.is_none() && atom.class == OpClass::ReduceGlobal);
    assert!(!p.order_sensitive, "an integer reduction does not depend on the order");
}

#[test]
fn every_path_out_of_a_divergent_branch_keeps_its_values() {
    let mut machine = machine();
    machine.target.predication = 0;
    let p = compile_with(two_arms(), &Module::default(), &machine);
    let branch = p.ops.iter().find(|o| o.op == Op::Bra && o.guard.get().is_some()).expect("a branch");
    assert_eq!(p.ops[branch.imm2 as usize..].iter().filter(|o| o.op == Op::StGlobal).count(), 1);
    assert_eq!(count(&p, Op::Mov32), 0, "both sides write the joined register\n{}", disassemble(&p));
}

#[test]
fn short_arms_run_under_guards() {
    let p = compile(two_arms());
    assert_eq!(count(&p, Op::Bra), 0, "{}", disassemble(&p));
    let guards: Vec<_> = p.ops.iter().filter_map(|o| o.guard.get().map(|g| (o.op, g.1))).collect();
    assert_eq!(guards.len(), 2, "one of each arm writes the joined register\n{}", disassemble(&p));
    assert_ne!(guards[0].1, guards[1].1);
}

/// `do { if (gid < 3) r = gid / 3; store; k++ } while (k < n); return;`: the loop is left through an exit alone.
#[test]
fn lanes_meet_within_a_loop_that_ends_the_program() {
    let mut b = Builder::new();
    let n = b.global_id();
    let zero = b.int(0);
    let (head, arm, join, exit) = (b.f.add_block(), b.f.add_block(), b.f.add_block(), b.f.add_block());
    b.end(Opcode::Jump, &[], &[(head, &[zero])]);
    b.at = head;
    let k = b.f.add_param(head, Ty::I32);
    let three = b.int(3);
    let c = b.one(Opcode::ICmp(Cond::ULt), &[n, three], Ty::Bool);
    b.end(Opcode::Branch, &[c], &[(arm, &[]), (join, &[k])]);
    b.at = arm;
    let d = b.one(Opcode::IBin(IBin::Sub), &[three, n], Ty::I32);
    b.end(Opcode::Jump, &[], &[(join, &[d])]);
    b.at = join;
    let r = b.f.add_param(join, Ty::I32);
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, r]);
    b.effect(Opcode::Barrier { flags: fence::LOCAL, scope: Scope::WorkGroup }, &[]);
    let one = b.int(1);
    let next = b.add(k, one);
    let size = b.one(Opcode::Launch(LaunchConstant::EnqueuedLocalSize(0)), &[], Ty::I32);
    let more = b.one(Opcode::ICmp(Cond::ULt), &[next, size], Ty::Bool);
    b.end(Opcode::Branch, &[more], &[(head, &[next]), (exit, &[])]);
    b.at = exit;
    b.ret();
    let mut machine = machine();
    machine.target.predication = 0;
    let p = compile_with(b.f, &Module::default(), &machine);
    let text = disassemble(&p);
    // Who stays branches back; the others fall through to the end, and nobody waits for them.
    let [.., stay, end] = &p.ops[..] else { panic!("{text}") };
    assert!(stay.op == Op::Bra && stay.guard.get().is_some() && stay.imm2 == NO_RECONVERGENCE, "{text}");
    assert!(end.op == Op::Exit && end.guard.get().is_none(), "{text}");
    let branch = p.ops.iter().position(|o| o.op == Op::Bra && o.guard.get().is_some()).expect("a branch");
    let store = p.ops.iter().position(|o| o.op == Op::StGlobal).expect("a store");
    assert!((branch + 1..=store).contains(&(p.ops[branch].imm2 as usize)), "lanes meet before the store\n{text}");
}

/// `r = gid >= 3 ? gid * gid : gid / 3`, with a branch.
fn two_arms() -> Function {
    let mut b = Builder::new();
    let n = b.global_id();
    let (yes, no, join) = (b.f.add_block(), b.f.add_block(), b.f.add_block());
    let three = b.int(3);
    let c = b.one(Opcode::ICmp(Cond::ULt), &[n, three], Ty::Bool);
    let not = b.one(Opcode::BoolNot, &[c], Ty::Bool);
    b.end(Opcode::Branch, &[not], &[(yes, &[]), (no, &[])]);
    b.at = yes;
    let a = b.one(Opcode::IBin(IBin::Mul), &[n, n], Ty::I32);
    b.end(Opcode::Jump, &[], &[(join, &[a])]);
    b.at = no;
    let d = b.one(Opcode::IBin(IBin::Sub), &[three, n], Ty::I32);
    b.end(Opcode::Jump, &[], &[(join, &[d])]);
    b.at = join;
    let r = b.f.add_param(join, Ty::I32);
    let p = b.element(0, n);
    b.effect(Opcode::Store(F32_ACCESS), &[p, r]);
    b.ret();
    b.f
}

#[test]
fn recipes_add_steps_that_have_no_effect() {
    let machine = warpscope_configs::load("nvidia-h200", &[]).expect("the preset loads").spec;
    let mut b = Builder::new();
    let n = b.global_id();
    let p = b.element(0, n);
    let x = b.one(Opcode::Load(F32_ACCESS), &[p], Ty::I32);
    let q = b.one(Opcode::IBin(IBin::UDiv), &[x, n], Ty::I32);
    b.effect(Opcode::Store(F32_ACCESS), &[p, q]);
    b.ret();
    let p = compile_with(b.f, &Module::default(), &machine);
    let ghosts = p.ops.iter().filter(|o| o.flags & warpscope_exec::program::flags::GHOST != 0).count();
    // 17 steps of the division beside its value, LDC R1, the descriptor, two of the address.
    assert_eq!(ghosts, 21, "{}", disassemble(&p));
    assert_eq!(count(&p, Op::UDiv32), 1);
    // Parameters come through loads of their own, not as operands.
    assert!(p.ops.iter().all(|o| matches!(o.op, Op::Mov64 | Op::Mov32)
        || o.src.iter().all(|s| match s.kind() {
            OperandKind::Constant(c) =>
                matches!(p.constants[c as usize], warpscope_exec::program::ConstantRow::Immediate(_)),
            _ => true,
        })));
}

#[test]
fn unsupported_forms_are_errors() {
    let mut b = Builder::new();
    b.effect(Opcode::Call(0), &[]);
    b.ret();
    let module =
        Module { functions: vec![Function { name: "helper".into(), ..Function::default() }], ..Module::default() };
    let machine = machine();
    let e = lower(&b.f, &kernel(), &module, &Options::of(&machine, 32)).expect_err("calls are refused");
    assert!(e.to_string().contains("helper"), "{e}");
}
