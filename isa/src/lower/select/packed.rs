//! Narrow integers in words: vectors of bytes and half-words are loaded and stored as words, and one operation takes
//! each element out or puts it in (PRMT), unless a conversion does so itself or they are only copied.
use super::Selector;
use super::memory::{Address, element_bytes, split};
use crate::ir::{Access, Def, Inst, InstData, Opcode, Ty, Value};
use crate::lower::mir::{File, Opd};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{AccessShape, flags};

impl Selector<'_> {
    fn takes_out(&self) -> bool {
        self.has(Op::Bfe32U) && self.has(Op::Lea32)
    }

    /// Whether a load of several narrow integers brings words.
    pub(super) fn is_packed(&self, load: Inst) -> bool {
        let d = self.f.inst(load);
        let Some(&first) = d.results.first() else { return false };
        let readers = || d.results.iter().map(|r| self.readers[r.0 as usize]);
        d.results.len() > 1
            && matches!(d.op, Opcode::Load(_))
            && matches!(self.f.ty(first), Ty::I8 | Ty::I16)
            && self.takes_out()
            && readers().any(|r| r.others)
            && !readers().any(|r| r.conversions)
    }

    /// The words of a packed load: first element, elements, register.
    fn words(&mut self, load: Inst) -> Vec<(u32, u32, Opd)> {
        let d = self.f.inst(load);
        let Opcode::Load(access) = d.op else { return Vec::new() };
        let element = element_bytes(self.f.ty(d.results[0]));
        let parts = split(element, d.results.len() as u32, access.align);
        parts
            .into_iter()
            .map(|(first, count)| {
                let words = (count as u32 * element).div_ceil(4);
                let known = self.packed.get(&(load, first as u32)).copied();
                let register = known.unwrap_or_else(|| {
                    let new = Opd::Reg(self.out.new_vreg(File::Vector, words), 0);
                    self.packed.insert((load, first as u32), new);
                    new
                });
                (first as u32, count as u32, register)
            })
            .collect()
    }

    pub(super) fn load_packed(&mut self, load: Inst, op: Op, a: &Address, access: Access) {
        let d = self.f.inst(load);
        let element = element_bytes(self.f.ty(d.results[0]));
        for (first, count, register) in self.words(load) {
            let bytes = count * element;
            let alone = d.results[first as usize];
            let register = if count == 1 { self.destination(alone) } else { register };
            let shape = match bytes {
                1 | 2 => AccessShape { element: bytes as u8, count: 1, atomic: 0, signed: false },
                _ => AccessShape { element: 4, count: (bytes / 4) as u8, atomic: 0, signed: false },
            };
            let i = self.push(op, register, &[a.base]);
            i.imm = a.offset + (first * element) as i32;
            i.imm2 = shape.pack();
            if op == Op::LdConstant && !a.constant_bank {
                i.class = OpClass::LoadGlobal;
            }
            if access.volatile {
                i.flags |= flags::VOLATILE;
            }
            for n in (0..count).filter(|_| count > 1) {
                let r = d.results[(first + n) as usize];
                if self.used[r.0 as usize] {
                    let to = self.destination(r);
                    self.take_out(Op::Bfe32U, to, register, n * element, element);
                }
            }
        }
    }

    fn take_out(&mut self, op: Op, to: Opd, words: Opd, byte: u32, bytes: u32) {
        self.push(op, to, &[words.word((byte / 4) as u8)]).imm = ((byte % 4 * 8) | ((bytes * 8) << 8)) as i32;
    }

    /// Takes an element out of its word with its sign, where nothing else reads it.
    pub(super) fn extend_packed(&mut self, data: &InstData) -> bool {
        let Some((load, d)) = self.single_use(data.args[0]) else { return false };
        if !self.is_packed(load) {
            return false;
        }
        let Some(n) = d.results.iter().position(|&r| r == data.args[0]).map(|n| n as u32) else { return false };
        let element = element_bytes(self.f.ty(data.args[0]));
        let Some(&(first, _, register)) = self.words(load).iter().rfind(|w| w.0 <= n && w.1 > 1 && n < w.0 + w.1)
        else {
            return false;
        };
        let to = self.destination(data.results[0]);
        self.extended.insert(load);
        self.take_out(Op::Bfe32S, to, register, (n - first) * element, element);
        true
    }

    /// Whether values are put into words to be stored: those that a load left in registers of their own are not.
    pub(super) fn packs(&mut self, values: &[Value], ty: Ty) -> bool {
        let copied = |&v: &Value| match self.f.def(v) {
            Def::Result(i, _) => {
                let d = self.f.inst(i);
                matches!(d.op, Opcode::Load(_)) && d.results.len() > 1 && !self.is_packed(i)
            }
            Def::Param(..) => false,
        };
        let bytes = element_bytes(ty) as usize * values.len();
        let whole = bytes == 2 || bytes.is_multiple_of(4);
        matches!(ty, Ty::I8 | Ty::I16) && whole && self.takes_out() && !values.iter().all(copied)
    }

    /// Puts values into words.
    pub(super) fn pack(&mut self, values: &[Value], ty: Ty) -> Opd {
        let bits = ty.bits();
        let per_word = (32 / bits) as usize;
        let words = values.chunks(per_word);
        let vector = Opd::Reg(self.out.new_vreg(File::Vector, words.len() as u32), 0);
        for (n, word) in values.chunks(per_word).enumerate() {
            let known = |v: &Value| self.f.as_const(*v);
            let all = word.iter().rev().try_fold(0u64, |sum, v| Some(sum << bits | known(v)? & ((1 << bits) - 1)));
            let place = vector.word(n as u8);
            if let Some(all) = all {
                let literal = self.out.pool.word(all as u32);
                self.push(Op::Mov32, place, &[literal]);
                continue;
            }
            let mut sum = word.last().map_or(Opd::None, |&v| self.operand(v));
            for (at, &v) in word.iter().enumerate().rev().skip(1) {
                let low = self.operand(v);
                let to = if at == 0 { place } else { self.temp(1) };
                self.push(Op::Lea32, to, &[sum, low]).imm = bits as i32;
                sum = to;
            }
        }
        vector
    }
}
