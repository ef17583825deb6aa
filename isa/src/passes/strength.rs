//! Addresses that move by a computed distance each trip become pointers that are carried on: `a[k * width + x]` with a
//! 64-bit `width` costs one addition a trip instead of a product of 64 bits.
//!
//! 32-bit products stay: with the addition behind them they are one instruction on machines that have a multiply-add.
use super::loops::{self, Loop};
use super::rewrite::{Replacements, constants_to_entry};
use crate::ir::{Block, Cfg, Function, IBin, Loc, Opcode, Ty, Value, eval, flag};

/// Which addresses become pointers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Steps {
    /// Those that move by a product of 64 bits.
    Products,
    /// Those that move by a constant (sass spmv, bfs, gesummv: IADD3 and IADD3.X for each, in all loops).
    Constants,
}

/// Pointers carried around a loop at most; each takes a register pair.
const MOST: usize = 3;
/// Operations of an offset at most.
const DEPTH: u32 = 12;

/// Runs the pass on the innermost loops; gives whether anything changed.
pub fn run(f: &mut Function, all: Steps) -> bool {
    loops::canonicalise(f);
    constants_to_entry(f);
    let cfg = Cfg::new(f);
    let found = loops::find(f, &cfg);
    let at = loops::definition_blocks(f);
    let mut r = Replacements::default();
    for (n, l) in found.iter().enumerate() {
        if !found[..n].iter().any(|inner| inner.parent == Some(n)) {
            reduce(f, &cfg, l, &at, &mut r, all);
        }
    }
    r.apply(f);
    r.any()
}

/// A counter that moves by a constant.
struct Counter<'a> {
    l: &'a Loop,
    at: &'a [Option<Block>],
    entry: Block,
    /// The parameter, and what it begins with.
    value: Value,
    start: Value,
    step: i64,
    flags: u8,
}

fn reduce(f: &mut Function, cfg: &Cfg, l: &Loop, at: &[Option<Block>], r: &mut Replacements, all: Steps) {
    let [entry] = l.entries(cfg)[..] else { return };
    let [latch] = l.latches(cfg)[..] else { return };
    let (Some(jump), Some(end)) = (f.terminator(entry), f.terminator(latch)) else { return };
    let Some(back) = f.inst(end).targets.iter().position(|t| t.block == l.header) else { return };
    for n in 0..f.block(l.header).params.len() {
        let value = f.block(l.header).params[n];
        let (start, next) = (f.inst(jump).targets[0].args[n], f.inst(end).targets[back].args[n]);
        let Some((step, flags)) = constant_step(f, value, next) else { continue };
        let counter = Counter { l, at, entry, value, start, step, flags };
        let places: Vec<_> = l.blocks.iter().flat_map(|&b| f.block(b).insts.clone()).collect();
        let moving: Vec<_> = places.into_iter().filter(|&i| counter.moves(f, i, all)).collect();
        if moving.is_empty() || moving.len() > MOST {
            continue;
        }
        for i in moving {
            let d = f.inst(i).clone();
            let Some(Some(step)) = counter.step_of(f, d.args[1], DEPTH) else { continue };
            let first = counter.at_start(f, d.args[1]);
            let ty = f.ty(d.results[0]);
            let first = counter.emit(f, d.op.clone(), &[d.args[0], first], ty);
            let pointer = f.add_param(l.header, ty);
            let next = f.make_inst(d.op, &[pointer, step], &[ty], d.loc);
            let place = f.block(latch).insts.len() - 1;
            f.blocks[latch.0 as usize].insts.insert(place, next);
            let next = f.inst(next).results[0];
            f.inst_mut(jump).targets[0].args.push(first);
            f.inst_mut(end).targets[back].args.push(next);
            r.replace(d.results[0], pointer);
        }
    }
}

fn constant_step(f: &Function, value: Value, next: Value) -> Option<(i64, u8)> {
    let d = f.def_inst(next)?;
    let step = (d.op == Opcode::IBin(IBin::Add) && d.args[0] == value).then(|| f.as_const(d.args[1]))??;
    matches!(f.ty(value), Ty::I32 | Ty::I64).then(|| (eval::signed(step, f.ty(value).bits()), d.flags))
}

/// Whether a pointer leads into a table in a constant bank, which is read at a bank and an offset.
fn in_bank(f: &Function, mut pointer: Value) -> bool {
    while let Some(d) = f.def_inst(pointer).filter(|_| f.ty(pointer) == Ty::PtrConstant) {
        match d.op {
            Opcode::PtrAdd { .. } | Opcode::Bitcast => pointer = d.args[0],
            _ => return matches!(d.op, Opcode::GlobalAddress(_)),
        }
    }
    false
}

impl Counter<'_> {
    fn invariant(&self, f: &Function, v: Value) -> bool {
        loops::invariant(f, self.l, self.at, v)
    }

    /// A pointer at an offset that the counter moves: by a product of 64 bits that is not known, or by a constant.
    fn moves(&self, f: &Function, i: crate::ir::Inst, all: Steps) -> bool {
        let d = f.inst(i);
        matches!(d.op, Opcode::PtrAdd { .. })
            && self.invariant(f, d.args[0])
            && !in_bank(f, d.args[0])
            && f.ty(d.args[1]) == Ty::I64
            && match all {
                Steps::Products => self.is_even(f, d.args[1], DEPTH) == Some(true),
                Steps::Constants => !self.invariant(f, d.args[1]) && self.by_constant(f, d.args[1], DEPTH),
            }
    }

    /// Whether a value moves evenly with the counter (`None`: it does not), and by such a product.
    fn is_even(&self, f: &Function, v: Value, depth: u32) -> Option<bool> {
        if v == self.value || self.invariant(f, v) {
            return Some(false);
        }
        let d = f.def_inst(v).filter(|_| depth > 0)?;
        let even = |v| self.is_even(f, v, depth - 1);
        match d.op {
            Opcode::IBin(IBin::Add | IBin::Sub) => Some(even(d.args[0])? | even(d.args[1])?),
            Opcode::IBin(IBin::Shl) => f.as_const(d.args[1]).and(even(d.args[0])),
            Opcode::IBin(IBin::Mul) => {
                let (moving, fixed) = self.factors(f, d.args[0], d.args[1])?;
                let narrow = f.def_inst(fixed).is_some_and(|d| matches!(d.op, Opcode::Sext | Opcode::Zext));
                let unknown = f.ty(v) == Ty::I64 && f.as_const(fixed).is_none() && !narrow;
                Some(even(moving)? | unknown)
            }
            Opcode::Sext => (d.args[0] == self.value && self.flags & flag::NSW != 0).then_some(false),
            Opcode::Zext => (d.args[0] == self.value && self.flags & flag::NUW != 0 && self.step > 0).then_some(false),
            _ => None,
        }
    }

    /// Whether each trip moves a value by a constant.
    fn by_constant(&self, f: &Function, v: Value, depth: u32) -> bool {
        if v == self.value || self.invariant(f, v) {
            return true;
        }
        let Some(d) = f.def_inst(v).filter(|_| depth > 0) else { return false };
        let constant = d.args.get(1).is_some_and(|&c| f.as_const(c).is_some());
        match d.op {
            Opcode::IBin(IBin::Add | IBin::Sub) => d.args.iter().all(|&a| self.by_constant(f, a, depth - 1)),
            Opcode::IBin(IBin::Mul | IBin::Shl) => constant && self.by_constant(f, d.args[0], depth - 1),
            Opcode::Sext | Opcode::Zext => self.is_even(f, v, depth).is_some(),
            _ => false,
        }
    }

    fn factors(&self, f: &Function, a: Value, b: Value) -> Option<(Value, Value)> {
        match (self.invariant(f, a), self.invariant(f, b)) {
            (false, true) => Some((a, b)),
            (true, false) => Some((b, a)),
            _ => None,
        }
    }

    /// How far a value that moves evenly goes each trip, computed in front of the loop (`Some(None)`: nowhere).
    fn step_of(&self, f: &mut Function, v: Value, depth: u32) -> Option<Option<Value>> {
        let ty = f.ty(v);
        if v == self.value {
            return Some(Some(self.constant(f, self.step, ty)));
        }
        if self.invariant(f, v) {
            return Some(None);
        }
        let d = f.def_inst(v).filter(|_| depth > 0)?.clone();
        Some(match d.op {
            Opcode::IBin(IBin::Add | IBin::Sub) => {
                let a = self.step_of(f, d.args[0], depth - 1)?;
                let b = self.step_of(f, d.args[1], depth - 1)?;
                match (a, b) {
                    (a, None) => a,
                    (None, Some(b)) if d.op == Opcode::IBin(IBin::Add) => Some(b),
                    (a, Some(b)) => {
                        let a = a.unwrap_or_else(|| self.constant(f, 0, ty));
                        Some(self.emit(f, d.op, &[a, b], ty))
                    }
                }
            }
            Opcode::IBin(IBin::Shl) => {
                let a = self.step_of(f, d.args[0], depth - 1)?;
                a.map(|a| self.emit(f, d.op, &[a, d.args[1]], ty))
            }
            Opcode::IBin(IBin::Mul) => {
                let (moving, fixed) = self.factors(f, d.args[0], d.args[1])?;
                let a = self.step_of(f, moving, depth - 1)?;
                a.map(|a| if f.as_const(a) == Some(1) { fixed } else { self.emit(f, d.op, &[a, fixed], ty) })
            }
            Opcode::Sext | Opcode::Zext => Some(self.constant(f, self.step, ty)),
            _ => return None,
        })
    }

    /// What a value is in the first trip, computed in front of the loop.
    fn at_start(&self, f: &mut Function, v: Value) -> Value {
        if v == self.value {
            return self.start;
        }
        if self.invariant(f, v) {
            return v;
        }
        // It moves evenly: one of the operations that `is_even` goes through.
        let Some(d) = f.def_inst(v).cloned() else { return v };
        let args: Vec<Value> = d.args.iter().map(|&a| self.at_start(f, a)).collect();
        self.emit(f, d.op, &args, f.ty(v))
    }

    fn constant(&self, f: &mut Function, k: i64, ty: Ty) -> Value {
        self.emit(f, Opcode::Const(eval::mask(k as u64, ty.bits())), &[], ty)
    }

    fn emit(&self, f: &mut Function, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = f.make_inst(op, args, &[ty], Loc::default());
        let place = f.block(self.entry).insts.len() - 1;
        f.blocks[self.entry.0 as usize].insts.insert(place, i);
        f.inst(i).results[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Cond, Target, interpret, verify_function};

    const LOC: Loc = Loc { file: 0, line: 0 };

    fn add(f: &mut Function, b: Block, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = f.append(b, op, args, &[ty], LOC);
        f.inst(i).results[0]
    }

    /// `for (int k = 5; k < n; k += 3) last = &base[(k * width - x) * 4]` (bytes, `width` of 64 bits); returns `last`.
    fn walk(flags: u8) -> Function {
        let mut f = Function { name: "walk".into(), results: vec![Ty::PtrGlobal], ..Function::default() };
        let entry = f.add_block();
        let base = f.add_param(entry, Ty::PtrGlobal);
        let (width, x) = (f.add_param(entry, Ty::I64), f.add_param(entry, Ty::I64));
        let n = f.add_param(entry, Ty::I32);
        let (header, body, exit) = (f.add_block(), f.add_block(), f.add_block());
        let first = add(&mut f, entry, Opcode::Const(5), &[], Ty::I32);
        let jump = |f: &mut Function, b, op, args: &[Value], targets: &[(Block, &[Value])]| {
            let i = f.append(b, op, args, &[], LOC);
            f.inst_mut(i).targets =
                targets.iter().map(|(block, a)| Target { block: *block, args: (*a).into() }).collect();
        };
        jump(&mut f, entry, Opcode::Jump, &[], &[(header, &[first, base])]);
        let (k, last) = (f.add_param(header, Ty::I32), f.add_param(header, Ty::PtrGlobal));
        let test = add(&mut f, header, Opcode::ICmp(Cond::SLt), &[k, n], Ty::Bool);
        jump(&mut f, header, Opcode::Branch, &[test], &[(body, &[]), (exit, &[])]);
        let wide = add(&mut f, body, Opcode::Sext, &[k], Ty::I64);
        let row = add(&mut f, body, Opcode::IBin(IBin::Mul), &[wide, width], Ty::I64);
        let index = add(&mut f, body, Opcode::IBin(IBin::Sub), &[row, x], Ty::I64);
        let two = add(&mut f, body, Opcode::Const(2), &[], Ty::I64);
        let offset = add(&mut f, body, Opcode::IBin(IBin::Shl), &[index, two], Ty::I64);
        let pointer = add(&mut f, body, Opcode::PtrAdd { inbounds: true }, &[base, offset], Ty::PtrGlobal);
        let three = add(&mut f, body, Opcode::Const(3), &[], Ty::I32);
        let next = add(&mut f, body, Opcode::IBin(IBin::Add), &[k, three], Ty::I32);
        let i = *f.block(body).insts.last().expect("the addition");
        f.inst_mut(i).flags = flags;
        jump(&mut f, body, Opcode::Jump, &[], &[(header, &[next, pointer])]);
        f.append(exit, Opcode::Return, &[last], &[], LOC);
        verify_function(&f).expect("built right");
        f
    }

    fn products_in_loops(f: &Function) -> usize {
        let cfg = Cfg::new(f);
        let blocks: Vec<Block> = loops::find(f, &cfg).into_iter().flat_map(|l| l.blocks).collect();
        let insts = blocks.iter().flat_map(|&b| &f.block(b).insts);
        insts.filter(|&&i| f.inst(i).op == Opcode::IBin(IBin::Mul)).count()
    }

    #[test]
    fn addresses_of_products_are_carried_on() {
        let before = walk(flag::NSW);
        let mut after = before.clone();
        assert!(run(&mut after, Steps::Products));
        super::super::dce::run(&mut after);
        verify_function(&after).expect("left right");
        assert_eq!((products_in_loops(&before), products_in_loops(&after)), (1, 0));
        for n in [0u64, 5, 6, 9, 40] {
            for (width, x) in [(0u64, 0u64), (7, 3), (1 << 40, 12), (u64::MAX, 1)] {
                let args = [0x10_0000, width, x, n];
                assert_eq!(interpret::run(&before, &args).0, interpret::run(&after, &args).0, "{args:?}");
            }
        }
    }

    /// A counter that may wrap around does not move evenly once it is widened.
    #[test]
    fn counters_that_may_wrap_around_stay() {
        assert!(!run(&mut walk(0), Steps::Products));
    }
}
