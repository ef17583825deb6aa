//! Operand and result types that each opcode demands.
use super::{Function, InstData, Opcode, ShuffleKind, Ty, Value, VoteKind, WarpFn};
use warpscope_exec::ops::Conversion;
use warpscope_exec::program::AtomicOp;

/// Checks an instruction's operand and result types (terminators' targets and calls apart).
pub(super) fn check(f: &Function, d: &InstData) -> Result<(), String> {
    let c = Checker { f, d };
    match &d.op {
        Opcode::Const(bits) => {
            c.shape(0, 1)?;
            let width = c.result(0).bits();
            require(width == 64 || *bits >> width == 0, "the constant has bits above its type")
        }
        Opcode::Undef | Opcode::Parameter(_) => c.shape(0, 1),
        Opcode::GlobalAddress(_) => c.shape(0, 1).and_then(|()| c.pointer(c.result(0))),
        Opcode::IBin(_) => c.shape(2, 1).and_then(|()| c.integer(c.result(0))).and_then(|()| c.all_same()),
        Opcode::IUn(_) => c.shape(1, 1).and_then(|()| c.integer(c.result(0))).and_then(|()| c.all_same()),
        Opcode::IntFn(g) => c.shape(g.arity(), 1).and_then(|()| c.integer(c.result(0))).and_then(|()| c.all_same()),
        Opcode::FBin(_) => c.shape(2, 1).and_then(|()| c.float(c.result(0))).and_then(|()| c.all_same()),
        Opcode::FUn(_) => c.shape(1, 1).and_then(|()| c.float(c.result(0))).and_then(|()| c.all_same()),
        Opcode::Fma | Opcode::Mad => c.shape(3, 1).and_then(|()| c.float(c.result(0))).and_then(|()| c.all_same()),
        Opcode::Math(g) => {
            require(d.args.len() == g.arity(), "wrong number of operands")?;
            require(matches!(d.results.len(), 1 | 2), "wrong number of results")
        }
        Opcode::ICmp(_) => {
            c.shape(2, 1)?;
            require(!c.arg(0).is_float() && c.arg(0) != Ty::Bool, "an integer compare of other things")?;
            require(c.arg(0) == c.arg(1) && c.result(0) == Ty::Bool, "types of a compare do not match")
        }
        Opcode::FCmp(_) => {
            c.shape(2, 1)?;
            c.float(c.arg(0))?;
            require(c.arg(0) == c.arg(1) && c.result(0) == Ty::Bool, "types of a compare do not match")
        }
        Opcode::Select => {
            c.shape(3, 1)?;
            require(
                c.arg(0) == Ty::Bool && c.arg(1) == c.result(0) && c.arg(2) == c.result(0),
                "types of a select do not match",
            )
        }
        Opcode::BoolAnd | Opcode::BoolOr | Opcode::BoolXor => c.shape(2, 1).and_then(|()| c.bools()),
        Opcode::BoolNot => c.shape(1, 1).and_then(|()| c.bools()),
        Opcode::Sext | Opcode::Zext => {
            c.shape(1, 1)?;
            require(int_or_bool(c.arg(0)) && integer(c.result(0)), "an extension of other than integers")?;
            require(c.arg(0).bits() < c.result(0).bits(), "an extension that does not widen")
        }
        Opcode::Trunc => {
            c.shape(1, 1)?;
            require(integer(c.arg(0)) && int_or_bool(c.result(0)), "a truncation of other than integers")?;
            require(c.arg(0).bits() > c.result(0).bits(), "a truncation that does not narrow")
        }
        Opcode::Convert(v) => convert(&c, v),
        Opcode::Bitcast => {
            c.shape(1, 1)?;
            require(c.arg(0).bits() == c.result(0).bits(), "a bit cast between different widths")
        }
        Opcode::CastSpace => {
            c.shape(1, 1)?;
            c.pointer(c.arg(0))?;
            c.pointer(c.result(0))?;
            require(
                c.arg(0) == Ty::PtrGeneric || c.result(0) == Ty::PtrGeneric,
                "an address-space cast without a generic side",
            )
        }
        Opcode::IsSpace(t) => {
            c.shape(1, 1)?;
            require(c.arg(0) == Ty::PtrGeneric && t.is_pointer() && c.result(0) == Ty::Bool, "wrong types")
        }
        Opcode::PtrAdd { .. } => {
            c.shape(2, 1)?;
            c.pointer(c.arg(0))?;
            let offset = if c.arg(0).bits() == 32 { Ty::I32 } else { Ty::I64 };
            require(c.arg(1) == offset && c.result(0) == c.arg(0), "wrong types of pointer arithmetic")
        }
        Opcode::Alloca { .. } => c.shape(0, 1).and_then(|()| require(c.result(0) == Ty::PtrPrivate, "wrong result")),
        Opcode::Load(a) => {
            c.shape(1, a.count as usize)?;
            c.pointer(c.arg(0))?;
            c.elements(&d.results)
        }
        Opcode::Store(a) => {
            c.shape(a.count as usize + 1, 0)?;
            c.pointer(c.arg(0))?;
            c.elements(&d.args[1..])
        }
        Opcode::Copy { .. } => {
            c.shape(2, 0)?;
            c.pointer(c.arg(0))?;
            c.pointer(c.arg(1))
        }
        Opcode::Atomic { op, .. } => atomic(&c, *op),
        Opcode::Barrier { .. } | Opcode::Fence { .. } => c.shape(0, 0),
        Opcode::Special(_) | Opcode::Launch(_) => {
            c.shape(0, 1).and_then(|()| require(c.result(0) == Ty::I32, "wrong result"))
        }
        Opcode::LocalParameter(_) => c.shape(0, 1).and_then(|()| require(c.result(0) == Ty::PtrLocal, "wrong result")),
        Opcode::Vote(k) => {
            c.shape(1, if *k == VoteKind::Ballot { 4 } else { 1 })?;
            require(c.arg(0) == Ty::Bool, "a vote on other than a Bool")
        }
        Opcode::Shuffle(ShuffleKind::Index | ShuffleKind::Xor | ShuffleKind::Up | ShuffleKind::Down) => {
            c.shape(2, 1)?;
            require(c.arg(1) == Ty::I32 && c.arg(0) == c.result(0), "wrong types of a shuffle")
        }
        Opcode::Warp(w) => {
            c.shape(usize::from(*w != WarpFn::Full), 1)?;
            let ty = if matches!(w, WarpFn::Elect | WarpFn::Full) { Ty::Bool } else { Ty::I32 };
            require(*w == WarpFn::Full || c.arg(0) == Ty::I32, "a sub-group function of other than an I32")?;
            require(c.result(0) == ty, "wrong result of a sub-group function")
        }
        Opcode::Branch => c.shape(1, 0).and_then(|()| require(c.arg(0) == Ty::Bool, "a branch on other than a Bool")),
        Opcode::Switch(_) => c.shape(1, 0).and_then(|()| c.integer(c.arg(0))),
        Opcode::Jump | Opcode::Unreachable => c.shape(0, 0),
        Opcode::Call(_) | Opcode::Return => Ok(()),
    }
}

fn convert(c: &Checker<'_>, v: &Conversion) -> Result<(), String> {
    c.shape(1, 1)?;
    let number = |t: Ty| integer(t) || t.is_float();
    require(number(v.from) && number(v.to), "a conversion of other than numbers")?;
    require(c.arg(0) == v.from && c.result(0) == v.to, "types of a conversion do not match")
}

fn atomic(c: &Checker<'_>, op: AtomicOp) -> Result<(), String> {
    let operands = match op {
        AtomicOp::Load => 1,
        AtomicOp::CompareExchange => 3,
        _ => 2,
    };
    require(c.d.args.len() == operands && c.d.results.len() <= 1, "wrong number of operands or results")?;
    c.pointer(c.arg(0))?;
    let ty = if op == AtomicOp::Load {
        require(c.d.results.len() == 1, "an atomic load without a result")?;
        c.result(0)
    } else {
        c.arg(1)
    };
    require(matches!(ty, Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::F16), "an atomic of an unsupported type")?;
    let same = c.d.args[1..].iter().chain(&c.d.results).all(|&v| c.f.ty(v) == ty);
    require(same, "types of an atomic do not match")
}

/// Whether it is an integer of 8 to 64 bits.
fn integer(t: Ty) -> bool {
    matches!(t, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
}
fn int_or_bool(t: Ty) -> bool {
    integer(t) || t == Ty::Bool
}
fn require(ok: bool, why: &str) -> Result<(), String> {
    if ok { Ok(()) } else { Err(why.to_string()) }
}

struct Checker<'a> {
    f: &'a Function,
    d: &'a InstData,
}

impl Checker<'_> {
    fn shape(&self, args: usize, results: usize) -> Result<(), String> {
        require(self.d.args.len() == args && self.d.results.len() == results, "wrong number of operands or results")
    }
    fn arg(&self, i: usize) -> Ty {
        self.f.ty(self.d.args[i])
    }
    fn result(&self, i: usize) -> Ty {
        self.f.ty(self.d.results[i])
    }
    fn integer(&self, t: Ty) -> Result<(), String> {
        require(integer(t), "an integer operation on another type")
    }
    fn float(&self, t: Ty) -> Result<(), String> {
        require(t.is_float(), "a float operation on another type")
    }
    fn pointer(&self, t: Ty) -> Result<(), String> {
        require(t.is_pointer(), "a pointer is expected")
    }
    fn all_same(&self) -> Result<(), String> {
        let ty = self.result(0);
        require(self.d.args.iter().all(|&a| self.f.ty(a) == ty), "operand types do not match")
    }
    fn bools(&self) -> Result<(), String> {
        require(self.result(0) == Ty::Bool, "boolean logic on another type")?;
        self.all_same()
    }
    fn elements(&self, values: &[Value]) -> Result<(), String> {
        let ty = values.first().map_or(Ty::Bool, |&v| self.f.ty(v));
        require(ty != Ty::Bool, "a Bool in memory")?;
        require(values.iter().all(|&v| self.f.ty(v) == ty), "elements of different types")
    }
}
