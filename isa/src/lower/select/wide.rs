//! 64-bit integer forms made of 32-bit halves: widening products, additions of an extended word, pairs of words.
use super::Selector;
use crate::ir::{IBin, InstData, Opcode, Ty, Value};
use warpscope_exec::ops::Op;
use warpscope_exec::program::LaunchConstant;

impl Selector<'_> {
    /// Emits a 64-bit add, or, or product in a cheaper form. False: there is none.
    pub(super) fn select_wide(&mut self, op: IBin, data: &InstData) -> bool {
        let (r, a, b) = (data.results[0], data.args[0], data.args[1]);
        match op {
            IBin::Mul => self.select_scaled(r) || self.widening_product(r, a, b) || self.wide_shift(r, a, b),
            IBin::Shl => self.select_scaled(r),
            IBin::Add | IBin::Or => {
                if self.words_of_pair(r, a, b) || self.words_of_pair(r, b, a) {
                    return true;
                }
                op == IBin::Add && (self.added_product(r, a, b) || self.added_word(r, a, b))
            }
            _ => false,
        }
    }

    /// A 32-bit value extended to 64 bits, and whether with its sign.
    fn extended(&self, v: Value) -> Option<(Value, bool)> {
        let d = self.f.def_inst(v)?;
        let from = self.f.ty(*d.args.first()?);
        match d.op {
            Opcode::Sext if from == Ty::I32 => Some((d.args[0], true)),
            Opcode::Zext if from == Ty::I32 => Some((d.args[0], false)),
            _ => None,
        }
    }

    /// Factors of a product of two words that are extended alike.
    fn words_of_product(&self, a: Value, b: Value) -> Option<(Value, Value, Op)> {
        let ((x, s), (y, t)) = (self.extended(a)?, self.extended(b)?);
        let op = if s { Op::IMadWideS } else { Op::IMadWideU };
        (s == t && self.has(op)).then_some((x, y, op))
    }

    fn widening_product(&mut self, r: Value, a: Value, b: Value) -> bool {
        let Some((x, y, op)) = self.words_of_product(a, b) else { return false };
        let zero = self.out.pool.wide(0);
        let src = [self.operand(x), self.operand(y), zero];
        let d = self.destination(r);
        self.push(op, d, &src);
        true
    }

    fn added_product(&mut self, r: Value, a: Value, b: Value) -> bool {
        for (term, other) in [(a, b), (b, a)] {
            let Some((_, m)) = self.single_use(term) else { continue };
            if m.op != Opcode::IBin(IBin::Mul) {
                continue;
            }
            let (x, y) = (m.args[0], m.args[1]);
            let (x, y, op) = match self.words_of_product(x, y) {
                Some(widening) => widening,
                // A product with a constant is a shift or a widening one, or needs its words in registers.
                None if self.has(Op::IMad64) && self.f.as_const(x).is_none() && self.f.as_const(y).is_none() => {
                    (x, y, Op::IMad64)
                }
                None => continue,
            };
            let src = [self.operand(x), self.operand(y), self.operand(other)];
            let d = self.destination(r);
            self.push(op, d, &src);
            return true;
        }
        false
    }

    fn added_word(&mut self, r: Value, a: Value, b: Value) -> bool {
        for (term, other) in [(a, b), (b, a)] {
            let Some((word, sign)) = self.extended(term) else { continue };
            let src = [self.operand(word), self.operand(other)];
            let offset = self
                .f
                .def_inst(other)
                .is_some_and(|d| matches!(self.launch_pair(d), Some((LaunchConstant::GlobalOffset { .. }, _))));
            let d = self.destination(r);
            // The immediate says that the sum is one of an id and the launch's offset, for its recipe.
            self.push(if sign { Op::IAddSext } else { Op::IAddZext }, d, &src).imm = offset as i32;
            return true;
        }
        false
    }

    /// The rows of a 64-bit quantity of the launch that is put together from its words.
    pub(super) fn launch_pair(&self, data: &InstData) -> Option<(LaunchConstant, LaunchConstant)> {
        if data.op != Opcode::IBin(IBin::Or) {
            return None;
        }
        let launch = |v: Value| match self.extended(v) {
            Some((w, false)) => match self.f.def_inst(w)?.op {
                Opcode::Launch(l) => Some(l),
                _ => None,
            },
            _ => None,
        };
        let high = self.high_word(data.args[1]).and_then(launch)?;
        Some((launch(data.args[0])?, high))
    }

    /// `x` where the value is `x << 32`.
    fn high_word(&self, v: Value) -> Option<Value> {
        let d = self.f.def_inst(v)?;
        let shifted = match d.op {
            Opcode::IBin(IBin::Shl) => self.f.as_const(d.args[1]) == Some(32),
            Opcode::IBin(IBin::Mul) => self.f.as_const(d.args[1]) == Some(1 << 32),
            _ => false,
        };
        shifted.then(|| d.args[0])
    }

    /// `low | high << 32` of two words.
    fn words_of_pair(&mut self, r: Value, low: Value, high: Value) -> bool {
        let Some((l, false)) = self.extended(low) else { return false };
        let Some((h, _)) = self.high_word(high).and_then(|v| self.extended(v)) else { return false };
        let (l, h) = (self.operand(l), self.operand(h));
        let d = self.destination(r);
        self.push(Op::Mov32, d, &[l]);
        self.push(Op::Mov32, d.word(1), &[h]);
        true
    }

    /// A product with a power of two.
    fn wide_shift(&mut self, r: Value, a: Value, b: Value) -> bool {
        for (v, c) in [(a, b), (b, a)] {
            let Some(factor) = self.f.as_const(c).filter(|c| c.is_power_of_two()) else { continue };
            let count = self.out.pool.word(factor.trailing_zeros());
            let src = [self.operand(v), count];
            let d = self.destination(r);
            self.push(Op::Shl64, d, &src);
            return true;
        }
        false
    }
}
