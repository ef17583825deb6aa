//! State of a warp and of its work-group, and what a step did.
use super::lanes::{blend, full_mask};
use super::semantics::Execute;
use crate::program::{MachineOp, NO_RECONVERGENCE, Operand, OperandKind, Program};

/// A program ready to run: with the rows of its constant pool evaluated for one launch.
#[derive(Copy, Clone)]
pub struct Code<'a, const W: usize> {
    pub(super) program: &'a Program,
    pub(super) constants: &'a [Row<W>],
    pub(super) execute: Execute<W>,
}

impl<'a, const W: usize> Code<'a, W> {
    /// Binds a program of width `W` to its evaluated constants ([`super::evaluate_constants`]).
    pub fn new(program: &'a Program, constants: &'a [Row<W>]) -> Self {
        assert_eq!(program.width as usize, W, "the program was lowered for another width");
        Code { program, constants, execute: Execute::select() }
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The constant pool, broadcast.
    pub fn constants(&self) -> &'a [Row<W>] {
        self.constants
    }
}

/// 32 bits of every lane.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row<const W: usize>(pub [u32; W]);

/// An entry of the reconvergence stack: lanes that wait at `pc` until the top's lanes reach `reconvergence`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Where these lanes go on.
    pub pc: u32,
    /// Where they meet the others ([`crate::program::NO_RECONVERGENCE`]: at the exit).
    pub reconvergence: u32,
    /// The lanes.
    pub mask: u64,
}

/// A warp's architectural state; what every step looks at comes first and close together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Warp<const W: usize> {
    /// Index of the next operation.
    pub pc: u32,
    /// Where the current lanes meet the entry below on the stack.
    pub reconvergence: u32,
    /// Lanes that execute now.
    pub active: u64,
    /// Vector registers, then uniform registers: `W` of these in a row, since each has one value for all lanes.
    pub rows: Vec<Row<W>>,
    /// Lanes that have not ended.
    pub alive: u64,
    /// Predicate registers, one bit a lane.
    pub predicates: [u64; 16],
    /// Lanes that wait.
    pub stack: Vec<Divergence>,
    /// Private memory: word `o / 4` of all lanes is row `o / 4`.
    pub private: Vec<Row<W>>,
    /// Index of the warp in its work-group.
    pub sub_group: u32,
    /// Work-items in this sub-group (the last may be smaller).
    pub sub_group_size: u32,
    /// Vector registers: the row at which the uniform ones begin.
    registers: u32,
}

/// What the parts of one operation pass on to each other. Nothing is kept in it from operation to operation, so one does
/// for all warps of a host thread and stays in the host's caches, which warps' own state does not.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Scratch<const W: usize> {
    /// Lane addresses of a memory operation.
    pub(super) addresses: [u64; W],
    /// The uniform registers that an operation reads, broadcast to rows of their own.
    pub(super) uniform: Vec<Row<W>>,
}

impl<const W: usize> Scratch<W> {
    /// For operations of this program.
    pub fn new(program: &Program) -> Self {
        Scratch { addresses: [0; W], uniform: vec![Row([0; W]); program.uniform_registers as usize] }
    }

    /// Makes the rows of the uniform registers that `op` reads as words or pairs.
    #[inline(always)]
    pub(super) fn spread_sources(&mut self, op: &MachineOp, warp: &Warp<W>) {
        // Operands' kinds are in their top two bits: all four are looked at as one word.
        let [a, b, c, d] = op.src.map(|o| u64::from(o.0));
        let all = a | b << 16 | c << 32 | d << 48;
        if all >> 14 & !(all >> 15) & 0x0001_0001_0001_0001 != 0 {
            for o in op.src.into_iter().filter(|o| o.0 >> 14 == 1) {
                self.spread(o, 2, warp);
            }
        }
    }

    /// Makes the rows of up to `count` uniform registers from `o` on, which is one.
    #[inline(always)]
    pub(super) fn spread(&mut self, o: Operand, count: usize, warp: &Warp<W>) {
        let first = (o.0 & 0x3fff) as usize;
        for (u, row) in self.uniform.iter_mut().enumerate().skip(first).take(count) {
            row.0 = [uniform(&warp.rows, warp.registers as usize, u); W];
        }
    }
}

/// Uniform register `u` of rows of which the first `registers` are vector registers.
#[inline(always)]
pub(super) fn uniform<const W: usize>(rows: &[Row<W>], registers: usize, u: usize) -> u32 {
    rows[registers + u / W].0[u % W]
}

/// As [`uniform`], to write to.
#[inline(always)]
pub(super) fn uniform_mut<const W: usize>(rows: &mut [Row<W>], registers: usize, u: usize) -> &mut u32 {
    &mut rows[registers + u / W].0[u % W]
}

impl<const W: usize> Warp<W> {
    /// Most entries that the reconvergence stack ever holds.
    pub const STACK: usize = 2 * W;

    /// A warp with room for the program's registers; [`Self::reset`] starts it.
    pub fn new(program: &Program) -> Self {
        let mut warp = Self::idle();
        warp.fit(program);
        warp
    }

    /// A warp without registers or lanes; [`Self::fit`] gives it room.
    pub fn idle() -> Self {
        Warp {
            pc: 0,
            active: 0,
            alive: 0,
            reconvergence: NO_RECONVERGENCE,
            stack: Vec::with_capacity(Self::STACK),
            predicates: [0; 16],
            rows: Vec::new(),
            private: Vec::new(),
            sub_group: 0,
            sub_group_size: 0,
            registers: 0,
        }
    }

    /// Makes room for another program; does not allocate where there is room already.
    pub fn fit(&mut self, program: &Program) {
        let zero = Row([0; W]);
        let uniform = program.uniform_registers.div_ceil(W as u32);
        self.rows.resize((program.registers + uniform) as usize, zero);
        self.registers = program.registers;
        self.private.resize(program.private_bytes.div_ceil(4) as usize, zero);
    }

    /// Begins sub-group `sub_group` of a work-group of this size, at operation 0, with registers and private memory
    /// zeroed (so what a program reads without having written it does not depend on what ran before).
    pub fn reset(&mut self, sub_group: u32, group_size: [u32; 3]) {
        self.rows.fill(Row([0; W]));
        self.begin(sub_group, group_size);
    }

    /// As [`Self::reset`], but zeroes only these registers (numbers of vector registers, then of uniform ones): the caller
    /// knows that the program writes all others before it reads them.
    pub fn reset_some(&mut self, sub_group: u32, group_size: [u32; 3], zeroed: &[u32]) {
        for &number in zeroed {
            match number.checked_sub(self.registers) {
                None => self.rows[number as usize] = Row([0; W]),
                Some(u) => *uniform_mut(&mut self.rows, self.registers as usize, u as usize) = 0,
            }
        }
        self.begin(sub_group, group_size);
    }

    fn begin(&mut self, sub_group: u32, group_size: [u32; 3]) {
        let first = sub_group as u64 * W as u64;
        let items = group_size.iter().map(|&n| n as u64).product::<u64>();
        let count = items.saturating_sub(first).min(W as u64);
        self.pc = 0;
        self.active = full_mask(count as usize);
        self.alive = self.active;
        self.reconvergence = NO_RECONVERGENCE;
        self.stack.clear();
        self.predicates = [0; 16];
        self.private.fill(Row([0; W]));
        self.sub_group = sub_group;
        self.sub_group_size = count as u32;
    }

    /// Uniform register `u`.
    pub fn uniform(&self, u: u16) -> u32 {
        uniform(&self.rows, self.registers as usize, u.into())
    }

    /// Local ids of the lanes in dimension `of` of a group of this size; those of lanes beyond its last item mean nothing.
    #[inline(never)]
    pub(super) fn local_id(&self, of: usize, group_size: [u32; 3]) -> [u32; W] {
        let [x, y] = [group_size[0].max(1), group_size[1].max(1)];
        let first = self.sub_group * W as u32;
        let (column, line) = (first % x, first / x);
        let mut id = [column, line % y, line / y];
        if column + W as u32 <= x {
            // All in one line, as in most groups.
            let step = u32::from(of == 0);
            return std::array::from_fn(|lane| id[of] + lane as u32 * step);
        }
        let mut ids = [0; W];
        for to in &mut ids {
            *to = id[of];
            // The next item, without a division.
            let ends_line = id[0] + 1 == x;
            let ends_plane = ends_line && id[1] + 1 == y;
            id[0] = if ends_line { 0 } else { id[0] + 1 };
            id[1] = if ends_plane { 0 } else { id[1] + u32::from(ends_line) };
            id[2] += u32::from(ends_plane);
        }
        ids
    }

    /// Writes rows that come later than their operation (deferred atomics) to consecutive registers from `dst`.
    pub fn write_result(&mut self, program: &Program, dst: Operand, mask: u64, rows: &[Row<W>]) {
        let registers = program.registers as usize;
        match dst.kind() {
            OperandKind::Register(r) => {
                let to = &mut self.rows[r as usize..registers];
                to.iter_mut().zip(rows).for_each(|(to, from)| blend(to, &from.0, mask));
            }
            OperandKind::Uniform(u) => {
                for (n, from) in rows.iter().enumerate() {
                    *uniform_mut(&mut self.rows, registers, u as usize + n) =
                        from.0[mask.trailing_zeros() as usize % W];
                }
            }
            OperandKind::Constant(_) | OperandKind::Predicate(..) | OperandKind::None => {}
        }
    }
}

/// A work-group's state.
#[derive(Clone, Debug)]
pub struct Group {
    /// Group id in each dimension.
    pub id: [u32; 3],
    /// Actual size (smaller in remainder groups).
    pub size: [u32; 3],
    /// Sub-groups.
    pub sub_groups: u32,
    /// Local memory; offset `o` of the program is byte `o - reserved` here.
    pub local: Vec<u8>,
    /// Offset of the first byte.
    pub reserved: u32,
}

/// What a step did, as far as time and the caller are concerned.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The next operation follows.
    Next,
    /// Control went elsewhere than to the next operation.
    Jumped,
    /// A memory access was carried out or announced (the operation's guard left at least one lane).
    Access,
    /// The warp waits at a work-group barrier; `pc` is behind it.
    Barrier,
    /// A fence.
    Fence,
    /// Every lane has ended.
    Exit,
}
