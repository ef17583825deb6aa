//! Floats: only what is exact for every input.
use super::{Folder, Outcome};
use crate::ir::{Conversion, FBin, FUn, InstData, Opcode, Ty, eval};

impl Folder<'_> {
    pub(super) fn fbin(&mut self, op: FBin, d: &InstData) -> Outcome {
        let (a, b) = (d.args[0], d.args[1]);
        let ty = self.f.ty(a);
        if let (Some(x), Some(y)) = (self.known(a), self.known(b))
            && let Some(r) = eval::fbin(op, ty, x, y)
            // Denormals may be flushed at run time.
            && ![x, y, r].into_iter().any(|v| denormal(ty, v))
        {
            return Outcome::Const(r);
        }
        if self.known(a).is_some() && self.known(b).is_none() && matches!(op, FBin::Add | FBin::Mul) {
            return Outcome::Op(d.op.clone(), vec![b, a], d.flags);
        }
        if let Some(y) = self.known(b) {
            match op {
                FBin::Add if y == sign(ty) => return Outcome::Value(a),
                FBin::Sub if y == 0 => return Outcome::Value(a),
                FBin::Mul | FBin::Div if y == one(ty) => return Outcome::Value(a),
                FBin::Mul | FBin::Div if y == one(ty) | sign(ty) => {
                    return Outcome::Op(Opcode::FUn(FUn::Neg), vec![a], 0);
                }
                FBin::Div => {
                    if let Some(k) = exact_reciprocal(ty, y) {
                        let k = self.constant(ty, k);
                        return Outcome::Op(Opcode::FBin(FBin::Mul), vec![a, k], d.flags);
                    }
                }
                _ => {}
            }
        }
        match (op, self.def(a), self.def(b)) {
            (FBin::Add, _, Some((Opcode::FUn(FUn::Neg), x, _))) => {
                Outcome::Op(Opcode::FBin(FBin::Sub), vec![a, x[0]], d.flags)
            }
            (FBin::Add, Some((Opcode::FUn(FUn::Neg), x, _)), _) => {
                Outcome::Op(Opcode::FBin(FBin::Sub), vec![b, x[0]], d.flags)
            }
            (FBin::Sub, _, Some((Opcode::FUn(FUn::Neg), x, _))) => {
                Outcome::Op(Opcode::FBin(FBin::Add), vec![a, x[0]], d.flags)
            }
            (FBin::Mul | FBin::Div, Some((Opcode::FUn(FUn::Neg), x, _)), Some((Opcode::FUn(FUn::Neg), y, _))) => {
                Outcome::Op(d.op.clone(), vec![x[0], y[0]], d.flags)
            }
            _ => Outcome::Keep,
        }
    }

    pub(super) fn fun(&mut self, op: FUn, d: &InstData) -> Outcome {
        let ty = self.f.ty(d.args[0]);
        if let Some(r) = self.known(d.args[0]).and_then(|a| eval::fun(op, ty, a)) {
            return Outcome::Const(r);
        }
        match (op, self.def(d.args[0])) {
            (FUn::Neg, Some((Opcode::FUn(FUn::Neg), x, _))) => Outcome::Value(x[0]),
            (FUn::Abs, Some((Opcode::FUn(FUn::Neg | FUn::Abs), x, _))) => {
                Outcome::Op(Opcode::FUn(FUn::Abs), vec![x[0]], 0)
            }
            _ => Outcome::Keep,
        }
    }

    /// A multiply-add whose product or sum is trivial.
    pub(super) fn mad(&mut self, d: &InstData) -> Outcome {
        let ty = self.f.ty(d.args[0]);
        let (a, b, c) = (d.args[0], d.args[1], d.args[2]);
        if self.known(a).is_some() && self.known(b).is_none() {
            return Outcome::Op(Opcode::Mad, vec![b, a, c], d.flags);
        }
        if self.known(b) == Some(one(ty)) {
            return Outcome::Op(Opcode::FBin(FBin::Add), vec![a, c], d.flags);
        }
        if self.known(c) == Some(sign(ty)) {
            return Outcome::Op(Opcode::FBin(FBin::Mul), vec![a, b], d.flags);
        }
        Outcome::Keep
    }

    pub(super) fn convert(&mut self, c: Conversion, d: &InstData) -> Outcome {
        if let Some(a) = self.known(d.args[0])
            && let Some(r) = eval::convert(c, a)
            && !(c.from.is_float() && denormal(c.from, a))
            && !(c.to.is_float() && denormal(c.to, r))
        {
            return Outcome::Const(r);
        }
        // An integer conversion that cannot saturate is an extension or truncation.
        let integers = !c.from.is_float() && !c.to.is_float();
        if integers && (!c.saturate || c.from.bits() < c.to.bits() && !(c.from_signed && !c.to_signed)) {
            return match c.from.bits().cmp(&c.to.bits()) {
                std::cmp::Ordering::Equal => Outcome::Value(d.args[0]),
                std::cmp::Ordering::Greater => Outcome::Op(Opcode::Trunc, vec![d.args[0]], 0),
                std::cmp::Ordering::Less if c.from_signed => Outcome::Op(Opcode::Sext, vec![d.args[0]], 0),
                std::cmp::Ordering::Less => Outcome::Op(Opcode::Zext, vec![d.args[0]], 0),
            };
        }
        Outcome::Keep
    }

    pub(super) fn bitcast(&mut self, d: &InstData) -> Outcome {
        let (a, to) = (d.args[0], self.f.ty(d.results[0]));
        if self.f.ty(a) == to {
            return Outcome::Value(a);
        }
        if let Some(v) = self.known(a) {
            return Outcome::Const(v);
        }
        match self.def(a) {
            Some((Opcode::Bitcast, x, _)) if self.f.ty(x[0]) == to => Outcome::Value(x[0]),
            Some((Opcode::Bitcast, x, _)) => Outcome::Op(Opcode::Bitcast, vec![x[0]], 0),
            _ => Outcome::Keep,
        }
    }
}

fn sign(ty: Ty) -> u64 {
    1 << (ty.bits() - 1)
}
fn one(ty: Ty) -> u64 {
    match ty {
        Ty::F16 => 0x3c00,
        Ty::F32 => 0x3f80_0000,
        _ => 0x3ff0_0000_0000_0000,
    }
}
fn mantissa_bits(ty: Ty) -> u32 {
    match ty {
        Ty::F16 => 10,
        Ty::F32 => 23,
        _ => 52,
    }
}
fn denormal(ty: Ty, v: u64) -> bool {
    let m = mantissa_bits(ty);
    let exponent = (v & !sign(ty)) >> m;
    exponent == 0 && v & ((1 << m) - 1) != 0
}
/// The reciprocal of a power of two, where both are normal.
fn exact_reciprocal(ty: Ty, y: u64) -> Option<u64> {
    let m = mantissa_bits(ty);
    if y & ((1 << m) - 1) != 0 {
        return None;
    }
    let bias2 = 2 * (one(ty) >> m);
    let exponent = (y & !sign(ty)) >> m;
    let inverse = bias2.checked_sub(exponent)?;
    // Neither zero, denormal nor infinite.
    let normal = |e: u64| e > 0 && e < bias2 + 1;
    (normal(exponent) && normal(inverse)).then_some(inverse << m | y & sign(ty))
}
