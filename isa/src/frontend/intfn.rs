//! OpenCL.std: integer functions (OpenCL C 6.15.3).
use super::body::Body;
use super::error::Res;
use super::mathfn::FIRST;
use super::words::Instr;
use crate::ir::{IBin, IUn, IntFn, Opcode, Ty};
use spirv::OpenclStd100Op as S;

/// Functions that are one opcode for each component.
fn plain(s: S) -> Option<(Opcode, usize)> {
    let two = |o| (Opcode::IBin(o), 2);
    let one = |o| (Opcode::IUn(o), 1);
    let call = |f: IntFn| (Opcode::IntFn(f), f.arity());
    Some(match s {
        S::s_abs => one(IUn::Abs),
        S::clz => one(IUn::Clz),
        S::ctz => one(IUn::Ctz),
        S::popcount => one(IUn::Popc),
        S::s_max => two(IBin::SMax),
        S::u_max => two(IBin::UMax),
        S::s_min => two(IBin::SMin),
        S::u_min => two(IBin::UMin),
        S::s_mul_hi => two(IBin::SMulHi),
        S::u_mul_hi => two(IBin::UMulHi),
        S::rotate => two(IBin::Rotl),
        // Outside 24 bits the result is implementation-defined: the full product will do.
        S::s_mul24 | S::u_mul24 => two(IBin::Mul),
        S::s_abs_diff => call(IntFn::AbsDiffS),
        S::u_abs_diff => call(IntFn::AbsDiffU),
        S::s_add_sat => call(IntFn::AddSatS),
        S::u_add_sat => call(IntFn::AddSatU),
        S::s_sub_sat => call(IntFn::SubSatS),
        S::u_sub_sat => call(IntFn::SubSatU),
        S::s_hadd => call(IntFn::HaddS),
        S::u_hadd => call(IntFn::HaddU),
        S::s_rhadd => call(IntFn::RhaddS),
        S::u_rhadd => call(IntFn::RhaddU),
        S::s_mad_sat => call(IntFn::MadSatS),
        S::u_mad_sat => call(IntFn::MadSatU),
        _ => return None,
    })
}

impl Body<'_, '_> {
    pub(super) fn integer_function(&mut self, i: &Instr<'_>, s: S) -> Res<bool> {
        if let Some((op, count)) = plain(s) {
            let ty = self.result_scalar(i)?;
            self.map(i, FIRST, count, |e, a| Ok(e.emit(op.clone(), a, ty)))?;
            return Ok(true);
        }
        match s {
            S::u_abs => {
                let v = self.arg(i, FIRST)?;
                self.define(i, v.leaves)?;
            }
            S::s_clamp | S::u_clamp => {
                let (max, min) = if s == S::s_clamp { (IBin::SMax, IBin::SMin) } else { (IBin::UMax, IBin::UMin) };
                self.map(i, FIRST, 3, |e, a| {
                    let low = e.ibin(max, a[0], a[1]);
                    Ok(e.ibin(min, low, a[2]))
                })?;
            }
            S::s_mad_hi | S::u_mad_hi => {
                let high = if s == S::s_mad_hi { IBin::SMulHi } else { IBin::UMulHi };
                self.map(i, FIRST, 3, |e, a| {
                    let h = e.ibin(high, a[0], a[1]);
                    Ok(e.ibin(IBin::Add, h, a[2]))
                })?;
            }
            S::s_mad24 | S::u_mad24 => self.map(i, FIRST, 3, |e, a| {
                let p = e.ibin(IBin::Mul, a[0], a[1]);
                Ok(e.ibin(IBin::Add, p, a[2]))
            })?,
            S::s_upsample | S::u_upsample => {
                let ty = self.result_scalar(i)?;
                self.map(i, FIRST, 2, |e, a| {
                    if !matches!(e.f.ty(a[0]), Ty::I8 | Ty::I16 | Ty::I32) || e.f.ty(a[1]) != e.f.ty(a[0]) {
                        return Err("operands of the wrong type".into());
                    }
                    let shift = e.constant(ty, u64::from(e.f.ty(a[0]).bits()));
                    let (hi, lo) = (e.resize(a[0], ty, false), e.resize(a[1], ty, false));
                    let up = e.ibin(IBin::Shl, hi, shift);
                    Ok(e.ibin(IBin::Or, up, lo))
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
