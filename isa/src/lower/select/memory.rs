//! Loads, stores and atomics: address folding, splitting into accesses, vectors in consecutive registers.
use super::Selector;
use crate::ir::{Access, IBin, Inst, InstData, Opcode, Ty, Value};
use crate::lower::LowerError;
use crate::lower::mir::{File, Opd, VReg};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{AccessShape, AtomicOp, flags};

/// One access of a load: its register(s), first element and element count.
#[derive(Clone, Debug)]
pub(super) struct LoadPart {
    register: VReg,
    first: u8,
    count: u8,
}

/// An address: register or row, and immediate offset.
pub(super) struct Address {
    pub base: Opd,
    pub offset: i32,
    /// Module-scope constant memory: goes through the constant bank.
    pub constant_bank: bool,
}

/// Splits `count` elements of `element` bytes at alignment `align` into accesses of (first, count) elements.
pub(super) fn split(element: u32, count: u32, align: u32) -> Vec<(u8, u8)> {
    let mut parts = Vec::new();
    let mut done = 0;
    while done < count {
        let offset = done * element;
        let known = if offset == 0 { align.max(1) } else { align.max(1).min(1 << offset.trailing_zeros()) };
        let mut bytes = (1 << known.min(16).ilog2()).max(element);
        while bytes > (count - done) * element {
            bytes /= 2;
        }
        let here = (bytes / element).max(1);
        parts.push((done as u8, here as u8));
        done += here;
    }
    parts
}

pub(super) fn element_bytes(ty: Ty) -> u32 {
    ty.bits().div_ceil(8)
}

impl Selector<'_> {
    /// Registers of a load with several elements.
    fn load_parts(&mut self, inst: Inst, access: Access, ty: Ty) -> Vec<LoadPart> {
        if let Some(p) = self.loads.get(&inst) {
            return p.clone();
        }
        let parts: Vec<LoadPart> = split(element_bytes(ty), access.count as u32, access.align)
            .into_iter()
            .map(|(first, count)| {
                let register = self.out.new_vreg(File::Vector, ty.registers() * count as u32);
                LoadPart { register, first, count }
            })
            .collect();
        self.loads.insert(inst, parts.clone());
        parts
    }

    /// Operand of element `n` of a load.
    pub(super) fn load_element(&mut self, inst: Inst, n: usize) -> Opd {
        let data = self.f.inst(inst);
        let Opcode::Load(access) = data.op else { unreachable!("only loads have elements") };
        let ty = self.f.ty(data.results[0]);
        for p in self.load_parts(inst, access, ty) {
            if n < (p.first + p.count) as usize {
                return Opd::Reg(p.register, (n - p.first as usize) as u8 * ty.registers() as u8);
            }
        }
        unreachable!("parts cover all elements")
    }

    /// Folds constant offsets of the address into an immediate; where the variable stands only for loads and stores.
    fn address(&mut self, pointer: Value, moves: bool) -> Address {
        let wide = self.f.ty(pointer).bits() == 64;
        let (mut base, mut offset) = (pointer, 0i64);
        while let Some(d) = self.f.def_inst(base) {
            match d.op {
                Opcode::PtrAdd { .. } => {
                    let Some(c) = self.f.as_const(d.args[1]) else { break };
                    let c = if wide { c as i64 } else { c as u32 as i32 as i64 };
                    let sum = offset.wrapping_add(c);
                    if !self.fits(sum) {
                        break;
                    }
                    offset = sum;
                    base = d.args[0];
                }
                Opcode::Bitcast if self.f.ty(d.args[0]).is_pointer() => base = d.args[0],
                _ => break,
            }
        }
        let constant_bank = self.is_constant_bank(base);
        if !wide
            && moves
            && let Some((index, whole)) = self.masked_element(base, offset)
        {
            return Address { base: self.operand(index), offset: whole as i32, constant_bank };
        }
        let mut base = self.operand(base);
        if !wide {
            // A fixed local or private address: all of it fits the immediate.
            if let Some(v) = self.out.pool.literal(base) {
                let whole = v as i64 + offset;
                if v != 0 && self.fits(whole) {
                    base = self.out.pool.word(0);
                    offset = whole;
                }
            }
        }
        Address { base, offset: offset as i32, constant_bank }
    }

    /// A masked offset into a variable at a fixed local or private address: the place is part of the immediate (sass
    /// `aes_like`, `lds_stride`: LDS of a register and a uniform one; ATOMS takes a sum).
    fn masked_element(&mut self, pointer: Value, offset: i64) -> Option<(Value, i64)> {
        let d = self.f.def_inst(pointer).filter(|d| matches!(d.op, Opcode::PtrAdd { .. }))?;
        let (base, index) = (d.args[0], d.args[1]);
        let masked = self.f.def_inst(index).is_some_and(|m| {
            m.op == Opcode::IBin(IBin::And) && self.f.as_const(m.args[1]).is_some_and(|c| c < 1 << 24)
        });
        if !masked {
            return None;
        }
        let place = self.operand(base);
        let whole = self.out.pool.literal(place)? as i64 + offset;
        self.fits(whole).then_some((index, whole))
    }

    fn fits(&self, offset: i64) -> bool {
        let half = 1i64 << (self.options.target.memory_offset_bits - 1);
        (-half..half).contains(&offset)
    }

    /// Whether a pointer leads to a module-scope variable in constant memory.
    pub(super) fn is_constant_bank(&self, mut pointer: Value) -> bool {
        while let Some(d) = self.f.def_inst(pointer) {
            match d.op {
                Opcode::PtrAdd { .. } | Opcode::Bitcast | Opcode::CastSpace => pointer = d.args[0],
                Opcode::GlobalAddress(g) => return self.module.globals[g].space == Ty::PtrConstant,
                _ => return false,
            }
        }
        false
    }

    pub(super) fn select_load(&mut self, inst: Inst, data: &InstData, access: Access) -> Result<(), LowerError> {
        let ty = self.f.ty(data.results[0]);
        let space = self.f.ty(data.args[0]);
        let a = self.address(data.args[0], true);
        let op = match space {
            Ty::PtrGlobal => Op::LdGlobal,
            Ty::PtrConstant => Op::LdConstant,
            Ty::PtrLocal => Op::LdLocal,
            Ty::PtrPrivate => Op::LdPrivate,
            Ty::PtrGeneric => Op::LdGeneric,
            other => return Err(self.error(format!("a load goes through a value of type {other:?}"))),
        };
        if self.is_packed(inst) {
            self.load_packed(inst, op, &a, access);
            return Ok(());
        }
        let parts = if data.results.len() > 1 {
            self.load_parts(inst, access, ty).iter().map(|p| (Opd::Reg(p.register, 0), p.first, p.count)).collect()
        } else {
            vec![(self.destination(data.results[0]), 0, 1)]
        };
        let element = element_bytes(ty);
        for (mut d, first, count) in parts {
            let shape = AccessShape { element: element as u8, count, atomic: 0, signed: false };
            let loaded_bool = (ty == Ty::Bool).then(|| std::mem::replace(&mut d, self.temp(1)));
            let i = self.push(op, d, &[a.base]);
            i.imm = a.offset + first as i32 * element as i32;
            i.imm2 = shape.pack();
            i.origin = data.origin;
            if op == Op::LdConstant && !a.constant_bank {
                i.class = OpClass::LoadGlobal;
            }
            if access.volatile {
                i.flags |= flags::VOLATILE;
            }
            if let Some(p) = loaded_bool {
                self.push(Op::RegToPred, p, &[d]);
            }
        }
        Ok(())
    }

    pub(super) fn select_store(&mut self, data: &InstData, access: Access) -> Result<(), LowerError> {
        let ty = self.f.ty(data.args[1]);
        let space = self.f.ty(data.args[0]);
        let op = match space {
            Ty::PtrGlobal => Op::StGlobal,
            Ty::PtrLocal => Op::StLocal,
            Ty::PtrPrivate => Op::StPrivate,
            Ty::PtrGeneric => Op::StGeneric,
            other => return Err(self.error(format!("a store goes through a value of type {other:?}"))),
        };
        let a = self.address(data.args[0], true);
        let element = element_bytes(ty);
        let values = &data.args[1..];
        for (first, count) in split(element, values.len() as u32, access.align) {
            let part = &values[first as usize..(first + count) as usize];
            let value = match part {
                [v] => self.stored(*v),
                _ if self.packs(part, ty) => {
                    let word = self.pack(part, ty);
                    let bytes = count as u32 * element;
                    let shape = match bytes {
                        2 => AccessShape { element: 2, count: 1, atomic: 0, signed: false },
                        _ => AccessShape { element: 4, count: (bytes / 4) as u8, atomic: 0, signed: false },
                    };
                    let i = self.push(op, Opd::None, &[a.base, word]);
                    i.imm = a.offset + first as i32 * element as i32;
                    i.imm2 = shape.pack();
                    if access.volatile {
                        i.flags |= flags::VOLATILE;
                    }
                    continue;
                }
                _ => self.gather(part, ty),
            };
            let shape = AccessShape { element: element as u8, count, atomic: 0, signed: false };
            let i = self.push(op, Opd::None, &[a.base, value]);
            i.imm = a.offset + first as i32 * element as i32;
            i.imm2 = shape.pack();
            i.origin = data.origin;
            if access.volatile {
                i.flags |= flags::VOLATILE;
            }
        }
        Ok(())
    }

    /// Operand of a stored value (a Bool is stored as 0 or 1).
    fn stored(&mut self, v: Value) -> Opd {
        match self.operand(v) {
            p @ Opd::Pred(..) => {
                let t = self.temp(1);
                self.push(Op::PredToReg, t, &[p]);
                t
            }
            o => o,
        }
    }

    /// Brings values into consecutive registers: those defined here for this use alone are defined there.
    fn gather(&mut self, values: &[Value], ty: Ty) -> Opd {
        let words = ty.registers() as u8;
        if let Some(o) = self.consecutive(values, words) {
            return o;
        }
        let vector = self.out.new_vreg(File::Vector, words as u32 * values.len() as u32);
        for (n, &v) in values.iter().enumerate() {
            let place = Opd::Reg(vector, n as u8 * words);
            if self.defines_in_place(v) {
                self.values[v.0 as usize] = Some(place);
                self.used[v.0 as usize] = true;
            } else {
                let a = self.stored(v);
                self.push(if words == 2 { Op::Mov64 } else { Op::Mov32 }, place, &[a]);
            }
        }
        Opd::Reg(vector, 0)
    }

    /// The registers of values that stand in consecutive ones already, such as those of a load.
    fn consecutive(&mut self, values: &[Value], words: u8) -> Option<Opd> {
        for &v in values {
            let load = self.f.def_inst(v).is_some_and(|d| matches!(d.op, Opcode::Load(_)) && d.results.len() > 1);
            if !load || self.f.ty(v) == Ty::Bool {
                return None;
            }
        }
        let places: Vec<Opd> = values.iter().map(|&v| self.operand(v)).collect();
        let first = *places.first()?;
        let Opd::Reg(_, start) = first else { return None };
        let total = words * values.len() as u8;
        let aligned = start % total.next_power_of_two().min(4) == 0;
        (aligned && places.iter().enumerate().all(|(n, &p)| p == first.word(n as u8 * words))).then_some(first)
    }

    /// Whether the operation that computes a value can write it into a word of a vector.
    fn defines_in_place(&self, v: Value) -> bool {
        self.single_use(v).is_some_and(|(_, d)| {
            matches!(
                d.op,
                Opcode::IBin(_)
                    | Opcode::IUn(_)
                    | Opcode::FBin(_)
                    | Opcode::FUn(_)
                    | Opcode::Fma
                    | Opcode::Mad
                    | Opcode::Select
                    | Opcode::Convert(_)
            ) && self.f.ty(v) != Ty::Bool
                && self.launch_pair(d).is_none()
        })
    }

    pub(super) fn select_atomic(&mut self, data: &InstData, atomic: AtomicOp) -> Result<(), LowerError> {
        let space = self.f.ty(data.args[0]);
        let ty = match (data.args.get(1), data.results.first()) {
            (Some(&v), _) => self.f.ty(v),
            (None, Some(&r)) => self.f.ty(r),
            (None, None) => return Ok(()),
        };
        let (op, reduce) = match space {
            Ty::PtrGlobal => (Op::AtomGlobal, OpClass::ReduceGlobal),
            Ty::PtrLocal => (Op::AtomLocal, OpClass::AtomicLocal),
            Ty::PtrGeneric => (Op::AtomGeneric, OpClass::ReduceGlobal),
            other => {
                return Err(self.error(format!(
                    "an atomic operation goes through a value of type {other:?}; only global, local and generic \
                     pointers have atomics"
                )));
            }
        };
        let a = self.address(data.args[0], false);
        let mut src = vec![a.base];
        src.extend(data.args[1..].iter().map(|&v| self.operand(v)));
        let result = data.results.first().copied().filter(|r| self.used[r.0 as usize]);
        let d = match result {
            Some(r) => self.destination(r),
            None => Opd::None,
        };
        if op != Op::AtomLocal && (result.is_some() && atomic != AtomicOp::Load || ty.is_float()) {
            self.facts.order_sensitive = true;
        }
        let shape = AccessShape { element: element_bytes(ty) as u8, count: 1, atomic: atomic as u8, signed: false };
        let i = self.push(op, d, &src);
        i.imm = a.offset;
        i.imm2 = shape.pack();
        if d.is_none() {
            i.class = reduce;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn accesses_respect_alignment_and_width() {
        // float4 aligned to 16 is one access, to 4 four of them (OpenCL C 6.15.7: vload is element-aligned).
        assert_eq!(split(4, 4, 16), [(0, 4)]);
        assert_eq!(split(4, 4, 4), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(split(4, 4, 8), [(0, 2), (2, 2)]);
        // float3 at 16: 8 + 4 bytes.
        assert_eq!(split(4, 3, 16), [(0, 2), (2, 1)]);
        assert_eq!(split(8, 4, 32), [(0, 2), (2, 2)]);
        assert_eq!(split(1, 16, 16), [(0, 16)]);
        assert_eq!(split(4, 16, 64), [(0, 4), (4, 4), (8, 4), (12, 4)]);
        assert_eq!(split(2, 3, 2), [(0, 1), (1, 1), (2, 1)]);
    }
}
