//! Integers.
use super::super::facts::non_negative;
use super::{Folder, Outcome};
use crate::ir::eval::{self, mask, signed};
use crate::ir::{Cond, IBin, IUn, InstData, Opcode, Ty, Value, flag};
use std::cmp::Ordering;

/// How deep 64-bit sums are followed to find their low word.
const NARROWING_DEPTH: u32 = 8;
/// How deep constants are looked for in masked indices.
const CONSTANT_DEPTH: u32 = 3;

impl Folder<'_> {
    pub(super) fn ibin(&mut self, op: IBin, d: &InstData) -> Outcome {
        let (a, b) = (d.args[0], d.args[1]);
        let ty = self.f.ty(a);
        let bits = ty.bits();
        match (self.known(a), self.known(b)) {
            (Some(x), Some(y)) => {
                if let Some(r) = eval::ibin(op, bits, x, y) {
                    return Outcome::Const(r);
                }
            }
            (Some(_), None) if super::super::cse::commutes(&d.op) => {
                return Outcome::Op(d.op.clone(), vec![b, a], d.flags);
            }
            (None, Some(y)) => {
                let r = self.with_constant(op, d, y);
                if !matches!(r, Outcome::Keep) {
                    return r;
                }
            }
            _ => {}
        }
        if a == b {
            match op {
                IBin::Sub | IBin::Xor => return Outcome::Const(0),
                IBin::And | IBin::Or | IBin::SMin | IBin::SMax | IBin::UMin | IBin::UMax => return Outcome::Value(a),
                _ => {}
            }
        }
        match op {
            IBin::Sub if self.known(a) == Some(0) => Outcome::Op(Opcode::IUn(IUn::Neg), vec![b], 0),
            IBin::Add => match (self.def(a), self.def(b)) {
                (_, Some((Opcode::IUn(IUn::Neg), x, _))) => Outcome::Op(Opcode::IBin(IBin::Sub), vec![a, x[0]], 0),
                (Some((Opcode::IUn(IUn::Neg), x, _)), _) => Outcome::Op(Opcode::IBin(IBin::Sub), vec![b, x[0]], 0),
                (Some((Opcode::IBin(IBin::Add), x, _)), _) if self.known(x[1]).is_some() => {
                    // Constants go outwards, where they meet others and become offsets.
                    self.outwards(x[0], b, x[1], ty)
                }
                (_, Some((Opcode::IBin(IBin::Add), x, _))) if self.known(x[1]).is_some() => {
                    self.outwards(a, x[0], x[1], ty)
                }
                _ => Outcome::Keep,
            },
            IBin::SDiv | IBin::SRem if non_negative(self.f, a) && non_negative(self.f, b) => {
                let op = if op == IBin::SDiv { IBin::UDiv } else { IBin::URem };
                Outcome::Op(Opcode::IBin(op), vec![a, b], 0)
            }
            IBin::AShr if non_negative(self.f, a) => Outcome::Op(Opcode::IBin(IBin::LShr), vec![a, b], 0),
            IBin::Or if bits < 64 || ty == Ty::I64 => self.rotate(a, b, ty),
            _ => Outcome::Keep,
        }
    }

    fn outwards(&mut self, a: Value, b: Value, k: Value, ty: Ty) -> Outcome {
        // Only addresses gain, and they carry promises that would be lost: 32-bit sums keep their form.
        if ty != Ty::I64 {
            return Outcome::Keep;
        }
        let sum = self.emit(Opcode::IBin(IBin::Add), &[a, b], ty);
        Outcome::Op(Opcode::IBin(IBin::Add), vec![sum, k], 0)
    }

    /// `a op constant`.
    fn with_constant(&mut self, op: IBin, d: &InstData, y: u64) -> Outcome {
        let (a, b) = (d.args[0], d.args[1]);
        let ty = self.f.ty(a);
        let bits = ty.bits();
        let ones = mask(u64::MAX, bits);
        match (op, y) {
            (
                IBin::Add
                | IBin::Sub
                | IBin::Or
                | IBin::Xor
                | IBin::Shl
                | IBin::LShr
                | IBin::AShr
                | IBin::Rotl
                | IBin::UMax,
                0,
            ) => return Outcome::Value(a),
            (IBin::Mul | IBin::And | IBin::UMin | IBin::UMulHi | IBin::SMulHi, 0) => return Outcome::Const(0),
            (IBin::Mul | IBin::SDiv | IBin::UDiv, 1) => return Outcome::Value(a),
            (IBin::URem | IBin::SRem, 1) => return Outcome::Const(0),
            (IBin::And | IBin::UMin, y) if y == ones => return Outcome::Value(a),
            (IBin::Or | IBin::UMax, y) if y == ones => return Outcome::Const(ones),
            (IBin::Mul, y) if y == ones => return Outcome::Op(Opcode::IUn(IUn::Neg), vec![a], 0),
            (IBin::Sub, y) => {
                let k = self.constant(ty, y.wrapping_neg());
                let keep = if y == 1 << (bits - 1) { 0 } else { d.flags & flag::NSW };
                return Outcome::Op(Opcode::IBin(IBin::Add), vec![a, k], keep);
            }
            (IBin::Mul, y) if y.is_power_of_two() && self.drops(a, u64::from(y.trailing_zeros())).is_some() => {
                let Some(x) = self.drops(a, u64::from(y.trailing_zeros())) else { return Outcome::Keep };
                let k = self.constant(ty, !(y - 1));
                return Outcome::Op(Opcode::IBin(IBin::And), vec![x, k], 0);
            }
            (IBin::UDiv, y) if y.is_power_of_two() => {
                let k = self.constant(ty, u64::from(y.trailing_zeros()));
                return Outcome::Op(Opcode::IBin(IBin::LShr), vec![a, k], 0);
            }
            (IBin::URem, y) if y.is_power_of_two() => {
                let k = self.constant(ty, y - 1);
                return Outcome::Op(Opcode::IBin(IBin::And), vec![a, k], 0);
            }
            (IBin::Shl | IBin::LShr | IBin::AShr | IBin::Rotl, y) if y >= u64::from(bits) => {
                let k = self.constant(ty, y % u64::from(bits));
                return Outcome::Op(d.op.clone(), vec![a, k], 0);
            }
            // A shift is a multiplication: one form for addresses and multiply-adds.
            (IBin::Shl, y) if y < u64::from(bits) - 1 => {
                let k = self.constant(ty, 1 << y);
                return Outcome::Op(Opcode::IBin(IBin::Mul), vec![a, k], d.flags);
            }
            (IBin::SDiv | IBin::SRem, y)
                if y.is_power_of_two() && y > 1 && y < 1 << (bits - 1) && !non_negative(self.f, a) =>
            {
                return self.signed_power(op, a, y, ty);
            }
            (IBin::UDiv | IBin::URem, y) if ty == Ty::I32 && y > 1 => return self.unsigned_magic(op, a, y),
            (IBin::SDiv | IBin::SRem, y)
                if ty == Ty::I32 && signed(y, 32).unsigned_abs() > 2 && !non_negative(self.f, a) =>
            {
                return self.signed_magic(op, a, signed(y, 32));
            }
            _ => {}
        }
        if let Some(cut) = self.cut_product(op, a, b, y).or_else(|| self.masked_product(op, a, y, ty)) {
            return cut;
        }
        if let Some(sum) = self.masked_sum(op, a, b, ty) {
            return sum;
        }
        let Some((Opcode::IBin(inner), x, flags)) = self.def(a) else { return Outcome::Keep };
        let Some(k) = x.get(1).and_then(|&v| self.known(v)) else { return Outcome::Keep };
        let merged = match (inner, op) {
            (IBin::Add, IBin::Add) => {
                let sum = mask(k.wrapping_add(y), bits);
                let exact = signed(k, bits).checked_add(signed(y, bits)).is_some_and(|s| s == signed(sum, bits));
                // Both steps without wrap-around and in one direction: the whole step does not wrap either.
                let same_side = (signed(k, bits) < 0) == (signed(y, bits) < 0);
                let keep = if exact && same_side { flags & d.flags & flag::NSW } else { 0 };
                return self.merged(IBin::Add, x[0], sum, ty, keep);
            }
            (IBin::Mul, IBin::Mul) => {
                let product = i128::from(signed(k, bits)) * i128::from(signed(y, bits));
                let fits = i128::from(signed(mask(product as u64, bits), bits)) == product;
                let keep = if fits { flags & d.flags & flag::NSW } else { 0 };
                return self.merged(IBin::Mul, x[0], mask(product as u64, bits), ty, keep);
            }
            (IBin::And, IBin::And) => k & y,
            (IBin::Or, IBin::Or) => k | y,
            (IBin::Xor, IBin::Xor) => k ^ y,
            (IBin::LShr, IBin::LShr) if k + y < u64::from(bits) => k + y,
            (IBin::LShr, IBin::LShr) => return Outcome::Const(0),
            _ => return Outcome::Keep,
        };
        self.merged(inner, x[0], merged, ty, 0)
    }

    /// An offset of an index that is cut from a wider one: the shift comes first, a mask cuts what it leaves.
    fn cut_product(&mut self, op: IBin, a: Value, b: Value, y: u64) -> Option<Outcome> {
        let (Opcode::Zext, x, _) = self.def(a)? else { return None };
        let (Opcode::Trunc, x, _) = self.def(x[0])? else { return None };
        if op != IBin::Mul || self.f.ty(x[0]) != Ty::I64 || self.f.ty(a) != Ty::I64 || !y.is_power_of_two() {
            return None;
        }
        let low = mask(u64::MAX, 32);
        let product = self.emit(Opcode::IBin(IBin::Mul), &[x[0], b], Ty::I64);
        (y < 1 << 16).then(|| self.merged(IBin::And, product, low * y, Ty::I64, 0))
    }

    /// The offset of a masked index: what is masked is scaled first, `(x & c) * y` becomes `(x * y) & (c * y)`, so that
    /// neighbouring indices share the product (sass `const_uniform`, `lds_stride`, `thr_fadd`).
    fn masked_product(&mut self, op: IBin, a: Value, y: u64, ty: Ty) -> Option<Outcome> {
        if op != IBin::Mul || !(2..1 << 16).contains(&y) || !y.is_power_of_two() {
            return None;
        }
        let (inner, extended) = match self.def(a)? {
            (Opcode::Zext | Opcode::Sext, x, _) if ty == Ty::I64 && self.f.ty(x[0]) == Ty::I32 => (x[0], true),
            _ if ty == Ty::I32 => (a, false),
            _ => return None,
        };
        let once = self.uses.get(inner.0 as usize).is_none_or(|&n| n <= 1);
        let (Opcode::IBin(IBin::And), x, _) = self.def(inner)? else { return None };
        let table = self.known(x[1])?.checked_mul(y).filter(|m| once && *m < 1 << 31)?;
        let scaled = self.scaled(x[0], y);
        if !extended {
            return Some(self.merged(IBin::And, scaled, table, ty, 0));
        }
        let k = self.constant(Ty::I32, table);
        let masked = self.emit(Opcode::IBin(IBin::And), &[scaled, k], Ty::I32);
        Some(Outcome::Op(Opcode::Zext, vec![masked], 0))
    }

    /// `x * y` modulo 2^32, of which the lowest bits do not matter; `y` a power of two. Constants go outwards.
    fn scaled(&mut self, x: Value, y: u64) -> Value {
        let shift = u64::from(y.trailing_zeros());
        if let Some((Opcode::IBin(IBin::LShr), args, _)) = self.def(x)
            && let Some(k) = self.known(args[1]).filter(|k| (1..32).contains(k))
        {
            return match k.cmp(&shift) {
                Ordering::Equal => args[0],
                Ordering::Less => self.with(IBin::Mul, args[0], 1 << (shift - k)),
                Ordering::Greater => self.with(IBin::LShr, args[0], k - shift),
            };
        }
        let (rest, k) = self.without_constant(x, CONSTANT_DEPTH).unwrap_or((x, 0));
        let product = self.with(IBin::Mul, rest, y);
        if k == 0 { product } else { self.with(IBin::Add, product, k.wrapping_mul(y)) }
    }

    /// A 32-bit sum without its constant part, and that.
    fn without_constant(&mut self, v: Value, depth: u32) -> Option<(Value, u64)> {
        let (Opcode::IBin(op), args, _) = self.def(v)? else { return None };
        let known = self.known(args[1]);
        match (op, known) {
            _ if depth == 0 => None,
            (IBin::Add, Some(k)) => Some((args[0], k)),
            (IBin::Add, None) => {
                let (rest, k) = match self.without_constant(args[0], depth - 1) {
                    Some((rest, k)) => ([rest, args[1]], k),
                    None => {
                        let (rest, k) = self.without_constant(args[1], depth - 1)?;
                        ([args[0], rest], k)
                    }
                };
                Some((self.emit(Opcode::IBin(IBin::Add), &rest, Ty::I32), k))
            }
            (IBin::Mul, Some(m)) => {
                let (rest, k) = self.without_constant(args[0], depth - 1)?;
                Some((self.with(IBin::Mul, rest, m), k.wrapping_mul(m)))
            }
            _ => None,
        }
    }

    /// A new 32-bit operation with a constant.
    fn with(&mut self, op: IBin, a: Value, k: u64) -> Value {
        let k = self.constant(Ty::I32, k);
        self.emit(Opcode::IBin(op), &[a, k], Ty::I32)
    }

    /// What is masked after it was scaled keeps its constants outside, where copies of a loop's body share the rest.
    fn masked_sum(&mut self, op: IBin, a: Value, b: Value, ty: Ty) -> Option<Outcome> {
        let (Opcode::IBin(IBin::Mul), x, _) = self.def(a)? else { return None };
        let scale = self.known(x[1]).filter(|k| k.is_power_of_two() && *k > 1)?;
        if op != IBin::And || ty != Ty::I32 {
            return None;
        }
        let (rest, k) = self.without_constant(x[0], CONSTANT_DEPTH)?;
        let product = self.with(IBin::Mul, rest, scale);
        let sum = self.with(IBin::Add, product, k.wrapping_mul(scale));
        Some(Outcome::Op(Opcode::IBin(IBin::And), vec![sum, b], 0))
    }

    fn merged(&mut self, op: IBin, a: Value, k: u64, ty: Ty, flags: u8) -> Outcome {
        let k = self.constant(ty, k);
        Outcome::Op(Opcode::IBin(op), vec![a, k], flags)
    }

    /// Signed division by a power of two: towards zero, so negative dividends are biased first.
    fn signed_power(&mut self, op: IBin, a: Value, y: u64, ty: Ty) -> Outcome {
        let bits = u64::from(ty.bits());
        let k = u64::from(y.trailing_zeros());
        let (last, rest, shift) = (self.constant(ty, bits - 1), self.constant(ty, bits - k), self.constant(ty, k));
        let sign = self.emit(Opcode::IBin(IBin::AShr), &[a, last], ty);
        let bias = self.emit(Opcode::IBin(IBin::LShr), &[sign, rest], ty);
        let sum = self.emit(Opcode::IBin(IBin::Add), &[a, bias], ty);
        if op == IBin::SDiv {
            return Outcome::Op(Opcode::IBin(IBin::AShr), vec![sum, shift], 0);
        }
        let high = self.constant(ty, (y - 1) ^ u64::MAX);
        let multiple = self.emit(Opcode::IBin(IBin::And), &[sum, high], ty);
        Outcome::Op(Opcode::IBin(IBin::Sub), vec![a, multiple], 0)
    }

    /// Unsigned 32-bit division by a constant: multiplication by a rounded-up reciprocal (Granlund and Montgomery).
    fn unsigned_magic(&mut self, op: IBin, a: Value, y: u64) -> Outcome {
        let ty = Ty::I32;
        let shift = 64 - (y - 1).leading_zeros() as u64;
        let magic = ((1u128 << (32 + shift)) / u128::from(y) + 1) as u64;
        // The multiplier has 33 bits; dropping its lowest works where it is even, and often with one bit less.
        let short = (1u128 << (32 + shift - 1)) / u128::from(y) + 1;
        let error = short * u128::from(y) - (1u128 << (32 + shift - 1));
        let q = if short < 1 << 32 && error <= 1 << (shift - 1) {
            let m = self.constant(ty, short as u64);
            let high = self.emit(Opcode::IBin(IBin::UMulHi), &[a, m], ty);
            let s = self.constant(ty, shift - 1);
            self.emit(Opcode::IBin(IBin::LShr), &[high, s], ty)
        } else {
            // q = (((a - h) >> 1) + h) >> (shift - 1), h = high(a * (magic - 2^32))
            let m = self.constant(ty, magic.wrapping_sub(1 << 32));
            let high = self.emit(Opcode::IBin(IBin::UMulHi), &[a, m], ty);
            let d = self.emit(Opcode::IBin(IBin::Sub), &[a, high], ty);
            let one = self.constant(ty, 1);
            let half = self.emit(Opcode::IBin(IBin::LShr), &[d, one], ty);
            let sum = self.emit(Opcode::IBin(IBin::Add), &[half, high], ty);
            let s = self.constant(ty, shift - 1);
            self.emit(Opcode::IBin(IBin::LShr), &[sum, s], ty)
        };
        self.quotient_or_remainder(op == IBin::UDiv, a, q, y)
    }

    /// Signed 32-bit division by a constant (Hacker's Delight, 10-1).
    fn signed_magic(&mut self, op: IBin, a: Value, y: i64) -> Outcome {
        let ty = Ty::I32;
        if y == i64::from(i32::MIN) {
            return Outcome::Keep;
        }
        let (magic, shift) = signed_magic_numbers(y as i32);
        let m = self.constant(ty, magic as u32 as u64);
        let mut q = self.emit(Opcode::IBin(IBin::SMulHi), &[a, m], ty);
        if y > 0 && magic < 0 {
            q = self.emit(Opcode::IBin(IBin::Add), &[q, a], ty);
        }
        if y < 0 && magic > 0 {
            q = self.emit(Opcode::IBin(IBin::Sub), &[q, a], ty);
        }
        let s = self.constant(ty, u64::from(shift));
        q = self.emit(Opcode::IBin(IBin::AShr), &[q, s], ty);
        let last = self.constant(ty, 31);
        let sign = self.emit(Opcode::IBin(IBin::LShr), &[q, last], ty);
        q = self.emit(Opcode::IBin(IBin::Add), &[q, sign], ty);
        self.quotient_or_remainder(op == IBin::SDiv, a, q, y as u64)
    }

    fn quotient_or_remainder(&mut self, quotient: bool, a: Value, q: Value, y: u64) -> Outcome {
        if quotient {
            return Outcome::Value(q);
        }
        let k = self.constant(Ty::I32, y);
        let product = self.emit(Opcode::IBin(IBin::Mul), &[q, k], Ty::I32);
        Outcome::Op(Opcode::IBin(IBin::Sub), vec![a, product], 0)
    }

    /// `x` where a value is `x >> k`.
    fn drops(&mut self, v: Value, k: u64) -> Option<Value> {
        match self.def(v)? {
            (Opcode::IBin(IBin::LShr), args, _) if self.known(args[1]) == Some(k) => Some(args[0]),
            _ => None,
        }
    }

    /// `(x << k) | (x >> (bits - k))` is a rotation.
    fn rotate(&mut self, a: Value, b: Value, ty: Ty) -> Outcome {
        let bits = u64::from(ty.bits());
        for (l, r) in [(a, b), (b, a)] {
            let (Some((left, x, _)), Some((Opcode::IBin(IBin::LShr), y, _))) = (self.def(l), self.def(r)) else {
                continue;
            };
            let (Some(m), Some(s)) = (x.get(1).and_then(|&v| self.known(v)), self.known(y[1])) else { continue };
            let k = match left {
                Opcode::IBin(IBin::Mul) if m.is_power_of_two() => u64::from(m.trailing_zeros()),
                Opcode::IBin(IBin::Shl) => m,
                _ => continue,
            };
            if x[0] == y[0] && k + s == bits && k > 0 {
                let k = self.constant(ty, k);
                return Outcome::Op(Opcode::IBin(IBin::Rotl), vec![x[0], k], 0);
            }
        }
        Outcome::Keep
    }

    pub(super) fn iun(&mut self, op: IUn, d: &InstData) -> Outcome {
        let ty = self.f.ty(d.args[0]);
        if let Some(a) = self.known(d.args[0]) {
            return Outcome::Const(eval::iun(op, ty.bits(), a));
        }
        match (op, self.def(d.args[0])) {
            (IUn::Neg, Some((Opcode::IUn(IUn::Neg), x, _))) | (IUn::Not, Some((Opcode::IUn(IUn::Not), x, _))) => {
                Outcome::Value(x[0])
            }
            (IUn::Neg, Some((Opcode::IBin(IBin::Sub), x, _))) => {
                Outcome::Op(Opcode::IBin(IBin::Sub), vec![x[1], x[0]], 0)
            }
            (IUn::Abs, _) if non_negative(self.f, d.args[0]) => Outcome::Value(d.args[0]),
            _ => Outcome::Keep,
        }
    }

    /// Extensions and truncations.
    pub(super) fn resize(&mut self, d: &InstData) -> Outcome {
        let a = d.args[0];
        let (from, to) = (self.f.ty(a), self.f.ty(d.results[0]));
        if let Some(v) = self.known(a) {
            let wide = if d.op == Opcode::Sext { signed(v, from.bits()) as u64 } else { v };
            return Outcome::Const(mask(wide, to.bits()));
        }
        if d.op == Opcode::Trunc && to == Ty::I32 && self.truncates(a, NARROWING_DEPTH) {
            let v = self.truncated(a);
            return Outcome::Value(v);
        }
        if d.op == Opcode::Sext && from != Ty::Bool && non_negative(self.f, a) {
            return Outcome::Op(Opcode::Zext, vec![a], 0);
        }
        let Some((inner, x, _)) = self.def(a) else { return Outcome::Keep };
        match (&d.op, inner) {
            (Opcode::Sext, Opcode::Sext) | (Opcode::Zext, Opcode::Zext) | (Opcode::Trunc, Opcode::Trunc) => {
                Outcome::Op(d.op.clone(), vec![x[0]], 0)
            }
            (Opcode::Trunc, inner @ (Opcode::Sext | Opcode::Zext)) => {
                let source = self.f.ty(x[0]);
                match source.bits().cmp(&to.bits()) {
                    std::cmp::Ordering::Equal => Outcome::Value(x[0]),
                    std::cmp::Ordering::Less => Outcome::Op(inner, vec![x[0]], 0),
                    std::cmp::Ordering::Greater => Outcome::Op(Opcode::Trunc, vec![x[0]], 0),
                }
            }
            // Both ways of the low bits of a wider value: a mask.
            // (Half of a register pair is as good as it is.)
            (Opcode::Zext, Opcode::Trunc) if self.f.ty(x[0]) == to && from != Ty::Bool && from.bits() < 32 => {
                let k = self.constant(to, mask(u64::MAX, from.bits()));
                Outcome::Op(Opcode::IBin(IBin::And), vec![x[0], k], 0)
            }
            _ => Outcome::Keep,
        }
    }

    /// Whether the low word of a 64-bit value can be computed in 32 bits, without computing anything twice.
    fn truncates(&mut self, v: Value, depth: u32) -> bool {
        if self.known(v).is_some() {
            return true;
        }
        let once = self.uses.get(v.0 as usize).is_none_or(|&n| n <= 1);
        let Some((op, args, _)) = self.def(v) else { return false };
        match op {
            Opcode::Sext | Opcode::Zext => self.f.ty(args[0]) != Ty::Bool,
            Opcode::IBin(IBin::Add | IBin::Sub | IBin::Mul | IBin::And | IBin::Or | IBin::Xor) => {
                depth > 0 && once && args.iter().all(|&a| self.truncates(a, depth - 1))
            }
            Opcode::IBin(IBin::Shl) => {
                depth > 0
                    && self.known(args[1]).is_some_and(|k| k < 64)
                    && (once || self.known(args[1]) >= Some(32))
                    && self.truncates(args[0], depth - 1)
            }
            _ => false,
        }
    }
    /// The low word, where `truncates` held.
    fn truncated(&mut self, v: Value) -> Value {
        if let Some(k) = self.known(v) {
            return self.constant(Ty::I32, k);
        }
        let Some((op, args, _)) = self.def(v) else { return v };
        match op {
            Opcode::Sext | Opcode::Zext => {
                let source = self.f.ty(args[0]);
                if source == Ty::I32 { args[0] } else { self.emit(op, &args[..1], Ty::I32) }
            }
            Opcode::IBin(IBin::Shl) => match self.known(args[1]) {
                Some(k) if k < 32 => {
                    let a = self.truncated(args[0]);
                    let k = self.constant(Ty::I32, k);
                    self.emit(Opcode::IBin(IBin::Shl), &[a, k], Ty::I32)
                }
                _ => self.constant(Ty::I32, 0),
            },
            op => {
                let (a, b) = (self.truncated(args[0]), self.truncated(args[1]));
                self.emit(op, &[a, b], Ty::I32)
            }
        }
    }

    pub(super) fn icmp(&mut self, c: Cond, d: &InstData) -> Outcome {
        let (a, b) = (d.args[0], d.args[1]);
        let bits = self.f.ty(a).bits();
        match (self.known(a), self.known(b)) {
            (Some(x), Some(y)) => return Outcome::Const(eval::icmp(c, bits, x, y) as u64),
            (Some(_), None) => return Outcome::Op(Opcode::ICmp(swap(c)), vec![b, a], 0),
            _ => {}
        }
        if a == b {
            return Outcome::Const(matches!(c, Cond::Eq | Cond::SLe | Cond::SGe | Cond::ULe | Cond::UGe) as u64);
        }
        if let Some(y) = self.known(b) {
            match (c, y) {
                (Cond::ULt, 0) => return Outcome::Const(0),
                (Cond::UGe, 0) => return Outcome::Const(1),
                (Cond::SLt, 0) if non_negative(self.f, a) => return Outcome::Const(0),
                (Cond::SGe, 0) if non_negative(self.f, a) => return Outcome::Const(1),
                (Cond::Ne | Cond::Eq, 0 | 1) => {
                    if let Some((Opcode::Zext, x, _)) = self.def(a)
                        && self.f.ty(x[0]) == Ty::Bool
                    {
                        let same = (c == Cond::Ne) == (y == 0);
                        return if same { Outcome::Value(x[0]) } else { Outcome::Op(Opcode::BoolNot, vec![x[0]], 0) };
                    }
                }
                _ => {}
            }
        }
        if self.before_limit(c, a, b) {
            return Outcome::Const(1);
        }
        self.narrow_compare(c, a, b)
    }
}

/// The condition with its operands exchanged.
pub(super) fn swap(c: Cond) -> Cond {
    match c {
        Cond::Eq => Cond::Eq,
        Cond::Ne => Cond::Ne,
        Cond::SLt => Cond::SGt,
        Cond::SLe => Cond::SGe,
        Cond::SGt => Cond::SLt,
        Cond::SGe => Cond::SLe,
        Cond::ULt => Cond::UGt,
        Cond::ULe => Cond::UGe,
        Cond::UGt => Cond::ULt,
        Cond::UGe => Cond::ULe,
    }
}

/// Multiplier and shift for signed division by `d` (not 0, 1, -1 or the least integer).
fn signed_magic_numbers(d: i32) -> (i32, u32) {
    let two31 = 1u64 << 31;
    let ad = u64::from(d.unsigned_abs());
    let t = two31 + (d as u32 >> 31) as u64;
    let anc = t - 1 - t % ad;
    let mut p = 31;
    loop {
        p += 1;
        let power = 1u128 << p;
        let delta = u128::from(ad) - power % u128::from(ad);
        if power > u128::from(anc) * delta {
            let m = ((power + delta) / u128::from(ad)) as u32;
            let m = if d < 0 { m.wrapping_neg() } else { m };
            return (m as i32, p - 32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_multipliers_divide() {
        // Hacker's Delight, table 10-1.
        assert_eq!(signed_magic_numbers(3), (0x5555_5556, 0));
        assert_eq!(signed_magic_numbers(7), (0x9249_2493_u32 as i32, 2));
        assert_eq!(signed_magic_numbers(-5), (0x9999_9999_u32 as i32, 1));
    }
}
