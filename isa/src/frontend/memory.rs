//! Loads, stores, copies, pointers.
use super::body::{Body, InputPointer, Leaves};
use super::emit::Emitter;
use super::error::Res;
use super::types::{Kind, memory_bytes};
use super::words::Instr;
use crate::ir::{Cond, Function, IBin, Opcode, Ty, Value};
use spirv::{Op, StorageClass};

/// Memory operands of a load or store.
struct Operands {
    align: Option<u32>,
    volatile: bool,
}

fn memory_operands(i: &Instr<'_>, at: usize) -> Res<Operands> {
    let mask = i.operands.get(at).copied().unwrap_or(0);
    let align = if mask & 2 != 0 { Some(i.at(at + 1)?) } else { None };
    Ok(Operands { align: align.filter(|a| a.is_power_of_two()), volatile: mask & 1 != 0 })
}

/// Alignment of a place `offset` bytes behind one aligned to `align`.
fn align_at(align: u32, offset: u64) -> u32 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros().min(30)) }
}

impl Body<'_, '_> {
    pub(super) fn try_memory(&mut self, i: &Instr<'_>) -> Res<bool> {
        match i.op {
            Op::Variable => self.local_variable(i)?,
            Op::Load => self.load_instruction(i)?,
            Op::Store => {
                let p = self.pointer_arg(i, 0)?;
                let v = self.arg(i, 1)?;
                let o = memory_operands(i, 2)?;
                let natural = self.m.types.get(v.ty)?.align as u32;
                let volatile = o.volatile || self.m.decoration(i.at(0)?).volatile;
                let rest = self.store_value(p, v.ty, 0, o.align.unwrap_or(natural), volatile, &v.leaves)?;
                debug_assert!(rest.is_empty());
            }
            Op::CopyMemory => {
                let (to, from) = (self.pointer_arg(i, 0)?, self.pointer_arg(i, 1)?);
                let ty = self.value(i.at(0)?)?.ty;
                let (_, pointee) = self.m.types.pointer(ty)?;
                let t = self.m.types.get(pointee)?;
                let (bytes, natural) = (t.size, t.align as u32);
                let align = memory_operands(i, 2)?.align.unwrap_or(natural);
                self.copy(to, from, bytes, align)?;
            }
            Op::CopyMemorySized => {
                let (to, from) = (self.pointer_arg(i, 0)?, self.pointer_arg(i, 1)?);
                let size = self.scalar_arg(i, 2)?;
                let align = memory_operands(i, 3)?.align.unwrap_or(1);
                match self.e.f.as_const(size) {
                    Some(bytes) => self.copy(to, from, bytes, align)?,
                    None => self.copy_loop(to, from, size),
                }
            }
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.access_chain(i)?;
            }
            Op::LifetimeStart | Op::LifetimeStop => {}
            Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                let v = self.pointer_arg(i, 0)?;
                let (to, _) = self.m.types.pointer(i.ty)?;
                let r = self.convert_pointer(v, to)?;
                self.define_one(i, r)?;
            }
            Op::GenericCastToPtrExplicit => {
                let v = self.pointer_arg(i, 0)?;
                let (to, _) = self.m.types.pointer(i.ty)?;
                if self.e.f.ty(v) != Ty::PtrGeneric {
                    return Err("its operand is not a generic pointer".into());
                }
                let inside = self.e.emit(Opcode::IsSpace(to), &[v], Ty::Bool);
                let cast = self.convert_pointer(v, to)?;
                let null = self.e.constant(to, 0);
                let r = self.e.select(inside, cast, null);
                self.define_one(i, r)?;
            }
            Op::GenericPtrMemSemantics => {
                let v = self.pointer_arg(i, 0)?;
                let local = self.e.emit(Opcode::IsSpace(Ty::PtrLocal), &[v], Ty::Bool);
                let global = self.e.emit(Opcode::IsSpace(Ty::PtrGlobal), &[v], Ty::Bool);
                let (l, g, none) =
                    (self.e.constant(Ty::I32, 0x100), self.e.constant(Ty::I32, 0x200), self.e.constant(Ty::I32, 0));
                let other = self.e.select(global, g, none);
                let r = self.e.select(local, l, other);
                self.define_one(i, r)?;
            }
            Op::ConvertPtrToU | Op::ConvertUToPtr => {
                let v = self.scalar_arg(i, 0)?;
                let (to, _) = self.m.types.scalar(i.ty)?;
                let r = self.convert_pointer(v, to)?;
                self.define_one(i, r)?;
            }
            Op::PtrEqual | Op::PtrNotEqual => {
                let (a, b) = (self.pointer_arg(i, 0)?, self.pointer_arg(i, 1)?);
                let r = self.e.icmp(if i.op == Op::PtrEqual { Cond::Eq } else { Cond::Ne }, a, b);
                self.define_one(i, r)?;
            }
            Op::PtrDiff => {
                let (_, pointee) = self.m.types.pointer(self.value(i.at(0)?)?.ty)?;
                let size = self.m.types.get(pointee)?.size.max(1);
                let (a, b) = (self.pointer_arg(i, 0)?, self.pointer_arg(i, 1)?);
                let (to, _) = self.m.types.scalar(i.ty)?;
                let (a, b) = (self.convert_pointer(a, Ty::I64)?, self.convert_pointer(b, Ty::I64)?);
                let d = self.e.ibin(IBin::Sub, a, b);
                let s = self.e.constant(Ty::I64, size);
                let q = self.e.ibin(IBin::SDiv, d, s);
                let r = self.e.resize(q, to, true);
                self.define_one(i, r)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn local_variable(&mut self, i: &Instr<'_>) -> Res<()> {
        let Kind::Pointer { class: StorageClass::Function, pointee, .. } = self.m.types.get(i.ty)?.kind else {
            return Err("a variable inside a function that is not of storage class Function".into());
        };
        let t = self.m.types.get(pointee)?;
        let size = u32::try_from(t.size).ok().filter(|&s| s <= 1 << 20);
        let size = size.ok_or_else(|| format!("a private variable of {} bytes (at most 1 MiB)", t.size))?;
        let natural = t.align as u32;
        let align = self.m.decoration(i.id).align.filter(|a| a.is_power_of_two()).unwrap_or(natural).max(1);
        let p = self.private_memory(size, align);
        self.define_one(i, p)?;
        if i.operands.len() > 1 {
            let v = self.arg(i, 1)?;
            self.store_value(p, v.ty, 0, align, false, &v.leaves)?;
        }
        Ok(())
    }

    /// Private memory of the function.
    fn private_memory(&mut self, size: u32, align: u32) -> Value {
        let inst = self.e.f.make_inst(Opcode::Alloca { size, align }, &[], &[Ty::PtrPrivate], self.e.loc);
        let entry = &mut self.e.f.blocks[Function::ENTRY.0 as usize].insts;
        if self.e.block == Function::ENTRY {
            entry.push(inst);
        } else {
            entry.insert(0, inst);
        }
        self.e.f.inst(inst).results[0]
    }

    /// A copy of what `p` points to, for a function that takes it by value and may change it (FuncParamAttr ByVal).
    pub(super) fn copy_of(&mut self, p: Value, ty: u32) -> Res<Value> {
        let Kind::Pointer { pointee, space: Ty::PtrPrivate, .. } = self.m.types.get(ty)?.kind else {
            return Err("an argument by value that is not a pointer to private memory".into());
        };
        let t = self.m.types.get(pointee)?;
        let (bytes, align) = (t.size, (t.align as u32).max(1));
        let size = u32::try_from(bytes).map_err(|_| format!("an argument of {bytes} bytes"))?;
        let own = self.private_memory(size, align);
        self.copy(own, p, bytes, align)?;
        Ok(own)
    }

    /// The input variable or component that an id points to.
    fn input(&self, id: u32) -> Option<InputPointer> {
        let own = self.inputs.get(&id).cloned();
        own.or_else(|| self.m.inputs.get(&id).map(|&builtin| InputPointer { builtin, component: None }))
    }

    fn load_instruction(&mut self, i: &Instr<'_>) -> Res<()> {
        if let Some(input) = self.input(i.at(0)?) {
            let leaves = self.builtin(&input, i.ty)?;
            if leaves.len() == 3 {
                self.builtin_values.insert(i.id, input.builtin);
            }
            return self.define(i, leaves);
        }
        let p = self.pointer_arg(i, 0)?;
        let o = memory_operands(i, 1)?;
        let natural = self.m.types.get(i.ty)?.align as u32;
        let volatile = o.volatile || self.m.decoration(i.at(0)?).volatile;
        let mut leaves = Leaves::new();
        self.m.types.leaves(i.ty)?;
        self.load_value(p, i.ty, 0, o.align.unwrap_or(natural), volatile, &mut leaves)?;
        self.define(i, leaves)
    }

    /// Loads a value of a type at `p + offset`.
    pub(super) fn load_value(
        &mut self,
        p: Value,
        ty: u32,
        offset: u64,
        align: u32,
        volatile: bool,
        out: &mut Leaves,
    ) -> Res<()> {
        let t = self.m.types.get(ty)?;
        match &t.kind {
            Kind::Scalar(s) => self.load_elements(p, *s, 1, offset, align, volatile, out),
            Kind::Pointer { space, .. } => self.load_elements(p, *space, 1, offset, align, volatile, out),
            Kind::Vector { count, .. } => {
                let (s, _) = self.m.types.scalar(ty)?;
                self.load_elements(p, s, *count as u8, offset, align, volatile, out);
            }
            Kind::Array { element, count } => {
                let step = self.m.types.get(*element)?.size;
                for n in 0..if t.leaves == 0 { 0 } else { *count } {
                    self.load_value(p, *element, offset + n * step, align, volatile, out)?;
                }
            }
            Kind::Struct { members, offsets } => {
                for (&m, &o) in members.iter().zip(offsets) {
                    self.load_value(p, m, offset + o, align, volatile, out)?;
                }
            }
            Kind::Opaque(why) => return Err(why.clone()),
            Kind::Void | Kind::Function { .. } => return Err("a load of a type that is not data".into()),
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn load_elements(&mut self, p: Value, ty: Ty, n: u8, offset: u64, align: u32, volatile: bool, out: &mut Leaves) {
        let p = self.e.offset(p, offset);
        let in_memory = stored_type(ty);
        for v in self.e.load(p, in_memory, n, align_at(align, offset), volatile) {
            let v = match ty {
                Ty::Bool => {
                    let zero = self.e.constant(Ty::I8, 0);
                    self.e.icmp(Cond::Ne, v, zero)
                }
                Ty::PtrLocal | Ty::PtrPrivate => {
                    let low = self.e.resize(v, Ty::I32, false);
                    self.e.bitcast(low, ty)
                }
                _ => v,
            };
            out.push(v);
        }
    }

    /// Stores a value of a type at `p + offset`; gives the leaves that were not used.
    pub(super) fn store_value<'l>(
        &mut self,
        p: Value,
        ty: u32,
        offset: u64,
        align: u32,
        volatile: bool,
        leaves: &'l [Value],
    ) -> Res<&'l [Value]> {
        let t = self.m.types.get(ty)?;
        let mut rest = leaves;
        match &t.kind {
            Kind::Scalar(_) | Kind::Pointer { .. } | Kind::Vector { .. } => {
                let n = t.leaves as usize;
                let own = rest.get(..n).ok_or("a value without all of its parts")?;
                self.store_elements(p, own, offset, align, volatile);
                rest = &rest[n..];
            }
            Kind::Array { element, count } => {
                let step = self.m.types.get(*element)?.size;
                for n in 0..if t.leaves == 0 { 0 } else { *count } {
                    rest = self.store_value(p, *element, offset + n * step, align, volatile, rest)?;
                }
            }
            Kind::Struct { members, offsets } => {
                for (&m, &o) in members.iter().zip(offsets) {
                    rest = self.store_value(p, m, offset + o, align, volatile, rest)?;
                }
            }
            Kind::Opaque(why) => return Err(why.clone()),
            Kind::Void | Kind::Function { .. } => return Err("a store of a type that is not data".into()),
        }
        Ok(rest)
    }

    fn store_elements(&mut self, p: Value, values: &[Value], offset: u64, align: u32, volatile: bool) {
        let p = self.e.offset(p, offset);
        let mut stored = Leaves::new();
        for &v in values {
            stored.push(match self.e.f.ty(v) {
                Ty::Bool => self.e.resize(v, Ty::I8, false),
                Ty::PtrLocal | Ty::PtrPrivate => {
                    let i = self.e.bitcast(v, Ty::I32);
                    self.e.resize(i, Ty::I64, false)
                }
                _ => v,
            });
        }
        self.e.store(p, &stored, align_at(align, offset), volatile);
    }

    fn copy(&mut self, to: Value, from: Value, bytes: u64, align: u32) -> Res<()> {
        let bytes = u32::try_from(bytes).map_err(|_| format!("a copy of {bytes} bytes"))?;
        if bytes > 0 {
            self.e.effect(Opcode::Copy { bytes, align }, &[to, from]);
        }
        Ok(())
    }

    /// Copies a number of bytes known at run time, one at a time.
    fn copy_loop(&mut self, to: Value, from: Value, size: Value) {
        let ty = self.e.f.ty(size);
        let zero = self.e.constant(ty, 0);
        self.counted_loop(zero, size, None, |b, n| {
            let source = b.e.index(from, n, 1, true);
            let v = b.e.load(source, Ty::I8, 1, 1, false);
            let target = b.e.index(to, n, 1, true);
            b.e.store(target, &v, 1, false);
        });
    }

    /// `for (n = start; n < end; n += step)`, unsigned; `step` 1 where none is given.
    pub(super) fn counted_loop(
        &mut self,
        start: Value,
        end: Value,
        step: Option<Value>,
        body: impl FnOnce(&mut Self, Value),
    ) {
        let ty = self.e.f.ty(start);
        let step = step.unwrap_or_else(|| self.e.constant(ty, 1));
        let (head, inner, done) = (self.e.f.add_block(), self.e.f.add_block(), self.e.f.add_block());
        let n = self.e.f.add_param(head, ty);
        self.e.jump(head, &[start]);
        self.e.block = head;
        let more = self.e.icmp(Cond::ULt, n, end);
        self.e.branch(more, (inner, &[]), (done, &[]));
        self.e.block = inner;
        body(self, n);
        let next = self.e.ibin(IBin::Add, n, step);
        self.e.jump(head, &[next]);
        self.e.block = done;
    }

    fn access_chain(&mut self, i: &Instr<'_>) -> Res<()> {
        let base_id = i.at(0)?;
        if let Some(input) = self.input(base_id) {
            let element = matches!(i.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain) as usize;
            let component = match i.operands.len() - 1 - element.min(i.operands.len() - 1) {
                0 => input.component,
                1 => Some(self.scalar_arg(i, 1 + element)?),
                _ => return Err("too many indices into a built-in variable".into()),
            };
            self.inputs.insert(i.id, InputPointer { builtin: input.builtin, component });
            return Ok(());
        }
        let mut p = self.pointer_arg(i, 0)?;
        let base_ty = self.value(base_id)?.ty;
        let (_, mut ty) = self.m.types.pointer(base_ty)?;
        let inbounds = matches!(i.op, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain);
        let by_element = matches!(i.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let mut constant = 0u64;
        for n in 1..i.operands.len() {
            let index = self.scalar_arg(i, n)?;
            let known = self.e.f.as_const(index);
            let step = if by_element && n == 1 {
                Some(ty)
            } else {
                match &self.m.types.get(ty)?.kind {
                    Kind::Array { element, .. } | Kind::Vector { element, .. } => Some(*element),
                    _ => None,
                }
            };
            match (step, known) {
                (Some(element), Some(k)) => {
                    let k = crate::ir::eval::signed(k, self.e.f.ty(index).bits());
                    let size = self.m.types.get(element)?.size;
                    constant = constant.wrapping_add((k as u64).wrapping_mul(size));
                    ty = element;
                }
                (Some(element), None) => {
                    let t = self.e.f.ty(index);
                    if t.is_float() || t.is_pointer() || t == Ty::Bool {
                        return Err("an index that is not an integer".into());
                    }
                    let size = self.m.types.get(element)?.size;
                    p = self.e.index(p, index, size, inbounds);
                    ty = element;
                }
                (None, Some(k)) => {
                    let (part, _, at) = self.m.types.part(ty, k)?;
                    constant = constant.wrapping_add(at);
                    ty = part;
                }
                (None, None) => return Err("a struct indexed by other than a constant".into()),
            }
        }
        if constant != 0 {
            let space = self.e.f.ty(p);
            let c = self.e.constant(Emitter::offset_type(space), constant);
            p = self.e.emit(Opcode::PtrAdd { inbounds }, &[p, c], space);
        }
        if self.m.types.pointer(i.ty)?.0 != self.e.f.ty(p) {
            return Err("the result is in another address space than the base".into());
        }
        self.define_one(i, p)
    }
}

/// The type that a leaf has in memory: pointers take 8 bytes, a Bool one.
fn stored_type(ty: Ty) -> Ty {
    debug_assert!(memory_bytes(ty) <= 8);
    match ty {
        Ty::Bool => Ty::I8,
        Ty::PtrLocal | Ty::PtrPrivate => Ty::I64,
        t => t,
    }
}
