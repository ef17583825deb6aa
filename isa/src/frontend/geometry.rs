//! OpenCL.std: geometric functions (OpenCL C 6.15.5).
//!
//! The precise ones scale by a power of two, so that squares neither overflow nor vanish; the `fast_` ones do not.
use super::body::{Body, Leaves};
use super::error::Res;
use super::mathfn::FIRST;
use super::words::Instr;
use crate::ir::{FBin, FCond, FUn, MathFn, Opcode, Ty, Value};
use spirv::OpenclStd100Op as S;

impl Body<'_, '_> {
    pub(super) fn geometric(&mut self, i: &Instr<'_>, s: S) -> Res<bool> {
        match s {
            S::cross => self.cross(i)?,
            S::length | S::fast_length => {
                let v = self.floats(i, FIRST)?;
                let r = self.length(&v, s == S::fast_length);
                self.define_one(i, r)?;
            }
            S::distance | S::fast_distance => {
                let (a, b) = (self.floats(i, FIRST)?, self.floats(i, FIRST + 1)?);
                if a.len() != b.len() {
                    return Err("operands of different sizes".into());
                }
                let d: Leaves = a.iter().zip(&b).map(|(&x, &y)| self.e.fbin(FBin::Sub, x, y)).collect();
                let r = self.length(&d, s == S::fast_distance);
                self.define_one(i, r)?;
            }
            S::normalize => {
                let v = self.floats(i, FIRST)?;
                let (scaled, _) = self.scale(&v);
                let square = self.dot(&scaled, &scaled);
                let ty = self.e.f.ty(square);
                let zero = self.e.float(ty, 0.0);
                let length = self.e.emit(Opcode::FUn(FUn::Sqrt), &[square], ty);
                let null = self.e.fcmp(FCond::OEq, square, zero);
                let leaves = v.iter().zip(&scaled).map(|(&x, &s)| {
                    let q = self.e.fbin(FBin::Div, s, length);
                    self.e.select(null, x, q)
                });
                let leaves: Leaves = leaves.collect();
                self.define(i, leaves)?;
            }
            S::fast_normalize => {
                let v = self.floats(i, FIRST)?;
                let square = self.dot(&v, &v);
                let ty = self.e.f.ty(square);
                let zero = self.e.float(ty, 0.0);
                let inverse = self.e.emit(Opcode::Math(MathFn::HalfRsqrt), &[square], ty);
                let null = self.e.fcmp(FCond::OEq, square, zero);
                let leaves = v.iter().map(|&x| {
                    let q = self.e.fbin(FBin::Mul, x, inverse);
                    self.e.select(null, x, q)
                });
                let leaves: Leaves = leaves.collect();
                self.define(i, leaves)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn floats(&mut self, i: &Instr<'_>, n: usize) -> Res<Leaves> {
        let v = self.arg(i, n)?.leaves;
        match v.first() {
            Some(&x) if self.e.f.ty(x).is_float() => Ok(v),
            _ => Err("an operand is not of floats".into()),
        }
    }

    fn cross(&mut self, i: &Instr<'_>) -> Res<()> {
        let (a, b) = (self.floats(i, FIRST)?, self.floats(i, FIRST + 1)?);
        if a.len() < 3 || a.len() != b.len() {
            return Err("operands must have 3 or 4 components".into());
        }
        let mut leaves = Leaves::new();
        for (x, y) in [(1, 2), (2, 0), (0, 1)] {
            let (p, q) = (self.e.fbin(FBin::Mul, a[x], b[y]), self.e.fbin(FBin::Mul, a[y], b[x]));
            leaves.push(self.e.fbin(FBin::Sub, p, q));
        }
        if a.len() == 4 {
            let zero = self.e.float(self.e.f.ty(a[0]), 0.0);
            leaves.push(zero);
        }
        self.define(i, leaves)
    }

    fn length(&mut self, v: &[Value], fast: bool) -> Value {
        if v.len() == 1 {
            return self.fabs(v[0]);
        }
        let ty = self.e.f.ty(v[0]);
        if fast {
            let square = self.dot(v, v);
            return self.e.emit(Opcode::Math(MathFn::HalfSqrt), &[square], ty);
        }
        let (scaled, back) = self.scale(v);
        let square = self.dot(&scaled, &scaled);
        let root = self.e.emit(Opcode::FUn(FUn::Sqrt), &[square], ty);
        self.e.fbin(FBin::Mul, root, back)
    }

    /// The vector times a power of two that keeps its squares in range, and the inverse of that power.
    fn scale(&mut self, v: &[Value]) -> (Leaves, Value) {
        let ty = self.e.f.ty(v[0]);
        // Largest and smallest magnitudes whose squares (of up to 16 of them) stay well inside the range, and the
        // factor applied beyond them.
        let (high, low, factor) = match ty {
            Ty::F16 => (2f64.powi(5), 2f64.powi(-3), 2f64.powi(11)),
            Ty::F32 => (2f64.powi(60), 2f64.powi(-40), 2f64.powi(70)),
            _ => (2f64.powi(500), 2f64.powi(-400), 2f64.powi(600)),
        };
        let mut most = self.fabs(v[0]);
        for &x in &v[1..] {
            let a = self.fabs(x);
            most = self.e.fbin(FBin::Max, most, a);
        }
        let (high, low) = (self.e.float(ty, high), self.e.float(ty, low));
        let (one, up, down) = (self.e.float(ty, 1.0), self.e.float(ty, factor), self.e.float(ty, 1.0 / factor));
        let (big, small) = (self.e.fcmp(FCond::OGt, most, high), self.e.fcmp(FCond::OLt, most, low));
        let k = self.e.select(small, up, one);
        let k = self.e.select(big, down, k);
        let back = self.e.select(small, down, one);
        let back = self.e.select(big, up, back);
        let scaled = v.iter().map(|&x| self.e.fbin(FBin::Mul, x, k)).collect();
        (scaled, back)
    }
}
