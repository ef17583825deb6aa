//! OpenCL.std: dispatch, math and common functions.
use super::body::{Body, Leaves};
use super::emit::Emitter;
use super::error::Res;
use super::words::Instr;
use crate::ir::{Cond, FBin, FCond, FUn, IBin, MathFn, Opcode, Rounding, Ty, Value};
use spirv::OpenclStd100Op as S;

/// Functions that are one opcode for each component.
fn plain(s: S) -> Option<(Opcode, usize)> {
    Some(match s {
        S::ceil => (Opcode::FUn(FUn::Round(Rounding::Up)), 1),
        S::floor => (Opcode::FUn(FUn::Round(Rounding::Down)), 1),
        S::rint => (Opcode::FUn(FUn::Round(Rounding::NearestEven)), 1),
        S::round => (Opcode::FUn(FUn::Round(Rounding::NearestAway)), 1),
        S::trunc => (Opcode::FUn(FUn::Round(Rounding::Zero)), 1),
        S::fabs => (Opcode::FUn(FUn::Abs), 1),
        S::sqrt => (Opcode::FUn(FUn::Sqrt), 1),
        S::fma => (Opcode::Fma, 3),
        S::mad => (Opcode::Mad, 3),
        S::fmax | S::fmax_common => (Opcode::FBin(FBin::Max), 2),
        S::fmin | S::fmin_common => (Opcode::FBin(FBin::Min), 2),
        S::fmod => (Opcode::FBin(FBin::Rem), 2),
        _ => return None,
    })
}

/// Functions of the machine's mathematics unit or library, without pointers.
fn math(s: S) -> Option<MathFn> {
    use MathFn as M;
    Some(match s {
        S::acos => M::Acos,
        S::acosh => M::Acosh,
        S::acospi => M::Acospi,
        S::asin => M::Asin,
        S::asinh => M::Asinh,
        S::asinpi => M::Asinpi,
        S::atan => M::Atan,
        S::atan2 => M::Atan2,
        S::atanh => M::Atanh,
        S::atanpi => M::Atanpi,
        S::atan2pi => M::Atan2pi,
        S::cbrt => M::Cbrt,
        S::cos => M::Cos,
        S::cosh => M::Cosh,
        S::cospi => M::Cospi,
        S::erfc => M::Erfc,
        S::erf => M::Erf,
        S::exp => M::Exp,
        S::exp2 => M::Exp2,
        S::exp10 => M::Exp10,
        S::expm1 => M::Expm1,
        S::fdim => M::Fdim,
        S::hypot => M::Hypot,
        S::ilogb => M::Ilogb,
        S::ldexp => M::Ldexp,
        S::lgamma => M::Lgamma,
        S::log => M::Log,
        S::log2 => M::Log2,
        S::log10 => M::Log10,
        S::log1p => M::Log1p,
        S::logb => M::Logb,
        S::maxmag => M::MaxMag,
        S::minmag => M::MinMag,
        S::nextafter => M::NextAfter,
        S::pow => M::Pow,
        S::pown => M::Pown,
        S::powr => M::Powr,
        S::remainder => M::Remainder,
        S::rootn => M::Rootn,
        S::rsqrt => M::Rsqrt,
        S::sin => M::Sin,
        S::sinh => M::Sinh,
        S::sinpi => M::Sinpi,
        S::tan => M::Tan,
        S::tanh => M::Tanh,
        S::tanpi => M::Tanpi,
        S::tgamma => M::Tgamma,
        S::half_cos => M::HalfCos,
        S::half_divide => M::HalfDivide,
        S::half_exp => M::HalfExp,
        S::half_exp2 => M::HalfExp2,
        S::half_exp10 => M::HalfExp10,
        S::half_log => M::HalfLog,
        S::half_log2 => M::HalfLog2,
        S::half_log10 => M::HalfLog10,
        S::half_powr => M::HalfPowr,
        S::half_recip => M::HalfRecip,
        S::half_rsqrt => M::HalfRsqrt,
        S::half_sin => M::HalfSin,
        S::half_sqrt => M::HalfSqrt,
        S::half_tan => M::HalfTan,
        S::native_cos => M::NativeCos,
        S::native_divide => M::NativeDivide,
        S::native_exp => M::NativeExp,
        S::native_exp2 => M::NativeExp2,
        S::native_exp10 => M::NativeExp10,
        S::native_log => M::NativeLog,
        S::native_log2 => M::NativeLog2,
        S::native_log10 => M::NativeLog10,
        S::native_powr => M::NativePowr,
        S::native_recip => M::NativeRecip,
        S::native_rsqrt => M::NativeRsqrt,
        S::native_sin => M::NativeSin,
        S::native_sqrt => M::NativeSqrt,
        S::native_tan => M::NativeTan,
        _ => return None,
    })
}

/// Functions that return a second value through a pointer, their last operand.
fn math_pair(s: S) -> Option<(MathFn, usize)> {
    Some(match s {
        S::fract => (MathFn::Fract, 1),
        S::frexp => (MathFn::Frexp, 1),
        S::lgamma_r => (MathFn::LgammaR, 1),
        S::modf => (MathFn::Modf, 1),
        S::remquo => (MathFn::Remquo, 2),
        S::sincos => (MathFn::SinCos, 1),
        _ => return None,
    })
}

/// Number of the first argument in an OpExtInst.
pub(super) const FIRST: usize = 2;

impl Body<'_, '_> {
    /// An OpExtInst of OpenCL.std.
    pub(super) fn extended(&mut self, i: &Instr<'_>) -> Res<()> {
        if !self.m.ext_sets.contains_key(&i.at(0)?) {
            return Err("its instruction set is not imported".into());
        }
        let n = i.at(1)?;
        let s = S::from_u32(n).ok_or_else(|| format!("OpenCL.std has no instruction {n}"))?;
        let named = |why: String| format!("{s:?}: {why}");
        if let Some((op, count)) = plain(s) {
            let ty = self.result_scalar(i)?;
            return self.map(i, FIRST, count, |e, a| Ok(e.emit(op.clone(), a, ty))).map_err(named);
        }
        if let Some(f) = math(s) {
            let ty = self.result_scalar(i)?;
            return self.map(i, FIRST, f.arity(), |e, a| Ok(e.emit(Opcode::Math(f), a, ty))).map_err(named);
        }
        if let Some((f, count)) = math_pair(s) {
            return self.math_pair(i, f, count).map_err(named);
        }
        let done = self.common(i, s).map_err(named)?
            || self.integer_function(i, s).map_err(named)?
            || self.geometric(i, s).map_err(named)?
            || self.vector_memory(i, s).map_err(named)?
            || s == S::printf && self.printf(i).map_err(named)?;
        if done { Ok(()) } else { Err(format!("OpenCL.std {s:?} is not supported")) }
    }

    fn math_pair(&mut self, i: &Instr<'_>, f: MathFn, count: usize) -> Res<()> {
        let all = self.operand_leaves(i, FIRST, count)?;
        let ty = self.result_scalar(i)?;
        let p = self.pointer_arg(i, FIRST + count)?;
        let (_, pointee) = self.m.types.pointer(self.value(i.at(FIRST + count)?)?.ty)?;
        let (second, n) = self.m.types.scalar(pointee)?;
        if n != all[0].len() {
            return Err("the pointer's type has another number of components".into());
        }
        let (mut first_leaves, mut second_leaves) = (Leaves::new(), Leaves::new());
        for k in 0..n {
            let args: Leaves = all.iter().map(|l| l[k]).collect();
            let inst = self.e.f.append(self.e.block, Opcode::Math(f), &args, &[ty, second], self.e.loc);
            first_leaves.push(self.e.f.inst(inst).results[0]);
            second_leaves.push(self.e.f.inst(inst).results[1]);
        }
        let align = self.m.types.get(pointee)?.align as u32;
        self.store_value(p, pointee, 0, align, false, &second_leaves)?;
        self.define(i, first_leaves)
    }

    /// Common functions (6.15.4), relational ones (6.15.6) and those made of bits.
    fn common(&mut self, i: &Instr<'_>, s: S) -> Res<bool> {
        match s {
            S::fclamp => self.map(i, FIRST, 3, |e, a| {
                let low = e.fbin(FBin::Max, a[0], a[1]);
                Ok(e.fbin(FBin::Min, low, a[2]))
            })?,
            S::degrees | S::radians => {
                let factor = if s == S::degrees { 180.0 / std::f64::consts::PI } else { std::f64::consts::PI / 180.0 };
                self.map(i, FIRST, 1, |e, a| {
                    let k = e.float(e.f.ty(a[0]), factor);
                    Ok(e.fbin(FBin::Mul, a[0], k))
                })?;
            }
            S::mix => self.map(i, FIRST, 3, |e, a| {
                let d = e.fbin(FBin::Sub, a[1], a[0]);
                let ty = e.f.ty(d);
                Ok(e.emit(Opcode::Mad, &[d, a[2], a[0]], ty))
            })?,
            S::step => self.map(i, FIRST, 2, |e, a| {
                let ty = e.f.ty(a[0]);
                let (zero, one) = (e.float(ty, 0.0), e.float(ty, 1.0));
                let below = e.fcmp(FCond::OLt, a[1], a[0]);
                Ok(e.select(below, zero, one))
            })?,
            S::smoothstep => self.map(i, FIRST, 3, |e, a| Ok(smoothstep(e, a[0], a[1], a[2])))?,
            S::sign => self.map(i, FIRST, 1, |e, a| Ok(sign(e, a[0])))?,
            S::copysign => self.map(i, FIRST, 2, |e, a| {
                let ty = e.f.ty(a[0]);
                let int = Emitter::int_of(ty);
                let (x, y) = (e.bitcast(a[0], int), e.bitcast(a[1], int));
                let bit = 1u64 << (ty.bits() - 1);
                let (sign, rest) = (e.constant(int, bit), e.constant(int, bit - 1));
                let (hi, lo) = (e.ibin(IBin::And, y, sign), e.ibin(IBin::And, x, rest));
                let r = e.ibin(IBin::Or, hi, lo);
                Ok(e.bitcast(r, ty))
            })?,
            S::nan => {
                let ty = self.result_scalar(i)?;
                let quiet = match ty {
                    Ty::F16 => 0x7e00,
                    Ty::F32 => 0x7fc0_0000,
                    _ => 0x7ff8_0000_0000_0000,
                };
                self.map(i, FIRST, 1, |e, a| {
                    let int = Emitter::int_of(ty);
                    let v = e.bitcast(a[0], int);
                    let q = e.constant(int, quiet);
                    let r = e.ibin(IBin::Or, v, q);
                    Ok(e.bitcast(r, ty))
                })?;
            }
            S::bitselect => self.map(i, FIRST, 3, |e, a| {
                let ty = e.f.ty(a[0]);
                let int = Emitter::int_of(ty);
                let [x, y, c] = [a[0], a[1], a[2]].map(|v| e.bitcast(v, int));
                let keep = e.emit(Opcode::IUn(crate::ir::IUn::Not), &[c], int);
                let (p, q) = (e.ibin(IBin::And, x, keep), e.ibin(IBin::And, y, c));
                let r = e.ibin(IBin::Or, p, q);
                Ok(e.bitcast(r, ty))
            })?,
            S::select => {
                let scalar = self.arg(i, FIRST)?.leaves.len() == 1;
                self.map(i, FIRST, 3, |e, a| {
                    let ct = e.f.ty(a[2]);
                    let c = if ct == Ty::Bool {
                        a[2]
                    } else {
                        // Scalars: any bit; vectors: the most significant one.
                        let zero = e.constant(ct, 0);
                        e.icmp(if scalar { Cond::Ne } else { Cond::SLt }, a[2], zero)
                    };
                    Ok(e.select(c, a[1], a[0]))
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn smoothstep(e: &mut Emitter, e0: Value, e1: Value, x: Value) -> Value {
    let ty = e.f.ty(x);
    let (num, den) = (e.fbin(FBin::Sub, x, e0), e.fbin(FBin::Sub, e1, e0));
    let q = e.fbin(FBin::Div, num, den);
    let (zero, one) = (e.float(ty, 0.0), e.float(ty, 1.0));
    let low = e.fbin(FBin::Max, q, zero);
    let t = e.fbin(FBin::Min, low, one);
    let (two, three) = (e.float(ty, -2.0), e.float(ty, 3.0));
    let rest = e.emit(Opcode::Mad, &[t, two, three], ty);
    let square = e.fbin(FBin::Mul, t, t);
    e.fbin(FBin::Mul, square, rest)
}

/// 1, -1, the zero itself, or 0 for NaN.
fn sign(e: &mut Emitter, x: Value) -> Value {
    let ty = e.f.ty(x);
    let (zero, one, minus) = (e.float(ty, 0.0), e.float(ty, 1.0), e.float(ty, -1.0));
    let (above, below, equal) = (e.fcmp(FCond::OGt, x, zero), e.fcmp(FCond::OLt, x, zero), e.fcmp(FCond::OEq, x, zero));
    let r = e.select(equal, x, zero);
    let r = e.select(below, minus, r);
    e.select(above, one, r)
}
