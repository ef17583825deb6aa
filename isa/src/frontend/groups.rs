//! Copies between global and local memory by the whole work-group (OpenCL C 6.15.12).
use super::body::Body;
use super::error::Res;
use super::types::Kind;
use super::words::Instr;
use crate::ir::{IBin, Opcode, Scope, Ty, Value, fence};
use spirv::Op;
use warpscope_exec::program::Special;

impl Body<'_, '_> {
    pub(super) fn try_group(&mut self, i: &Instr<'_>) -> Res<bool> {
        match i.op {
            Op::GroupAsyncCopy => self.async_copy(i)?,
            Op::GroupWaitEvents => {
                let flags = fence::LOCAL | fence::GLOBAL;
                self.e.effect(Opcode::Barrier { flags, scope: Scope::WorkGroup }, &[]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The work-items copy the elements in turn; waiting for the event is a barrier.
    fn async_copy(&mut self, i: &Instr<'_>) -> Res<()> {
        if self.scope(i.at(0)?) != Scope::WorkGroup {
            return Err("an asynchronous copy of a scope other than the work-group".into());
        }
        let (to, from) = (self.pointer_arg(i, 1)?, self.pointer_arg(i, 2)?);
        let (count, stride) = (self.scalar_arg(i, 3)?, self.scalar_arg(i, 4)?);
        let event = self.arg(i, 5)?;
        let (_, element) = self.m.types.pointer(self.value(i.at(1)?)?.ty)?;
        let t = self.m.types.get(element)?;
        let (size, align) = (t.size, t.align as u32);
        // Vectors of three are copied as vectors of four (OpenCL C, "Async Copies from Global to Local Memory", note).
        let fourth = match t.kind {
            Kind::Vector { element, count: 3 } => Some(element),
            _ => None,
        };
        self.m.types.leaves(element)?;
        let to_local = self.e.f.ty(to) == Ty::PtrLocal;
        let [count, stride] = [count, stride].map(|v| self.e.resize(v, Ty::I64, false));
        let own = self.e.emit(Opcode::Special(Special::LinearLocalId), &[], Ty::I32);
        let start = self.e.resize(own, Ty::I64, false);
        let mut step = None;
        for s in [Special::LocalSizeX, Special::LocalSizeY, Special::LocalSizeZ] {
            let n = self.e.emit(Opcode::Special(s), &[], Ty::I32);
            step = Some(step.map_or(n, |p| self.e.ibin(IBin::Mul, p, n)));
        }
        let step = step.map(|s| self.e.resize(s, Ty::I64, false));
        let mut failed = None;
        self.counted_loop(start, count, step, |b, n| {
            let far = b.e.ibin(IBin::Mul, n, stride);
            let (from_index, to_index) = if to_local { (far, n) } else { (n, far) };
            let source = b.e.index(from, from_index, size, true);
            let target = b.e.index(to, to_index, size, true);
            let mut leaves = super::body::Leaves::new();
            let done = b
                .load_value(source, element, 0, align, false, &mut leaves)
                .and_then(|()| b.store_value(target, element, 0, align, false, &leaves).map(|_| ()));
            let done =
                done.and_then(|()| fourth.map_or(Ok(()), |scalar| b.copy_value(source, target, scalar, size / 4 * 3)));
            failed = done.err();
        });
        if let Some(why) = failed {
            return Err(why);
        }
        self.define(i, event.leaves)
    }

    /// Copies the value of type `ty` at `offset` bytes from one place to another.
    fn copy_value(&mut self, from: Value, to: Value, ty: u32, offset: u64) -> Res<()> {
        let align = self.m.types.get(ty)?.align as u32;
        let mut leaves = super::body::Leaves::new();
        self.load_value(from, ty, offset, align, false, &mut leaves)?;
        self.store_value(to, ty, offset, align, false, &leaves).map(|_| ())
    }
}
