//! Arithmetic, conversions, compares, selects: applied to each leaf.
use super::body::{Body, Leaves};
use super::emit::Emitter;
use super::error::Res;
use super::words::Instr;
use crate::ir::{Cond, Conversion, FBin, FCond, FUn, IBin, IUn, Opcode, Rounding, Ty, Value};
use spirv::Op;

/// An operation that maps to one opcode for each leaf, the result having the operands' type.
fn plain(op: Op) -> Option<(Opcode, usize)> {
    let two = |o| Some((Opcode::IBin(o), 2));
    let float = |o| Some((Opcode::FBin(o), 2));
    match op {
        Op::IAdd => two(IBin::Add),
        Op::ISub => two(IBin::Sub),
        Op::IMul => two(IBin::Mul),
        Op::SDiv => two(IBin::SDiv),
        Op::UDiv => two(IBin::UDiv),
        Op::SRem => two(IBin::SRem),
        Op::UMod => two(IBin::URem),
        Op::BitwiseAnd => two(IBin::And),
        Op::BitwiseOr => two(IBin::Or),
        Op::BitwiseXor => two(IBin::Xor),
        Op::Not => Some((Opcode::IUn(IUn::Not), 1)),
        Op::SNegate => Some((Opcode::IUn(IUn::Neg), 1)),
        Op::BitCount => Some((Opcode::IUn(IUn::Popc), 1)),
        Op::BitReverse => Some((Opcode::IUn(IUn::BitReverse), 1)),
        Op::FAdd => float(FBin::Add),
        Op::FSub => float(FBin::Sub),
        Op::FMul => float(FBin::Mul),
        Op::FDiv => float(FBin::Div),
        Op::FRem => float(FBin::Rem),
        Op::FNegate => Some((Opcode::FUn(FUn::Neg), 1)),
        Op::LogicalAnd => Some((Opcode::BoolAnd, 2)),
        Op::LogicalOr => Some((Opcode::BoolOr, 2)),
        Op::LogicalNotEqual => Some((Opcode::BoolXor, 2)),
        Op::LogicalNot => Some((Opcode::BoolNot, 1)),
        _ => None,
    }
}

/// A compare of two operands with a Bool for each leaf.
fn compare(op: Op) -> Option<Opcode> {
    let int = |c| Some(Opcode::ICmp(c));
    let float = |c| Some(Opcode::FCmp(c));
    match op {
        Op::IEqual => int(Cond::Eq),
        Op::INotEqual => int(Cond::Ne),
        Op::SLessThan => int(Cond::SLt),
        Op::SLessThanEqual => int(Cond::SLe),
        Op::SGreaterThan => int(Cond::SGt),
        Op::SGreaterThanEqual => int(Cond::SGe),
        Op::ULessThan => int(Cond::ULt),
        Op::ULessThanEqual => int(Cond::ULe),
        Op::UGreaterThan => int(Cond::UGt),
        Op::UGreaterThanEqual => int(Cond::UGe),
        Op::FOrdEqual => float(FCond::OEq),
        Op::FOrdNotEqual | Op::LessOrGreater => float(FCond::ONe),
        Op::FOrdLessThan => float(FCond::OLt),
        Op::FOrdLessThanEqual => float(FCond::OLe),
        Op::FOrdGreaterThan => float(FCond::OGt),
        Op::FOrdGreaterThanEqual => float(FCond::OGe),
        Op::FUnordEqual => float(FCond::UEq),
        Op::FUnordNotEqual => float(FCond::UNe),
        Op::FUnordLessThan => float(FCond::ULt),
        Op::FUnordLessThanEqual => float(FCond::ULe),
        Op::FUnordGreaterThan => float(FCond::UGt),
        Op::FUnordGreaterThanEqual => float(FCond::UGe),
        Op::Ordered => float(FCond::Ordered),
        Op::Unordered => float(FCond::Unordered),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// The operands of an instruction from operand `first` on, checked to have the same number of leaves.
    pub(super) fn operand_leaves(&mut self, i: &Instr<'_>, first: usize, count: usize) -> Res<Vec<Leaves>> {
        let mut all = Vec::with_capacity(count);
        for n in first..first + count {
            all.push(self.arg(i, n)?.leaves);
        }
        if all.iter().any(|l| l.len() != all[0].len()) {
            return Err("its operands have different numbers of components".into());
        }
        Ok(all)
    }
    /// The result type's scalar.
    pub(super) fn result_scalar(&self, i: &Instr<'_>) -> Res<Ty> {
        Ok(self.m.types.scalar(i.ty)?.0)
    }
    fn int_operand(&self, v: Value) -> Res<Ty> {
        let t = self.e.f.ty(v);
        if t.is_float() || t.is_pointer() || t == Ty::Bool { Err("an operand is not an integer".into()) } else { Ok(t) }
    }

    /// Defines the result by a function of the operands' leaves, component by component.
    pub(super) fn map(
        &mut self,
        i: &Instr<'_>,
        first: usize,
        count: usize,
        mut each: impl FnMut(&mut Emitter, &[Value]) -> Res<Value>,
    ) -> Res<()> {
        let all = self.operand_leaves(i, first, count)?;
        let mut leaves = Leaves::new();
        let n = all.first().map_or(0, |l| l.len());
        for k in 0..n {
            let args: Leaves = all.iter().map(|l| l[k]).collect();
            leaves.push(each(&mut self.e, &args)?);
        }
        self.define(i, leaves)
    }

    pub(super) fn try_arith(&mut self, i: &Instr<'_>) -> Res<bool> {
        let flags = self.m.decoration(i.id).flags;
        if let Some((op, count)) = plain(i.op) {
            let ty = self.result_scalar(i)?;
            self.map(i, 0, count, |e, a| Ok(e.emit_flags(op.clone(), a, ty, flags)))?;
            return Ok(true);
        }
        if let Some(op) = compare(i.op) {
            self.map(i, 0, 2, |e, a| Ok(e.emit(op.clone(), a, Ty::Bool)))?;
            return Ok(true);
        }
        Ok(self.try_shift_or_select(i, flags)? || self.try_conversion(i)? || self.try_compound(i, flags)?)
    }

    fn try_shift_or_select(&mut self, i: &Instr<'_>, flags: u8) -> Res<bool> {
        match i.op {
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                let op = match i.op {
                    Op::ShiftLeftLogical => IBin::Shl,
                    Op::ShiftRightLogical => IBin::LShr,
                    _ => IBin::AShr,
                };
                let ty = self.result_scalar(i)?;
                let all = self.operand_leaves(i, 0, 2)?;
                for &v in all.iter().flatten() {
                    self.int_operand(v)?;
                }
                self.map(i, 0, 2, |e, a| {
                    let count = e.resize(a[1], ty, false);
                    Ok(e.emit_flags(Opcode::IBin(op), &[a[0], count], ty, flags))
                })?;
            }
            Op::Select => {
                let (c, a, b) = (self.arg(i, 0)?.leaves, self.arg(i, 1)?.leaves, self.arg(i, 2)?.leaves);
                if a.len() != b.len() || c.is_empty() || (c.len() != 1 && c.len() != a.len()) {
                    return Err("its operands have different numbers of components".into());
                }
                let leaves =
                    (0..a.len()).map(|n| self.e.select(c[if c.len() == 1 { 0 } else { n }], a[n], b[n])).collect();
                self.define(i, leaves)?;
            }
            Op::LogicalEqual => self.map(i, 0, 2, |e, a| {
                let x = e.emit(Opcode::BoolXor, a, Ty::Bool);
                Ok(e.emit(Opcode::BoolNot, &[x], Ty::Bool))
            })?,
            Op::Any | Op::All => {
                let v = self.arg(i, 0)?.leaves;
                let op = if i.op == Op::Any { Opcode::BoolOr } else { Opcode::BoolAnd };
                let mut r = *v.first().ok_or("no component")?;
                for &x in &v[1..] {
                    r = self.e.emit(op.clone(), &[r, x], Ty::Bool);
                }
                self.define_one(i, r)?;
            }
            Op::IsNan => self.map(i, 0, 1, |e, a| Ok(e.fcmp(FCond::Unordered, a[0], a[0])))?,
            Op::IsInf | Op::IsFinite | Op::IsNormal => self.classify(i)?,
            Op::SignBitSet => self.map(i, 0, 1, |e, a| {
                let t = Emitter::int_of(e.f.ty(a[0]));
                let v = e.bitcast(a[0], t);
                let zero = e.constant(t, 0);
                Ok(e.icmp(Cond::SLt, v, zero))
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn classify(&mut self, i: &Instr<'_>) -> Res<()> {
        let op = i.op;
        self.map(i, 0, 1, |e, a| {
            let ty = e.f.ty(a[0]);
            if !ty.is_float() {
                return Err("an operand is not a float".into());
            }
            let abs = e.emit(Opcode::FUn(FUn::Abs), &[a[0]], ty);
            let inf = e.float(ty, f64::INFINITY);
            Ok(match op {
                Op::IsInf => e.fcmp(FCond::OEq, abs, inf),
                Op::IsFinite => e.fcmp(FCond::OLt, abs, inf),
                _ => {
                    let least = e.float(
                        ty,
                        match ty {
                            Ty::F16 => 6.103_515_625e-5,
                            Ty::F32 => f64::from(f32::MIN_POSITIVE),
                            _ => f64::MIN_POSITIVE,
                        },
                    );
                    let (big, finite) = (e.fcmp(FCond::OGe, abs, least), e.fcmp(FCond::OLt, abs, inf));
                    e.emit(Opcode::BoolAnd, &[big, finite], Ty::Bool)
                }
            })
        })
    }

    fn try_conversion(&mut self, i: &Instr<'_>) -> Res<bool> {
        let d = self.m.decoration(i.id);
        let (saturate, rounding) = (d.saturate, d.rounding);
        // (source is signed, destination is signed)
        let (from_signed, to_signed, saturate) = match i.op {
            Op::UConvert | Op::SConvert if !saturate => {
                let ty = self.result_scalar(i)?;
                for v in self.arg(i, 0)?.leaves {
                    self.int_operand(v)?;
                }
                self.map(i, 0, 1, |e, a| Ok(e.resize(a[0], ty, i.op == Op::SConvert)))?;
                return Ok(true);
            }
            Op::Bitcast => {
                self.bitcast_instruction(i)?;
                return Ok(true);
            }
            Op::UConvert => (false, false, true),
            Op::SConvert => (true, true, true),
            Op::SatConvertSToU => (true, false, true),
            Op::SatConvertUToS => (false, true, true),
            Op::ConvertFToU => (false, false, saturate),
            Op::ConvertFToS => (false, true, saturate),
            Op::ConvertSToF => (true, false, false),
            Op::ConvertUToF | Op::FConvert => (false, false, false),
            _ => return Ok(false),
        };
        let to = self.result_scalar(i)?;
        let default = if to.is_float() { Rounding::NearestEven } else { Rounding::Zero };
        let rounding = rounding.unwrap_or(default);
        self.map(i, 0, 1, |e, a| {
            let from = e.f.ty(a[0]);
            if from == to && from.is_float() {
                return Ok(a[0]);
            }
            let c = Conversion { from, to, from_signed, to_signed, rounding, saturate };
            Ok(e.emit(Opcode::Convert(c), &[a[0]], to))
        })?;
        Ok(true)
    }

    fn bitcast_instruction(&mut self, i: &Instr<'_>) -> Res<()> {
        let v = self.arg(i, 0)?.leaves;
        let types = self.m.types.leaf_types(i.ty)?;
        let from = self.e.f.ty(*v.first().ok_or("nothing to cast")?);
        let to = *types.first().ok_or("a cast to nothing")?;
        if from == Ty::Bool || to == Ty::Bool {
            return Err("a bit cast of a bool".into());
        }
        if from.is_pointer() || to.is_pointer() {
            let [one] = v[..] else { return Err("a bit cast of several pointers".into()) };
            let r = self.convert_pointer(one, to)?;
            return self.define_one(i, r);
        }
        if from.bits() as usize * v.len() != to.bits() as usize * types.len() {
            return Err("the two sides have different sizes".into());
        }
        let leaves = if from.bits() == to.bits() {
            v.iter().map(|&x| self.e.bitcast(x, to)).collect()
        } else if from.bits() > to.bits() {
            v.iter().flat_map(|&x| self.split(x, to)).collect()
        } else {
            let n = (to.bits() / from.bits()) as usize;
            v.chunks(n).map(|c| self.join(c, to)).collect()
        };
        self.define(i, leaves)
    }

    /// The parts of a value, lowest first.
    fn split(&mut self, v: Value, part: Ty) -> Vec<Value> {
        let wide = Emitter::int_of(self.e.f.ty(v));
        let (bits, narrow) = (part.bits(), Emitter::int_of(part));
        let all = self.e.bitcast(v, wide);
        let mut parts = Vec::new();
        for n in 0..wide.bits() / bits {
            let shift = self.e.constant(wide, u64::from(n * bits));
            let s = if n == 0 { all } else { self.e.ibin(IBin::LShr, all, shift) };
            let low = self.e.resize(s, narrow, false);
            parts.push(self.e.bitcast(low, part));
        }
        parts
    }

    /// A value from its parts, lowest first.
    fn join(&mut self, parts: &[Value], ty: Ty) -> Value {
        let wide = Emitter::int_of(ty);
        let bits = self.e.f.ty(parts[0]).bits();
        let mut all: Option<Value> = None;
        for (n, &p) in parts.iter().enumerate() {
            let narrow = Emitter::int_of(self.e.f.ty(p));
            let i = self.e.bitcast(p, narrow);
            let w = self.e.resize(i, wide, false);
            all = Some(match all {
                None => w,
                Some(low) => {
                    let shift = self.e.constant(wide, n as u64 * u64::from(bits));
                    let high = self.e.ibin(IBin::Shl, w, shift);
                    self.e.ibin(IBin::Or, low, high)
                }
            });
        }
        let all = all.unwrap_or(parts[0]);
        self.e.bitcast(all, ty)
    }

    fn try_compound(&mut self, i: &Instr<'_>, flags: u8) -> Res<bool> {
        match i.op {
            Op::FMod => self.map(i, 0, 2, |e, a| Ok(floor_modulo_float(e, a[0], a[1])))?,
            Op::SMod => self.map(i, 0, 2, |e, a| {
                let ty = e.f.ty(a[0]);
                let r = e.ibin(IBin::SRem, a[0], a[1]);
                let zero = e.constant(ty, 0);
                let (odd, x) = (e.icmp(Cond::Ne, r, zero), e.ibin(IBin::Xor, r, a[1]));
                let differ = e.icmp(Cond::SLt, x, zero);
                let fix = e.emit(Opcode::BoolAnd, &[odd, differ], Ty::Bool);
                let sum = e.ibin(IBin::Add, r, a[1]);
                Ok(e.select(fix, sum, r))
            })?,
            Op::VectorTimesScalar => {
                let (v, s) = (self.arg(i, 0)?.leaves, self.scalar_arg(i, 1)?);
                let ty = self.result_scalar(i)?;
                let each = |e: &mut Emitter, x| e.emit_flags(Opcode::FBin(FBin::Mul), &[x, s], ty, flags);
                let leaves = v.iter().map(|&x| each(&mut self.e, x)).collect();
                self.define(i, leaves)?;
            }
            Op::Dot => {
                let all = self.operand_leaves(i, 0, 2)?;
                let ty = self.result_scalar(i)?;
                if !ty.is_float() {
                    return Err("integer dot products are not supported".into());
                }
                let r = self.dot(&all[0], &all[1]);
                self.define_one(i, r)?;
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.two_results(i)?,
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => self.bit_field(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Sum of products, left to right, contracted as the target likes.
    pub(super) fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let ty = self.e.f.ty(a[0]);
        let mut sum = self.e.fbin(FBin::Mul, a[0], b[0]);
        for (&x, &y) in a.iter().zip(b).skip(1) {
            sum = self.e.emit(Opcode::Mad, &[x, y, sum], ty);
        }
        sum
    }

    fn two_results(&mut self, i: &Instr<'_>) -> Res<()> {
        let all = self.operand_leaves(i, 0, 2)?;
        let (mut low, mut high) = (Leaves::new(), Leaves::new());
        for (&a, &b) in all[0].iter().zip(&all[1]) {
            let ty = self.int_operand(a)?;
            let e = &mut self.e;
            let (l, h) = match i.op {
                Op::IAddCarry => {
                    let s = e.ibin(IBin::Add, a, b);
                    let c = e.icmp(Cond::ULt, s, a);
                    (s, e.resize(c, ty, false))
                }
                Op::ISubBorrow => {
                    let s = e.ibin(IBin::Sub, a, b);
                    let c = e.icmp(Cond::ULt, a, b);
                    (s, e.resize(c, ty, false))
                }
                _ => {
                    let op = if i.op == Op::UMulExtended { IBin::UMulHi } else { IBin::SMulHi };
                    (e.ibin(IBin::Mul, a, b), e.ibin(op, a, b))
                }
            };
            low.push(l);
            high.push(h);
        }
        low.extend(high);
        self.define(i, low)
    }

    fn bit_field(&mut self, i: &Instr<'_>) -> Res<()> {
        let insert = i.op == Op::BitFieldInsert;
        let at = if insert { 2 } else { 1 };
        let (offset, count) = (self.scalar_arg(i, at)?, self.scalar_arg(i, at + 1)?);
        self.int_operand(offset)?;
        self.int_operand(count)?;
        let op = i.op;
        self.map(i, 0, at, |e, a| {
            let ty = e.f.ty(a[0]);
            let (o, n) = (e.resize(offset, ty, false), e.resize(count, ty, false));
            let width = e.constant(ty, u64::from(ty.bits()));
            let zero = e.constant(ty, 0);
            let none = e.icmp(Cond::Eq, n, zero);
            let unused = e.ibin(IBin::Sub, width, n);
            if insert {
                let ones = e.constant(ty, u64::MAX);
                let low = e.ibin(IBin::LShr, ones, unused);
                let mask = e.ibin(IBin::Shl, low, o);
                let placed = e.ibin(IBin::Shl, a[1], o);
                let new = e.ibin(IBin::And, placed, mask);
                let keep = e.emit(Opcode::IUn(IUn::Not), &[mask], ty);
                let old = e.ibin(IBin::And, a[0], keep);
                let r = e.ibin(IBin::Or, old, new);
                return Ok(e.select(none, a[0], r));
            }
            let left = e.ibin(IBin::Sub, unused, o);
            let up = e.ibin(IBin::Shl, a[0], left);
            let shift = if op == Op::BitFieldSExtract { IBin::AShr } else { IBin::LShr };
            let r = e.ibin(shift, up, unused);
            Ok(e.select(none, zero, r))
        })
    }
}

/// Remainder with the sign of the divisor (OpFMod).
fn floor_modulo_float(e: &mut Emitter, a: Value, b: Value) -> Value {
    let ty = e.f.ty(a);
    let r = e.fbin(FBin::Rem, a, b);
    let zero = e.float(ty, 0.0);
    let (odd, neg) = (e.fcmp(FCond::UNe, r, zero), e.fcmp(FCond::OLt, r, zero));
    let b_neg = e.fcmp(FCond::OLt, b, zero);
    let differ = e.emit(Opcode::BoolXor, &[neg, b_neg], Ty::Bool);
    let fix = e.emit(Opcode::BoolAnd, &[odd, differ], Ty::Bool);
    let sum = e.fbin(FBin::Add, r, b);
    e.select(fix, sum, r)
}
