//! Which registers a warp must find zeroed when it begins: those that some path reads before it writes them.
//!
//! All registers begin as 0, so that nothing depends on what ran before. Most are written before they are read; these
//! need not be touched, which saves as much memory traffic as some warps cause afterwards.
use warpscope_exec::ops::{Op, OpClass, words};
use warpscope_exec::program::{Guard, MachineOp, Operand, OperandKind, Program, flags};

/// A set of rows (vector registers, then uniform registers).
type Rows = Vec<u64>;

/// The rows that must be zeroed.
pub(crate) fn rows_read_first(program: &Program) -> Vec<u32> {
    let count = (program.registers + program.uniform_registers) as usize;
    let size = count.div_ceil(64);
    // What is live in front of each operation, found from the back until nothing is added.
    let mut live: Vec<Rows> = vec![vec![0; size]; program.ops.len() + 1];
    let mut across = vec![0; size];
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, op) in program.ops.iter().enumerate().rev() {
            let mut rows = vec![0; size];
            for next in successors(program, pc, op) {
                rows.iter_mut().zip(&live[next.min(program.ops.len())]).for_each(|(to, from)| *to |= from);
            }
            if op.flags & flags::GHOST == 0 {
                let words = words(op);
                if op.guard == Guard::ALWAYS {
                    each_row(program, op.dst, words.dst[0], |row| rows[row / 64] &= !(1 << (row % 64)));
                }
                for (source, count) in op.src.into_iter().zip(words.src) {
                    each_row(program, source, count, |row| {
                        rows[row / 64] |= 1 << (row % 64);
                        if reads_other_lanes(op) {
                            across[row / 64] |= 1 << (row % 64);
                        }
                    });
                }
            }
            changed |= rows != live[pc];
            live[pc] = rows;
        }
    }
    let first = live.first().unwrap_or(&across);
    let is_in = |rows: &Rows, row: usize| rows[row / 64] >> (row % 64) & 1 != 0;
    (0..count).filter(|row| is_in(first, *row) || is_in(&across, *row)).map(|row| row as u32).collect()
}

/// Where a lane that was at an operation can go on.
fn successors(program: &Program, pc: usize, op: &MachineOp) -> Vec<usize> {
    let skips = op.guard != Guard::ALWAYS;
    let mut to = match op.op {
        Op::Bra => vec![op.imm as u32 as usize],
        Op::Brx => match program.jump_tables.get(op.imm as usize) {
            Some(targets) => targets.iter().map(|target| *target as usize).collect(),
            None => Vec::new(),
        },
        Op::Exit | Op::Trap => Vec::new(),
        _ => vec![pc + 1],
    };
    if skips {
        to.push(pc + 1);
    }
    to
}

/// Whether an operation may read lanes that do not take part: they may not have come by what writes the register.
fn reads_other_lanes(op: &MachineOp) -> bool {
    matches!(op.class, OpClass::Shuffle | OpClass::WarpReduce | OpClass::Vote)
}

/// Calls `f` with each row of an operand.
fn each_row(program: &Program, operand: Operand, count: u8, f: impl FnMut(usize)) {
    let (first, end) = match operand.kind() {
        OperandKind::Register(r) => (usize::from(r), program.registers as usize),
        OperandKind::Uniform(u) => {
            let base = program.registers as usize;
            (base + usize::from(u), base + program.uniform_registers as usize)
        }
        OperandKind::Constant(_) | OperandKind::Predicate(..) | OperandKind::None => return,
    };
    (first..end.min(first + usize::from(count.max(1)))).for_each(f);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(registers: u32, ops: Vec<MachineOp>) -> Program {
        Program {
            name: "test".into(),
            width: 32,
            lines: Vec::new(),
            ops,
            files: Vec::new(),
            constants: Vec::new(),
            constant_offsets: Vec::new(),
            jump_tables: Vec::new(),
            registers,
            uniform_registers: 0,
            local_bytes: 0,
            private_bytes: 0,
            spill_bytes: 0,
            parameters: Vec::new(),
            parameter_bytes: 0,
            required_group_size: None,
            required_sub_group_size: None,
            order_sensitive: false,
            has_barrier: false,
        }
    }

    fn add(dst: u16, a: u16, b: u16) -> MachineOp {
        let src = [Operand::register(a), Operand::register(b), Operand::NONE, Operand::NONE];
        op(Op::IAdd32, OpClass::Alu, Operand::register(dst), src)
    }

    fn op(op: Op, class: OpClass, dst: Operand, src: [Operand; 4]) -> MachineOp {
        let (guard, flags) = (Guard::ALWAYS, 0);
        MachineOp { op, guard, flags, dst, dst2: Operand::NONE, src, imm: 0, imm2: 0, class, steps: 0 }
    }

    fn branch(to: i32, guard: Guard) -> MachineOp {
        let none = [Operand::NONE; 4];
        MachineOp { imm: to, guard, ..op(Op::Bra, OpClass::Branch, Operand::NONE, none) }
    }

    fn exit() -> MachineOp {
        op(Op::Exit, OpClass::Exit, Operand::NONE, [Operand::NONE; 4])
    }

    #[test]
    fn what_is_written_on_every_way_needs_no_zero() {
        // r1 is written on one of two ways only, r2 on both, r3 never, r0 under a guard.
        let guarded = MachineOp { guard: Guard::new(1, false), ..add(0, 3, 3) };
        let ops = vec![
            guarded,
            branch(5, Guard::new(0, false)),
            add(1, 3, 3),
            add(2, 1, 3),
            branch(6, Guard::ALWAYS),
            add(2, 0, 3),
            add(4, 1, 2),
            exit(),
        ];
        assert_eq!(rows_read_first(&program(5, ops)), [0, 1, 3]);
    }

    #[test]
    fn loops_and_other_lanes_count() {
        // r0 is carried around a loop that reads it first; r1 is written, then read by a shuffle.
        let shuffle = MachineOp { op: Op::ShflIdx, class: OpClass::Shuffle, ..add(2, 1, 1) };
        let ops = vec![add(1, 1, 1), add(0, 0, 1), shuffle, branch(1, Guard::new(0, false)), exit()];
        assert_eq!(rows_read_first(&program(3, ops)), [0, 1]);
        let ops = vec![MachineOp { flags: flags::GHOST, ..add(1, 2, 2) }, add(0, 1, 1), exit()];
        assert_eq!(rows_read_first(&program(3, ops)), [1]);
    }
}
