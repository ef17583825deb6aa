//! Byte ranges of private memory become SSA values.
use super::super::rewrite::Replacements;
use super::super::ssa::{self, Access, Placement};
use super::{Pointers, bytes, integer, join_ranges};
use crate::ir::{Block, Cfg, Function, IBin, Inst, Loc, Opcode, Ty, Value};

/// A range that becomes a value.
struct Variable {
    lo: u32,
    hi: u32,
    ty: Ty,
}

/// The variables of all allocas.
struct Plan {
    pointers: Pointers,
    variables: Vec<Variable>,
    /// By alloca: (variable number) sorted by offset.
    of_place: Vec<Vec<usize>>,
}

impl Plan {
    fn new(f: &Function, cfg: &Cfg) -> Plan {
        let pointers = Pointers::new(f, cfg);
        let mut elements: Vec<Vec<(u32, Ty)>> = pointers.places.iter().map(|_| Vec::new()).collect();
        for &i in cfg.rpo.iter().flat_map(|&b| &f.block(b).insts) {
            let d = f.inst(i);
            let ty = match &d.op {
                Opcode::Load(_) => f.ty(d.results[0]),
                Opcode::Store(_) => f.ty(d.args[1]),
                Opcode::Copy { bytes: n, .. } => {
                    // Copies that are left pin what they touch: a range that no variable can have.
                    for &p in &d.args {
                        if let Some((place, offset)) = pointers.local(p) {
                            elements[place].extend((offset..offset + n).step_by(2).map(|o| (o, Ty::I64)));
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            let (Opcode::Load(a) | Opcode::Store(a)) = &d.op else { continue };
            if let Some((place, offset)) = pointers.local(d.args[0]) {
                elements[place].extend((0..u32::from(a.count)).map(|k| (offset + k * bytes(ty), ty)));
            }
        }
        let mut plan = Plan { of_place: vec![Vec::new(); pointers.places.len()], pointers, variables: Vec::new() };
        for (place, list) in elements.iter_mut().enumerate() {
            list.sort_unstable();
            list.dedup();
            let ranges = join_ranges(list.iter().map(|&(o, t)| (o, o + bytes(t))).collect());
            let mut rest = &list[..];
            for (lo, hi) in ranges {
                let n = rest.iter().take_while(|(o, _)| *o < hi).count();
                let inside = &rest[..n];
                rest = &rest[n..];
                let ty = if inside.len() == 1 { Some(inside[0].1) } else { integer(hi - lo) };
                // Parts of a larger value must be integers' worth of whole bytes: always so.
                if let Some(ty) = ty {
                    plan.of_place[place].push(plan.variables.len());
                    plan.variables.push(Variable { lo, hi, ty });
                }
            }
        }
        plan
    }

    /// The variable that holds `n` bytes at an offset of an alloca.
    fn find(&self, place: usize, offset: u32) -> Option<usize> {
        let list = &self.of_place[place];
        let n = list.partition_point(|&v| self.variables[v].hi <= offset);
        list.get(n).copied().filter(|&v| self.variables[v].lo <= offset)
    }

    /// Elements of an access: the variable of each and the offset inside it; `None` for an access that stays.
    fn elements(&self, f: &Function, i: Inst) -> Option<Vec<Option<(usize, u32)>>> {
        let d = f.inst(i);
        let (a, ty) = match &d.op {
            Opcode::Load(a) => (a, f.ty(d.results[0])),
            Opcode::Store(a) => (a, f.ty(d.args[1])),
            _ => return None,
        };
        let (place, offset) = self.pointers.local(d.args[0])?;
        let at = |k: u32| offset + k * bytes(ty);
        let list: Vec<_> = (0..u32::from(a.count))
            .map(|k| self.find(place, at(k)).map(|v| (v, at(k) - self.variables[v].lo)))
            .collect();
        list.iter().any(Option::is_some).then_some(list)
    }
}

pub(super) fn promote(f: &mut Function, cfg: &Cfg) -> bool {
    let plan = Plan::new(f, cfg);
    if plan.variables.is_empty() {
        return false;
    }
    let mut accesses = vec![Vec::new(); f.blocks.len()];
    for &b in &cfg.rpo {
        for &i in &f.block(b).insts {
            let Some(list) = plan.elements(f, i) else { continue };
            let load = matches!(f.inst(i).op, Opcode::Load(_));
            for (n, var) in list.iter().enumerate().filter_map(|(n, e)| e.map(|(v, _)| (n, v))) {
                let partial = !load && bytes(f.ty(f.inst(i).args[n + 1])) < bytes(plan.variables[var].ty);
                if load || partial {
                    accesses[b.0 as usize].push((var, Access::Read));
                }
                if !load {
                    accesses[b.0 as usize].push((var, Access::Write));
                }
            }
        }
    }
    let types: Vec<Ty> = plan.variables.iter().map(|v| v.ty).collect();
    let placement = ssa::place(f, cfg, &types, &accesses);
    let mut r = Renamer {
        replaced: Replacements::new(f),
        plan,
        placement,
        current: vec![None; types.len()],
        undefined: vec![None; types.len()],
        prefix: Vec::new(),
    };
    r.walk(f, cfg);
    true
}

enum Step {
    Enter(Block),
    Leave(Vec<(usize, Option<Value>)>),
}

struct Renamer {
    replaced: Replacements,
    plan: Plan,
    placement: Placement,
    current: Vec<Option<Value>>,
    undefined: Vec<Option<Value>>,
    /// Undefined values, to be placed at the entry's start.
    prefix: Vec<Inst>,
}

impl Renamer {
    fn walk(&mut self, f: &mut Function, cfg: &Cfg) {
        let children = cfg.dominator_children();
        let mut steps = vec![Step::Enter(Function::ENTRY)];
        while let Some(step) = steps.pop() {
            let b = match step {
                Step::Leave(saved) => {
                    saved.into_iter().rev().for_each(|(var, v)| self.current[var] = v);
                    continue;
                }
                Step::Enter(b) => b,
            };
            let saved = self.block(f, b);
            steps.push(Step::Leave(saved));
            steps.extend(children[b.0 as usize].iter().rev().map(|&c| Step::Enter(c)));
        }
        let prefix = std::mem::take(&mut self.prefix);
        f.blocks[0].insts.splice(0..0, prefix);
        self.replaced.apply(f);
    }

    /// Rewrites a block; gives the values that variables had before.
    fn block(&mut self, f: &mut Function, b: Block) -> Vec<(usize, Option<Value>)> {
        let mut saved = Vec::new();
        for (var, v) in self.placement.params[b.0 as usize].clone() {
            saved.push((var, self.current[var].replace(v)));
        }
        let old = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            let Some(elements) = self.plan.elements(f, i) else {
                if f.inst(i).op.is_terminator() {
                    self.edges(f, i);
                }
                new.push(i);
                continue;
            };
            if matches!(f.inst(i).op, Opcode::Load(_)) {
                self.load(f, i, &elements, &mut new);
            } else {
                self.store(f, i, &elements, &mut new, &mut saved);
            }
        }
        f.blocks[b.0 as usize].insts = new;
        saved
    }

    fn edges(&mut self, f: &mut Function, terminator: Inst) {
        for t in 0..f.inst(terminator).targets.len() {
            let block = f.inst(terminator).targets[t].block;
            for n in 0..self.placement.params[block.0 as usize].len() {
                let (var, _) = self.placement.params[block.0 as usize][n];
                let v = self.value(f, var);
                f.inst_mut(terminator).targets[t].args.push(v);
            }
        }
    }

    fn value(&mut self, f: &mut Function, var: usize) -> Value {
        if let Some(v) = self.current[var] {
            return v;
        }
        if let Some(v) = self.undefined[var] {
            return v;
        }
        let i = f.make_inst(Opcode::Undef, &[], &[self.plan.variables[var].ty], Loc::default());
        self.prefix.push(i);
        let v = f.inst(i).results[0];
        self.undefined[var] = Some(v);
        v
    }

    fn load(&mut self, f: &mut Function, i: Inst, elements: &[Option<(usize, u32)>], new: &mut Vec<Inst>) {
        for (n, e) in elements.iter().enumerate() {
            let result = f.inst(i).results[n];
            let v = match *e {
                Some((var, offset)) => {
                    let whole = self.value(f, var);
                    let mut out = Emit { f, new, loc: Loc::default() };
                    out.loc = out.f.inst(i).loc;
                    let ty = out.f.ty(result);
                    out.extract(whole, ty, offset)
                }
                None => single_load(f, i, n, new),
            };
            self.replaced.replace(result, v);
        }
    }

    fn store(
        &mut self,
        f: &mut Function,
        i: Inst,
        elements: &[Option<(usize, u32)>],
        new: &mut Vec<Inst>,
        saved: &mut Vec<(usize, Option<Value>)>,
    ) {
        for (n, e) in elements.iter().enumerate() {
            let v = f.inst(i).args[n + 1];
            let Some((var, offset)) = *e else {
                single_store(f, i, n, v, new);
                continue;
            };
            let ty = self.plan.variables[var].ty;
            let old = if bytes(f.ty(v)) < bytes(ty) { Some(self.value(f, var)) } else { None };
            let loc = f.inst(i).loc;
            let mut out = Emit { f, new, loc };
            let whole = out.insert(old, v, ty, offset);
            saved.push((var, self.current[var].replace(whole)));
        }
    }
}

/// Element `n` of a vector access whose memory stays.
fn element_pointer(f: &mut Function, i: Inst, n: usize, size: u32, new: &mut Vec<Inst>) -> Value {
    let (p, loc) = (f.inst(i).args[0], f.inst(i).loc);
    let mut out = Emit { f, new, loc };
    let k = out.constant(Ty::I32, n as u64 * u64::from(size));
    out.emit(Opcode::PtrAdd { inbounds: true }, &[p, k], Ty::PtrPrivate)
}

fn single_access(op: &Opcode, size: u32) -> crate::ir::Access {
    let (Opcode::Load(a) | Opcode::Store(a)) = op else {
        return crate::ir::Access { count: 1, align: 1, volatile: false };
    };
    crate::ir::Access { count: 1, align: a.align.min(size), volatile: false }
}

fn single_load(f: &mut Function, i: Inst, n: usize, new: &mut Vec<Inst>) -> Value {
    let ty = f.ty(f.inst(i).results[n]);
    let access = single_access(&f.inst(i).op, bytes(ty));
    let p = element_pointer(f, i, n, bytes(ty), new);
    let loc = f.inst(i).loc;
    Emit { f, new, loc }.emit(Opcode::Load(access), &[p], ty)
}

fn single_store(f: &mut Function, i: Inst, n: usize, v: Value, new: &mut Vec<Inst>) {
    let size = bytes(f.ty(v));
    let access = single_access(&f.inst(i).op, size);
    let p = element_pointer(f, i, n, size, new);
    let s = f.make_inst(Opcode::Store(access), &[p, v], &[], f.inst(i).loc);
    new.push(s);
}

/// Appends to a list of instructions.
struct Emit<'a> {
    f: &'a mut Function,
    new: &'a mut Vec<Inst>,
    loc: Loc,
}

impl Emit<'_> {
    fn emit(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.make_inst(op, args, &[ty], self.loc);
        self.new.push(i);
        self.f.inst(i).results[0]
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.emit(Opcode::Const(bits), &[], ty)
    }
    fn bitcast(&mut self, v: Value, ty: Ty) -> Value {
        if self.f.ty(v) == ty { v } else { self.emit(Opcode::Bitcast, &[v], ty) }
    }
    fn as_integer(&mut self, v: Value) -> Value {
        let ty = integer(bytes(self.f.ty(v))).unwrap_or(Ty::I64);
        self.bitcast(v, ty)
    }
    /// The part of a value at a byte offset.
    fn extract(&mut self, whole: Value, ty: Ty, offset: u32) -> Value {
        let from = self.f.ty(whole);
        if bytes(from) == bytes(ty) {
            return self.bitcast(whole, ty);
        }
        let int = self.as_integer(whole);
        let wide = self.f.ty(int);
        let shifted = if offset == 0 {
            int
        } else {
            let k = self.constant(wide, u64::from(offset * 8));
            self.emit(Opcode::IBin(IBin::LShr), &[int, k], wide)
        };
        let part = self.emit(Opcode::Trunc, &[shifted], integer(bytes(ty)).unwrap_or(Ty::I8));
        self.bitcast(part, ty)
    }
    /// `old` with a part replaced, as a value of type `ty`.
    fn insert(&mut self, old: Option<Value>, part: Value, ty: Ty, offset: u32) -> Value {
        let Some(old) = old else { return self.bitcast(part, ty) };
        let n = bytes(self.f.ty(part));
        let old = self.as_integer(old);
        let wide = self.f.ty(old);
        let part = self.as_integer(part);
        let part = self.emit(Opcode::Zext, &[part], wide);
        let shift = self.constant(wide, u64::from(offset * 8));
        let part = self.emit(Opcode::IBin(IBin::Shl), &[part, shift], wide);
        let hole = ((1u64 << (n * 8)) - 1) << (offset * 8);
        let keep = self.constant(wide, crate::ir::eval::mask(!hole, wide.bits()));
        let rest = self.emit(Opcode::IBin(IBin::And), &[old, keep], wide);
        let all = self.emit(Opcode::IBin(IBin::Or), &[rest, part], wide);
        self.bitcast(all, ty)
    }
}
