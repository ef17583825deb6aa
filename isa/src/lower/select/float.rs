//! Float arithmetic with what costs nothing there: signs of sources, products under sums, results brought into 0 to 1.
use super::{Selector, tables};
use crate::ir::{FBin, FCond, FUn, InstData, Opcode, Ty, Value};
use crate::lower::mir::Opd;
use warpscope_exec::ops::{compares, modifiers};

/// What a source is taken as.
struct Signs {
    negated: bool,
    magnitude: bool,
    value: Value,
}

impl Selector<'_> {
    pub(super) fn select_float(&mut self, op: FBin, data: &InstData) {
        let [a, b] = [data.args[0], data.args[1]];
        if !(op == FBin::Min && self.select_saturated(data.results[0], [a, b])) {
            self.select_sum(data.results[0], op, [a, b], 0);
        }
    }

    /// Emits an operation of two sources, or a multiply-add in its place; `more`: modifiers.
    fn select_sum(&mut self, result: Value, op: FBin, [a, b]: [Value; 2], more: i32) {
        let ty = self.f.ty(result);
        if matches!(op, FBin::Add | FBin::Sub) && self.options.target.contract && !self.kernel.contraction_off {
            for (m, other) in [(a, b), (b, a)] {
                let Some((_, mul)) = self.single_use(m) else { continue };
                if mul.op != Opcode::FBin(FBin::Mul) {
                    continue;
                }
                // a * b - c negates the addend, c - a * b a factor.
                let sign = match (op, m == a) {
                    (FBin::Sub, true) => modifiers::NEG_C,
                    (FBin::Sub, false) => modifiers::NEG_A,
                    _ => 0,
                };
                self.select_fma(result, [mul.args[0], mul.args[1], other], sign | more);
                return;
            }
        }
        let mut imm = self.flush(ty) | more;
        let (mut x, mut y) = (a, b);
        if matches!(op, FBin::Add | FBin::Sub | FBin::Mul | FBin::Min | FBin::Max) {
            let [p, q] = [a, b].map(|v| self.signs(v, ty != Ty::F16));
            (x, y) = (p.value, q.value);
            imm |= if p.negated { modifiers::NEG_A } else { 0 } | if p.magnitude { modifiers::ABS_A } else { 0 };
            imm |= if q.negated != (op == FBin::Sub) { modifiers::NEG_B } else { 0 };
            imm |= if q.magnitude { modifiers::ABS_B } else { 0 };
        }
        let src = [self.operand(x), self.operand(y)];
        let d = self.destination(result);
        self.push(tables::float_binary(op, ty), d, &src).imm = imm;
    }

    /// Emits `a * b + c`; `more`: modifiers, signs among them.
    pub(super) fn select_fma(&mut self, result: Value, factors: [Value; 3], more: i32) {
        let ty = self.f.ty(result);
        let mut imm = self.flush(ty) | more;
        let bits = [modifiers::NEG_A, modifiers::NEG_B, modifiers::NEG_C];
        let signs = factors.map(|v| self.signs(v, false));
        for (s, bit) in signs.iter().zip(bits) {
            imm ^= if s.negated { bit } else { 0 };
        }
        let src = signs.map(|s| self.operand(s.value));
        let d = self.destination(result);
        self.push(tables::fused(ty), d, &src).imm = imm;
    }

    /// Looks through negations, and absolute values where the operation takes them.
    fn signs(&self, v: Value, magnitudes: bool) -> Signs {
        let mut s = Signs { negated: false, magnitude: false, value: v };
        while let Some(d) = self.f.def_inst(s.value) {
            match d.op {
                Opcode::FUn(FUn::Neg) => s.negated ^= !s.magnitude,
                Opcode::FUn(FUn::Abs) if magnitudes => s.magnitude = true,
                _ => break,
            }
            s.value = d.args[0];
        }
        s
    }

    /// `min(max(x, 0), 1)` of single precision as a modifier of what makes `x`, or of a sum with 0.
    fn select_saturated(&mut self, result: Value, ends: [Value; 2]) -> bool {
        // Not with -0, which the maximum may give.
        let find = |args: &[Value], end: f32| match *args {
            [x, y] if self.f.as_const(y) == Some(u64::from(end.to_bits())) => Some(x),
            [x, y] if self.f.as_const(x) == Some(u64::from(end.to_bits())) => Some(y),
            _ => None,
        };
        let most = find(&ends, 1.0).and_then(|v| self.single_use(v)).map(|(_, d)| d);
        let most = most.filter(|d| d.op == Opcode::FBin(FBin::Max) && self.f.ty(result) == Ty::F32);
        let Some(x) = most.and_then(|d| find(&d.args, 0.0)) else { return false };
        match self.single_use(x).map(|(_, d)| (&d.op, &d.args[..])) {
            Some((&Opcode::FBin(op @ (FBin::Add | FBin::Sub | FBin::Mul | FBin::Div)), &[a, b])) => {
                self.select_sum(result, op, [a, b], modifiers::SATURATE);
            }
            Some((Opcode::Fma | Opcode::Mad, &[a, b, c])) => self.select_fma(result, [a, b, c], modifiers::SATURATE),
            _ => {
                let src = [self.operand(x), self.literal(Ty::F32, 0)];
                let d = self.destination(result);
                let imm = self.flush(Ty::F32) | modifiers::SATURATE;
                self.push(tables::float_binary(FBin::Add, Ty::F32), d, &src).imm = imm;
            }
        }
        true
    }

    /// Emits a compare; `with`: a predicate and how it is combined with it (`compares`).
    pub(super) fn select_float_compare(&mut self, d: Opd, cond: FCond, ab: [Value; 2], with: Option<(Opd, u32)>) {
        let ty = self.f.ty(ab[0]);
        // A negated magnitude stays a value of its own.
        let signs = ab.map(|v| self.signs(v, ty != Ty::F16)).map(|s| s.magnitude.then_some(s).filter(|s| !s.negated));
        let mut imm2 = with.map_or(0, |w| w.1);
        let mut src: smallvec::SmallVec<[Opd; 4]> = smallvec::SmallVec::new();
        for ((s, v), bit) in signs.into_iter().zip(ab).zip([compares::ABS_A, compares::ABS_B]) {
            imm2 |= if s.is_some() { bit } else { 0 };
            src.push(self.operand(s.map_or(v, |s| s.value)));
        }
        src.extend(with.map(|w| w.0));
        let i = self.push(tables::float_compare(ty), d, &src);
        (i.imm, i.imm2) = (cond as i32, imm2);
    }
}
