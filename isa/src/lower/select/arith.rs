//! Arithmetic, compares, selects and conversions.
use super::{Selector, tables};
use crate::ir::{FUn, IBin, IUn, Inst, InstData, MathFn, Opcode, Ty, Value, WarpFn};
use crate::lower::LowerError;
use crate::lower::mir::Opd;
use warpscope_exec::ops::{Op, modifiers};
use warpscope_exec::program::ConstantRow;

impl Selector<'_> {
    /// Emits the operations of one instruction.
    pub(super) fn select(&mut self, inst: Inst, data: &InstData) -> Result<(), LowerError> {
        if data.results.first().is_some_and(|&r| self.is_transparent_done(r, data)) {
            return Ok(());
        }
        match &data.op {
            Opcode::IBin(op) => self.select_int(*op, data),
            Opcode::IUn(IUn::Not) if self.select_logic(data.results[0], data) => {}
            Opcode::IUn(op) => {
                let bits = self.f.ty(data.results[0]).bits();
                self.simple(tables::int_unary(*op, bits), data);
            }
            Opcode::IntFn(f) => {
                let ty = self.f.ty(data.results[0]);
                let i = self.simple(Op::IntFn, data);
                self.seq[i].imm = *f as i32;
                self.seq[i].imm2 = ty as u32;
            }
            Opcode::FBin(op) => self.select_float(*op, data),
            Opcode::FUn(op) => {
                let ty = self.f.ty(data.results[0]);
                let i = self.simple(tables::float_unary(*op, ty), data);
                self.seq[i].imm = match op {
                    FUn::Round(mode) => *mode as i32,
                    _ => self.flush(ty),
                };
            }
            Opcode::Fma | Opcode::Mad => {
                let [a, b, c] = [data.args[0], data.args[1], data.args[2]];
                self.select_fma(data.results[0], [a, b, c], 0);
            }
            Opcode::Math(f) => self.select_math(*f, data),
            Opcode::ICmp(_) if self.select_test(data) => {}
            Opcode::ICmp(cond) => {
                let i = self.simple(tables::int_compare(self.f.ty(data.args[0]).bits()), data);
                self.seq[i].imm = *cond as i32;
            }
            Opcode::FCmp(cond) => {
                let d = self.destination(data.results[0]);
                self.select_float_compare(d, *cond, [data.args[0], data.args[1]], None);
            }
            Opcode::Select => self.select_select(data),
            Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor if self.select_compare_chain(data.results[0], data) => {}
            Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor => {
                let op = match data.op {
                    Opcode::BoolAnd => Op::PAnd,
                    Opcode::BoolOr => Op::POr,
                    _ => Op::PXor,
                };
                let (a, b) = (self.predicate(data.args[0]), self.predicate(data.args[1]));
                let d = self.destination(data.results[0]);
                self.push(op, d, &[a, b]);
            }
            Opcode::Sext | Opcode::Zext => self.select_extend(data),
            Opcode::Trunc => self.select_truncate(data),
            Opcode::Convert(c) => {
                let i = self.simple(Op::Convert, data);
                self.seq[i].imm = c.pack();
            }
            Opcode::CastSpace => {
                // Local or private pointer to a generic one.
                let window = self.window(self.f.ty(data.args[0]));
                let a = self.operand(data.args[0]);
                let d = self.destination(data.results[0]);
                self.push(Op::IAddZext, d, &[a, window]);
            }
            Opcode::IsSpace(space) => self.select_is_space(data, *space),
            Opcode::PtrAdd { .. } => {
                let (r, base, offset) = (data.results[0], data.args[0], data.args[1]);
                let wide = self.f.ty(base).bits() == 64;
                let fused = match wide {
                    true => self.select_indexed(r, base, offset) || self.select_shifted(r, base, offset),
                    false => self.select_add32(r, base, offset),
                };
                if !fused {
                    self.simple(if wide { Op::IAdd64 } else { Op::IAdd32 }, data);
                }
            }
            Opcode::Parameter(offset) => {
                // Narrow ones only; wider ones are rows.
                let row = self.out.pool.single(ConstantRow::Parameter(*offset));
                let op = if self.f.ty(data.results[0]).bits() == 8 { Op::Trunc8 } else { Op::Trunc16 };
                let d = self.destination(data.results[0]);
                self.push(op, d, &[row]);
            }
            Opcode::Special(s) => {
                let i = self.simple(Op::ReadSpecial, data);
                self.seq[i].imm = *s as i32;
            }
            Opcode::Load(access) => self.select_load(inst, data, *access)?,
            Opcode::Store(access) => self.select_store(data, *access)?,
            Opcode::Atomic { op, .. } => self.select_atomic(data, *op)?,
            Opcode::Barrier { flags, scope } => self.select_barrier(*flags, *scope),
            Opcode::Fence { flags, scope, .. } => self.select_fence(*flags, *scope),
            Opcode::Vote(kind) => self.select_vote(data, *kind),
            Opcode::Warp(w) => {
                let (op, imm) = match w {
                    WarpFn::Reduce(by) => (Op::WarpReduce, *by as i32),
                    WarpFn::ScanAdd => (Op::WarpScan, 0),
                    WarpFn::Elect => (Op::WarpElect, 0),
                    WarpFn::Full => (Op::WarpFull, 0),
                };
                let i = self.simple(op, data);
                self.seq[i].imm = imm;
            }
            Opcode::Shuffle(kind) => self.select_shuffle(data, *kind),
            Opcode::Call(callee) => {
                let name = self.module.functions.get(*callee).map(|f| f.name.clone()).unwrap_or_default();
                return Err(self.error(format!(
                    "a call of `{name}` is left after inlining; recursion and calls through pointers are not supported"
                )));
            }
            other => return Err(self.error(format!("{other:?} is not expected at this place"))),
        }
        Ok(())
    }

    /// Whether the value needs no operation: `operand` has resolved it to its source.
    fn is_transparent_done(&self, v: Value, data: &InstData) -> bool {
        let ty = self.f.ty(v);
        let source = data.args.first().map(|&a| self.f.ty(a));
        match data.op {
            Opcode::Const(_)
            | Opcode::Undef
            | Opcode::GlobalAddress(_)
            | Opcode::Alloca { .. }
            | Opcode::LocalParameter(_)
            | Opcode::Launch(_)
            | Opcode::Bitcast
            | Opcode::BoolNot => true,
            Opcode::IBin(_) => self.launch_pair(data).is_some(),
            Opcode::Parameter(_) => ty.bits() >= 32,
            Opcode::Zext => source != Some(Ty::Bool) && ty.bits() <= 32,
            Opcode::Trunc => ty.bits() == 32,
            Opcode::CastSpace => !(ty == Ty::PtrGeneric && source.is_some_and(|s| s.bits() == 32)),
            _ => false,
        }
    }

    /// One operation with the instruction's operands as they are; its index in the sequence.
    fn simple(&mut self, op: Op, data: &InstData) -> usize {
        let src: smallvec::SmallVec<[Opd; 4]> = data.args.iter().map(|&a| self.operand(a)).collect();
        let d = self.destination(data.results[0]);
        self.push(op, d, &src);
        self.seq.len() - 1
    }

    /// The flush modifier for single precision, where the kernel asks for it.
    pub(super) fn flush(&self, ty: Ty) -> i32 {
        if ty == Ty::F32 && self.kernel.flush_denormals { modifiers::FLUSH } else { 0 }
    }

    fn select_int(&mut self, op: IBin, data: &InstData) {
        let ty = self.f.ty(data.results[0]);
        let (result, x, y) = (data.results[0], data.args[0], data.args[1]);
        let fused = match (op, ty.bits()) {
            (IBin::Add, 32) => self.select_add32(result, x, y),
            (IBin::Mul, 32) => self.select_mul32(result, x, y),
            (IBin::And | IBin::Or | IBin::Xor, 32) => self.select_logic(result, data),
            (IBin::SMin | IBin::SMax | IBin::UMin | IBin::UMax, 8..=32) => self.select_extreme(op, data),
            (_, 64) => self.select_wide(op, data),
            _ => false,
        };
        if fused {
            return;
        }
        let a = self.operand(data.args[0]);
        let mut b = self.operand(data.args[1]);
        if tables::takes_count(op) {
            b = b.word(0);
        }
        let d = self.destination(data.results[0]);
        self.push(tables::int_binary(op, ty.bits()), d, &[a, b]);
    }

    fn select_math(&mut self, f: MathFn, data: &InstData) {
        let ty = self.f.ty(data.args[0]);
        // Operands of double-precision functions are pairs, integers among them too.
        let wide = ty == Ty::F64;
        let src: smallvec::SmallVec<[Opd; 4]> = data
            .args
            .iter()
            .map(|&a| {
                let o = self.operand(a);
                if !wide || self.f.ty(a).bits() == 64 {
                    return o;
                }
                let t = self.temp(2);
                self.push(Op::Sext32To64, t, &[o]);
                t
            })
            .collect();
        let mut d = [Opd::None; 2];
        for (d, &r) in d.iter_mut().zip(&data.results) {
            *d = match self.values[r.0 as usize] {
                None if wide && self.f.ty(r).bits() == 32 => self.temp(2),
                _ => self.destination(r),
            };
        }
        let flush = self.flush(ty);
        let i = self.push(tables::math(ty), d[0], &src);
        i.dst2 = d[1];
        i.imm = flush;
        i.imm2 = f as u32;
    }

    fn select_select(&mut self, data: &InstData) {
        let ty = self.f.ty(data.results[0]);
        if ty == Ty::I32 && self.options.target.predication > 0 && self.select_guarded(data) {
            return;
        }
        let c = self.predicate(data.args[0]);
        let d = self.destination(data.results[0]);
        if ty == Ty::Bool {
            let (a, b) = (self.predicate(data.args[1]), self.predicate(data.args[2]));
            self.push(Op::PSel, d, &[a, b, c]);
            return;
        }
        let (a, b) = (self.operand(data.args[1]), self.operand(data.args[2]));
        self.push(if ty.bits() == 64 { Op::Sel64 } else { Op::Sel32 }, d, &[a, b, c]);
    }

    fn select_extend(&mut self, data: &InstData) {
        let signed = data.op == Opcode::Sext;
        let (from, to) = (self.f.ty(data.args[0]), self.f.ty(data.results[0]));
        if from == Ty::Bool {
            let p = self.predicate(data.args[0]);
            let d = self.destination(data.results[0]);
            if !signed && to.bits() <= 32 {
                self.push(Op::PredToReg, d, &[p]);
                return;
            }
            let (yes, no) = (self.literal(to, if signed { u64::MAX } else { 1 }), self.literal(to, 0));
            self.push(if to.bits() == 64 { Op::Sel64 } else { Op::Sel32 }, d, &[yes, no, p]);
            return;
        }
        if signed && to == Ty::I32 && self.extend_packed(data) {
            return;
        }
        let a = self.operand(data.args[0]);
        let d = self.destination(data.results[0]);
        let narrow = match (from.bits(), to.bits()) {
            (8, 16) => Some(Op::Sext8To16),
            (8, _) => Some(Op::Sext8To32),
            (16, _) => Some(Op::Sext16To32),
            _ => None,
        };
        match (signed, narrow, to.bits()) {
            (true, Some(op), 64) => {
                let t = self.temp(1);
                self.push(op, t, &[a]);
                self.push(Op::Sext32To64, d, &[t]);
            }
            (true, Some(op), _) => {
                self.push(op, d, &[a]);
            }
            (true, None, _) => {
                self.push(Op::Sext32To64, d, &[a]);
            }
            (false, ..) => {
                self.push(Op::Zext32To64, d, &[a]);
            }
        }
    }

    fn select_truncate(&mut self, data: &InstData) {
        let a = self.operand(data.args[0]).word(0);
        let d = self.destination(data.results[0]);
        match self.f.ty(data.results[0]).bits() {
            1 => {
                let (one, t) = (self.out.pool.word(1), self.temp(1));
                self.push(Op::And32, t, &[a, one]);
                self.push(Op::RegToPred, d, &[t]);
            }
            8 => {
                self.push(Op::Trunc8, d, &[a]);
            }
            _ => {
                self.push(Op::Trunc16, d, &[a]);
            }
        }
    }

    /// Generic pointers: the high words of the two windows differ in the lowest bit only.
    fn select_is_space(&mut self, data: &InstData, space: Ty) {
        let high = self.operand(data.args[0]).word(1);
        let d = self.destination(data.results[0]);
        let local = (warpscope_exec::program::LOCAL_WINDOW >> 32) as u32;
        let private = (warpscope_exec::program::PRIVATE_WINDOW >> 32) as u32;
        let (word, with, cond) = match space {
            Ty::PtrLocal => (high, local, crate::ir::Cond::Eq),
            Ty::PtrPrivate => (high, private, crate::ir::Cond::Eq),
            _ => {
                let (mask, t) = (self.out.pool.word(!1), self.temp(1));
                self.push(Op::And32, t, &[high, mask]);
                (t, local, crate::ir::Cond::Ne)
            }
        };
        let with = self.out.pool.word(with);
        self.push(Op::ICmp32, d, &[word, with]).imm = cond as i32;
    }
}
