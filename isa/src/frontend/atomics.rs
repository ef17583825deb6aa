//! Atomics, barriers, fences.
use super::body::{Body, Leaves};
use super::error::Res;
use super::words::Instr;
use crate::ir::{Cond, FUn, Opcode, Order, Scope, Ty, Value, fence};
use spirv::Op;
use warpscope_exec::program::AtomicOp;

impl Body<'_, '_> {
    pub(super) fn try_atomic(&mut self, i: &Instr<'_>) -> Res<bool> {
        use AtomicOp as A;
        match i.op {
            Op::AtomicLoad => self.atomic(i, A::Load, 1, &[])?,
            Op::AtomicStore => self.atomic(i, A::Store, 1, &[3])?,
            Op::AtomicExchange => self.atomic(i, A::Exchange, 1, &[3])?,
            // Operands: pointer, scope, two semantics, value, comparator.
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                self.atomic(i, A::CompareExchange, 1, &[4, 5])?;
            }
            Op::AtomicIIncrement => self.atomic_step(i, A::Add)?,
            Op::AtomicIDecrement => self.atomic_step(i, A::Sub)?,
            Op::AtomicIAdd => self.atomic(i, A::Add, 1, &[3])?,
            Op::AtomicISub => self.atomic(i, A::Sub, 1, &[3])?,
            Op::AtomicSMin => self.atomic(i, A::SMin, 1, &[3])?,
            Op::AtomicUMin => self.atomic(i, A::UMin, 1, &[3])?,
            Op::AtomicSMax => self.atomic(i, A::SMax, 1, &[3])?,
            Op::AtomicUMax => self.atomic(i, A::UMax, 1, &[3])?,
            Op::AtomicAnd => self.atomic(i, A::And, 1, &[3])?,
            Op::AtomicOr => self.atomic(i, A::Or, 1, &[3])?,
            Op::AtomicXor => self.atomic(i, A::Xor, 1, &[3])?,
            Op::AtomicFAddEXT => self.atomic(i, A::FAdd, 1, &[3])?,
            Op::AtomicFMinEXT => self.atomic(i, A::FMin, 1, &[3])?,
            Op::AtomicFMaxEXT => self.atomic(i, A::FMax, 1, &[3])?,
            Op::AtomicFlagTestAndSet => {
                let p = self.pointer_arg(i, 0)?;
                let one = self.e.constant(Ty::I32, 1);
                let op = self.atomic_op(i, A::Exchange, 1)?;
                let old = self.e.emit(op, &[p, one], Ty::I32);
                let zero = self.e.constant(Ty::I32, 0);
                let r = self.e.icmp(Cond::Ne, old, zero);
                self.define_one(i, r)?;
            }
            Op::AtomicFlagClear => {
                let p = self.pointer_arg(i, 0)?;
                let zero = self.e.constant(Ty::I32, 0);
                let op = self.atomic_op(i, A::Store, 1)?;
                self.e.effect(op, &[p, zero]);
            }
            Op::ControlBarrier => {
                let scope = self.scope(i.at(0)?);
                let (flags, _) = self.semantics(i.at(2)?);
                let scope = if scope == Scope::SubGroup { Scope::SubGroup } else { Scope::WorkGroup };
                self.e.effect(Opcode::Barrier { flags, scope }, &[]);
            }
            Op::MemoryBarrier => {
                let scope = self.scope(i.at(0)?);
                let (flags, order) = self.semantics(i.at(1)?);
                if order != Order::Relaxed {
                    self.e.effect(Opcode::Fence { flags, order, scope }, &[]);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn atomic_op(&mut self, i: &Instr<'_>, op: AtomicOp, at: usize) -> Res<Opcode> {
        let scope = self.scope(i.at(at)?);
        let (_, order) = self.semantics(i.at(at + 1)?);
        Ok(Opcode::Atomic { op, order, scope })
    }

    /// `at`: operand number of the scope; `values`: operand numbers of the operands behind the pointer.
    fn atomic(&mut self, i: &Instr<'_>, op: AtomicOp, at: usize, values: &[usize]) -> Res<()> {
        let mut args = Leaves::new();
        args.push(self.pointer_arg(i, 0)?);
        for &n in values {
            let v = self.scalar_arg(i, n)?;
            args.push(v);
        }
        let opcode = self.atomic_op(i, op, at)?;
        self.finish_atomic(i, opcode, &args)
    }

    fn atomic_step(&mut self, i: &Instr<'_>, op: AtomicOp) -> Res<()> {
        let p = self.pointer_arg(i, 0)?;
        let ty = self.result_scalar(i)?;
        let one = self.e.constant(ty, 1);
        let opcode = self.atomic_op(i, op, 1)?;
        self.finish_atomic(i, opcode, &[p, one])
    }

    fn finish_atomic(&mut self, i: &Instr<'_>, op: Opcode, args: &[Value]) -> Res<()> {
        if i.op == Op::AtomicStore {
            self.e.effect(op, args);
            return Ok(());
        }
        let ty = self.result_scalar(i)?;
        if !matches!(ty, Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::F16) {
            return Err(format!("atomics on {ty:?} are not supported"));
        }
        let r = self.e.emit(op, args, ty);
        self.define_one(i, r)
    }

    /// A scope operand; one known only at run time counts as the widest.
    pub(super) fn scope(&self, id: u32) -> Scope {
        match self.m.constant_int(id) {
            Ok(4) => Scope::WorkItem,
            Ok(3) => Scope::SubGroup,
            Ok(2) => Scope::WorkGroup,
            Ok(1) => Scope::Device,
            _ => Scope::AllDevices,
        }
    }

    /// A memory-semantics operand: fence flags and order; one known only at run time counts as the strongest.
    fn semantics(&self, id: u32) -> (u8, Order) {
        let Ok(mask) = self.m.constant_int(id) else {
            return (fence::LOCAL | fence::GLOBAL, Order::SeqCst);
        };
        let mut flags = 0;
        flags |= if mask & 0x100 != 0 { fence::LOCAL } else { 0 };
        flags |= if mask & 0x240 != 0 { fence::GLOBAL } else { 0 };
        flags |= if mask & 0x800 != 0 { fence::IMAGE } else { 0 };
        let order = match mask & 0x1e {
            0 => Order::Relaxed,
            2 => Order::Acquire,
            4 => Order::Release,
            8 => Order::AcqRel,
            _ => Order::SeqCst,
        };
        (flags, order)
    }

    /// The absolute value of a float.
    pub(super) fn fabs(&mut self, v: Value) -> Value {
        let ty = self.e.f.ty(v);
        self.e.emit(Opcode::FUn(FUn::Abs), &[v], ty)
    }
}
