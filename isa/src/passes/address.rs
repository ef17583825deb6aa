//! Constant parts of array indices become constant offsets of the address, which cost nothing and make the rest of
//! the address common to neighbouring accesses.
//!
//! `base + sext(x + 5) * 4` is `(base + sext(x) * 4) + 20` where `x + 5` does not wrap around. A constant deeper in the
//! index may be taken out where the rest is known not to wrap either: in-bounds addresses from the start of an
//! object have no negative index, so a rest that is smaller by a positive constant stays in range.
use super::rewrite::count_uses;
use super::{cse, facts};
use crate::ir::{Cfg, Function, IBin, Inst, Loc, Opcode, Ty, Value, eval, flag};

/// How deep constants are looked for in an index.
const DEPTH: u32 = 6;

/// Splits addresses; gives whether any changed. Common rests are joined afterwards.
pub fn run(f: &mut Function) -> bool {
    let mut changed = false;
    let uses = count_uses(f);
    for b in Cfg::new(f).rpo {
        let old = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            let mut s = Splitter { f, uses: &uses, new: &mut new, loc: Loc::default() };
            changed |= s.split(i);
            new.push(i);
        }
        f.blocks[b.0 as usize].insts = new;
    }
    if changed {
        cse::run(f);
    }
    changed
}

/// An index without its constant.
struct Rest {
    value: Value,
    constant: i64,
    /// The rest is a value that was there already, with a promise of its own.
    as_it_was: bool,
}

struct Splitter<'a> {
    f: &'a mut Function,
    uses: &'a [u32],
    new: &'a mut Vec<Inst>,
    loc: Loc,
}

impl Splitter<'_> {
    fn emit(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.make_inst(op, args, &[ty], self.loc);
        self.new.push(i);
        self.f.inst(i).results[0]
    }
    fn constant(&mut self, ty: Ty, v: i64) -> Value {
        self.emit(Opcode::Const(eval::mask(v as u64, ty.bits())), &[], ty)
    }

    fn split(&mut self, i: Inst) -> bool {
        let d = self.f.inst(i);
        let Opcode::PtrAdd { inbounds } = d.op else { return false };
        let (base, offset) = (d.args[0], d.args[1]);
        self.loc = d.loc;
        if self.f.as_const(offset).is_some() {
            return false;
        }
        let ty = self.f.ty(base);
        let moved = if ty.bits() == 32 { self.narrow(offset) } else { self.wide(base, offset, inbounds) };
        let Some((rest, bytes)) = moved else { return false };
        let p = self.emit(Opcode::PtrAdd { inbounds }, &[base, rest], ty);
        let k = self.constant(self.f.ty(offset), bytes);
        self.f.inst_mut(i).args = [p, k].into_iter().collect();
        true
    }

    /// An offset in a 32-bit space, where arithmetic is modulo 2^32 anyway.
    fn narrow(&mut self, offset: Value) -> Option<(Value, i64)> {
        let r = self.strip(offset, false, DEPTH)?;
        Some((r.value, r.constant))
    }

    /// A 64-bit offset: an extended 32-bit index, scaled.
    fn wide(&mut self, base: Value, offset: Value, inbounds: bool) -> Option<(Value, i64)> {
        let d = self.f.def_inst(offset)?;
        let (extended, scale) = match d.op {
            Opcode::IBin(IBin::Mul) => (d.args[0], self.f.as_const(d.args[1])? as i64),
            _ => (offset, 1),
        };
        let flags = d.flags;
        let e = self.f.def_inst(extended)?;
        // A zero-extended index with a promise about its sign is the same as a sign-extended one.
        let signed = match e.op {
            Opcode::Sext => true,
            Opcode::Zext => facts::non_negative(self.f, e.args[0]),
            _ => false,
        };
        let index = *e.args.first()?;
        if !signed || self.f.ty(index) != Ty::I32 {
            return None;
        }
        if self.uses.get(index.0 as usize).is_some_and(|&n| n == 1) && facts::is_moved_id(self.f, index) {
            return None;
        }
        let start = self.new.len();
        let r = self.strip(index, true, DEPTH)?;
        let from_start = inbounds
            && self.f.def_inst(base).is_some_and(|d| matches!(d.op, Opcode::Parameter(_) | Opcode::GlobalAddress(_)));
        let in_range = r.as_it_was || from_start && r.constant > 0 && r.constant < 1 << 30;
        let bytes = r.constant.checked_mul(scale);
        let (true, Some(bytes)) = (in_range, bytes) else {
            self.new.truncate(start);
            return None;
        };
        let wide = self.emit(Opcode::Sext, &[r.value], Ty::I64);
        if scale == 1 {
            return Some((wide, bytes));
        }
        let k = self.constant(Ty::I64, scale);
        let product = self.emit(Opcode::IBin(IBin::Mul), &[wide, k], Ty::I64);
        if let Some(&i) = self.new.last() {
            self.f.inst_mut(i).flags = flags;
        }
        Some((product, bytes))
    }

    /// Takes the constant out of a 32-bit sum; `exact`: only through arithmetic that does not wrap around.
    fn strip(&mut self, v: Value, exact: bool, depth: u32) -> Option<Rest> {
        let d = self.f.def_inst(v)?;
        if depth == 0 || exact && d.flags & flag::NSW == 0 {
            return None;
        }
        let (a, b, bits) = (d.args.first().copied(), d.args.get(1).copied(), self.f.ty(v).bits());
        let ty = self.f.ty(v);
        let known = |f: &Function, v: Value| f.as_const(v).map(|k| eval::signed(k, bits));
        match d.op {
            Opcode::IBin(op @ (IBin::Add | IBin::Sub)) => {
                let (a, b) = (a?, b?);
                if op == IBin::Add
                    && let Some(k) = known(self.f, b)
                {
                    let inner = self.strip(a, exact, depth - 1);
                    return Some(match inner {
                        Some(r) => Rest { constant: r.constant.checked_add(k)?, ..r },
                        None => Rest { value: a, constant: k, as_it_was: true },
                    });
                }
                let (x, y) = (self.strip(a, exact, depth - 1), self.strip(b, exact, depth - 1));
                if x.is_none() && y.is_none() {
                    return None;
                }
                let [k, l] = [&x, &y].map(|r| r.as_ref().map_or(0, |r| r.constant));
                let constant = if op == IBin::Add { k.checked_add(l)? } else { k.checked_sub(l)? };
                let (x, y) = (x.map_or(a, |r| r.value), y.map_or(b, |r| r.value));
                let value = self.emit(Opcode::IBin(op), &[x, y], ty);
                Some(Rest { value, constant, as_it_was: false })
            }
            Opcode::IBin(IBin::Mul) => {
                let k = known(self.f, b?)?;
                let r = self.strip(a?, exact, depth - 1)?;
                let constant = r.constant.checked_mul(k)?;
                let value = self.emit(Opcode::IBin(IBin::Mul), &[r.value, b?], ty);
                Some(Rest { value, constant, as_it_was: false })
            }
            // Modulo 2^32 the low word of a sign-extended index is the index.
            _ => None,
        }
    }
}
