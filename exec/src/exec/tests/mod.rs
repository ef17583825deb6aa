//! Tests of execution: what they expect comes from scalar arithmetic or from running lanes alone.
mod control;
mod cross_lane;
mod levels;
mod memory;
mod semantics;

use super::*;
use crate::ops::Op;
use crate::program::{AtomicOp, ConstantRow, Guard, MachineOp, Operand, Program, SourceLine};

/// A 64-bit linear congruential generator (Knuth's MMIX constants), top bits first.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        let mut word = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.0 >> 32
        };
        word() << 32 | word()
    }
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// An operation without operands.
pub(crate) fn op(op: Op) -> MachineOp {
    MachineOp {
        op,
        guard: Guard::ALWAYS,
        flags: 0,
        dst: Operand::NONE,
        dst2: Operand::NONE,
        src: [Operand::NONE; 4],
        imm: 0,
        imm2: 0,
        class: op.class(),
        steps: 0,
    }
}

/// A program of width `W` with room for 64 registers, 16 uniform ones and 1 KiB of private memory.
pub(crate) fn program<const W: usize>(ops: Vec<MachineOp>, constants: &[u32]) -> Program {
    Program {
        name: "test".into(),
        width: W as u32,
        lines: vec![SourceLine::default(); ops.len()],
        ops,
        files: vec![],
        constants: constants.iter().map(|&c| ConstantRow::Immediate(c)).collect(),
        constant_offsets: vec![u32::MAX; constants.len()],
        jump_tables: vec![],
        registers: 64,
        uniform_registers: 16,
        local_bytes: 1024,
        private_bytes: 1024,
        spill_bytes: 0,
        parameters: vec![],
        parameter_bytes: 0,
        required_group_size: None,
        required_sub_group_size: None,
        order_sensitive: false,
        has_barrier: false,
    }
}

pub(crate) fn rows<const W: usize>(program: &Program) -> Vec<Row<W>> {
    let values = LaunchValues {
        parameters: &[],
        globals: &[],
        local_arguments: &[],
        work_dim: 1,
        global_size: [W as u64, 1, 1],
        global_offset: [0; 3],
        local_size: [W as u32, 1, 1],
    };
    evaluate_constants(program, &values)
}

pub(crate) fn group<const W: usize>() -> Group {
    Group { id: [3, 4, 5], size: [W as u32, 1, 1], sub_groups: 1, local: vec![0; 1024], reserved: 64 }
}

/// Global memory: bytes from address [`Flat::BASE`].
pub(crate) struct Flat {
    pub bytes: Vec<u8>,
    pub announced: Vec<(Space, u64, bool, bool)>,
}

impl Flat {
    pub const BASE: u64 = 0x2000_0000_0000;
    pub fn new() -> Flat {
        Flat { bytes: vec![0; 4096], announced: vec![] }
    }
    fn at(address: u64) -> usize {
        (address - Self::BASE) as usize
    }
}

impl<const W: usize> LaneMemory<W> for Flat {
    fn load(&mut self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault> {
        let size = access.shape.element as usize;
        for lane in (0..W).filter(|i| access.mask >> i & 1 != 0) {
            for (word, row) in out.iter_mut().enumerate() {
                let mut bytes = [0; 4];
                let at = Self::at(access.addresses[lane]) + word * size.min(4);
                bytes[..size.min(4)].copy_from_slice(&self.bytes[at..at + size.min(4)]);
                row.0[lane] = u32::from_le_bytes(bytes);
            }
        }
        Ok(())
    }
    fn store(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault> {
        let size = (access.shape.element as usize).min(4);
        for lane in (0..W).filter(|i| access.mask >> i & 1 != 0) {
            for (word, row) in data.iter().enumerate() {
                let at = Self::at(access.addresses[lane]) + word * size;
                self.bytes[at..at + size].copy_from_slice(&row.0[lane].to_le_bytes()[..size]);
            }
        }
        Ok(())
    }
    fn atomic(
        &mut self,
        access: &WarpAccess<'_, W>,
        op: AtomicOp,
        data: &[Row<W>],
        compare: &[Row<W>],
        mut out: Option<&mut [Row<W>]>,
    ) -> Result<AtomicReply, Fault> {
        for lane in (0..W).filter(|i| access.mask >> i & 1 != 0) {
            let at = Self::at(access.addresses[lane]);
            let old = u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap());
            let new = atomic_result(op, 4, old as u64, data[0].0[lane] as u64, compare[0].0[lane] as u64);
            self.bytes[at..at + 4].copy_from_slice(&(new as u32).to_le_bytes());
            if let Some(out) = out.as_deref_mut() {
                out[0].0[lane] = old;
            }
        }
        Ok(AtomicReply::Done)
    }
    fn announce(&mut self, access: &WarpAccess<'_, W>, store: bool, atomic: bool) {
        self.announced.push((access.space, access.mask, store, atomic));
    }
}

/// One step.
pub(crate) fn once<const W: usize>(
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    memory: &mut Flat,
) -> Result<Effect, Fault> {
    step(code, warp, group, memory, &mut Scratch::new(code.program()))
}

/// Runs until the warp ends.
pub(crate) fn run<const W: usize>(
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    memory: &mut Flat,
) -> Result<(), Fault> {
    for _ in 0..1_000_000 {
        if once(code, warp, group, memory)? == Effect::Exit {
            return Ok(());
        }
    }
    panic!("the program does not end");
}
