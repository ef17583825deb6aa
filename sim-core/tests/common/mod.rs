//! Programs by hand, and machines to run them on.
#![allow(dead_code)]
use std::sync::Arc;
use warpscope_exec::ops::{Cond, Op, OpClass};
use warpscope_exec::program::*;
use warpscope_sim::device_memory::Access;
use warpscope_sim::*;

pub const NONE: Operand = Operand::NONE;

pub fn r(n: u16) -> Operand {
    Operand::register(n)
}

pub fn c(n: u16) -> Operand {
    Operand::constant(n)
}

pub fn p(n: u8) -> Operand {
    Operand::predicate(n, false)
}

/// An operation with these destination and sources.
pub fn op(op: Op, dst: Operand, sources: &[Operand], imm: i32, imm2: u32) -> MachineOp {
    let mut src = [NONE; 4];
    src[..sources.len()].copy_from_slice(sources);
    MachineOp { op, guard: Guard::ALWAYS, flags: 0, dst, dst2: NONE, src, imm, imm2, class: op.class(), steps: 0 }
}

pub fn guarded(mut op: MachineOp, predicate: u8, negated: bool) -> MachineOp {
    op.guard = Guard::new(predicate, negated);
    op
}

pub fn word() -> u32 {
    AccessShape { element: 4, count: 1, atomic: 0, signed: false }.pack()
}

pub fn atomic(op: AtomicOp) -> u32 {
    AccessShape { element: 4, count: 1, atomic: op as u8, signed: false }.pack()
}

pub fn special(dst: Operand, s: Special) -> MachineOp {
    op(Op::ReadSpecial, dst, &[], s as i32, 0)
}

pub fn exit() -> MachineOp {
    op(Op::Exit, NONE, &[], 0, 0)
}

pub fn less(predicate: u8, a: Operand, b: Operand) -> MachineOp {
    op(Op::ICmp32, p(predicate), &[a, b], Cond::ULt as i32, 0)
}

/// A program with pointer parameters at offsets 0, 8, ... whose words are constant rows 0, 1, 2, ...; further rows
/// follow.
pub fn program(width: u32, pointers: usize, rows: &[ConstantRow], ops: Vec<MachineOp>) -> Program {
    let mut constants: Vec<ConstantRow> = (0..2 * pointers as u32).map(|w| ConstantRow::Parameter(4 * w)).collect();
    let mut offsets: Vec<u32> = (0..2 * pointers as u32).map(|w| 0x210 + 4 * w).collect();
    constants.extend(rows);
    offsets.resize(constants.len(), u32::MAX);
    let parameter = |n: usize| Parameter {
        name: format!("p{n}"),
        type_name: "uint*".into(),
        kind: ParameterKind::Pointer { constant: false },
        size: 8,
        offset: 8 * n as u32,
    };
    Program {
        name: "test".into(),
        width,
        lines: (0..ops.len()).map(|n| SourceLine { file: 0, line: n as u32 + 1 }).collect(),
        ops,
        files: vec!["test.cl".into()],
        constants,
        constant_offsets: offsets,
        jump_tables: vec![],
        registers: 16,
        uniform_registers: 0,
        local_bytes: 0,
        private_bytes: 0,
        spill_bytes: 0,
        parameters: (0..pointers).map(parameter).collect(),
        parameter_bytes: 8 * pointers as u32,
        required_group_size: None,
        required_sub_group_size: None,
        order_sensitive: false,
        has_barrier: false,
    }
}

/// `out[global id] = value computed into r4 by body`; the global id (32-bit, dimension 0) is in r0. Rows of the pool
/// from 2 on are the caller's.
pub fn store_per_item(body: Vec<MachineOp>) -> Vec<MachineOp> {
    let mut ops = vec![
        special(r(0), Special::GroupIdX),
        op(Op::IMad32, r(0), &[r(0), c(2), c(3)], 0, 0),
        special(r(1), Special::LocalIdX),
        op(Op::IAdd32, r(0), &[r(0), r(1)], 0, 0),
    ];
    ops.extend(body);
    ops.push(op(Op::LeaZext, r(2), &[r(0), c(0)], 2, 0));
    ops.push(op(Op::StGlobal, NONE, &[r(2), r(4)], 0, word()));
    ops.push(exit());
    ops
}

pub fn rows(local: u32) -> Vec<ConstantRow> {
    assert!(local > 0);
    vec![
        ConstantRow::Launch(LaunchConstant::EnqueuedLocalSize(0)),
        ConstantRow::Launch(LaunchConstant::GlobalOffset { dim: 0, high: false }),
    ]
}

pub fn machine(config: &str, set: &[&str]) -> Machine {
    Machine::new(Arc::new(warpscope_configs::load(config, set).expect("a valid machine").spec))
}

/// A buffer of words in the machine's memory.
pub fn buffer(machine: &Machine, words: &[u32]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let allocation = machine.memory().allocate(bytes.len() as u64, 256, Access::ReadWrite).unwrap();
    machine.memory().write(allocation.address, &bytes).unwrap();
    allocation.address
}

pub fn words(machine: &Machine, address: u64, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    machine.memory().read(address, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn launch(program: Program, global: u64, local: u32, pointers: &[u64], mode: Mode) -> Launch {
    Launch {
        program: Arc::new(program),
        globals: Arc::default(),
        work_dim: 1,
        offset: [0; 3],
        global: [global, 1, 1],
        local: [local, 1, 1],
        arguments: pointers.iter().map(|p| Argument::Pointer(*p)).collect(),
        printf: None,
        mode,
    }
}

pub fn class_count(record: &LaunchRecord, class: OpClass) -> u64 {
    record.counters.work.classes[class]
}
