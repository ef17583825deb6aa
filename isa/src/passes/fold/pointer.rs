//! Pointers: constant offsets outwards, generic pointers back to the space they came from, loads of constants.
use super::{Folder, Outcome};
use crate::ir::eval::{mask, signed};
use crate::ir::{IBin, InstData, Opcode, Ty, Value};

impl Folder<'_> {
    pub(super) fn ptr_add(&mut self, inbounds: bool, d: &InstData) -> Outcome {
        let (p, o) = (d.args[0], d.args[1]);
        let ty = self.f.ty(p);
        let wide = self.f.ty(o);
        let k = self.known(o);
        if k == Some(0) {
            return Outcome::Value(p);
        }
        match (self.def(p), k) {
            (Some((Opcode::PtrAdd { inbounds: first }, x, _)), k) => {
                let Some(inner) = self.known(x[1]) else { return self.split_offset(inbounds, d) };
                let both = inbounds && first;
                if let Some(k) = k {
                    let sum = self.constant(wide, mask(inner.wrapping_add(k), wide.bits()));
                    return Outcome::Op(Opcode::PtrAdd { inbounds: both }, vec![x[0], sum], 0);
                }
                // (p + constant) + x: the constant goes outwards, to become the access's offset.
                let moved = self.emit(Opcode::PtrAdd { inbounds: both }, &[x[0], o], ty);
                Outcome::Op(Opcode::PtrAdd { inbounds: both }, vec![moved, x[1]], 0)
            }
            (Some((Opcode::CastSpace, x, _)), _) if ty == Ty::PtrGeneric => {
                let space = self.f.ty(x[0]);
                // In 32-bit spaces the window could be left, which only in-bounds arithmetic promises not to do.
                if space.bits() == 32 && !inbounds {
                    return Outcome::Keep;
                }
                let offset = if space.bits() == 32 { self.low_word(o) } else { o };
                let q = self.emit(Opcode::PtrAdd { inbounds }, &[x[0], offset], space);
                Outcome::Op(Opcode::CastSpace, vec![q], 0)
            }
            _ => self.split_offset(inbounds, d),
        }
    }

    /// p + (x + constant) = (p + x) + constant.
    fn split_offset(&mut self, inbounds: bool, d: &InstData) -> Outcome {
        let (p, o) = (d.args[0], d.args[1]);
        let ty = self.f.ty(p);
        match self.def(o) {
            Some((Opcode::IBin(IBin::Add), x, _)) if self.known(x[1]).is_some() => {
                let q = self.emit(Opcode::PtrAdd { inbounds }, &[p, x[0]], ty);
                Outcome::Op(Opcode::PtrAdd { inbounds }, vec![q, x[1]], 0)
            }
            _ => Outcome::Keep,
        }
    }

    fn low_word(&mut self, v: Value) -> Value {
        match self.known(v) {
            Some(k) => self.constant(Ty::I32, mask(k, 32)),
            None => self.emit(Opcode::Trunc, &[v], Ty::I32),
        }
    }

    pub(super) fn space(&mut self, d: &InstData) -> Outcome {
        let a = d.args[0];
        let Some((Opcode::CastSpace, x, _)) = self.def(a) else { return Outcome::Keep };
        let from = self.f.ty(x[0]);
        if from == Ty::PtrGeneric {
            return Outcome::Keep;
        }
        match d.op {
            Opcode::IsSpace(t) => Outcome::Const((t == from) as u64),
            _ if self.f.ty(d.results[0]) == from => Outcome::Value(x[0]),
            _ => Outcome::Keep,
        }
    }

    /// A generic pointer that is known to point into one space.
    fn specific(&mut self, p: Value) -> Option<Value> {
        if self.f.ty(p) != Ty::PtrGeneric {
            return None;
        }
        match self.def(p)? {
            (Opcode::CastSpace, x, _) => Some(x[0]),
            _ => None,
        }
    }

    pub(super) fn generic_operands(&mut self, d: &InstData) -> Outcome {
        let mut args = d.args.to_vec();
        let pointers = if matches!(d.op, Opcode::Copy { .. }) { 2 } else { 1 };
        let mut any = false;
        for p in args.iter_mut().take(pointers) {
            if let Some(q) = self.specific(*p) {
                *p = q;
                any = true;
            }
        }
        if any { Outcome::Op(d.op.clone(), args, d.flags) } else { Outcome::Keep }
    }

    pub(super) fn load(&mut self, d: &InstData) -> Outcome {
        if let Some(bits) = self.constant_load(d) {
            return Outcome::Const(bits);
        }
        self.generic_operands(d)
    }

    /// A load from a variable in constant memory at a known offset.
    fn constant_load(&mut self, d: &InstData) -> Option<u64> {
        let [result] = d.results[..] else { return None };
        let (global, offset) = match self.def(d.args[0])? {
            (Opcode::GlobalAddress(g), _, _) => (g, 0),
            (Opcode::PtrAdd { .. }, x, _) => match self.def(x[0])? {
                (Opcode::GlobalAddress(g), _, _) => (g, signed(self.known(x[1])?, 64)),
                _ => return None,
            },
            _ => return None,
        };
        let g = self.globals.get(global).filter(|g| g.space == Ty::PtrConstant && !g.uninitialised)?;
        let n = self.f.ty(result).bits() as usize / 8;
        let at = usize::try_from(offset).ok()?;
        let bytes = g.init.get(at..at.checked_add(n)?)?;
        let moved = |r: &(u32, usize, i64)| (r.0 as usize) < at + n && at < r.0 as usize + 8;
        if g.relocations.iter().any(moved) {
            return None;
        }
        let mut word = [0; 8];
        word[..n].copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }
}
