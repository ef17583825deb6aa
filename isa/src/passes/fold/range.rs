//! Two tests of one integer as one of its distance from the lower end of a range.
use super::boolean::negate;
use super::{Folder, Outcome, int};
use crate::ir::eval::{mask, signed};
use crate::ir::{Cond, IBin, Opcode, Ty, Value};
use crate::passes::facts;

/// What a compare says of a value: its least, or what it is below.
enum End {
    Least(i64),
    Most(i64),
    /// Below a value that is not negative.
    Below(Value),
}

impl Folder<'_> {
    /// Two tests joined by `and` (`outside`: by `or`) that are one, the second perhaps with one of those that the first
    /// joins.
    pub(super) fn joined(&mut self, a: Value, b: Value, outside: bool) -> Outcome {
        let one = self.one_test(a, b, outside);
        if !matches!(one, Outcome::Keep) {
            return one;
        }
        let op = if outside { Opcode::BoolOr } else { Opcode::BoolAnd };
        for (tests, last) in [(a, b), (b, a)] {
            let Some((inner, terms, _)) = self.def(tests) else { continue };
            if inner != op || !self.once(tests) {
                continue;
            }
            for (term, other) in [(terms[0], terms[1]), (terms[1], terms[0])] {
                if let Outcome::Op(test, args, _) = self.one_test(term, last, outside) {
                    let both = self.emit(test, &args, Ty::Bool);
                    return Outcome::Op(op, vec![other, both], 0);
                }
            }
        }
        Outcome::Keep
    }

    fn one_test(&mut self, a: Value, b: Value, outside: bool) -> Outcome {
        match self.range(a, b, outside) {
            Outcome::Keep => self.signs(a, b, outside),
            range => range,
        }
    }

    fn once(&self, v: Value) -> bool {
        self.uses.get(v.0 as usize).is_none_or(|&n| n <= 1)
    }

    /// `x >= 0 && y >= 0` is `(x | y) >= 0`, and so with `== 0`; their opposites with or.
    fn signs(&mut self, a: Value, b: Value, outside: bool) -> Outcome {
        let (Some((Opcode::ICmp(c), x, _)), Some((Opcode::ICmp(d), y, _))) = (self.def(a), self.def(b)) else {
            return Outcome::Keep;
        };
        let ty = self.f.ty(x[0]);
        let zero = self.known(x[1]) == Some(0) && self.known(y[1]) == Some(0);
        let least = |c: Cond, k: Option<u64>| match (c, k.map(|k| signed(k, ty.bits()))) {
            (Cond::SGt, Some(-1)) => Cond::SGe,
            (Cond::SLe, Some(-1)) => Cond::SLt,
            (c, Some(0)) => c,
            _ => Cond::ULt,
        };
        let (c, d) = (least(c, self.known(x[1])), least(d, self.known(y[1])));
        let fits = if outside { matches!(c, Cond::SLt | Cond::Ne) } else { matches!(c, Cond::SGe | Cond::Eq) };
        let zero = zero || matches!(c, Cond::SLt | Cond::SGe);
        if c != d || !fits || !zero || x[0] == y[0] || !matches!(ty, Ty::I32 | Ty::I64) || self.f.ty(y[0]) != ty {
            return Outcome::Keep;
        }
        if !self.once(a) || !self.once(b) {
            return Outcome::Keep;
        }
        let both = self.emit(Opcode::IBin(IBin::Or), &[x[0], y[0]], ty);
        let none = self.constant(ty, 0);
        Outcome::Op(Opcode::ICmp(c), vec![both, none], 0)
    }

    /// `low <= x && x < high` (`outside`: the opposite of each, joined by or): one unsigned compare.
    fn range(&mut self, a: Value, b: Value, outside: bool) -> Outcome {
        let (Some((x, first)), Some((y, second))) = (self.end(a, outside), self.end(b, outside)) else {
            return Outcome::Keep;
        };
        let ty = self.f.ty(x);
        let (low, high) = match (first, second) {
            (End::Least(low), high @ (End::Most(_) | End::Below(_))) if x == y => (low, high),
            (high @ (End::Most(_) | End::Below(_)), End::Least(low)) if x == y => (low, high),
            _ => return Outcome::Keep,
        };
        let (distance, high) = match high {
            End::Below(v) if low == 0 => (x, v),
            End::Most(most) if low <= most && most - low < signed(mask(!0, ty.bits()) >> 1, ty.bits()) => {
                let high = self.constant(ty, (most - low) as u64 + 1);
                let distance = match low {
                    0 => x,
                    _ => {
                        let less = self.constant(ty, low.wrapping_neg() as u64);
                        self.emit(Opcode::IBin(IBin::Add), &[x, less], ty)
                    }
                };
                (distance, high)
            }
            _ => return Outcome::Keep,
        };
        let cond = if outside { Cond::UGe } else { Cond::ULt };
        Outcome::Op(Opcode::ICmp(cond), vec![distance, high], 0)
    }

    /// The end of a range that a signed compare tests and nothing else uses.
    fn end(&mut self, test: Value, outside: bool) -> Option<(Value, End)> {
        let (Opcode::ICmp(c), args, _) = self.def(test)? else { return None };
        let swapped = self.known(args[0]).is_some();
        let (x, bound, c) = if swapped { (args[1], args[0], int::swap(c)) } else { (args[0], args[1], c) };
        let c = if outside { negate(c) } else { c };
        let ty = self.f.ty(x);
        if !matches!(ty, Ty::I32 | Ty::I64) || self.uses.get(test.0 as usize).is_some_and(|&n| n > 1) {
            return None;
        }
        let end = match (c, self.known(bound).map(|k| signed(k, ty.bits()))) {
            (Cond::SGe, Some(k)) => End::Least(k),
            (Cond::SGt, Some(k)) => End::Least(k.checked_add(1).filter(|&k| signed(k as u64, ty.bits()) == k)?),
            (Cond::SLe, Some(k)) => End::Most(k),
            (Cond::SLt, Some(k)) => End::Most(k.checked_sub(1).filter(|&k| signed(k as u64, ty.bits()) == k)?),
            (Cond::SLt, None) if facts::non_negative(self.f, bound) => End::Below(bound),
            _ => return None,
        };
        Some((x, end))
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Cond, Function, Loc, Opcode, Ty, eval, verify_function};

    const LOC: Loc = Loc { file: 0, line: 0 };

    /// `x c low && x d high` (or: with `or`) of `i32`, folded; the values for some `x`.
    fn check(tests: [(Cond, i32); 2], or: bool) {
        let mut f = Function { name: "range".into(), results: vec![Ty::Bool], ..Function::default() };
        let b = f.add_block();
        let x = f.add_param(b, Ty::I32);
        let both = tests.map(|(c, k)| {
            let k = f.append(b, Opcode::Const(u64::from(k as u32)), &[], &[Ty::I32], LOC);
            let k = f.inst(k).results[0];
            let t = f.append(b, Opcode::ICmp(c), &[x, k], &[Ty::Bool], LOC);
            f.inst(t).results[0]
        });
        let op = if or { Opcode::BoolOr } else { Opcode::BoolAnd };
        let r = f.append(b, op, &both, &[Ty::Bool], LOC);
        let r = f.inst(r).results[0];
        f.append(b, Opcode::Return, &[r], &[], LOC);
        crate::passes::fold::run(&mut f, &[]);
        verify_function(&f).expect("left right");
        let Opcode::ICmp(c) = f.def_inst(r).expect("an instruction").op else {
            panic!("{tests:?} is not one test: {f:?}");
        };
        let args = f.def_inst(r).expect("an instruction").args.clone();
        let high = f.as_const(args[1]).expect("a constant");
        for v in [i32::MIN, -9, -8, -7, -1, 0, 1, 6, 7, 8, i32::MAX] {
            let holds = tests.map(|(c, k)| eval::icmp(c, 32, u64::from(v as u32), u64::from(k as u32)));
            let expected = if or { holds[0] || holds[1] } else { holds[0] && holds[1] };
            let distance = match f.def_inst(args[0]) {
                Some(d) => u64::from((v as u32).wrapping_add(f.as_const(d.args[1]).expect("a constant") as u32)),
                None => u64::from(v as u32),
            };
            assert_eq!(eval::icmp(c, 32, distance, high), expected, "{tests:?} of {v}");
        }
    }

    /// Tests of two values and a third thing, folded: what is left says the same.
    #[test]
    fn tests_of_signs_are_one() {
        for (c, k, or) in [
            (Cond::SGe, 0, false),
            (Cond::SGt, -1, false),
            (Cond::Eq, 0, false),
            (Cond::SLt, 0, true),
            (Cond::Ne, 0, true),
        ] {
            let mut f = Function { name: "signs".into(), results: vec![Ty::Bool], ..Function::default() };
            let b = f.add_block();
            let args = [f.add_param(b, Ty::I32), f.add_param(b, Ty::I32), f.add_param(b, Ty::I32)];
            let k = f.append(b, Opcode::Const(u64::from(k as u32)), &[], &[Ty::I32], LOC);
            let k = f.inst(k).results[0];
            let [x, y, z] = args.map(|v| {
                let cond = if v == args[1] { Cond::ULt } else { c };
                let t = f.append(b, Opcode::ICmp(cond), &[v, if v == args[1] { args[0] } else { k }], &[Ty::Bool], LOC);
                f.inst(t).results[0]
            });
            let op = if or { Opcode::BoolOr } else { Opcode::BoolAnd };
            let first = f.append(b, op.clone(), &[x, y], &[Ty::Bool], LOC);
            let first = f.inst(first).results[0];
            let r = f.append(b, op, &[first, z], &[Ty::Bool], LOC);
            let r = f.inst(r).results[0];
            f.append(b, Opcode::Return, &[r], &[], LOC);
            let before = f.clone();
            crate::passes::fold::run(&mut f, &[]);
            crate::passes::dce::run(&mut f);
            verify_function(&f).expect("left right");
            let compares = f.block(b).insts.iter().filter(|&&i| matches!(f.inst(i).op, Opcode::ICmp(_))).count();
            assert_eq!(compares, 2, "{c:?}");
            let values = [0u64, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
            for x in values {
                for y in values {
                    for z in values {
                        let run = |f: &Function| crate::ir::interpret::run(f, &[x, y, z]).0;
                        assert_eq!(run(&before), run(&f), "{c:?} of {x} {y} {z}");
                    }
                }
            }
        }
    }

    #[test]
    fn two_tests_of_a_range_are_one() {
        check([(Cond::SGe, 0), (Cond::SLt, 7)], false);
        check([(Cond::SLe, 7), (Cond::SGt, -1)], false);
        check([(Cond::SGe, -8), (Cond::SLt, 7)], false);
        check([(Cond::SLt, 0), (Cond::SGe, 7)], true);
        check([(Cond::SGt, 7), (Cond::SLe, -9)], true);
    }
}
