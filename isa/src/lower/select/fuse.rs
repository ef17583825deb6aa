//! Forms with three inputs: multiply-add, shift-add, three-input add and logic, compares under a predicate.
use super::Selector;
use crate::ir::{Cond, Def, FCond, IBin, IUn, InstData, Opcode, Ty, Value};
use crate::lower::mir::Opd;
use crate::passes::facts::{is_global_id, is_moved_id};
use warpscope_exec::ops::{Op, OpClass, compares, minmax};

/// A 64-bit offset that is a scaled 32-bit index.
pub(super) struct Scaled {
    pub index: Value,
    pub signed: bool,
    pub factor: u64,
}

impl Selector<'_> {
    /// Whether the machine has this fused form.
    pub(super) fn has(&self, op: Op) -> bool {
        self.forms.contains(&op)
    }

    /// `v` as a sign- or zero-extended 32-bit index times a constant.
    pub(super) fn scaled_index(&self, v: Value) -> Option<Scaled> {
        let d = self.f.def_inst(v)?;
        let (extension, factor) = match d.op {
            Opcode::IBin(IBin::Shl) => (d.args[0], 1u64.checked_shl(self.f.as_const(d.args[1])? as u32)?),
            Opcode::IBin(IBin::Mul) => match (self.f.as_const(d.args[0]), self.f.as_const(d.args[1])) {
                (_, Some(c)) => (d.args[0], c),
                (Some(c), _) => (d.args[1], c),
                _ => return None,
            },
            _ => (v, 1),
        };
        let e = self.f.def_inst(extension)?;
        let signed = match e.op {
            Opcode::Sext => true,
            Opcode::Zext => false,
            _ => return None,
        };
        let fits = if signed { factor < 1 << 31 } else { factor < 1 << 32 };
        (self.f.ty(e.args[0]) == Ty::I32 && fits).then_some(Scaled { index: e.args[0], signed, factor })
    }

    /// Emits a 64-bit address `base + offset` where the offset is a scaled index. False: it is no such offset.
    pub(super) fn select_indexed(&mut self, result: Value, base: Value, offset: Value) -> bool {
        let Some(s) = self.scaled_index(offset) else { return false };
        let global_id = s.signed && s.factor.is_power_of_two() && is_global_id(self.f, s.index);
        let wide = if s.signed { Op::IMadWideS } else { Op::IMadWideU };
        if s.signed && self.options.target.wide_global_ids && self.has(Op::LeaSext) && is_moved_id(self.f, s.index) {
            // The sum is one of 64 bits in the high word; that of the low ones, which are 0, serves all such sums.
            if !std::mem::replace(&mut self.low_sum, true) {
                self.push_ghost(OpClass::Alu);
            }
            let src = [self.operand(s.index), self.operand(base)];
            let d = self.destination(result);
            self.push(Op::LeaSext, d, &src).imm = s.factor.trailing_zeros() as i32;
            return true;
        }
        if global_id && self.options.target.wide_global_ids && self.has(Op::LeaSext) {
            if self.uses[offset.0 as usize] > 1 {
                // The shifted id is shared by all arrays that it indexes.
                return false;
            }
            let src = [self.operand(s.index), self.operand(base)];
            let d = self.destination(result);
            self.push(Op::LeaSext, d, &src).imm = s.factor.trailing_zeros() as i32;
            return true;
        }
        // The bank's base is part of what reads it: nothing is added word by word.
        let bank = self.is_constant_bank(base);
        if s.factor == 1 && !(bank && self.has(wide)) {
            let src = [self.operand(s.index), self.operand(base)];
            let d = self.destination(result);
            self.push(if s.signed { Op::IAddSext } else { Op::IAddZext }, d, &src);
            return true;
        }
        if !self.has(wide) {
            return false;
        }
        let factor = self.out.pool.word(s.factor as u32);
        let src = [self.operand(s.index), factor, self.operand(base)];
        let d = self.destination(result);
        self.push(wide, d, &src);
        true
    }

    /// Emits a 64-bit address `base + (offset << k)` as one shift-add. False: the offset is no shift of its own.
    pub(super) fn select_shifted(&mut self, result: Value, base: Value, offset: Value) -> bool {
        let Some((_, d)) = self.single_use(offset) else { return false };
        let Some(&count) = d.args.get(1) else { return false };
        let shift = match (&d.op, self.f.as_const(count)) {
            (Opcode::IBin(IBin::Mul), Some(k)) if k.is_power_of_two() => k.trailing_zeros(),
            (Opcode::IBin(IBin::Shl), Some(k)) if k < 64 => k as u32,
            _ => return false,
        };
        if !self.has(Op::Lea64) {
            return false;
        }
        let src = [self.operand(d.args[0]), self.operand(base)];
        let dst = self.destination(result);
        self.push(Op::Lea64, dst, &src).imm = shift as i32;
        true
    }

    /// Emits a scaled index on its own (an offset that several addresses share).
    pub(super) fn select_scaled(&mut self, result: Value) -> bool {
        let Some(s) = self.scaled_index(result) else { return false };
        if s.factor == 1 {
            return false;
        }
        let zero = self.out.pool.wide(0);
        let wide = if s.signed { Op::IMadWideS } else { Op::IMadWideU };
        let shift = s.signed && s.factor.is_power_of_two() && is_global_id(self.f, s.index);
        if shift && self.options.target.wide_global_ids && self.has(Op::LeaSext) {
            let a = self.operand(s.index);
            let d = self.destination(result);
            self.push(Op::LeaSext, d, &[a, zero]).imm = s.factor.trailing_zeros() as i32;
            return true;
        }
        if !self.has(wide) {
            return false;
        }
        let factor = self.out.pool.word(s.factor as u32);
        let a = self.operand(s.index);
        let d = self.destination(result);
        self.push(wide, d, &[a, factor, zero]);
        true
    }

    /// 32-bit `a + b` with a product, a shifted term or another sum folded in.
    pub(super) fn select_add32(&mut self, result: Value, a: Value, b: Value) -> bool {
        for (term, other) in [(a, b), (b, a)] {
            let single = self.single_use(term).is_some();
            let Some(d) = self.f.def_inst(term) else { continue };
            // A scaling by a constant costs nothing here, however often it is used.
            let scaled = d.args.get(1).is_some_and(|&c| self.f.as_const(c).is_some());
            if !single && !scaled || self.f.ty(d.args.first().copied().unwrap_or(term)) != Ty::I32 {
                continue;
            }
            let power = d.args.get(1).and_then(|&c| self.f.as_const(c)).filter(|c| c.is_power_of_two());
            // Of several constants behind one scaling each is an addition, which more pipes can do.
            let shifts = power.is_some() || d.op == Opcode::IBin(IBin::Shl);
            if shifts && !single && self.f.as_const(other).is_some() {
                continue;
            }
            match d.op {
                Opcode::IBin(IBin::Mul) if power.is_some() && self.has(Op::Lea32) => {
                    let src = [d.args[0], other].map(|v| self.operand(v));
                    let dst = self.destination(result);
                    let shift = power.map_or(0, u64::trailing_zeros);
                    self.push(Op::Lea32, dst, &src).imm = shift as i32;
                    return true;
                }
                Opcode::IBin(IBin::Mul) if self.has(Op::IMad32) => {
                    let src = [d.args[0], d.args[1], other].map(|v| self.operand(v));
                    let dst = self.destination(result);
                    self.push(Op::IMad32, dst, &src);
                    return true;
                }
                Opcode::IBin(shift @ (IBin::LShr | IBin::AShr)) if single => {
                    let op = if shift == IBin::LShr { Op::LeaHiU32 } else { Op::LeaHiS32 };
                    let count = self.f.as_const(d.args[1]).filter(|s| (1..32).contains(s) && self.has(op));
                    let Some(count) = count else { continue };
                    let src = [d.args[0], other].map(|v| self.operand(v));
                    let dst = self.destination(result);
                    self.push(op, dst, &src).imm = count as i32;
                    return true;
                }
                Opcode::IBin(IBin::Shl) if self.has(Op::Lea32) => {
                    let Some(shift) = self.f.as_const(d.args[1]).filter(|&s| s < 32) else { continue };
                    let src = [d.args[0], other].map(|v| self.operand(v));
                    let dst = self.destination(result);
                    self.push(Op::Lea32, dst, &src).imm = shift as i32;
                    return true;
                }
                _ => {}
            }
        }
        for (term, other) in [(a, b), (b, a)] {
            let Some((_, d)) = self.single_use(term) else { continue };
            let plain = |v: Value| self.single_use(v).is_none_or(|(_, d)| d.op != Opcode::IBin(IBin::Mul));
            if d.op == Opcode::IBin(IBin::Add) && self.has(Op::IAdd3) && plain(d.args[0]) && plain(d.args[1]) {
                let src = [d.args[0], d.args[1], other].map(|v| self.operand(v));
                let dst = self.destination(result);
                self.push(Op::IAdd3, dst, &src);
                return true;
            }
        }
        false
    }

    /// A multiplication by a power of two as a shift. 32 bits.
    pub(super) fn select_mul32(&mut self, result: Value, a: Value, b: Value) -> bool {
        for (v, c) in [(a, b), (b, a)] {
            let Some(factor) = self.f.as_const(c).map(|c| c as u32) else { continue };
            if factor.is_power_of_two() {
                let count = self.out.pool.word(factor.trailing_zeros());
                let src = [self.operand(v), count];
                let d = self.destination(result);
                self.push(Op::Shl32, d, &src);
                return true;
            }
        }
        false
    }

    /// Logic of up to three inputs as one look-up.
    pub(super) fn select_logic(&mut self, result: Value, data: &InstData) -> bool {
        let ty = self.f.ty(result);
        if ty != Ty::I32 || !self.has(Op::Lop3) {
            return false;
        }
        let mut leaves = Vec::new();
        let Some(table) = self.truth_table(data, &mut leaves) else { return false };
        if leaves.len() < 2 {
            return false;
        }
        let mut src: Vec<Opd> = leaves.iter().map(|&v| self.operand(v)).collect();
        if src.len() < 3 {
            src.push(self.out.pool.word(0));
        }
        let d = self.destination(result);
        self.push(Op::Lop3, d, &src).imm = table as i32;
        true
    }

    /// Truth table of a logic tree over at most three leaves (bit `a * 4 + b * 2 + c`).
    fn truth_table(&self, root: &InstData, leaves: &mut Vec<Value>) -> Option<u8> {
        const INPUTS: [u8; 3] = [0xf0, 0xcc, 0xaa];
        let side = |v: Value, leaves: &mut Vec<Value>, later: usize| -> Option<u8> {
            if let Some(c) = self.f.as_const(v) {
                match c as u32 {
                    0 => return Some(0),
                    u32::MAX => return Some(0xff),
                    _ => {}
                }
            }
            if let Some((_, d)) = self.single_use(v) {
                // An operand that stays behind needs a leaf of its own: leave room for it.
                let mut tentative = leaves.clone();
                if let Some(t) = self.truth_table(d, &mut tentative)
                    && tentative.len() + later <= 3
                {
                    *leaves = tentative;
                    return Some(t);
                }
            }
            let at = leaves.iter().position(|&l| l == v).unwrap_or_else(|| {
                leaves.push(v);
                leaves.len() - 1
            });
            INPUTS.get(at).copied()
        };
        if !matches!(root.results.first().map(|&r| self.f.ty(r)), Some(Ty::I32)) {
            return None;
        }
        match root.op {
            Opcode::IBin(op @ (IBin::And | IBin::Or | IBin::Xor)) => {
                let a = side(root.args[0], leaves, 1)?;
                let b = side(root.args[1], leaves, 0)?;
                Some(match op {
                    IBin::And => a & b,
                    IBin::Or => a | b,
                    _ => a ^ b,
                })
            }
            Opcode::IUn(IUn::Not) => Some(!side(root.args[0], leaves, 0)?),
            _ => None,
        }
    }

    /// Minimum or maximum of a sum and a value, or of three values. False: there is no such form.
    pub(super) fn select_extreme(&mut self, op: IBin, data: &InstData) -> bool {
        let ty = self.f.ty(data.results[0]);
        // Narrow integers are held zero-extended.
        let unsigned = matches!(op, IBin::UMin | IBin::UMax);
        if ty != Ty::I32 && !unsigned {
            return false;
        }
        let most = if matches!(op, IBin::SMax | IBin::UMax) { minmax::MAX } else { 0 };
        let imm = most | if unsigned { minmax::UNSIGNED } else { 0 };
        let sides = [(data.args[0], data.args[1]), (data.args[1], data.args[0])];
        let emit = |s: &mut Self, op: Op, src: [Value; 3]| {
            let src = src.map(|v| s.operand(v));
            let d = s.destination(data.results[0]);
            s.push(op, d, &src).imm = imm;
        };
        for (inner, other) in sides {
            let Some((_, d)) = self.single_use(inner).filter(|_| self.has(Op::IMnMx3)) else { continue };
            if d.op == Opcode::IBin(op) {
                emit(self, Op::IMnMx3, [d.args[0], d.args[1], other]);
                return true;
            }
        }
        for (sum, other) in sides {
            let Some((_, d)) = self.single_use(sum).filter(|_| ty == Ty::I32 && self.has(Op::IAddMnMx)) else {
                continue;
            };
            // What is a part of a longer sum stays one.
            let plain = |v: Value| {
                self.f.def_inst(v).is_none_or(|d| !matches!(d.op, Opcode::IBin(IBin::Mul | IBin::Shl | IBin::Add)))
            };
            let single = |v: Value| self.single_use(v).is_none() || plain(v);
            if d.op == Opcode::IBin(IBin::Add) && single(d.args[0]) && single(d.args[1]) {
                emit(self, Op::IAddMnMx, [d.args[0], d.args[1], other]);
                return true;
            }
        }
        false
    }

    /// A sum that takes the place of a value carried around a loop, or not: under a guard in its place (sass binsearch:
    /// `@!P0 VIADD R7, R9, 0x1`). False: it is another choice.
    pub(super) fn select_guarded(&mut self, data: &InstData) -> bool {
        let result = data.results[0];
        for (sum, kept, negate) in [(data.args[1], data.args[2], false), (data.args[2], data.args[1], true)] {
            let Some((inst, d)) = self.single_use(sum) else { continue };
            if d.op != Opcode::IBin(IBin::Add) || !self.is_carried(kept, result) {
                continue;
            }
            let Opd::Pred(p, negated) = self.predicate(data.args[0]) else { return false };
            let start = self.operand(kept);
            let to = self.destination(result);
            self.push(Op::Mov32, to, &[start]);
            self.values[sum.0 as usize] = Some(to);
            if self.select(inst, d).is_err() {
                return false;
            }
            if let Some(last) = self.seq.last_mut() {
                last.guard = Some((p, negated != negate));
            }
            return true;
        }
        false
    }

    /// Whether a value is a block's parameter that becomes `next` in the next trip.
    fn is_carried(&self, v: Value, next: Value) -> bool {
        let Def::Param(b, n) = self.f.def(v) else { return false };
        self.f
            .block_ids()
            .filter_map(|from| self.f.terminator(from))
            .any(|t| self.f.inst(t).targets.iter().any(|t| t.block == b && t.args.get(n as usize) == Some(&next)))
    }

    /// `(a & b) == 0` and its opposite, whose lowest bit alone is compared as a number. False: it is another compare.
    pub(super) fn select_test(&mut self, data: &InstData) -> bool {
        let Some([a, b]) = self.tested(data) else { return false };
        let Opcode::ICmp(cond) = data.op else { return false };
        let src = [self.operand(a), self.operand(b)];
        let d = self.destination(data.results[0]);
        self.push(Op::Test32, d, &src).imm = cond as i32;
        true
    }

    /// The words whose common bits a compare asks for.
    fn tested(&self, data: &InstData) -> Option<[Value; 2]> {
        let Opcode::ICmp(Cond::Eq | Cond::Ne) = data.op else { return None };
        let (_, d) = self.single_use(data.args[0]).filter(|_| self.has(Op::Test32))?;
        let one = d.args.iter().any(|&v| self.f.as_const(v) == Some(1));
        let zero = self.f.as_const(data.args[1]) == Some(0);
        let word = self.f.ty(data.args[0]) == Ty::I32;
        (d.op == Opcode::IBin(IBin::And) && zero && word && !one).then(|| [d.args[0], d.args[1]])
    }

    /// The compare that a conjunction, a disjunction or a difference can take into itself, and the other operand.
    pub(super) fn fused_compare(&self, data: &InstData) -> Option<(Value, Value)> {
        if !matches!(data.op, Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor) {
            return None;
        }
        let [a, b] = [data.args[0], data.args[1]];
        [(b, a), (a, b)].into_iter().find(|&(compare, _)| {
            self.single_use(compare).is_some_and(|(_, d)| match d.op {
                Opcode::ICmp(_) => self.tested(d).is_none(),
                Opcode::FCmp(_) => true,
                _ => false,
            })
        })
    }

    /// Emits `compare && other` as one compare under a predicate, or `compare || other` as the negation of
    /// `!compare && !other`; the destination was chosen accordingly.
    pub(super) fn select_compare_chain(&mut self, result: Value, data: &InstData) -> bool {
        let Some((compare, other)) = self.fused_compare(data) else { return false };
        let invert = data.op == Opcode::BoolOr;
        let d = match self.destination(result) {
            Opd::Pred(p, negated) if negated == invert => Opd::Pred(p, false),
            _ => return false,
        };
        let Some(c) = self.f.def_inst(compare) else { return false };
        let other = match self.predicate(other) {
            Opd::Pred(p, negated) => Opd::Pred(p, negated != invert),
            o => o,
        };
        let how = if data.op == Opcode::BoolXor { compares::XOR } else { 0 };
        match c.op {
            Opcode::ICmp(cond) => {
                let src = [self.operand(c.args[0]), self.operand(c.args[1]), other];
                let op = super::tables::int_compare(self.f.ty(c.args[0]).bits());
                let i = self.push(op, d, &src);
                (i.imm, i.imm2) = (if invert { inverse(cond) } else { cond } as i32, how);
            }
            Opcode::FCmp(cond) => {
                let cond = if invert { float_inverse(cond) } else { cond };
                self.select_float_compare(d, cond, [c.args[0], c.args[1]], Some((other, how)));
            }
            _ => return false,
        }
        true
    }
}

/// The condition that holds exactly where `c` does not.
pub(super) fn inverse(c: Cond) -> Cond {
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

fn float_inverse(c: FCond) -> FCond {
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
