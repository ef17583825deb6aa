//! The program as timing sees it: what each operation occupies, reads and writes, decoded once a launch.
use crate::Cause;
use warpscope_configs::MachineSpec;
use warpscope_exec::ops::fence;
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

/// One operation.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TimedOp {
    /// First entry in [`TimedCode::slots`]: guards, other reads, then writes.
    first: u32,
    guards: u8,
    reads: u8,
    writes: u8,
    /// First entry in [`TimedCode::constant_lines`].
    first_line: u32,
    lines: u8,
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
    /// Waits for the warp's outstanding atomics.
    pub after_atomics: bool,
    /// A fence or barrier that orders global memory: waits for outstanding stores and atomics.
    pub orders_global: bool,
}

impl TimedOp {
    /// Whether operands lie in the constant bank.
    #[inline(always)]
    pub fn reads_constants(&self) -> bool {
        self.lines > 0
    }
}

/// The decoded program.
pub(crate) struct TimedCode {
    pub ops: Vec<TimedOp>,
    pub sets: Vec<PipeSet>,
    /// Which pipes are shared by the compute unit's sub-cores, by bit.
    pub shared_pipes: u32,
    slots: Vec<u16>,
    constant_lines: Vec<u16>,
    /// Address in the constant bank of each line that the program reads as operands.
    pub bank_lines: Vec<u32>,
    /// Scoreboard entries of a warp.
    pub board: usize,
    /// Operations in a line of the instruction caches.
    pub line_ops: u32,
}

/// Predicates that a warp has.
const PREDICATES: u32 = 16;

impl TimedCode {
    pub fn new(spec: &MachineSpec, program: &Program) -> TimedCode {
        let cu = &spec.compute_unit;
        let names: Vec<&str> = cu.pipes.keys().map(String::as_str).take(MAX_PIPES).collect();
        let shared = cu.pipes.values().take(MAX_PIPES).enumerate();
        let mut code = TimedCode {
            ops: Vec::with_capacity(program.ops.len()),
            sets: Vec::new(),
            shared_pipes: shared.fold(0, |bits, (i, pipe)| bits | u32::from(pipe.shared) << i),
            slots: Vec::new(),
            constant_lines: Vec::new(),
            bank_lines: Vec::new(),
            board: (program.registers + program.uniform_registers + PREDICATES) as usize,
            line_ops: (spec.frontend.l0_instruction.line / spec.frontend.instruction_bytes).max(1),
        };
        for op in &program.ops {
            let timed = code.decode(spec, &names, program, op);
            code.ops.push(timed);
        }
        code
    }

    /// Scoreboard entries of an operation: predicates that guard it, other reads, writes.
    #[inline]
    pub fn entries(&self, op: &TimedOp) -> [&[u16]; 3] {
        let all = &self.slots[op.first as usize..];
        let (guards, all) = all.split_at(op.guards as usize);
        let (reads, all) = all.split_at(op.reads as usize);
        [guards, reads, &all[..op.writes as usize]]
    }

    #[inline]
    pub fn writes(&self, op: &TimedOp) -> &[u16] {
        &self.slots[op.first as usize + op.guards as usize + op.reads as usize..][..op.writes as usize]
    }

    /// Scoreboard entries that it reads or writes.
    #[inline]
    pub fn operands(&self, op: &TimedOp) -> &[u16] {
        &self.slots[op.first as usize..][..op.reads as usize + op.writes as usize]
    }

    /// Lines of the constant bank that its operands lie in, as indices in [`TimedCode::bank_lines`].
    #[inline]
    pub fn constant_lines(&self, op: &TimedOp) -> &[u16] {
        &self.constant_lines[op.first_line as usize..][..op.lines as usize]
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
        let writes = self.slots.len() as u32 - first - guards - reads;
        let first_line = self.constant_lines.len();
        self.push_constant_lines(spec, program, op);
        TimedOp {
            first,
            guards: guards as u8,
            reads: reads as u8,
            writes: writes as u8,
            first_line: first_line as u32,
            lines: (self.constant_lines.len() - first_line) as u8,
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
            after_atomics: op.flags & flags::AFTER_ATOMICS != 0,
            orders_global: !ghost && orders_global(op),
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
                (base + u32::from(p) % PREDICATES, base + PREDICATES)
            }
            OperandKind::Constant(_) | OperandKind::None => return,
        };
        let count = if matches!(operand.kind(), OperandKind::Predicate(..)) { 1 } else { u32::from(count) };
        self.slots.extend((first..first + count).take_while(|e| *e < limit).map(|e| e as u16));
    }

    fn push_constant_lines(&mut self, spec: &MachineSpec, program: &Program, op: &MachineOp) {
        let first = self.constant_lines.len();
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
                if !self.constant_lines[first..].contains(&index) {
                    self.constant_lines.push(index);
                }
            }
        }
    }
}

/// The cause that waiting for a result of this class has.
pub(crate) fn cause_of_class(class: OpClass) -> Cause {
    match class {
        OpClass::LoadGlobal | OpClass::AtomicGlobal | OpClass::ReduceGlobal | OpClass::LoadPrivate => {
            Cause::LongScoreboard
        }
        OpClass::Xu
        | OpClass::Convert
        | OpClass::ReadSpecial
        | OpClass::LoadConstant
        | OpClass::LoadLocal
        | OpClass::AtomicLocal
        | OpClass::Shuffle
        | OpClass::WarpReduce
        | OpClass::StoreGlobal
        | OpClass::StoreLocal
        | OpClass::StorePrivate => Cause::ShortScoreboard,
        OpClass::Fp32
        | OpClass::Fp16
        | OpClass::Fp64
        | OpClass::IMad
        | OpClass::IMadWide
        | OpClass::IMadHigh
        | OpClass::Alu
        | OpClass::Compare
        | OpClass::Move
        | OpClass::Uniform
        | OpClass::LoadUniform
        | OpClass::Vote
        | OpClass::Branch
        | OpClass::Converge
        | OpClass::Barrier
        | OpClass::Fence
        | OpClass::Exit => Cause::Wait,
    }
}

fn kind(class: OpClass) -> Kind {
    match class {
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadLocal
        | OpClass::StoreLocal
        | OpClass::AtomicLocal
        | OpClass::LoadPrivate
        | OpClass::StorePrivate => Kind::Memory,
        OpClass::LoadConstant | OpClass::LoadUniform => Kind::Constant,
        OpClass::Branch => Kind::Branch,
        OpClass::Barrier => Kind::Barrier,
        OpClass::Fence => Kind::Fence,
        OpClass::Exit => Kind::Exit,
        OpClass::Fp32
        | OpClass::Fp16
        | OpClass::Fp64
        | OpClass::IMad
        | OpClass::IMadWide
        | OpClass::IMadHigh
        | OpClass::Converge
        | OpClass::Alu
        | OpClass::Compare
        | OpClass::Move
        | OpClass::Xu
        | OpClass::Convert
        | OpClass::Uniform
        | OpClass::ReadSpecial
        | OpClass::Shuffle
        | OpClass::WarpReduce
        | OpClass::Vote => Kind::Plain,
    }
}

fn queue(class: OpClass) -> Queue {
    match class {
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadPrivate
        | OpClass::StorePrivate => Queue::Lg,
        OpClass::LoadLocal | OpClass::StoreLocal | OpClass::AtomicLocal => Queue::Mio,
        _ => Queue::None,
    }
}

fn reach(class: OpClass, ghost: bool) -> Reach {
    match class {
        _ if ghost => Reach::Unit,
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadConstant
        | OpClass::LoadUniform => Reach::Machine,
        OpClass::StorePrivate => Reach::Spill,
        _ => Reach::Unit,
    }
}

fn orders_global(op: &MachineOp) -> bool {
    matches!(op.class, OpClass::Barrier | OpClass::Fence) && op.imm & i32::from(fence::GLOBAL) != 0
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
