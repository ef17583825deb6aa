//! Booleans and selects.
use super::{Folder, Outcome};
use crate::ir::{Cond, FCond, InstData, Opcode, Ty};

impl Folder<'_> {
    pub(super) fn boolean(&mut self, d: &InstData) -> Outcome {
        let a = d.args[0];
        if d.op == Opcode::BoolNot {
            if let Some(k) = self.known(a) {
                return Outcome::Const(1 - k);
            }
            return match self.def(a) {
                Some((Opcode::BoolNot, x, _)) => Outcome::Value(x[0]),
                Some((Opcode::ICmp(c), x, _)) => Outcome::Op(Opcode::ICmp(negate(c)), x, 0),
                Some((Opcode::FCmp(c), x, _)) => Outcome::Op(Opcode::FCmp(negate_float(c)), x, 0),
                _ => Outcome::Keep,
            };
        }
        let b = d.args[1];
        let (ka, kb) = (self.known(a), self.known(b));
        match (&d.op, ka, kb) {
            (Opcode::BoolAnd, Some(x), Some(y)) => Outcome::Const(x & y),
            (Opcode::BoolOr, Some(x), Some(y)) => Outcome::Const(x | y),
            (Opcode::BoolXor, Some(x), Some(y)) => Outcome::Const(x ^ y),
            (_, Some(_), None) => Outcome::Op(d.op.clone(), vec![b, a], 0),
            (Opcode::BoolAnd, None, Some(0)) => Outcome::Const(0),
            (Opcode::BoolOr, None, Some(1)) => Outcome::Const(1),
            (Opcode::BoolXor, None, Some(1)) => Outcome::Op(Opcode::BoolNot, vec![a], 0),
            (_, None, Some(_)) => Outcome::Value(a),
            (Opcode::BoolXor, ..) if a == b => Outcome::Const(0),
            _ if a == b => Outcome::Value(a),
            (Opcode::BoolAnd, ..) => self.joined(a, b, false),
            (Opcode::BoolOr, ..) => self.joined(a, b, true),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn select(&mut self, d: &InstData) -> Outcome {
        let (c, a, b) = (d.args[0], d.args[1], d.args[2]);
        if let Some(k) = self.known(c) {
            return Outcome::Value(if k != 0 { a } else { b });
        }
        let ty = self.f.ty(a);
        let (ka, kb) = (self.known(a), self.known(b));
        if a == b || ka.is_some() && ka == kb {
            return Outcome::Value(a);
        }
        if let Some((Opcode::BoolNot, x, _)) = self.def(c) {
            return Outcome::Op(Opcode::Select, vec![x[0], b, a], 0);
        }
        if ty == Ty::Bool {
            return match (ka, kb) {
                (Some(1), Some(0)) => Outcome::Value(c),
                (Some(0), Some(1)) => Outcome::Op(Opcode::BoolNot, vec![c], 0),
                (Some(1), None) => Outcome::Op(Opcode::BoolOr, vec![c, b], 0),
                (None, Some(0)) => Outcome::Op(Opcode::BoolAnd, vec![c, a], 0),
                (Some(0), None) => {
                    let n = self.emit(Opcode::BoolNot, &[c], Ty::Bool);
                    Outcome::Op(Opcode::BoolAnd, vec![n, b], 0)
                }
                (None, Some(1)) => {
                    let n = self.emit(Opcode::BoolNot, &[c], Ty::Bool);
                    Outcome::Op(Opcode::BoolOr, vec![n, a], 0)
                }
                _ => Outcome::Keep,
            };
        }
        match (ka, kb) {
            (Some(1), Some(0)) if super::super::facts::is_integer(ty) => Outcome::Op(Opcode::Zext, vec![c], 0),
            _ => self.min_max(d),
        }
    }

    /// `a < b ? a : b` on integers.
    fn min_max(&mut self, d: &InstData) -> Outcome {
        use crate::ir::IBin::{SMax, SMin, UMax, UMin};
        let (a, b) = (d.args[1], d.args[2]);
        let Some((Opcode::ICmp(c), x, _)) = self.def(d.args[0]) else { return Outcome::Keep };
        if !super::super::facts::is_integer(self.f.ty(a)) {
            return Outcome::Keep;
        }
        let same = |p, q| p == q || self.known(p).is_some() && self.known(p) == self.known(q);
        let c = if same(x[0], a) && same(x[1], b) {
            c
        } else if same(x[0], b) && same(x[1], a) {
            super::int::swap(c)
        } else {
            return Outcome::Keep;
        };
        let op = match c {
            Cond::SLt | Cond::SLe => SMin,
            Cond::SGt | Cond::SGe => SMax,
            Cond::ULt | Cond::ULe => UMin,
            Cond::UGt | Cond::UGe => UMax,
            Cond::Eq | Cond::Ne => return Outcome::Keep,
        };
        Outcome::Op(Opcode::IBin(op), vec![a, b], 0)
    }
}

/// The opposite condition.
pub fn negate(c: Cond) -> Cond {
    match c {
        Cond::Eq => Cond::Ne,
        Cond::Ne => Cond::Eq,
        Cond::SLt => Cond::SGe,
        Cond::SLe => Cond::SGt,
        Cond::SGt => Cond::SLe,
        Cond::SGe => Cond::SLt,
        Cond::ULt => Cond::UGe,
        Cond::ULe => Cond::UGt,
        Cond::UGt => Cond::ULe,
        Cond::UGe => Cond::ULt,
    }
}

/// The opposite condition; ordered ones become unordered ones.
fn negate_float(c: FCond) -> FCond {
    match c {
        FCond::OEq => FCond::UNe,
        FCond::ONe => FCond::UEq,
        FCond::OLt => FCond::UGe,
        FCond::OLe => FCond::UGt,
        FCond::OGt => FCond::ULe,
        FCond::OGe => FCond::ULt,
        FCond::Ordered => FCond::Unordered,
        FCond::UEq => FCond::ONe,
        FCond::UNe => FCond::OEq,
        FCond::ULt => FCond::OGe,
        FCond::ULe => FCond::OGt,
        FCond::UGt => FCond::OLe,
        FCond::UGe => FCond::OLt,
        FCond::Unordered => FCond::Ordered,
    }
}
