//! Translation of one function: blocks, phis, control flow, calls, composites. Other instructions are in the modules
//! beside this one, each with a method `try_…` that says whether the instruction is its own.
use super::constants::ConstLeaf;
use super::emit::Emitter;
use super::error::{FrontendError, Res};
use super::hints::{self, LoopHint};
use super::module::{ExtSet, IdMap, ModuleReader};
use super::printf::PrintfSites;
use super::types::Kind;
use super::words::Instr;
use crate::ir::{Block, Function, IBin, Inst, Loc, Opcode, Target, Ty, Value};
use smallvec::SmallVec;
use spirv::{BuiltIn, Op};

/// The leaves of a value.
pub(super) type Leaves = SmallVec<[Value; 4]>;

/// A value of a SPIR-V type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    /// Type id.
    pub ty: u32,
    pub leaves: Leaves,
}

/// A pointer to a built-in input variable or to one of its components.
#[derive(Clone, Debug)]
pub(super) struct InputPointer {
    pub builtin: BuiltIn,
    pub component: Option<Value>,
}

struct Phi {
    sources: Vec<(u32, u32)>,
    leaves: usize,
}

/// A function under translation.
pub(super) struct Body<'m, 'a> {
    pub m: &'m ModuleReader<'a>,
    pub e: Emitter,
    pub values: IdMap<Typed>,
    pub inputs: IdMap<InputPointer>,
    /// Results of loads of whole three-component built-ins.
    pub builtin_values: IdMap<BuiltIn>,
    labels: IdMap<Block>,
    phis: IdMap<Vec<Phi>>,
    /// Terminators whose targets' arguments are filled in at the end: (block, instruction, own label, target labels).
    edges: Vec<(Block, Inst, u32, Vec<u32>)>,
    hints: Vec<LoopHint>,
    label: u32,
    open: bool,
    constant_cache: IdMap<(Block, Typed)>,
    pub shared: &'m mut Shared,
    file_ids: IdMap<u16>,
}

/// What the functions of a module add to.
pub(super) struct Shared {
    pub files: Vec<String>,
    pub printf: PrintfSites,
}

/// Translates function number `index` of the module.
pub(super) fn translate(m: &ModuleReader<'_>, index: usize, shared: &mut Shared) -> Result<Function, FrontendError> {
    let source = &m.functions[index];
    let name = m.names.get(&source.id).cloned().unwrap_or_default();
    let f = Function { name, ..Function::default() };
    let mut b = Body {
        m,
        e: Emitter { f, block: Function::ENTRY, loc: Loc::default() },
        values: IdMap::default(),
        inputs: IdMap::default(),
        builtin_values: IdMap::default(),
        labels: IdMap::default(),
        phis: IdMap::default(),
        edges: Vec::new(),
        hints: Vec::new(),
        label: 0,
        open: false,
        constant_cache: IdMap::default(),
        shared,
        file_ids: IdMap::default(),
    };
    b.signature(index).map_err(|why| source.header.error(why))?;
    for i in &source.body {
        b.instruction(i).map_err(|why| b.error(i, why))?;
    }
    b.finish().map_err(|why| source.header.error(why))?;
    Ok(b.e.f)
}

impl<'a> Body<'_, 'a> {
    fn error(&self, i: &Instr<'_>, why: String) -> FrontendError {
        let file = self.shared.files.get(self.e.loc.file as usize).cloned().unwrap_or_default();
        FrontendError { file, line: self.e.loc.line, ..i.error(why) }
    }

    /// Parameters, results, and a block for each label with parameters for its phis.
    fn signature(&mut self, index: usize) -> Res<()> {
        let source = &self.m.functions[index];
        let Kind::Function { result, params } = &self.m.types.get(source.header.at(1)?)?.kind else {
            return Err("its type is not a function type".into());
        };
        if params.len() != source.params.len() || *result != source.header.ty {
            return Err("its parameters or result do not match its type".into());
        }
        self.e.f.results = self.m.types.leaf_types(*result)?;
        let entry = self.e.f.add_block();
        for (p, &ty) in source.params.iter().zip(params) {
            if p.ty != ty {
                return Err("a parameter does not match the function's type".into());
            }
            let leaves = self.block_params(entry, ty)?;
            self.values.insert(p.id, Typed { ty, leaves });
        }
        if source.body.is_empty() {
            self.e.effect(Opcode::Unreachable, &[]);
            return Ok(());
        }
        let (mut block, mut label) = (entry, 0);
        let mut first = true;
        for i in &source.body {
            match i.op {
                Op::Label => {
                    block = if first { entry } else { self.e.f.add_block() };
                    first = false;
                    label = i.id;
                    if self.labels.insert(i.id, block).is_some() {
                        return Err(format!("the label %{} occurs twice", i.id));
                    }
                }
                Op::Phi => {
                    if label == 0 || block == entry {
                        return Err(format!("the OpPhi %{} is in the entry block", i.id));
                    }
                    let leaves = self.block_params(block, i.ty)?;
                    let sources = i.operands.chunks_exact(2).map(|c| (c[0], c[1])).collect();
                    self.phis.entry(label).or_default().push(Phi { sources, leaves: leaves.len() });
                    self.define(i, leaves)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn block_params(&mut self, block: Block, ty: u32) -> Res<Leaves> {
        let types = self.m.types.leaf_types(ty)?;
        Ok(types.into_iter().map(|t| self.e.f.add_param(block, t)).collect())
    }

    /// Records a result.
    pub fn define(&mut self, i: &Instr<'_>, leaves: Leaves) -> Res<()> {
        if leaves.len() as u64 != self.m.types.get(i.ty)?.leaves {
            return Err("the result does not have the shape of its type".into());
        }
        if self.values.insert(i.id, Typed { ty: i.ty, leaves }).is_some() {
            return Err(format!("%{} is defined twice", i.id));
        }
        Ok(())
    }
    /// A scalar result.
    pub fn define_one(&mut self, i: &Instr<'_>, v: Value) -> Res<()> {
        self.define(i, smallvec::smallvec![v])
    }

    /// The value of an id.
    pub fn value(&mut self, id: u32) -> Res<Typed> {
        if let Some(v) = self.values.get(&id) {
            return Ok(v.clone());
        }
        if let Some((block, v)) = self.constant_cache.get(&id)
            && *block == self.e.block
        {
            return Ok(v.clone());
        }
        if let Some(c) = self.m.constants.get(&id) {
            let ty = c.ty;
            let leaves = self.materialise(id, ty)?;
            let v = Typed { ty, leaves };
            self.constant_cache.insert(id, (self.e.block, v.clone()));
            return Ok(v);
        }
        if self.m.function_index.contains_key(&id) {
            return Err(format!("the address of the function {} is taken: not supported", self.m.name_of(id)));
        }
        if self.inputs.contains_key(&id) || self.m.inputs.contains_key(&id) {
            return Err(format!("the address of the built-in variable {} is used", self.m.name_of(id)));
        }
        Err(format!("%{id} is used before its definition"))
    }
    /// Operand `n` as a value.
    pub fn arg(&mut self, i: &Instr<'_>, n: usize) -> Res<Typed> {
        self.value(i.at(n)?)
    }
    /// Operand `n` as a single leaf.
    pub fn scalar_arg(&mut self, i: &Instr<'_>, n: usize) -> Res<Value> {
        let v = self.arg(i, n)?;
        match v.leaves[..] {
            [one] => Ok(one),
            _ => Err(format!("operand {} is not a scalar", n + 1)),
        }
    }
    /// Operand `n` as a pointer.
    pub fn pointer_arg(&mut self, i: &Instr<'_>, n: usize) -> Res<Value> {
        let v = self.scalar_arg(i, n)?;
        if !self.e.f.ty(v).is_pointer() {
            return Err(format!("operand {} is not a pointer", n + 1));
        }
        Ok(v)
    }

    fn materialise(&mut self, id: u32, ty: u32) -> Res<Leaves> {
        let types = self.m.types.leaf_types(ty)?;
        let consts = self.m.constant_leaves(id)?;
        let mut leaves = Leaves::new();
        for (t, c) in types.into_iter().zip(consts) {
            leaves.push(match c {
                ConstLeaf::Bits(b) => self.e.constant(t, b),
                ConstLeaf::Undef => self.e.emit(Opcode::Undef, &[], t),
                ConstLeaf::Address { global, addend } => {
                    let space = self.m.globals.get(global).map(|g| g.space).ok_or("no such variable")?;
                    let base = self.e.emit(Opcode::GlobalAddress(global), &[], space);
                    let p = self.e.offset(base, addend as u64);
                    self.convert_pointer(p, t)?
                }
            });
        }
        Ok(leaves)
    }

    /// A pointer as a pointer into another space or as an integer, and back.
    pub fn convert_pointer(&mut self, v: Value, to: Ty) -> Res<Value> {
        let from = self.e.f.ty(v);
        if from == to {
            return Ok(v);
        }
        match (from.is_pointer(), to.is_pointer()) {
            (true, true) if from == Ty::PtrGeneric || to == Ty::PtrGeneric => {
                Ok(self.e.emit(Opcode::CastSpace, &[v], to))
            }
            (true, false) if !to.is_float() && to != Ty::Bool => {
                let i = self.e.bitcast(v, Emitter::int_of(from));
                Ok(self.e.resize(i, to, false))
            }
            (false, true) if !from.is_float() && from != Ty::Bool => {
                let i = self.e.resize(v, Emitter::int_of(to), false);
                Ok(self.e.bitcast(i, to))
            }
            _ => Err(format!("a conversion from {from:?} to {to:?} is not supported")),
        }
    }

    /// The block of a label.
    fn block_of(&self, label: u32) -> Res<Block> {
        self.labels.get(&label).copied().ok_or_else(|| format!("%{label} is not a label of this function"))
    }

    fn instruction(&mut self, i: &Instr<'a>) -> Res<()> {
        match i.op {
            Op::Line => return self.line(i),
            Op::NoLine => {
                self.e.loc = Loc::default();
                return Ok(());
            }
            Op::Label => {
                if self.open {
                    return Err("the block before it has no terminator".into());
                }
                self.e.block = self.block_of(i.id)?;
                self.label = i.id;
                self.open = true;
                return Ok(());
            }
            Op::ExtInst if self.m.ext_sets.get(&i.at(0)?) == Some(&ExtSet::Ignored) => return Ok(()),
            _ if !self.open => return Err("it is outside a block".into()),
            _ => {}
        }
        if self.try_control(i)?
            || self.try_composite(i)?
            || self.try_memory(i)?
            || self.try_arith(i)?
            || self.try_atomic(i)?
            || self.try_group(i)?
        {
            return Ok(());
        }
        if i.op == Op::ExtInst {
            return self.extended(i);
        }
        Err("this instruction is not supported".into())
    }

    fn line(&mut self, i: &Instr<'_>) -> Res<()> {
        let id = i.at(0)?;
        let file = match self.file_ids.get(&id) {
            Some(&f) => f,
            None => {
                let name = self.m.strings.get(&id).map_or("", |s| s.strip_prefix("./").unwrap_or(s)).to_string();
                let known = self.shared.files.iter().position(|f| *f == name);
                let n = known.unwrap_or_else(|| {
                    self.shared.files.push(name);
                    self.shared.files.len() - 1
                });
                let n = u16::try_from(n).map_err(|_| "more than 65536 source files")?;
                self.file_ids.insert(id, n);
                n
            }
        };
        let line = i.at(1)?;
        // Line 0 is the compiler's own code: it keeps the position of what surrounds it.
        if line != 0 {
            self.e.loc = Loc { file, line };
        }
        Ok(())
    }

    fn try_control(&mut self, i: &Instr<'_>) -> Res<bool> {
        match i.op {
            Op::Phi | Op::SelectionMerge | Op::Nop | Op::AssumeTrueKHR => {}
            Op::Undef => {
                let types = self.m.types.leaf_types(i.ty)?;
                let leaves = types.into_iter().map(|t| self.e.emit(Opcode::Undef, &[], t)).collect();
                self.define(i, leaves)?;
            }
            Op::LoopMerge | Op::LoopControlINTEL => self.loop_hint(i)?,
            Op::Branch => self.terminate(Opcode::Jump, &[], &[i.at(0)?])?,
            Op::BranchConditional => {
                let c = self.scalar_arg(i, 0)?;
                self.terminate(Opcode::Branch, &[c], &[i.at(1)?, i.at(2)?])?;
            }
            Op::Switch => self.switch(i)?,
            Op::Return => self.terminate(Opcode::Return, &[], &[])?,
            Op::ReturnValue => {
                let v = self.arg(i, 0)?;
                self.terminate(Opcode::Return, &v.leaves, &[])?;
            }
            Op::Unreachable => self.terminate(Opcode::Unreachable, &[], &[])?,
            Op::FunctionCall => self.call(i)?,
            Op::ExpectKHR | Op::CopyObject | Op::CopyLogical => {
                let v = self.arg(i, 0)?;
                self.define(i, v.leaves)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn terminate(&mut self, op: Opcode, args: &[Value], labels: &[u32]) -> Res<()> {
        let inst = self.e.effect(op, args);
        for &l in labels {
            let block = self.block_of(l)?;
            self.e.f.inst_mut(inst).targets.push(Target { block, args: SmallVec::new() });
        }
        self.edges.push((self.e.block, inst, self.label, labels.to_vec()));
        self.open = false;
        Ok(())
    }

    fn switch(&mut self, i: &Instr<'_>) -> Res<()> {
        let selector = self.scalar_arg(i, 0)?;
        let bits = self.e.f.ty(selector).bits();
        let words = if bits > 32 { 2 } else { 1 };
        let mut labels = vec![i.at(1)?];
        let mut cases = Vec::new();
        let rest = i.rest(2);
        if !rest.len().is_multiple_of(words + 1) {
            return Err("its cases are cut off".into());
        }
        for c in rest.chunks_exact(words + 1) {
            let literal = u64::from(c[0]) | if words == 2 { u64::from(c[1]) << 32 } else { 0 };
            cases.push(crate::ir::eval::mask(literal, bits));
            labels.push(c[words]);
        }
        self.terminate(Opcode::Switch(cases), &[selector], &labels)
    }

    fn loop_hint(&mut self, i: &Instr<'_>) -> Res<()> {
        let hint = LoopHint::read(i, self.e.block, |l| self.block_of(l))?;
        self.hints.push(hint);
        Ok(())
    }

    fn call(&mut self, i: &Instr<'_>) -> Res<()> {
        let id = i.at(0)?;
        let Some(&index) = self.m.function_index.get(&id) else {
            return Err(format!("it calls %{id}, which is not a function"));
        };
        let callee = &self.m.functions[index];
        if callee.body.is_empty() {
            let name = self.m.decoration(id).import.clone().unwrap_or_else(|| self.m.name_of(id));
            return Err(format!("it calls {name:?}, which is imported: link the module that defines it first"));
        }
        if callee.params.len() != i.rest(1).len() || callee.header.ty != i.ty {
            return Err(format!("the call does not match the function {}", self.m.name_of(id)));
        }
        let mut args = Vec::new();
        for (n, parameter) in (1..i.operands.len()).zip(&callee.params) {
            let v = self.arg(i, n)?;
            if self.m.decoration(parameter.id).by_value {
                let p = self.pointer_arg(i, n)?;
                args.push(self.copy_of(p, v.ty)?);
            } else {
                args.extend_from_slice(&v.leaves);
            }
        }
        let types = self.m.types.leaf_types(i.ty)?;
        let inst = self.e.f.append(self.e.block, Opcode::Call(index), &args, &types, self.e.loc);
        let leaves = self.e.f.inst(inst).results.iter().copied().collect();
        self.define(i, leaves)
    }

    fn try_composite(&mut self, i: &Instr<'_>) -> Res<bool> {
        match i.op {
            Op::CompositeExtract if self.beyond_dimensions(i)? => {}
            Op::CompositeExtract => {
                let v = self.arg(i, 0)?;
                let (_, first, n) = self.part(v.ty, i.rest(1))?;
                let leaves = v.leaves.get(first..first + n).ok_or("an index out of range")?.into();
                self.define(i, leaves)?;
            }
            Op::CompositeInsert => {
                let (part, mut whole) = (self.arg(i, 0)?, self.arg(i, 1)?);
                let (_, first, n) = self.part(whole.ty, i.rest(2))?;
                if part.leaves.len() != n || first + n > whole.leaves.len() {
                    return Err("the part does not have the type of its place".into());
                }
                whole.leaves[first..first + n].copy_from_slice(&part.leaves);
                self.define(i, whole.leaves)?;
            }
            Op::CompositeConstruct => {
                let mut leaves = Leaves::new();
                for n in 0..i.operands.len() {
                    let v = self.arg(i, n)?;
                    leaves.extend(v.leaves);
                }
                self.define(i, leaves)?;
            }
            Op::VectorShuffle => {
                let (a, b) = (self.arg(i, 0)?, self.arg(i, 1)?);
                let all: Vec<Value> = a.leaves.iter().chain(&b.leaves).copied().collect();
                let (element, _) = self.m.types.scalar(i.ty)?;
                let mut leaves = Leaves::new();
                for &n in i.rest(2) {
                    leaves.push(match all.get(n as usize) {
                        Some(&v) => v,
                        None if n == u32::MAX => self.e.emit(Opcode::Undef, &[], element),
                        None => return Err(format!("component {n} is out of range")),
                    });
                }
                self.define(i, leaves)?;
            }
            Op::VectorExtractDynamic => {
                let v = self.arg(i, 0)?;
                let index = self.scalar_arg(i, 1)?;
                let mut r = self.pick(&v.leaves, index);
                if let Some(&b) = self.builtin_values.get(&i.at(0)?) {
                    r = self.inside_dimensions(b, index, r);
                }
                self.define_one(i, r)?;
            }
            Op::VectorInsertDynamic => {
                let v = self.arg(i, 0)?;
                let (part, index) = (self.scalar_arg(i, 1)?, self.scalar_arg(i, 2)?);
                let ty = self.e.f.ty(index);
                let mut leaves = Leaves::new();
                for (n, &old) in v.leaves.iter().enumerate() {
                    let k = self.e.constant(ty, n as u64);
                    let here = self.e.icmp(crate::ir::Cond::Eq, index, k);
                    leaves.push(self.e.select(here, part, old));
                }
                self.define(i, leaves)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Follows literal indices: the part's type, first leaf and number of leaves.
    fn part(&self, ty: u32, indices: &[u32]) -> Res<(u32, usize, usize)> {
        let (mut ty, mut first) = (ty, 0usize);
        for &n in indices {
            let (part, leaf, _) = self.m.types.part(ty, u64::from(n))?;
            (ty, first) = (part, first.saturating_add(leaf));
        }
        Ok((ty, first, self.m.types.get(ty)?.leaves as usize))
    }

    /// `values[index]` by a tree of selects on the index's bits (out of range: any of them).
    pub fn pick(&mut self, values: &[Value], index: Value) -> Value {
        if let Some(n) = self.e.f.as_const(index) {
            return values[(n as usize).min(values.len() - 1)];
        }
        let ty = self.e.f.ty(index);
        let mut level: Vec<Value> = values.to_vec();
        let mut bit = 0;
        while level.len() > 1 {
            let mask = self.e.constant(ty, 1 << bit);
            let zero = self.e.constant(ty, 0);
            let low = self.e.ibin(IBin::And, index, mask);
            let odd = self.e.icmp(crate::ir::Cond::Ne, low, zero);
            level = level.chunks(2).map(|c| if let [a, b] = *c { self.e.select(odd, b, a) } else { c[0] }).collect();
            bit += 1;
        }
        level[0]
    }

    /// Fills in the arguments of all edges.
    fn finish(&mut self) -> Res<()> {
        if self.open {
            return Err("its last block has no terminator".into());
        }
        let phis = std::mem::take(&mut self.phis);
        for (block, inst, label, targets) in std::mem::take(&mut self.edges) {
            let terminator = self.e.f.blocks[block.0 as usize].insts.pop();
            self.e.block = block;
            for (n, target) in targets.iter().enumerate() {
                let mut args: SmallVec<[Value; 4]> = SmallVec::new();
                for phi in phis.get(target).map_or(&[][..], |p| &p[..]) {
                    let source = phi.sources.iter().find(|(_, parent)| *parent == label);
                    let (id, _) = source.ok_or_else(|| format!("an OpPhi of block %{target} lacks %{label}"))?;
                    let v = self.value(*id)?;
                    if v.leaves.len() != phi.leaves {
                        return Err(format!("an operand of an OpPhi of block %{target} has another type"));
                    }
                    args.extend_from_slice(&v.leaves);
                }
                self.e.f.inst_mut(inst).targets[n].args = args;
            }
            self.e.f.blocks[block.0 as usize].insts.extend(terminator);
        }
        hints::apply(&mut self.e.f, &self.hints);
        Ok(())
    }
}
