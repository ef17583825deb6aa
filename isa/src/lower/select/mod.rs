//! Instruction selection: IR to machine operations over virtual registers.
//!
//! Blocks are walked from their ends, uses before definitions, so that what is folded into its users (immediate
//! offsets, negations, multiplies under an add) is never emitted on its own.
mod arith;
mod control;
mod float;
mod fuse;
mod memory;
mod packed;
mod tables;
mod wide;

use super::mir::{Edge, File, MBlock, MFunc, MInst, Opd, Term, VReg};
use super::{LowerError, Options};
use crate::ir::{Block, Def, Function, Inst, InstData, Kernel, Module, Opcode, Ty, Value};
use crate::passes::uniformity::{self, Uniformity};
use memory::LoadPart;
use std::collections::{HashMap, HashSet};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{ConstantRow, LOCAL_WINDOW, PRIVATE_WINDOW, SourceLine, flags};

/// What selection found out besides the code.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub local_bytes: u32,
    /// Local module-scope variables that the kernel uses.
    pub local_variables: usize,
    pub private_bytes: u32,
    pub has_barrier: bool,
    pub order_sensitive: bool,
}

pub(super) struct Selector<'a> {
    f: &'a Function,
    module: &'a Module,
    kernel: &'a Kernel,
    options: &'a Options<'a>,
    pub out: MFunc,
    pub facts: Facts,
    uniformity: Uniformity,
    /// Fused forms that the machine has.
    forms: Vec<Op>,
    /// Operand of each value that has one already.
    values: Vec<Option<Opd>>,
    /// Whether an emitted operation reads the value.
    used: Vec<bool>,
    /// Uses of each value in the IR.
    uses: Vec<u32>,
    /// What reads a value besides stores.
    readers: Vec<Readers>,
    /// Block in which each instruction stands.
    home: Vec<u32>,
    /// Machine block of each IR block that can be reached.
    blocks: Vec<Option<usize>>,
    /// Offsets of private variables.
    allocas: HashMap<Inst, u32>,
    /// Offsets of local module-scope variables.
    locals: HashMap<usize, u32>,
    /// Registers of loads with several elements.
    loads: HashMap<Inst, Vec<LoadPart>>,
    /// Words of loads of narrow integers, by their first element.
    packed: HashMap<(Inst, u32), Opd>,
    /// Such loads of which an element is taken from its word by what reads it.
    extended: HashSet<Inst>,
    /// Whether the low word of ids that constants are added to has been computed.
    low_sum: bool,
    /// Operations of the current IR instruction, in order.
    seq: Vec<MInst>,
    loc: SourceLine,
    block: u32,
}

/// What reads a value besides stores.
#[derive(Copy, Clone, Default)]
struct Readers {
    conversions: bool,
    others: bool,
}

/// Bytes left free at the start of private and local memory where a null pointer must differ from every variable's address.
const NULL_GUARD: u32 = 16;

impl<'a> Selector<'a> {
    pub fn new(f: &'a Function, kernel: &'a Kernel, module: &'a Module, options: &'a Options<'a>) -> Self {
        Selector {
            f,
            module,
            kernel,
            options,
            out: MFunc::default(),
            facts: Facts::default(),
            uniformity: uniformity::analyse(f),
            forms: Op::ALL.iter().copied().filter(|o| options.target.forms.iter().any(|f| f == o.mnemonic())).collect(),
            values: vec![None; f.values.len()],
            used: vec![false; f.values.len()],
            uses: vec![0; f.values.len()],
            readers: vec![Readers::default(); f.values.len()],
            home: vec![u32::MAX; f.insts.len()],
            blocks: vec![None; f.blocks.len()],
            allocas: HashMap::new(),
            locals: HashMap::new(),
            loads: HashMap::new(),
            packed: HashMap::new(),
            extended: HashSet::new(),
            low_sum: false,
            seq: Vec::new(),
            loc: SourceLine::default(),
            block: 0,
        }
    }

    /// Selects the whole function.
    pub fn run(&mut self) -> Result<(), LowerError> {
        let order = reverse_post_order(self.f);
        for (i, &b) in order.iter().enumerate() {
            self.blocks[b.0 as usize] = Some(i);
        }
        self.scan(&order)?;
        for &b in &order {
            let params = self.f.block(b).params.iter().map(|&p| self.whole(p)).collect::<Vec<_>>();
            if b == Function::ENTRY && !params.is_empty() {
                return Err(self.error("the kernel's function has parameters of its own".into()));
            }
            self.out.blocks.push(MBlock {
                params,
                insts: Vec::new(),
                term: Term::Exit,
                loc: SourceLine::default(),
                divergent: false,
                partial: self.uniformity.is_divergent_block(b),
            });
        }
        for &b in order.iter().rev() {
            self.select_block(b)?;
        }
        if self.out.pool.rows.len() > super::mir::Pool::LIMIT {
            return Err(self.error("the kernel uses more than 16383 distinct constants; split it".into()));
        }
        Ok(())
    }

    /// Counts uses and lays out local and private variables.
    fn scan(&mut self, order: &[Block]) -> Result<(), LowerError> {
        // A variable at offset 0 would have the address that means NULL; only pointers that are cast can show it.
        let casts = |&b: &Block| self.f.block(b).insts.iter().any(|&i| self.f.inst(i).op == Opcode::CastSpace);
        let guard = if order.iter().any(casts) { NULL_GUARD } else { 0 };
        let mut private = guard;
        let mut locals = Vec::new();
        for &b in order {
            for &i in &self.f.block(b).insts {
                let data = self.f.inst(i);
                self.home[i.0 as usize] = b.0;
                for v in data.args.iter().chain(data.targets.iter().flat_map(|t| &t.args)) {
                    self.uses[v.0 as usize] += 1;
                    let readers = &mut self.readers[v.0 as usize];
                    match data.op {
                        Opcode::Convert(_) => readers.conversions = true,
                        Opcode::Store(_) => {}
                        _ => readers.others = true,
                    }
                }
                match data.op {
                    Opcode::Alloca { size, align } => {
                        private = round_up(private, align.max(4)).ok_or_else(|| self.too_big("private"))?;
                        self.allocas.insert(i, private);
                        private = private.checked_add(size).ok_or_else(|| self.too_big("private"))?;
                    }
                    Opcode::GlobalAddress(g) if self.module.globals[g].space == Ty::PtrLocal => locals.push(g),
                    Opcode::Barrier { .. } => self.facts.has_barrier = true,
                    _ => {}
                }
            }
        }
        if self.allocas.is_empty() {
            private = 0;
        }
        self.facts.private_bytes = round_up(private, 4).ok_or_else(|| self.too_big("private"))?;
        locals.sort_unstable();
        locals.dedup();
        self.facts.local_variables = locals.len();
        let start = self.options.local_reserved;
        let mut offset = if start == 0 && !locals.is_empty() { guard } else { start };
        for g in locals {
            let global = &self.module.globals[g];
            offset = round_up(offset, global.align.max(1)).ok_or_else(|| self.too_big("local"))?;
            self.locals.insert(g, offset);
            offset = u32::try_from(global.init.len())
                .ok()
                .and_then(|n| offset.checked_add(n))
                .ok_or_else(|| self.too_big("local"))?;
        }
        self.facts.local_bytes = offset - start;
        Ok(())
    }

    fn too_big(&self, what: &str) -> LowerError {
        self.error(format!("its {what} variables take more than 4 GiB; make them smaller"))
    }

    pub(super) fn error(&self, why: String) -> LowerError {
        let file = self.module.files.get(self.loc.file as usize).cloned().unwrap_or_default();
        LowerError { kernel: self.kernel.name.clone(), file, line: self.loc.line, why }
    }

    fn select_block(&mut self, b: Block) -> Result<(), LowerError> {
        self.block = b.0;
        let Some(term) = self.f.terminator(b) else {
            return Err(self.error(format!("block {} does not end in a terminator", b.0)));
        };
        let mut reversed = Vec::new();
        self.loc = self.f.inst(term).loc;
        let loc = self.loc;
        let machine_term = self.select_terminator(term)?;
        reversed.extend(self.seq.drain(..).rev());
        for &i in self.f.block(b).insts.iter().rev().skip(1) {
            let data = self.f.inst(i);
            let needed = data.op.has_effect()
                || self.extended.contains(&i)
                || data.results.iter().any(|r| self.used[r.0 as usize]);
            if !needed {
                continue;
            }
            self.loc = data.loc;
            self.select(i, data)?;
            reversed.extend(self.seq.drain(..).rev());
        }
        reversed.reverse();
        let index = self.blocks[b.0 as usize].expect("reached blocks have a machine block");
        let block = &mut self.out.blocks[index];
        block.insts = reversed;
        block.term = machine_term;
        block.loc = loc;
        block.divergent = self.f.inst(term).args.first().is_some_and(|&v| !self.uniformity.is_uniform(v));
        Ok(())
    }

    /// Machine edge of an IR target.
    fn edge(&mut self, t: &crate::ir::Target) -> Edge {
        let block = self.blocks[t.block.0 as usize].expect("targets of reached blocks are reached");
        Edge { block, args: t.args.iter().map(|&a| self.operand(a)).collect() }
    }

    /// Register of a value as a whole.
    fn whole(&mut self, v: Value) -> VReg {
        match self.values[v.0 as usize] {
            Some(Opd::Reg(r, 0) | Opd::Pred(r, false)) => r,
            _ => {
                let r = self.new_register(self.f.ty(v));
                let home = match self.f.def(v) {
                    Def::Param(b, _) => b.0,
                    Def::Result(i, _) => self.home[i.0 as usize],
                };
                let converged = home != u32::MAX && !self.uniformity.is_divergent_block(Block(home));
                self.out.vregs[r.0 as usize].uniform = converged && self.uniformity.is_uniform(v);
                let o = if self.f.ty(v) == Ty::Bool { Opd::Pred(r, false) } else { Opd::Reg(r, 0) };
                self.values[v.0 as usize] = Some(o);
                r
            }
        }
    }

    fn new_register(&mut self, ty: Ty) -> VReg {
        match ty {
            Ty::Bool => self.out.new_vreg(File::Predicate, 1),
            _ => self.out.new_vreg(File::Vector, ty.registers()),
        }
    }

    /// A fresh vector register (1) or pair (2).
    fn temp(&mut self, words: u32) -> Opd {
        Opd::Reg(self.out.new_vreg(File::Vector, words), 0)
    }

    fn temp_predicate(&mut self) -> Opd {
        Opd::Pred(self.out.new_vreg(File::Predicate, 1), false)
    }

    /// Destination for a result: its register (whether or not anything reads it).
    fn destination(&mut self, v: Value) -> Opd {
        match self.values[v.0 as usize] {
            Some(o) => o,
            None => {
                self.whole(v);
                self.values[v.0 as usize].expect("just made")
            }
        }
    }

    /// Operand for reading a value; Bool constants come as a row that holds 0 or 1.
    pub(super) fn operand(&mut self, v: Value) -> Opd {
        self.used[v.0 as usize] = true;
        if let Some(o) = self.values[v.0 as usize] {
            return o;
        }
        let o = match self.f.def(v) {
            Def::Param(..) => None,
            Def::Result(inst, n) => self.transparent(v, inst, n as usize),
        };
        match o {
            Some(o) => {
                self.values[v.0 as usize] = Some(o);
                o
            }
            None => self.destination(v),
        }
    }

    /// Operand of a value that needs no operation of its own.
    fn transparent(&mut self, v: Value, inst: Inst, n: usize) -> Option<Opd> {
        let f = self.f;
        let data = f.inst(inst);
        let ty = f.ty(v);
        let source = data.args.first().map(|&a| f.ty(a));
        Some(match data.op {
            Opcode::Const(bits) => self.literal(ty, bits),
            Opcode::Undef => self.literal(ty, 0),
            Opcode::GlobalAddress(g) => match self.locals.get(&g) {
                Some(&offset) => self.out.pool.word(offset),
                None => {
                    self.out.pool.pair(ConstantRow::GlobalAddress(g as u32, 0), ConstantRow::GlobalAddress(g as u32, 1))
                }
            },
            Opcode::Alloca { .. } => self.out.pool.word(self.allocas[&inst]),
            Opcode::Parameter(offset) if ty.bits() >= 32 => self.parameter(ty, offset),
            Opcode::LocalParameter(p) => self.out.pool.single(ConstantRow::LocalArgument(p)),
            Opcode::Launch(l) => self.out.pool.single(ConstantRow::Launch(l)),
            Opcode::IBin(_) => {
                let (low, high) = self.launch_pair(data)?;
                self.out.pool.pair(ConstantRow::Launch(low), ConstantRow::Launch(high))
            }
            Opcode::Bitcast => self.operand(data.args[0]),
            Opcode::Zext if source != Some(Ty::Bool) && ty.bits() <= 32 => self.operand(data.args[0]),
            Opcode::Trunc if ty.bits() == 32 => self.operand(data.args[0]).word(0),
            Opcode::CastSpace if !(ty == Ty::PtrGeneric && source.is_some_and(|s| s.bits() == 32)) => {
                self.operand(data.args[0]).word(0)
            }
            Opcode::BoolNot => match self.operand(data.args[0]) {
                Opd::Pred(p, negated) => Opd::Pred(p, !negated),
                o => {
                    let bit = self.out.pool.literal(o).unwrap_or(0);
                    self.out.pool.word(bit ^ 1)
                }
            },
            Opcode::BoolOr if self.fused_compare(data).is_some() => {
                // Computed as the negation of a conjunction.
                let Opd::Pred(p, _) = self.temp_predicate() else { return None };
                Opd::Pred(p, true)
            }
            Opcode::Load(_) if data.results.len() > 1 && !self.is_packed(inst) => self.load_element(inst, n),
            Opcode::Math(_) if ty.bits() == 32 && source == Some(Ty::F64) => {
                // An integer result of a double-precision function comes in the low word of a pair.
                self.temp(2)
            }
            Opcode::Vote(crate::ir::VoteKind::Ballot) => {
                let vector = self.out.new_vreg(File::Vector, 4);
                for (i, r) in data.results.iter().enumerate() {
                    self.values[r.0 as usize] = Some(Opd::Reg(vector, i as u8));
                }
                Opd::Reg(vector, n as u8)
            }
            _ => return None,
        })
    }

    /// Row(s) that hold a literal.
    pub(super) fn literal(&mut self, ty: Ty, bits: u64) -> Opd {
        match ty.bits() {
            64 => self.out.pool.wide(bits),
            32 => self.out.pool.word(bits as u32),
            n => self.out.pool.word(bits as u32 & ((1u32 << n) - 1)),
        }
    }

    fn parameter(&mut self, ty: Ty, offset: u32) -> Opd {
        if ty.bits() == 64 {
            self.out.pool.pair(ConstantRow::Parameter(offset), ConstantRow::Parameter(offset + 4))
        } else {
            self.out.pool.single(ConstantRow::Parameter(offset))
        }
    }

    /// Predicate operand for reading a Bool.
    pub(super) fn predicate(&mut self, v: Value) -> Opd {
        match self.operand(v) {
            o @ Opd::Pred(..) => o,
            o => {
                let p = self.temp_predicate();
                self.push(Op::RegToPred, p, &[o]);
                p
            }
        }
    }

    /// Base of a window of the generic address space.
    fn window(&mut self, space: Ty) -> Opd {
        self.out.pool.wide(if space == Ty::PtrLocal { LOCAL_WINDOW } else { PRIVATE_WINDOW })
    }

    fn push(&mut self, op: Op, dst: Opd, src: &[Opd]) -> &mut MInst {
        self.seq.push(MInst::new(op, dst, src, self.loc));
        self.seq.last_mut().expect("just pushed")
    }

    /// An operation that carries nothing but time.
    fn push_ghost(&mut self, class: OpClass) {
        let i = self.push(Op::Nop, Opd::None, &[]);
        (i.flags, i.class) = (flags::GHOST, class);
    }

    /// The instruction that defines a value, if it stands in the current block and this is its only use.
    fn single_use(&self, v: Value) -> Option<(Inst, &'a InstData)> {
        let Def::Result(i, _) = self.f.def(v) else { return None };
        (self.uses[v.0 as usize] == 1 && self.home[i.0 as usize] == self.block && self.values[v.0 as usize].is_none())
            .then(|| (i, self.f.inst(i)))
    }
}

pub(super) fn round_up(v: u32, to: u32) -> Option<u32> {
    v.checked_add(to - 1).map(|x| x / to * to)
}

/// Blocks that can be reached; successors that leave a loop come later than those inside it.
fn reverse_post_order(f: &Function) -> Vec<Block> {
    let mut seen = vec![false; f.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(Function::ENTRY, 0)];
    seen[0] = true;
    while let Some(top) = stack.last_mut() {
        let (b, n) = *top;
        top.1 += 1;
        // The last successor first: then the first one directly follows the block.
        let successors: Vec<Block> = f.successors(b).collect();
        match successors.len().checked_sub(n + 1).map(|i| successors[i]) {
            Some(s) if !seen[s.0 as usize] => {
                seen[s.0 as usize] = true;
                stack.push((s, 0));
            }
            Some(_) => {}
            None => {
                order.push(b);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
