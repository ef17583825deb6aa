//! Constant folding and algebraic simplification. Exact: no float result changes (NaN payloads apart), no
//! re-association of floats.
mod boolean;
mod compare;
mod float;
mod int;
mod pointer;
mod range;

use super::rewrite::Replacements;
use crate::ir::{Cfg, Function, Global, Inst, Loc, Opcode, Ty, Value, eval};

/// What becomes of an instruction.
enum Outcome {
    /// It stays.
    Keep,
    /// Its result is another value.
    Value(Value),
    /// Its result is a constant.
    Const(u64),
    /// It becomes another instruction with the same result.
    Op(Opcode, Vec<Value>, u8),
}

/// Simplifies until nothing changes or the rounds are used up; gives whether anything changed.
pub fn run(f: &mut Function, globals: &[Global]) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        if !Folder::new(f, globals).round() {
            break;
        }
        changed = true;
    }
    changed
}

const ROUNDS: usize = 4;
/// Rules applied to one instruction in a row.
const CHAIN: usize = 8;

struct Folder<'a> {
    f: &'a mut Function,
    globals: &'a [Global],
    replaced: Replacements,
    /// How often each value was used when the round began.
    uses: Vec<u32>,
    /// The block's instructions so far.
    new: Vec<Inst>,
    loc: Loc,
    changed: bool,
}

impl<'a> Folder<'a> {
    fn new(f: &'a mut Function, globals: &'a [Global]) -> Self {
        let replaced = Replacements::new(f);
        let uses = super::rewrite::count_uses(f);
        Folder { f, globals, replaced, uses, new: Vec::new(), loc: Loc::default(), changed: false }
    }

    fn round(mut self) -> bool {
        for b in Cfg::new(self.f).rpo {
            let old = std::mem::take(&mut self.f.blocks[b.0 as usize].insts);
            self.new = Vec::with_capacity(old.len());
            for i in old {
                self.replaced.apply_to(self.f, i);
                self.loc = self.f.inst(i).loc;
                self.instruction(i);
            }
            self.f.blocks[b.0 as usize].insts = std::mem::take(&mut self.new);
        }
        self.replaced.apply(self.f);
        self.changed
    }

    fn instruction(&mut self, i: Inst) {
        for _ in 0..CHAIN {
            match self.simplify(i) {
                Outcome::Keep => break,
                Outcome::Value(v) => {
                    self.changed = true;
                    let result = self.f.inst(i).results[0];
                    self.replaced.replace(result, v);
                    return;
                }
                Outcome::Const(bits) => {
                    self.changed = true;
                    let d = self.f.inst_mut(i);
                    (d.op, d.flags) = (Opcode::Const(bits), 0);
                    d.args.clear();
                    break;
                }
                Outcome::Op(op, args, flags) => {
                    self.changed = true;
                    let d = self.f.inst_mut(i);
                    (d.op, d.flags) = (op, flags);
                    d.args = args.into();
                }
            }
        }
        self.new.push(i);
    }

    fn simplify(&mut self, i: Inst) -> Outcome {
        let d = self.f.inst(i).clone();
        match &d.op {
            Opcode::IBin(op) => self.ibin(*op, &d),
            Opcode::IUn(op) => self.iun(*op, &d),
            Opcode::Sext | Opcode::Zext | Opcode::Trunc => self.resize(&d),
            Opcode::ICmp(c) => self.icmp(*c, &d),
            Opcode::FBin(op) => self.fbin(*op, &d),
            Opcode::FUn(op) => self.fun(*op, &d),
            Opcode::FCmp(c) => match (self.known(d.args[0]), self.known(d.args[1])) {
                (Some(a), Some(b)) => Outcome::Const(eval::fcmp(*c, self.f.ty(d.args[0]), a, b) as u64),
                _ => Outcome::Keep,
            },
            Opcode::Mad => self.mad(&d),
            Opcode::Convert(c) => self.convert(*c, &d),
            Opcode::Bitcast => self.bitcast(&d),
            Opcode::Select => self.select(&d),
            Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor | Opcode::BoolNot => self.boolean(&d),
            Opcode::PtrAdd { inbounds } => self.ptr_add(*inbounds, &d),
            Opcode::CastSpace | Opcode::IsSpace(_) => self.space(&d),
            Opcode::Load(_) => self.load(&d),
            Opcode::Store(_) | Opcode::Atomic { .. } | Opcode::Copy { .. } => self.generic_operands(&d),
            _ => Outcome::Keep,
        }
    }

    /// A constant's bits.
    fn known(&self, v: Value) -> Option<u64> {
        self.f.as_const(v)
    }
    /// The instruction behind a value, with its operands up to date.
    fn def(&mut self, v: Value) -> Option<(Opcode, Vec<Value>, u8)> {
        let d = self.f.def_inst(v)?;
        let (op, args, flags) = (d.op.clone(), d.args.to_vec(), d.flags);
        Some((op, args.into_iter().map(|a| self.replaced.resolve(a)).collect(), flags))
    }
    fn emit(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.make_inst(op, args, &[ty], self.loc);
        self.new.push(i);
        self.f.inst(i).results[0]
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.emit(Opcode::Const(eval::mask(bits, ty.bits())), &[], ty)
    }
}
