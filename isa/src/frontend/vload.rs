//! OpenCL.std: vector loads and stores, half ones included (OpenCL C 6.15.7), shuffles (6.15.14), prefetch.
use super::body::{Body, Leaves};
use super::error::Res;
use super::mathfn::FIRST;
use super::module::rounding;
use super::words::Instr;
use crate::ir::{Conversion, IBin, Opcode, Rounding, Ty, Value};
use spirv::OpenclStd100Op as S;

impl Body<'_, '_> {
    pub(super) fn vector_memory(&mut self, i: &Instr<'_>, s: S) -> Res<bool> {
        match s {
            S::prefetch => {}
            S::vloadn => {
                let (ty, n) = self.m.types.scalar(i.ty)?;
                let bytes = u64::from(ty.bits() / 8);
                let p = self.element(i, FIRST, FIRST + 1, bytes * n as u64)?;
                let leaves = self.e.load(p, ty, n as u8, bytes as u32, false).into_iter().collect();
                self.define(i, leaves)?;
            }
            S::vstoren => {
                let v = self.arg(i, FIRST)?.leaves;
                let bytes = u64::from(self.e.f.ty(*v.first().ok_or("no data")?).bits() / 8);
                let p = self.element(i, FIRST + 1, FIRST + 2, bytes * v.len() as u64)?;
                self.e.store(p, &v, bytes as u32, false);
            }
            S::vload_half | S::vload_halfn | S::vloada_halfn => {
                let (ty, n) = self.m.types.scalar(i.ty)?;
                let (stride, align) = half_layout(n, s == S::vloada_halfn);
                let p = self.element(i, FIRST, FIRST + 1, stride)?;
                let raw = self.e.load(p, Ty::F16, n as u8, align, false);
                let leaves = raw.into_iter().map(|v| self.convert_float(v, ty, Rounding::NearestEven)).collect();
                self.define(i, leaves)?;
            }
            S::vstore_half
            | S::vstore_half_r
            | S::vstore_halfn
            | S::vstore_halfn_r
            | S::vstorea_halfn
            | S::vstorea_halfn_r => {
                let v = self.arg(i, FIRST)?.leaves;
                let mode = match s {
                    S::vstore_half_r | S::vstore_halfn_r | S::vstorea_halfn_r => rounding(i.at(FIRST + 3)?)?,
                    _ => Rounding::NearestEven,
                };
                let (stride, align) = half_layout(v.len(), matches!(s, S::vstorea_halfn | S::vstorea_halfn_r));
                let p = self.element(i, FIRST + 1, FIRST + 2, stride)?;
                let halves: Leaves = v.iter().map(|&x| self.convert_float(x, Ty::F16, mode)).collect();
                self.e.store(p, &halves, align, false);
            }
            S::shuffle | S::shuffle2 => self.shuffle(i, s == S::shuffle2)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `pointer + offset * stride`, operands by number.
    fn element(&mut self, i: &Instr<'_>, offset: usize, pointer: usize, stride: u64) -> Res<Value> {
        let o = self.scalar_arg(i, offset)?;
        let p = self.pointer_arg(i, pointer)?;
        Ok(self.e.index(p, o, stride, true))
    }

    fn convert_float(&mut self, v: Value, to: Ty, rounding: Rounding) -> Value {
        let from = self.e.f.ty(v);
        if from == to {
            return v;
        }
        let c = Conversion { from, to, from_signed: false, to_signed: false, rounding, saturate: false };
        self.e.emit(Opcode::Convert(c), &[v], to)
    }

    /// Components chosen by the low bits of a mask's elements.
    fn shuffle(&mut self, i: &Instr<'_>, two: bool) -> Res<()> {
        let mut all: Vec<Value> = self.arg(i, FIRST)?.leaves.to_vec();
        if two {
            all.extend(self.arg(i, FIRST + 1)?.leaves);
        }
        if !all.len().is_power_of_two() {
            return Err("a shuffle of vectors of 3".into());
        }
        let mask = self.arg(i, FIRST + 1 + two as usize)?.leaves;
        let mut leaves = Leaves::new();
        for m in mask {
            let ty = self.e.f.ty(m);
            let low = self.e.constant(ty, all.len() as u64 - 1);
            let index = match self.e.f.as_const(m) {
                Some(k) => self.e.constant(ty, k % all.len() as u64),
                None => self.e.ibin(IBin::And, m, low),
            };
            leaves.push(self.pick(&all, index));
        }
        self.define(i, leaves)
    }
}

/// Bytes from one vector of halves to the next, and their alignment; the `a` forms place three like four.
fn half_layout(n: usize, aligned: bool) -> (u64, u32) {
    if aligned {
        let bytes = 2 * n.next_power_of_two();
        (bytes as u64, bytes as u32)
    } else {
        (2 * n as u64, 2)
    }
}
