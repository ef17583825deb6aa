//! Speed of the bare interpreter: warp-instructions a second for loops of typical operations, on one core.
//!
//! `cargo bench -p warpscope-isa --bench interpreter [name]`
use std::time::Instant;
use warpscope_exec::exec::{
    AtomicReply, Code, Effect, Fault, Group, LaneMemory, LaunchValues, Row, Scratch, Warp, WarpAccess,
    evaluate_constants, step,
};
use warpscope_exec::ops::{Cond, MathFn, Op};
use warpscope_exec::program::{
    AccessShape, AtomicOp, ConstantRow, Guard, MachineOp, Operand, Program, SourceLine, flags,
};

/// Contiguous words, to see what the call costs.
struct Words(Vec<u32>);

impl<const W: usize> LaneMemory<W> for Words {
    fn load(&mut self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault> {
        let first = access.addresses[0] as usize / 4 % (self.0.len() - W);
        out[0].0.copy_from_slice(&self.0[first..first + W]);
        Ok(())
    }
    fn store(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault> {
        let first = access.addresses[0] as usize / 4 % (self.0.len() - W);
        self.0[first..first + W].copy_from_slice(&data[0].0);
        Ok(())
    }
    fn atomic(
        &mut self,
        _: &WarpAccess<'_, W>,
        _: AtomicOp,
        _: &[Row<W>],
        _: &[Row<W>],
        _: Option<&mut [Row<W>]>,
    ) -> Result<AtomicReply, Fault> {
        Ok(AtomicReply::Done)
    }
    fn announce(&mut self, _: &WarpAccess<'_, W>, _: bool, _: bool) {}
}

fn r(n: u16) -> Operand {
    Operand::register(n)
}

fn op(op: Op, dst: Operand, src: &[Operand]) -> MachineOp {
    let mut all = [Operand::NONE; 4];
    all[..src.len()].copy_from_slice(src);
    MachineOp {
        op,
        guard: Guard::ALWAYS,
        flags: 0,
        dst,
        dst2: Operand::NONE,
        src: all,
        imm: 0,
        imm2: 0,
        class: op.class(),
        steps: 0,
    }
}

/// A loop over `body`, counted in a register, ended by a compare and a branch.
fn looped<const W: usize>(body: Vec<MachineOp>, rounds: u32) -> Program {
    let mut ops = body;
    let one = Operand::constant(0);
    ops.push(op(Op::IAdd32, r(63), &[r(63), one]));
    let mut compare = op(Op::ICmp32, Operand::predicate(0, false), &[r(63), Operand::constant(1)]);
    compare.imm = Cond::ULt as i32;
    ops.push(compare);
    let mut back = op(Op::Bra, Operand::NONE, &[]);
    back.guard = Guard::new(0, false);
    back.imm2 = ops.len() as u32 + 1;
    ops.push(back);
    ops.push(op(Op::Exit, Operand::NONE, &[]));
    let constants = [1, rounds, 0x3f80_1234, 64, 128];
    Program {
        name: "bench".into(),
        width: W as u32,
        lines: vec![SourceLine::default(); ops.len()],
        ops,
        files: vec![],
        constants: constants.iter().map(|&c| ConstantRow::Immediate(c)).collect(),
        constant_offsets: vec![u32::MAX; constants.len()],
        jump_tables: vec![],
        registers: 64,
        uniform_registers: 16,
        local_bytes: 4096,
        private_bytes: 256,
        spill_bytes: 0,
        parameters: vec![],
        parameter_bytes: 0,
        required_group_size: None,
        required_sub_group_size: None,
        order_sensitive: false,
        has_barrier: false,
    }
}

fn measure<const W: usize>(name: &str, body: Vec<MachineOp>) {
    if let Some(only) = std::env::args().nth(1).filter(|a| !a.starts_with('-'))
        && !name.contains(&only)
    {
        return;
    }
    let rounds = 100_000 / body.len() as u32;
    let program = looped::<W>(body, rounds);
    let values = LaunchValues {
        parameters: &[],
        globals: &[],
        local_arguments: &[],
        work_dim: 1,
        global_size: [W as u64, 1, 1],
        global_offset: [0; 3],
        local_size: [W as u32, 1, 1],
    };
    let constants = evaluate_constants::<W>(&program, &values);
    let code = Code::new(&program, &constants);
    let mut warp = Warp::<W>::new(&program);
    let mut group = Group { id: [0; 3], size: [W as u32, 1, 1], sub_groups: 1, local: vec![0; 8192], reserved: 0 };
    let mut memory = Words(vec![1; 1 << 14]);
    let mut scratch = Scratch::new(&program);
    let mut best = f64::INFINITY;
    let mut steps = 0u64;
    for _ in 0..100 {
        warp.reset(0, [W as u32, 1, 1]);
        for (i, row) in warp.rows[..16].iter_mut().enumerate() {
            row.0 = std::array::from_fn(|l| 64 + 4 * l as u32 + i as u32 * 256);
        }
        warp.rows[9].0 = [0; W];
        steps = 0;
        let start = Instant::now();
        loop {
            steps += 1;
            match step(&code, &mut warp, &mut group, &mut memory, &mut scratch) {
                Ok(Effect::Exit) => break,
                Ok(_) => {}
                Err(fault) => panic!("{fault}"),
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:24} W={W:2}  {:7.1} M/s  {:6.2} ns", steps as f64 / best / 1e6, best / steps as f64 * 1e9);
}

fn all<const W: usize>() {
    let c = Operand::constant;
    measure::<W>("ffma", (0..16).map(|i| op(Op::FFmaF32, r(16 + i), &[r(i % 8), c(2), r(16 + i)])).collect());
    measure::<W>("iadd", (0..16).map(|i| op(Op::IAdd32, r(16 + i), &[r(i % 8), r(16 + i)])).collect());
    measure::<W>("imad.wide", (0..8).map(|i| op(Op::IMadWideU, r(16 + 2 * i), &[r(i), c(0), r(2 * i)])).collect());
    measure::<W>("iadd.64", (0..8).map(|i| op(Op::IAdd64, r(16 + 2 * i), &[r(2 * i), r(16 + 2 * i)])).collect());
    measure::<W>(
        "dfma",
        (0..8).map(|i| op(Op::FFmaF64, r(16 + 2 * i), &[r(2 * i), r(2 * i), r(16 + 2 * i)])).collect(),
    );
    measure::<W>("uniform iadd", {
        let u = Operand::uniform;
        let uniform = |i| MachineOp { flags: flags::UNIFORM, ..op(Op::IAdd32, u(i), &[u(i), c(0)]) };
        (0..8).map(uniform).collect()
    });
    measure::<W>("compare", {
        let p = |i: u16| Operand::predicate(2 + i as u8, false);
        (0..8).map(|i| MachineOp { imm: i as i32, ..op(Op::ICmp32, p(i), &[r(i), c(1)]) }).collect()
    });
    measure::<W>("divergent guard", {
        let guarded = |i| MachineOp { guard: Guard::new(5, true), ..op(Op::FAddF32, r(16 + i), &[r(i), c(2)]) };
        (0..8).map(guarded).collect()
    });
    let word = AccessShape { element: 4, count: 1, atomic: 0, signed: false }.pack();
    measure::<W>(
        "local load",
        (0..8).map(|i| MachineOp { imm2: word, ..op(Op::LdLocal, r(16 + i), &[r(i)]) }).collect(),
    );
    measure::<W>("local gather", {
        let load = |i: u16| MachineOp { imm2: word, ..op(Op::LdLocal, r(16 + i), &[r(30)]) };
        let mut body = vec![op(Op::Xor32, r(30), &[r(0), c(3)]), op(Op::Xor32, r(30), &[r(30), c(4)])];
        body.extend((0..8).map(load));
        body
    });
    measure::<W>("private load", {
        (0..8).map(|i| MachineOp { imm2: word, imm: 4 * i, ..op(Op::LdPrivate, r(16 + i as u16), &[r(9)]) }).collect()
    });
    measure::<W>("global load", {
        (0..8).map(|i| MachineOp { imm2: word, imm: 128 * i, ..op(Op::LdGlobal, r(16 + i as u16), &[r(8)]) }).collect()
    });
    for f in [MathFn::Exp, MathFn::Sin, MathFn::Pow, MathFn::Tanh, MathFn::Erf] {
        let body = (0..4).map(|i| MachineOp { imm2: f as u32, ..op(Op::MathF32, r(16 + i), &[c(2), c(2)]) }).collect();
        measure::<W>(f.name(), body);
    }
    // The inner loop of a tiled matrix product.
    measure::<W>("tile", {
        let mut body = vec![];
        for k in 0..4 {
            body.push(MachineOp { imm2: word, ..op(Op::LdLocal, r(16 + k), &[r(k)]) });
            body.push(MachineOp { imm2: word, ..op(Op::LdLocal, r(20 + k), &[r(9)]) });
            for j in 0..4 {
                body.push(op(Op::FFmaF32, r(32 + j), &[r(16 + k), r(20 + k), r(32 + j)]));
            }
        }
        body
    });
}

fn main() {
    all::<32>();
    if std::env::args().any(|a| a == "--all") {
        all::<8>();
        all::<16>();
        all::<64>();
    }
}
