//! Building blocks of translation: a function under construction with a current block and position.
use crate::ir::{Access, Block, Cond, FBin, FCond, Function, IBin, Inst, Loc, Opcode, Target, Ty, Value};

/// A function being built.
pub(super) struct Emitter {
    pub f: Function,
    pub block: Block,
    pub loc: Loc,
}

impl Emitter {
    /// Appends an instruction with one result.
    pub fn emit(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.append(self.block, op, args, &[ty], self.loc);
        self.f.inst(i).results[0]
    }
    /// As `emit`, with promises.
    pub fn emit_flags(&mut self, op: Opcode, args: &[Value], ty: Ty, flags: u8) -> Value {
        let i = self.f.append(self.block, op, args, &[ty], self.loc);
        self.f.inst_mut(i).flags = flags;
        self.f.inst(i).results[0]
    }
    /// Appends an instruction without a result.
    pub fn effect(&mut self, op: Opcode, args: &[Value]) -> Inst {
        self.f.append(self.block, op, args, &[], self.loc)
    }
    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.emit(Opcode::Const(crate::ir::eval::mask(bits, ty.bits())), &[], ty)
    }
    /// A float constant of any float type.
    pub fn float(&mut self, ty: Ty, x: f64) -> Value {
        let bits = match ty {
            Ty::F16 => u64::from(half::f16::from_f64(x).to_bits()),
            Ty::F32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        };
        self.constant(ty, bits)
    }
    pub fn ibin(&mut self, op: IBin, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.emit(Opcode::IBin(op), &[a, b], ty)
    }
    pub fn fbin(&mut self, op: FBin, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.emit(Opcode::FBin(op), &[a, b], ty)
    }
    pub fn icmp(&mut self, c: Cond, a: Value, b: Value) -> Value {
        self.emit(Opcode::ICmp(c), &[a, b], Ty::Bool)
    }
    pub fn fcmp(&mut self, c: FCond, a: Value, b: Value) -> Value {
        self.emit(Opcode::FCmp(c), &[a, b], Ty::Bool)
    }
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.emit(Opcode::Select, &[c, a, b], ty)
    }
    pub fn bitcast(&mut self, v: Value, ty: Ty) -> Value {
        if self.f.ty(v) == ty { v } else { self.emit(Opcode::Bitcast, &[v], ty) }
    }
    /// An integer (or Bool) as an integer (or Bool) of another width.
    pub fn resize(&mut self, v: Value, ty: Ty, sign: bool) -> Value {
        let from = self.f.ty(v);
        match from.bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => v,
            std::cmp::Ordering::Less if sign => self.emit(Opcode::Sext, &[v], ty),
            std::cmp::Ordering::Less => self.emit(Opcode::Zext, &[v], ty),
            std::cmp::Ordering::Greater => self.emit(Opcode::Trunc, &[v], ty),
        }
    }
    /// The integer type with a type's bits.
    pub fn int_of(ty: Ty) -> Ty {
        match ty.bits() {
            8 => Ty::I8,
            16 => Ty::I16,
            32 => Ty::I32,
            64 => Ty::I64,
            _ => Ty::Bool,
        }
    }
    /// The integer type of a size.
    fn int_of_bytes(bytes: u32) -> Ty {
        match bytes {
            1 => Ty::I8,
            2 => Ty::I16,
            4 => Ty::I32,
            _ => Ty::I64,
        }
    }
    /// The offset type of a pointer.
    pub fn offset_type(ptr: Ty) -> Ty {
        if ptr.bits() == 32 { Ty::I32 } else { Ty::I64 }
    }
    /// `ptr` plus a constant number of bytes.
    pub fn offset(&mut self, ptr: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return ptr;
        }
        let ty = self.f.ty(ptr);
        let o = self.constant(Self::offset_type(ty), bytes);
        self.emit(Opcode::PtrAdd { inbounds: true }, &[ptr, o], ty)
    }
    /// `ptr` plus `index * scale` bytes.
    pub fn index(&mut self, ptr: Value, index: Value, scale: u64, inbounds: bool) -> Value {
        let ty = self.f.ty(ptr);
        let wide = Self::offset_type(ty);
        let i = self.resize(index, wide, true);
        let s = self.constant(wide, scale);
        let flags = if inbounds { crate::ir::flag::NSW } else { 0 };
        let o = if scale == 1 { i } else { self.emit_flags(Opcode::IBin(IBin::Mul), &[i, s], wide, flags) };
        self.emit(Opcode::PtrAdd { inbounds }, &[ptr, o], ty)
    }
    /// Loads consecutive values. The machine's accesses are aligned to the size of an element: what may lie elsewhere (a
    /// member of a packed structure) is loaded in pieces that are aligned.
    pub fn load(&mut self, ptr: Value, ty: Ty, count: u8, align: u32, volatile: bool) -> Vec<Value> {
        let bytes = ty.bits() / 8;
        if align < bytes {
            return (0..u32::from(count))
                .map(|n| self.load_pieces(ptr, n * bytes, ty, align.max(1), volatile))
                .collect();
        }
        let access = Access { count, align, volatile };
        let types = vec![ty; count as usize];
        let i = self.f.append(self.block, Opcode::Load(access), &[ptr], &types, self.loc);
        self.f.inst(i).results.to_vec()
    }
    /// Stores consecutive values of one type, as `load` loads them.
    pub fn store(&mut self, ptr: Value, values: &[Value], align: u32, volatile: bool) {
        let bytes = values.first().map_or(0, |v| self.f.ty(*v).bits() / 8);
        if align < bytes {
            for (n, value) in (0..).zip(values) {
                self.store_pieces(ptr, n * bytes, *value, align.max(1), volatile);
            }
            return;
        }
        let access = Access { count: values.len() as u8, align, volatile };
        let mut args = vec![ptr];
        args.extend_from_slice(values);
        self.effect(Opcode::Store(access), &args);
    }
    /// Loads the value `at` bytes behind `ptr` in pieces of `align` bytes.
    fn load_pieces(&mut self, ptr: Value, at: u32, ty: Ty, align: u32, volatile: bool) -> Value {
        let (int, piece) = (Self::int_of(ty), Self::int_of_bytes(align));
        let place = self.offset(ptr, u64::from(at));
        let low = self.load(place, piece, 1, align, volatile)[0];
        let mut whole = self.resize(low, int, false);
        for offset in (align..ty.bits() / 8).step_by(align as usize) {
            let place = self.offset(ptr, u64::from(at + offset));
            let part = self.load(place, piece, 1, align, volatile)[0];
            let (part, by) = (self.resize(part, int, false), self.constant(int, u64::from(offset * 8)));
            let part = self.ibin(IBin::Shl, part, by);
            whole = self.ibin(IBin::Or, whole, part);
        }
        self.bitcast(whole, ty)
    }
    /// Stores a value as `load_pieces` loads it.
    fn store_pieces(&mut self, ptr: Value, at: u32, value: Value, align: u32, volatile: bool) {
        let ty = self.f.ty(value);
        let (int, piece) = (Self::int_of(ty), Self::int_of_bytes(align));
        let whole = self.bitcast(value, int);
        for offset in (0..ty.bits() / 8).step_by(align as usize) {
            let place = self.offset(ptr, u64::from(at + offset));
            let by = self.constant(int, u64::from(offset * 8));
            let part = if offset == 0 { whole } else { self.ibin(IBin::LShr, whole, by) };
            let part = self.resize(part, piece, false);
            self.store(place, &[part], align, volatile);
        }
    }
    pub fn jump(&mut self, to: Block, args: &[Value]) {
        let i = self.effect(Opcode::Jump, &[]);
        self.f.inst_mut(i).targets.push(Target { block: to, args: args.into() });
    }
    pub fn branch(&mut self, c: Value, yes: (Block, &[Value]), no: (Block, &[Value])) {
        let i = self.effect(Opcode::Branch, &[c]);
        let targets = &mut self.f.inst_mut(i).targets;
        targets.push(Target { block: yes.0, args: yes.1.into() });
        targets.push(Target { block: no.0, args: no.1.into() });
    }
}
