//! The program as timing sees it: what each operation occupies, reads and writes, decoded once a launch.
use super::classes::{cause_of_class, kind, orders_global, passes_barriers, queue, reach};
use super::sub_core::MAX_SETS;
use warpscope_configs::MachineSpec;
use warpscope_exec::ops::{OpClass, words};
use warpscope_exec::program::{MachineOp, Operand, OperandKind, Program, flags, steps};

/// Most pipes that a machine can name.
pub(crate) const MAX_PIPES: usize = 32;
/// Most pipes that one class can use.
const MAX_CHOICES: usize = 4;

/// Pipes that space a warp's operations: most that a machine can have, and the index of an operation in none.
pub(crate) const PORTS: usize = 4;
pub(crate) const UNSPACED: u8 = PORTS as u8;

/// Queue of a shared unit that an operation goes through.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub(crate) enum Queue {
    #[default]
    None,
    /// Global and private memory.
    Lg,
    /// Local memory, constants, shuffles.
    Mio,
}

/// How far from the compute unit an operation's effects and needs reach.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub(crate) enum Reach {
    /// Not beyond it, but for fills of its caches.
    #[default]
    Unit,
    /// It may send a store of private data on, if others have been answered.
    Spill,
    /// It reads or writes memory that other units see.
    Machine,
}

/// What an operation needs in order to issue, besides its operands.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Needs {
    /// Index in [`TimedCode::sets`].
    pub set: u8,
    pub queue: Queue,
    pub reach: Reach,
}

/// What issuing an operation means beyond its registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Fixed latency.
    Plain,
    /// An access that the memory system times.
    Memory,
    /// An indexed load from the constant bank.
    Constant,
    /// A load of the launch ABI from the constant bank's first line.
    LaunchConstant,
    Branch,
    Barrier,
    Fence,
    Exit,
}

/// A pipe that an operation can take.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choice {
    pub pipe: u8,
    /// Cycles that one warp occupies it.
    pub busy: u16,
    /// Cycles that one can issue before the pipe is free: what its queue holds.
    pub ahead: u16,
}

/// The pipes of a class.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct PipeSet {
    choices: [Choice; MAX_CHOICES],
    count: u8,
}

impl PipeSet {
    pub fn choices(&self) -> &[Choice] {
        &self.choices[..self.count as usize]
    }
}

/// Reads that an operation keeps with itself; those with more are mostly of 64 bits.
const NEAR: usize = 3;

/// One operation: two of them in a line of the host's caches.
#[derive(Copy, Clone, Debug)]
#[repr(align(32))]
pub(crate) struct TimedOp {
    /// Scoreboard entries of the first reads that do not guard, and of the first write; [`TimedCode::nothing`] where there
    /// are none.
    pub near: [u16; NEAR],
    pub near_write: u16,
    /// Where the first result goes; [`TimedCode::nowhere`] where there is none.
    pub near_target: u16,
    /// Where the operation's lists end in [`TimedCode::slots`], counted from `first`: guards, other reads, writes, and
    /// lines of constants.
    guards_end: u8,
    reads_end: u8,
    writes_end: u8,
    lines_end: u8,
    first: u32,
    pub needs: Needs,
    /// Cycles that it holds the dispatch stage.
    pub dispatch: u8,
    pub latency: u16,
    /// Cycles to the warp's next operation.
    pub hold: u8,
    /// Index of its pipe among those that space a warp's operations; [`UNSPACED`]: in none of them.
    pub port: u8,
    /// Cycles to the warp's next operation there.
    pub spacing: u8,
    pub kind: Kind,
    /// Forwarding group of its results, and the cause that waiting for them has: packed as the scoreboard keeps it.
    pub producer: u8,
    /// Forwarding group in which it reads.
    pub group: u8,
    /// Waits for the warp's outstanding atomics: for an access of the same work-item's, or to order global memory.
    pub after_atomics: bool,
    /// Waits for the barrier at which the warp has arrived.
    pub after_barrier: bool,
}
const _: () = assert!(size_of::<TimedOp>() == 32);

impl TimedOp {
    /// Whether operands lie in the constant bank.
    #[inline(always)]
    pub fn reads_constants(&self) -> bool {
        self.lines_end > self.writes_end
    }

    /// Whether predicates guard it.
    #[inline(always)]
    pub fn is_guarded(&self) -> bool {
        self.guards_end > 0
    }

    /// Whether it has more reads, and more writes, than it keeps itself.
    #[inline(always)]
    pub fn reads_more(&self) -> bool {
        usize::from(self.reads_end - self.guards_end) > NEAR
    }
    #[inline(always)]
    pub fn writes_more(&self) -> bool {
        self.writes_end - self.reads_end > 1
    }
}

/// Operations that follow each other in one line of the instruction caches.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Stretch {
    /// From, to (exclusive).
    pub ops: (u32, u32),
    /// The line, counted from the beginning of the code.
    pub line: u32,
    /// Whether whoever comes from the operation in front has gone over lines.
    pub behind_gap: bool,
}

/// The decoded program.
pub(crate) struct TimedCode {
    pub ops: Vec<TimedOp>,
    /// The lines that operations lie in, and for each operation which.
    stretches: Vec<Stretch>,
    stretch_of: Vec<u32>,
    /// Instructions, with the code that branches of recipes go over.
    pub length: u32,
    pub sets: Vec<PipeSet>,
    /// Which pipes are shared by the compute unit's sub-cores, by bit.
    pub shared_pipes: u32,
    /// Sets that can use a shared pipe, by bit, and for each pipe the sets that can use it.
    pub sets_shared: u64,
    pub sets_of_pipe: [u64; MAX_PIPES],
    /// Scoreboard entries and lines of constants of all operations.
    slots: Vec<u16>,
    /// Address in the constant bank of each line that the program reads as operands.
    pub bank_lines: Vec<u32>,
    /// Scoreboard entries of a warp, the two below not among them.
    pub board: usize,
    /// Entries of vector registers: those in front of the others.
    registers: u16,
    /// An entry that is never written, and one that is never read.
    nothing: u16,
    nowhere: u16,
    /// Operations in a line of the instruction caches.
    pub line_ops: u32,
    /// Cycles that an operand takes more from another forwarding group, and one that guards.
    pub crossing: u64,
    pub guard: u64,
    /// Cycles from a jump to the operation that it goes to.
    pub jump: u64,
}

/// Predicates that a program uses: those up to the highest that it names.
fn predicates(program: &Program) -> u32 {
    let of = |operand: Operand| match operand.kind() {
        OperandKind::Predicate(p, _) => u32::from(p) + 1,
        _ => 0,
    };
    let of_op = |op: &MachineOp| {
        let guard = op.guard.get().map_or(0, |(p, _)| u32::from(p) + 1);
        op.src.into_iter().chain([op.dst, op.dst2]).map(of).fold(guard, u32::max)
    };
    program.ops.iter().map(of_op).max().unwrap_or(0)
}

impl TimedCode {
    pub fn new(spec: &MachineSpec, program: &Program) -> TimedCode {
        let cu = &spec.compute_unit;
        let names: Vec<&str> = cu.pipes.keys().map(String::as_str).take(MAX_PIPES).collect();
        let shared = cu.pipes.values().take(MAX_PIPES).enumerate();
        let board = (program.registers + program.uniform_registers + predicates(program)) as usize;
        let mut code = TimedCode {
            ops: Vec::with_capacity(program.ops.len()),
            stretches: Vec::new(),
            stretch_of: Vec::with_capacity(program.ops.len()),
            length: 0,
            sets: Vec::new(),
            shared_pipes: shared.fold(0, |bits, (i, pipe)| bits | u32::from(pipe.shared) << i),
            sets_shared: 0,
            sets_of_pipe: [0; MAX_PIPES],
            slots: Vec::new(),
            bank_lines: Vec::new(),
            board,
            registers: program.registers as u16,
            nothing: board as u16,
            nowhere: board as u16 + 1,
            crossing: u64::from(cu.register_file.crossing),
            guard: u64::from(cu.register_file.guard),
            jump: u64::from(cu.classes[OpClass::Branch.key()].latency.max(1) + spec.frontend.refill),
            line_ops: (spec.frontend.l0_instruction.line / spec.frontend.instruction_bytes).max(1),
        };
        for op in &program.ops {
            let timed = code.decode(spec, &names, program, op);
            code.ops.push(timed);
            code.place(op);
        }
        code.index_sets();
        code
    }

    /// Gives the next operation its place in the code.
    fn place(&mut self, op: &MachineOp) {
        let (number, line) = (self.stretch_of.len() as u32, self.length / self.line_ops);
        match self.stretches.last_mut() {
            Some(last) if last.line == line => last.ops.1 = number + 1,
            last => {
                let behind_gap = last.is_some_and(|last| last.line + 1 != line);
                self.stretches.push(Stretch { ops: (number, number + 1), line, behind_gap });
            }
        }
        self.stretch_of.push(self.stretches.len() as u32 - 1);
        let is_over = op.flags & flags::GHOST != 0 && op.class == OpClass::Branch;
        self.length += 1 + if is_over { op.imm.max(0) as u32 } else { 0 };
    }

    /// Where operation `pc` lies.
    #[inline]
    pub fn stretch(&self, pc: u32) -> Stretch {
        self.stretches[self.stretch_of[pc as usize] as usize]
    }

    /// Finds out which sets use which pipes.
    fn index_sets(&mut self) {
        debug_assert!(self.sets.len() <= MAX_SETS);
        for (n, set) in self.sets.iter().enumerate() {
            for choice in set.choices() {
                self.sets_of_pipe[choice.pipe as usize % MAX_PIPES] |= 1 << n;
                self.sets_shared |= u64::from(self.shared_pipes >> choice.pipe & 1) << n;
            }
        }
    }

    /// A program of one operation with these guards, reads and writes; crossing takes 3 cycles and guarding 9.
    #[cfg(test)]
    pub fn of_one([guards, reads, writes]: [&[u16]; 3], producer: u8, group: u8) -> (TimedCode, TimedOp) {
        let (nothing, nowhere) = (8, 9);
        let lists = [guards, reads, writes].concat();
        let code = TimedCode {
            ops: Vec::new(),
            stretches: Vec::new(),
            stretch_of: Vec::new(),
            length: 0,
            sets: Vec::new(),
            shared_pipes: 0,
            sets_shared: 0,
            sets_of_pipe: [0; MAX_PIPES],
            slots: lists,
            bank_lines: Vec::new(),
            board: nothing as usize,
            registers: nothing,
            nothing,
            nowhere,
            crossing: 3,
            guard: 9,
            jump: 1,
            line_ops: 8,
        };
        let ends = [guards.len(), guards.len() + reads.len(), code.slots.len()].map(|end| end as u8);
        let op = TimedOp {
            near: code.near(reads),
            near_write: writes.first().copied().unwrap_or(nothing),
            near_target: writes.first().copied().unwrap_or(nowhere),
            guards_end: ends[0],
            reads_end: ends[1],
            writes_end: ends[2],
            lines_end: ends[2],
            first: 0,
            needs: Needs::default(),
            dispatch: 1,
            latency: 0,
            hold: 1,
            port: UNSPACED,
            spacing: 1,
            kind: Kind::Plain,
            producer,
            group,
            after_barrier: false,
            after_atomics: false,
        };
        (code, op)
    }

    /// The first of these reads.
    fn near(&self, reads: &[u16]) -> [u16; NEAR] {
        std::array::from_fn(|n| reads.get(n).copied().unwrap_or(self.nothing))
    }

    /// The operation's part of the lists, from one place to another.
    #[inline(always)]
    fn list(&self, op: &TimedOp, from: u8, to: u8) -> &[u16] {
        &self.slots[op.first as usize + usize::from(from)..op.first as usize + usize::from(to)]
    }

    /// Scoreboard entries of the predicates that guard an operation.
    #[inline(always)]
    pub fn guards(&self, op: &TimedOp) -> &[u16] {
        self.list(op, 0, op.guards_end)
    }

    /// Scoreboard entries of its other reads,
    #[inline(always)]
    pub fn reads(&self, op: &TimedOp) -> &[u16] {
        self.list(op, op.guards_end, op.reads_end)
    }

    /// Vector registers that the operation reads.
    pub fn registers_read(&self, op: &TimedOp) -> u64 {
        self.reads(op).iter().filter(|entry| **entry < self.registers).count() as u64
    }

    /// and of its writes.
    #[inline(always)]
    pub fn writes(&self, op: &TimedOp) -> &[u16] {
        self.list(op, op.reads_end, op.writes_end)
    }

    /// Scoreboard entries that it reads or writes.
    #[inline]
    pub fn operands(&self, op: &TimedOp) -> &[u16] {
        self.list(op, 0, op.writes_end)
    }

    /// Lines of the constant bank that its operands lie in, as indices in [`TimedCode::bank_lines`].
    #[inline]
    pub fn constant_lines(&self, op: &TimedOp) -> &[u16] {
        self.list(op, op.writes_end, op.lines_end)
    }

    fn decode(&mut self, spec: &MachineSpec, names: &[&str], program: &Program, op: &MachineOp) -> TimedOp {
        let cu = &spec.compute_unit;
        // A checked specification has every class.
        let class = &cu.classes[op.class.key()];
        let ghost = op.flags & flags::GHOST != 0;
        let mut set = PipeSet { choices: [Choice::default(); MAX_CHOICES], count: 0 };
        let mut group = 0;
        let (mut port, mut spacing) = (UNSPACED, 1);
        let spaces = |name: &&&str| cu.pipes[**name].spacing > 1;
        for name in class.pipes.iter().take(MAX_CHOICES) {
            if let Some(index) = names.iter().position(|n| n == name) {
                let pipe = &cu.pipes[name.as_str()];
                let busy = program.width.div_ceil(pipe.lanes) * class.passes;
                let ahead = (busy * pipe.queue).min(u32::from(u16::MAX)) as u16;
                set.choices[set.count as usize] = Choice { pipe: index as u8, busy: busy as u16, ahead };
                set.count += 1;
                group = pipe.forwarding as u8;
                if pipe.spacing > 1 {
                    port = names[..index].iter().filter(spaces).count().min(PORTS - 1) as u8;
                    spacing = pipe.spacing as u8;
                }
            }
        }
        let first = self.slots.len() as u32;
        let [guards, reads] = self.push_operands(program, op);
        let writes_end = (self.slots.len() as u32 - first) as u8;
        self.push_constant_lines(spec, program, op);
        let lists = &self.slots[first as usize..];
        let (reads_end, guards_end) = ((guards + reads) as u8, guards as u8);
        let near = self.near(&lists[guards as usize..reads_end as usize]);
        let write = lists[reads_end as usize..writes_end as usize].first().copied();
        let lines_end = lists.len() as u8;
        TimedOp {
            near,
            near_write: write.unwrap_or(self.nothing),
            near_target: write.unwrap_or(self.nowhere),
            guards_end,
            reads_end,
            writes_end,
            lines_end,
            first,
            dispatch: dispatch_cycles(spec, op, &set),
            needs: Needs { set: self.set_index(set), queue: queue(op.class), reach: reach(op.class, ghost) },
            latency: class.latency as u16,
            hold: class.hold as u8,
            port,
            spacing,
            kind: match (ghost, op.class) {
                (true, OpClass::LoadConstant) => Kind::LaunchConstant,
                (true, _) => Kind::Plain,
                (false, class) => kind(class),
            },
            producer: group | (cause_of_class(op.class) as u8) << 4,
            group,
            after_barrier: !cu.barrier.deferred || !ghost && !passes_barriers(op.class),
            after_atomics: op.flags & flags::AFTER_ATOMICS != 0 || !ghost && orders_global(op),
        }
    }

    fn set_index(&mut self, set: PipeSet) -> u8 {
        match self.sets.iter().position(|s| *s == set) {
            Some(index) => index as u8,
            None => {
                self.sets.push(set);
                self.sets.len() as u8 - 1
            }
        }
    }

    /// Appends the scoreboard entries of the predicates that guard `op`, of what else it reads, and of what it writes;
    /// returns the numbers of the first two.
    fn push_operands(&mut self, program: &Program, op: &MachineOp) -> [u32; 2] {
        let words = words(op);
        let before = self.slots.len();
        if let Some((predicate, _)) = op.guard.get() {
            self.push_entries(program, Operand::predicate(predicate, false), 1);
        }
        let is_guard = |o: &Operand| op.steps & steps::GUARDED != 0 && matches!(o.kind(), OperandKind::Predicate(..));
        op.src.into_iter().filter(is_guard).for_each(|o| self.push_entries(program, o, 1));
        let guards = self.slots.len() - before;
        // What a step of a recipe does to the high words says nothing about the low one.
        let high = op.steps & steps::HIGH != 0;
        let part = |operand: Operand, count: u8| match operand.kind() {
            OperandKind::Register(r) if high && count == 2 => (Operand::register(r + 1), 1),
            _ => (operand, count),
        };
        for (n, (operand, count)) in op.src.into_iter().zip(words.src).enumerate() {
            if is_guard(&operand) || read_earlier(op, n) {
                continue;
            }
            let (operand, count) = part(operand, count);
            self.push_entries(program, operand, count);
        }
        if op.steps & steps::AFTER_LOW != 0 {
            self.push_entries(program, op.dst, 1);
        }
        let reads = self.slots.len() - before - guards;
        for (operand, count) in [op.dst, op.dst2].into_iter().zip(words.dst) {
            let (operand, count) = part(operand, count);
            self.push_entries(program, operand, count);
        }
        [guards as u32, reads as u32]
    }

    fn push_entries(&mut self, program: &Program, operand: Operand, count: u8) {
        let (first, limit) = match operand.kind() {
            OperandKind::Register(r) => (u32::from(r), program.registers),
            OperandKind::Uniform(u) => {
                (program.registers + u32::from(u), program.registers + program.uniform_registers)
            }
            OperandKind::Predicate(p, _) => {
                let base = program.registers + program.uniform_registers;
                (base + u32::from(p), self.board as u32)
            }
            OperandKind::Constant(_) | OperandKind::None => return,
        };
        let count = if matches!(operand.kind(), OperandKind::Predicate(..)) { 1 } else { u32::from(count) };
        self.slots.extend((first..first + count).take_while(|e| *e < limit).map(|e| e as u16));
    }

    fn push_constant_lines(&mut self, spec: &MachineSpec, program: &Program, op: &MachineOp) {
        let first = self.slots.len();
        let words = words(op);
        for (operand, count) in op.src.into_iter().zip(words.src) {
            let OperandKind::Constant(row) = operand.kind() else { continue };
            for row in row..row + u16::from(count.max(1)) {
                let Some(&offset) = program.constant_offsets.get(row as usize) else { continue };
                if offset == u32::MAX {
                    continue;
                }
                let line = offset / spec.frontend.l0_constant.line;
                let index = match self.bank_lines.iter().position(|l| *l == line) {
                    Some(index) => index,
                    None => {
                        self.bank_lines.push(line);
                        self.bank_lines.len() - 1
                    }
                } as u16;
                if !self.slots[first..].contains(&index) {
                    self.slots.push(index);
                }
            }
        }
    }
}

/// Whether source `n` is read by an earlier step of the operation's recipe.
fn read_earlier(op: &MachineOp, n: usize) -> bool {
    op.steps >> (steps::READ_EARLIER_SHIFT as usize + n) & 1 != 0
}

/// Cycles that the operand reads hold the dispatch stage: a bank serves `read_ports` registers a cycle. Reads overlap
/// with the cycles for which the pipe is busy anyway.
fn dispatch_cycles(spec: &MachineSpec, op: &MachineOp, set: &PipeSet) -> u8 {
    let file = &spec.compute_unit.register_file;
    let mut banks = [0u32; 64];
    let mut seen = [u16::MAX; 16];
    let mut distinct = 0;
    let words = words(op);
    for (n, (operand, count)) in op.src.into_iter().zip(words.src).enumerate() {
        let OperandKind::Register(first) = operand.kind() else { continue };
        let reused = n < 3 && op.flags >> (flags::REUSE_SHIFT + n as u8) & 1 != 0;
        if reused && file.reuse_cache || read_earlier(op, n) {
            continue;
        }
        for register in first..first + u16::from(count) {
            if distinct < seen.len() && !seen[..distinct].contains(&register) {
                seen[distinct] = register;
                distinct += 1;
                banks[u32::from(register) as usize % file.banks as usize % 64] += 1;
            }
        }
    }
    if kind(op.class) == Kind::Memory {
        // Addresses and data are read by the load/store unit's own pace.
        return 1;
    }
    let reads = banks.iter().max().copied().unwrap_or(0).div_ceil(file.read_ports);
    let interval: u32 = set.choices().iter().map(|c| u32::from(c.busy)).min().unwrap_or(1);
    let hidden = (interval / set.choices().len().max(1) as u32).max(1) - 1;
    reads.saturating_sub(hidden).clamp(1, 255) as u8
}
