//! The machine IR: machine operations over virtual registers, in blocks with parameters.
use crate::ir::Origin;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;
use warpscope_exec::ops::{Op, OpClass, Words, words};
use warpscope_exec::program::{ConstantRow, Guard, MachineOp, Operand, SourceLine, flags};

/// A virtual register.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct VReg(pub u32);

/// Register file of a virtual register.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum File {
    Vector,
    Uniform,
    Predicate,
}

/// Size and file of a virtual register.
#[derive(Copy, Clone, Debug)]
pub(super) struct VInfo {
    pub file: File,
    /// Consecutive registers.
    pub size: u8,
    /// The first register's number is a multiple of this.
    pub align: u8,
    /// Made by spilling: lives for one instruction and must not be spilled again.
    pub pinned: bool,
    /// Holds the same value for all live work-items of a sub-group, and is defined where all of them are active.
    pub uniform: bool,
}

/// An operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Opd {
    #[default]
    None,
    /// Virtual register, from this word of it on.
    Reg(VReg, u8),
    /// Predicate, negated or not.
    Pred(VReg, bool),
    /// Row of the constant pool (the first of two for 64-bit values).
    Const(u16),
}

impl Opd {
    pub fn vreg(self) -> Option<VReg> {
        match self {
            Opd::Reg(v, _) | Opd::Pred(v, _) => Some(v),
            Opd::None | Opd::Const(_) => None,
        }
    }
    pub fn is_none(self) -> bool {
        self == Opd::None
    }
    /// Word `n` of a wider operand.
    pub fn word(self, n: u8) -> Opd {
        match self {
            Opd::Reg(v, s) => Opd::Reg(v, s + n),
            Opd::Const(c) => Opd::Const(c + n as u16),
            o => o,
        }
    }
    pub fn with_vreg(self, v: VReg) -> Opd {
        match self {
            Opd::Reg(_, s) => Opd::Reg(v, s),
            Opd::Pred(_, n) => Opd::Pred(v, n),
            o => o,
        }
    }
}

/// Consecutive words of a virtual register.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub v: VReg,
    pub first: u8,
    pub count: u8,
}

impl Span {
    /// The words that an operand of `count` words takes.
    pub fn of(f: &MFunc, o: Opd, count: u8) -> Option<Span> {
        match o {
            Opd::Reg(v, first) => Some(Span { v, first, count: count.clamp(1, f.info(v).size - first) }),
            Opd::Pred(v, _) => Some(Span { v, first: 0, count: 1 }),
            Opd::None | Opd::Const(_) => None,
        }
    }
}

/// Numbers the words of all registers one after the other: liveness is by word, so that each word of a vector is free
/// from its own last use on.
#[derive(Clone, Debug)]
pub(super) struct Units {
    first: Vec<u32>,
}

impl Units {
    pub fn of(f: &MFunc) -> Units {
        let mut next = 0;
        let mut first: Vec<u32> = Vec::with_capacity(f.vregs.len() + 1);
        for v in &f.vregs {
            first.push(next);
            next += v.size as u32;
        }
        first.push(next);
        Units { first }
    }
    pub fn count(&self) -> usize {
        self.first.last().map_or(0, |&n| n as usize)
    }
    /// Units of a register.
    pub fn all(&self, v: VReg) -> Range<u32> {
        self.first[v.0 as usize]..self.first[v.0 as usize + 1]
    }
    /// Units of some of a register's words.
    pub fn span(&self, s: Span) -> Range<u32> {
        let from = self.first[s.v.0 as usize] + s.first as u32;
        from..from + s.count as u32
    }
}

/// A machine operation over virtual registers.
#[derive(Clone, Debug)]
pub(super) struct MInst {
    pub op: Op,
    pub class: OpClass,
    pub guard: Option<(VReg, bool)>,
    pub flags: u8,
    pub dst: Opd,
    pub dst2: Opd,
    pub src: [Opd; 4],
    pub imm: i32,
    pub imm2: u32,
    pub loc: SourceLine,
    /// The destination is named for the scoreboard only; another operation defines it (ghosts).
    pub shadow: bool,
    /// Defines its destination without any operation (start of a register that is then written under guards).
    pub pseudo: bool,
    /// See `warpscope_exec::program::steps`.
    pub steps: u8,
    /// Of accesses: which `restrict` pointer they go through.
    pub origin: Origin,
}

impl MInst {
    pub fn new(op: Op, dst: Opd, src: &[Opd], loc: SourceLine) -> MInst {
        let mut s = [Opd::None; 4];
        s[..src.len()].copy_from_slice(src);
        MInst {
            op,
            class: op.class(),
            guard: None,
            flags: 0,
            dst,
            dst2: Opd::None,
            src: s,
            imm: 0,
            imm2: 0,
            loc,
            shadow: false,
            pseudo: false,
            steps: 0,
            origin: Origin::UNKNOWN,
        }
    }
    pub fn imm(mut self, imm: i32) -> MInst {
        self.imm = imm;
        self
    }
    pub fn imm2(mut self, imm2: u32) -> MInst {
        self.imm2 = imm2;
        self
    }
    pub fn is_ghost(&self) -> bool {
        self.flags & flags::GHOST != 0
    }
    /// Registers that it reads, its guard included.
    pub fn uses(&self) -> impl Iterator<Item = VReg> + '_ {
        let kept = if self.guard.is_some() { self.defs_array() } else { [None; 2] };
        let guard = self.guard.map(|g| g.0);
        self.src.iter().filter_map(|o| o.vreg()).chain(guard).chain(kept.into_iter().flatten())
    }
    /// Registers that it defines.
    pub fn defs(&self) -> impl Iterator<Item = VReg> + use<> {
        self.defs_array().into_iter().flatten()
    }
    fn defs_array(&self) -> [Option<VReg>; 2] {
        if self.shadow { [None, self.dst2.vreg()] } else { [self.dst.vreg(), self.dst2.vreg()] }
    }
    /// Whether the definitions overwrite the words that they write in all lanes.
    pub fn kills(&self) -> bool {
        self.guard.is_none()
    }
    /// Words that its operands take.
    pub fn words(&self) -> Words {
        words(&MachineOp {
            op: self.op,
            guard: Guard::ALWAYS,
            flags: self.flags,
            dst: Operand::NONE,
            dst2: Operand::NONE,
            src: [Operand::NONE; 4],
            imm: self.imm,
            imm2: self.imm2,
            class: self.class,
            steps: 0,
        })
    }
    /// Words that it reads: those of its sources, its guard, and what a guarded definition leaves as it was.
    pub fn reads(&self, f: &MFunc) -> SmallVec<[Span; 6]> {
        let n = self.words().src;
        let mut reads: SmallVec<[Span; 6]> = self.src.iter().zip(n).filter_map(|(&o, n)| Span::of(f, o, n)).collect();
        reads.extend(self.guard.map(|(p, _)| Span { v: p, first: 0, count: 1 }));
        if self.guard.is_some() {
            reads.extend(self.writes(f));
        }
        reads
    }
    /// Words that it defines.
    pub fn writes(&self, f: &MFunc) -> SmallVec<[Span; 2]> {
        let n = self.words().dst;
        let skipped = self.shadow as usize;
        [self.dst, self.dst2].iter().zip(n).skip(skipped).filter_map(|(&o, n)| Span::of(f, o, n)).collect()
    }
    /// Renames every register.
    pub fn rename(&mut self, mut f: impl FnMut(VReg) -> VReg) {
        for o in self.src.iter_mut().chain([&mut self.dst, &mut self.dst2]) {
            if let Some(v) = o.vreg() {
                *o = o.with_vreg(f(v));
            }
        }
        if let Some((p, n)) = self.guard {
            self.guard = Some((f(p), n));
        }
    }
}

/// Target of a branch with the values of the target's parameters.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub block: usize,
    pub args: Vec<Opd>,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Jump(Edge),
    /// Predicate, whether the first edge is taken where it is false, edges.
    Branch(VReg, bool, Edge, Edge),
    /// Index and edges; the last is for indices beyond the others.
    Table(Opd, Vec<Edge>),
    Exit,
    /// Exit of the lanes that hold the predicate (or do not); the others go on.
    ExitIf(VReg, bool, Edge),
    Trap(i32),
}

impl Term {
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Term::Jump(e) | Term::ExitIf(_, _, e) => vec![e],
            Term::Branch(_, _, a, b) => vec![a, b],
            Term::Table(_, t) => t.iter().collect(),
            Term::Exit | Term::Trap(_) => vec![],
        }
    }
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Term::Jump(e) | Term::ExitIf(_, _, e) => vec![e],
            Term::Branch(_, _, a, b) => vec![a, b],
            Term::Table(_, t) => t.iter_mut().collect(),
            Term::Exit | Term::Trap(_) => vec![],
        }
    }
    /// The register that decides.
    pub fn operand(&self) -> Option<VReg> {
        match self {
            Term::Branch(p, ..) | Term::ExitIf(p, ..) => Some(*p),
            Term::Table(i, _) => i.vreg(),
            _ => None,
        }
    }
    /// Which word of the register that decides it reads.
    pub fn word(&self) -> u8 {
        match self {
            Term::Table(Opd::Reg(_, word), _) => *word,
            _ => 0,
        }
    }
    pub fn rename(&mut self, mut f: impl FnMut(VReg) -> VReg) {
        match self {
            Term::Branch(p, ..) | Term::ExitIf(p, ..) => *p = f(*p),
            Term::Table(i, _) => {
                if let Some(v) = i.vreg() {
                    *i = i.with_vreg(f(v));
                }
            }
            _ => {}
        }
        for e in self.edges_mut() {
            for o in &mut e.args {
                if let Some(v) = o.vreg() {
                    *o = o.with_vreg(f(v));
                }
            }
        }
    }
}

/// A block.
#[derive(Clone, Debug)]
pub(super) struct MBlock {
    pub params: Vec<VReg>,
    pub insts: Vec<MInst>,
    pub term: Term,
    /// Source position of the terminator.
    pub loc: SourceLine,
    /// Lanes may take different edges.
    pub divergent: bool,
    /// It may run while only some of the live lanes are active.
    pub partial: bool,
}

/// The constant pool under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub rows: Vec<ConstantRow>,
    singles: HashMap<ConstantRow, u16>,
    pairs: HashMap<(ConstantRow, ConstantRow), u16>,
}

impl Pool {
    /// Most rows that an operand can name.
    pub const LIMIT: usize = 0x3fff;

    pub fn single(&mut self, row: ConstantRow) -> Opd {
        let rows = &mut self.rows;
        Opd::Const(*self.singles.entry(row).or_insert_with(|| {
            rows.push(row);
            (rows.len() - 1) as u16
        }))
    }
    pub fn pair(&mut self, low: ConstantRow, high: ConstantRow) -> Opd {
        if let Some(&c) = self.pairs.get(&(low, high)) {
            return Opd::Const(c);
        }
        let c = self.rows.len() as u16;
        self.rows.extend([low, high]);
        self.singles.entry(low).or_insert(c);
        self.singles.entry(high).or_insert(c + 1);
        self.pairs.insert((low, high), c);
        Opd::Const(c)
    }
    pub fn word(&mut self, value: u32) -> Opd {
        self.single(ConstantRow::Immediate(value))
    }
    pub fn wide(&mut self, value: u64) -> Opd {
        self.pair(ConstantRow::Immediate(value as u32), ConstantRow::Immediate((value >> 32) as u32))
    }
    /// The literal that a row holds.
    pub fn literal(&self, o: Opd) -> Option<u32> {
        match o {
            Opd::Const(c) => match self.rows[c as usize] {
                ConstantRow::Immediate(v) => Some(v),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A function over virtual registers. Block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub(super) struct MFunc {
    pub blocks: Vec<MBlock>,
    pub vregs: Vec<VInfo>,
    pub pool: Pool,
}

impl MFunc {
    pub fn new_vreg(&mut self, file: File, size: u32) -> VReg {
        let align = match size {
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        };
        self.vregs.push(VInfo { file, size: size as u8, align, pinned: false, uniform: false });
        VReg(self.vregs.len() as u32 - 1)
    }
    pub fn info(&self, v: VReg) -> VInfo {
        self.vregs[v.0 as usize]
    }
    /// Words that a terminator reads, arguments of its edges included.
    pub fn term_reads(&self, term: &Term) -> Vec<Span> {
        let whole = |v| Span { v, first: 0, count: 1 };
        let mut reads: Vec<Span> = term.operand().map(whole).into_iter().collect();
        if let Term::Table(index, _) = term {
            reads = Span::of(self, *index, 1).into_iter().collect();
        }
        for e in term.edges() {
            let params = &self.blocks[e.block].params;
            reads.extend(params.iter().zip(&e.args).filter_map(|(&p, &a)| Span::of(self, a, self.info(p).size)));
        }
        reads
    }
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut preds = vec![Vec::new(); self.blocks.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            for e in block.term.edges() {
                preds[e.block].push(b);
            }
        }
        preds
    }
    /// The operations that copy `src` to the whole of register `dst`.
    pub fn copy(&self, dst: VReg, src: Opd, loc: SourceLine) -> MInst {
        let info = self.info(dst);
        match info.file {
            File::Predicate => match src {
                Opd::Pred(..) => MInst::new(Op::PMov, Opd::Pred(dst, false), &[src], loc),
                _ => MInst::new(Op::RegToPred, Opd::Pred(dst, false), &[src], loc),
            },
            File::Vector | File::Uniform => {
                let op = if info.size == 2 { Op::Mov64 } else { Op::Mov32 };
                let mut inst = MInst::new(op, Opd::Reg(dst, 0), &[src], loc);
                if info.file == File::Uniform {
                    inst.flags |= flags::UNIFORM;
                    inst.class = OpClass::Uniform;
                }
                inst
            }
        }
    }
}

/// Whether an operation accesses memory other than constant banks.
pub(super) fn is_memory(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        LdGlobal
            | LdConstant
            | LdLocal
            | LdPrivate
            | LdGeneric
            | StGlobal
            | StLocal
            | StPrivate
            | StGeneric
            | AtomGlobal
            | AtomLocal
            | AtomGeneric
    )
}
