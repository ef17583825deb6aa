//! Compares of extended integers.
use super::{Folder, Outcome};
use crate::ir::eval::{mask, signed};
use crate::ir::{Cond, IBin, Opcode, Ty, Value, flag};
use warpscope_exec::program::{LaunchConstant, Special};

impl Folder<'_> {
    /// `x < max(y, x + 1)`: whether a value is before what is at least one further, or at it.
    pub(super) fn before_limit(&mut self, c: Cond, a: Value, b: Value) -> bool {
        let Some((Opcode::IBin(limit), ends, _)) = self.def(b) else { return false };
        let (promise, up) = match (c, limit) {
            (Cond::SLt | Cond::SLe, IBin::SMax) => (flag::NSW, true),
            (Cond::SGt | Cond::SGe, IBin::SMin) => (flag::NSW, false),
            (Cond::ULt | Cond::ULe, IBin::UMax) => (flag::NUW, true),
            _ => return false,
        };
        let at = matches!(c, Cond::SLe | Cond::SGe | Cond::ULe);
        let bits = self.f.ty(a).bits();
        ends.iter().any(|&end| {
            let further = || match self.f.def_inst(end).map(|d| (&d.op, &d.args, d.flags)) {
                Some((Opcode::IBin(IBin::Add), args, flags)) if flags & promise != 0 && args[0] == a => {
                    self.f.as_const(args[1]).map(|k| signed(k, bits)).is_some_and(|k| if up { k > 0 } else { k < 0 })
                }
                _ => false,
            };
            at && end == a || further()
        })
    }

    /// A compare of extended values is one of the narrow values.
    pub(super) fn narrow_compare(&mut self, c: Cond, a: Value, b: Value) -> Outcome {
        let Some((ext @ (Opcode::Sext | Opcode::Zext), x, _)) = self.def(a) else { return Outcome::Keep };
        let narrow = self.f.ty(x[0]);
        if narrow == Ty::Bool && matches!(c, Cond::Eq | Cond::Ne) {
            return match self.def(b) {
                Some((other, y, _)) if other == ext && self.f.ty(y[0]) == Ty::Bool => {
                    let differ = self.emit(Opcode::BoolXor, &[x[0], y[0]], Ty::Bool);
                    match c {
                        Cond::Eq => Outcome::Op(Opcode::BoolNot, vec![differ], 0),
                        _ => Outcome::Value(differ),
                    }
                }
                _ => Outcome::Keep,
            };
        }
        if narrow == Ty::Bool || narrow.bits() < 32 {
            return Outcome::Keep;
        }
        let wide = self.f.ty(a).bits();
        let signed_ext = ext == Opcode::Sext;
        let other = match (self.known(b), self.def(b)) {
            (Some(k), _) => {
                let low = mask(k, narrow.bits());
                let back = if signed_ext { mask(signed(low, narrow.bits()) as u64, wide) } else { low };
                if back != k {
                    return Outcome::Keep;
                }
                self.constant(narrow, low)
            }
            (None, Some((other, y, _))) if other == ext && self.f.ty(y[0]) == narrow => {
                // The vendor's library extends sizes of groups by their sign: compared with what is extended by zeros
                // they stay wide.
                if !signed_ext && self.is_group_size(x[0]) != self.is_group_size(y[0]) {
                    return Outcome::Keep;
                }
                y[0]
            }
            _ => return Outcome::Keep,
        };
        // Zero-extended values are ordered as unsigned ones, sign-extended ones alike in both orders.
        let c = if signed_ext { c } else { unsigned(c) };
        Outcome::Op(Opcode::ICmp(c), vec![x[0], other], 0)
    }

    /// Whether a value is the size of a work-group.
    fn is_group_size(&self, v: Value) -> bool {
        use Special::{LocalSizeX, LocalSizeY, LocalSizeZ};
        let sizes = |op: &Opcode| {
            matches!(
                op,
                Opcode::Launch(LaunchConstant::EnqueuedLocalSize(_))
                    | Opcode::Special(LocalSizeX | LocalSizeY | LocalSizeZ)
            )
        };
        self.f.def_inst(v).is_some_and(|d| sizes(&d.op))
    }
}

fn unsigned(c: Cond) -> Cond {
    match c {
        Cond::SLt => Cond::ULt,
        Cond::SLe => Cond::ULe,
        Cond::SGt => Cond::UGt,
        Cond::SGe => Cond::UGe,
        c => c,
    }
}
