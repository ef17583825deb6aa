//! OpenCL.std printf: a call becomes an atomic add that takes room in the module's buffer and stores of a record there
//! ([`warpscope_exec::printf`]). The host formats the records when the launch has ended.
use super::body::{Body, Leaves};
use super::emit::Emitter;
use super::error::Res;
use super::mathfn::FIRST;
use super::words::Instr;
use crate::ir::{Cond, Global, IBin, Opcode, Order, Scope, Ty, Value};
use warpscope_exec::printf::{ElementKind, LIMIT, SPARE, Shape, layout};
use warpscope_exec::program::AtomicOp;

/// What the calls of a module need: the buffer, and a constant for each shape of call.
#[derive(Default)]
pub(super) struct PrintfSites {
    shapes: Vec<Vec<u8>>,
    largest: u64,
}

impl PrintfSites {
    /// Number of the constant with these shapes; the buffer is number 0.
    fn site(&mut self, shapes: &[Shape], record: u64) -> usize {
        let mut bytes = vec![shapes.len() as u8];
        bytes.extend(shapes.iter().flat_map(|s| s.encode()));
        self.largest = self.largest.max(record);
        let known = self.shapes.iter().position(|s| *s == bytes);
        1 + known.unwrap_or_else(|| {
            self.shapes.push(bytes);
            self.shapes.len() - 1
        })
    }

    /// Adds the buffer and the constants behind the module's own variables.
    pub fn append_globals(self, globals: &mut Vec<Global>) {
        if self.shapes.is_empty() {
            return;
        }
        let global = |name: &str, space, init: Vec<u8>, printf| Global {
            name: name.into(),
            space,
            init,
            align: 8,
            relocations: Vec::new(),
            uninitialised: false,
            printf,
        };
        let front = vec![0; (SPARE + self.largest) as usize];
        globals.push(global("printf buffer", Ty::PtrGlobal, front, true));
        globals.extend(self.shapes.into_iter().map(|s| global("printf arguments", Ty::PtrConstant, s, false)));
    }
}

/// A value to print: its shape and its elements as they are stored.
struct Printed {
    shape: Shape,
    elements: Leaves,
}

impl Body<'_, '_> {
    /// An OpExtInst printf.
    pub(super) fn printf(&mut self, i: &Instr<'_>) -> Res<bool> {
        let format = self.pointer_arg(i, FIRST)?;
        let format = self.printed(format)?.1;
        let values = (FIRST + 1..i.operands.len()).map(|n| self.printed_value(i, n)).collect::<Res<Vec<_>>>()?;
        let shapes: Vec<Shape> = values.iter().map(|v| v.shape).collect();
        if shapes.len() > usize::from(u8::MAX) {
            return Err("more than 255 values".into());
        }
        let (offsets, bytes) = layout(&shapes);
        let site = self.shared.printf.site(&shapes, bytes);
        let first = self.m.globals.len();
        let buffer = self.e.emit(Opcode::GlobalAddress(first), &[], Ty::PtrGlobal);
        let shape = self.e.emit(Opcode::GlobalAddress(first + site), &[], Ty::PtrConstant);
        let shape = self.printed(shape)?.1;

        let size = self.e.constant(Ty::I64, bytes);
        let add = Opcode::Atomic { op: AtomicOp::Add, order: Order::Relaxed, scope: Scope::Device };
        let taken = self.e.emit(add, &[buffer, size], Ty::I64);
        let limit = self.e.offset(buffer, LIMIT);
        let limit = self.e.load(limit, Ty::I64, 1, 8, false)[0];
        let end = self.e.ibin(IBin::Add, taken, size);
        let fits = self.e.icmp(Cond::ULe, end, limit);
        let spare = self.e.constant(Ty::I64, SPARE);
        let at = self.e.select(fits, taken, spare);
        let record = self.e.index(buffer, at, 1, true);

        self.e.store(record, &[size], 8, false);
        for (offset, word) in [(8, format), (16, shape)] {
            let p = self.e.offset(record, offset);
            self.e.store(p, &[word], 8, false);
        }
        for (value, offset) in values.iter().zip(offsets) {
            let p = self.e.offset(record, offset);
            self.e.store(p, &value.elements, value.shape.stride() as u32, false);
        }
        let (done, full) = (self.e.constant(Ty::I32, 0), self.e.constant(Ty::I32, u64::from(u32::MAX)));
        let result = self.e.select(fits, done, full);
        self.define_one(i, result)?;
        Ok(true)
    }

    fn printed_value(&mut self, i: &Instr<'_>, n: usize) -> Res<Printed> {
        let leaves = self.arg(i, n)?.leaves;
        if leaves.is_empty() || leaves.len() > 16 {
            return Err(format!("operand {} is neither a scalar nor a vector", n + 1));
        }
        let mut elements = Leaves::new();
        let mut kind = (ElementKind::Integer, 4);
        for leaf in leaves {
            let (of, element) = self.printed(leaf)?;
            kind = of;
            elements.push(element);
        }
        Ok(Printed { shape: Shape { bytes: kind.1, count: elements.len() as u8, kind: kind.0 }, elements })
    }

    /// A scalar as it is stored, with its kind and bytes.
    fn printed(&mut self, v: Value) -> Res<((ElementKind, u8), Value)> {
        let ty = self.e.f.ty(v);
        if ty.is_pointer() {
            // Local and private pointers show as their offsets.
            let word = self.convert_pointer(v, Ty::I64)?;
            return Ok(((ElementKind::Pointer, 8), word));
        }
        let kind = if ty.is_float() { ElementKind::Float } else { ElementKind::Integer };
        let bits = self.e.bitcast(v, Emitter::int_of(ty));
        let wide = if ty.bits() < 32 { self.e.resize(bits, Ty::I32, false) } else { bits };
        Ok(((kind, (ty.bits() / 8).max(1) as u8), wide))
    }
}
