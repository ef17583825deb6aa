//! Built-in input variables: what the work-item functions return (OpenCL C 6.15.1).
//!
//! Ids and sizes are 64-bit in SPIR-V; work-group ids, local ids and local sizes are 32-bit quantities of the launch
//! and are widened here.
use super::body::{Body, InputPointer, Leaves};
use super::error::Res;
use super::words::Instr;
use crate::ir::{Cond, IBin, Opcode, Ty, Value};
use spirv::BuiltIn;
use warpscope_exec::program::{LaunchConstant, Special};

impl Body<'_, '_> {
    /// The value of a built-in, or of one of its components.
    pub(super) fn builtin(&mut self, p: &InputPointer, ty: u32) -> Res<Leaves> {
        let (scalar, count) = self.m.types.scalar(ty)?;
        let all = self.builtin_leaves(p.builtin)?;
        let leaves: Vec<Value> = match p.component {
            Some(index) if all.len() > 1 => vec![self.pick(&all, index)],
            _ => all,
        };
        if leaves.len() != count || scalar.is_float() || scalar.is_pointer() || scalar == Ty::Bool {
            return Err(format!("the built-in {:?} has another type", p.builtin));
        }
        Ok(leaves.into_iter().map(|v| self.e.resize(v, scalar, false)).collect())
    }

    /// Work-item functions may be asked for a dimension that does not exist: sizes are then 1, ids 0. The translator
    /// passes such a dimension on as the index of a component. Whether the extract was of this kind.
    pub(super) fn beyond_dimensions(&mut self, i: &Instr<'_>) -> Res<bool> {
        let (Some(&b), [index]) = (self.builtin_values.get(&i.at(0)?), i.rest(1)) else { return Ok(false) };
        if *index < 3 {
            return Ok(false);
        }
        let ty = self.m.types.scalar(i.ty)?.0;
        let v = self.e.constant(ty, beyond(b));
        self.define_one(i, v)?;
        Ok(true)
    }
    /// The same for an index known at run time.
    pub(super) fn inside_dimensions(&mut self, b: BuiltIn, index: Value, v: Value) -> Value {
        let (index_ty, ty) = (self.e.f.ty(index), self.e.f.ty(v));
        let three = self.e.constant(index_ty, 3);
        let inside = self.e.icmp(Cond::ULt, index, three);
        let other = self.e.constant(ty, beyond(b));
        self.e.select(inside, v, other)
    }

    fn builtin_leaves(&mut self, b: BuiltIn) -> Res<Vec<Value>> {
        let dims = 0..3u8;
        Ok(match b {
            BuiltIn::LocalInvocationId => dims.map(|d| self.special(LOCAL_ID[d as usize])).collect(),
            BuiltIn::WorkgroupId => dims.map(|d| self.special(GROUP_ID[d as usize])).collect(),
            BuiltIn::WorkgroupSize => dims.map(|d| self.special(LOCAL_SIZE[d as usize])).collect(),
            BuiltIn::EnqueuedWorkgroupSize => dims.map(|d| self.launch(LaunchConstant::EnqueuedLocalSize(d))).collect(),
            BuiltIn::NumWorkgroups => dims.map(|d| self.launch(LaunchConstant::NumGroups(d))).collect(),
            BuiltIn::GlobalSize => dims.map(|d| self.global_size(d)).collect(),
            BuiltIn::GlobalOffset => dims.map(|d| self.global_offset(d)).collect(),
            BuiltIn::GlobalInvocationId => dims.map(|d| self.global_id(d)).collect(),
            BuiltIn::WorkDim => vec![self.launch(LaunchConstant::WorkDim)],
            BuiltIn::GlobalLinearId => vec![self.global_linear_id()],
            BuiltIn::LocalInvocationIndex => vec![self.special(Special::LinearLocalId)],
            BuiltIn::SubgroupSize => vec![self.special(Special::SubGroupSize)],
            BuiltIn::SubgroupMaxSize => vec![self.launch(LaunchConstant::MaxSubGroupSize)],
            BuiltIn::NumSubgroups => vec![self.special(Special::NumSubGroups)],
            BuiltIn::NumEnqueuedSubgroups => vec![self.launch(LaunchConstant::EnqueuedNumSubGroups)],
            BuiltIn::SubgroupId => vec![self.special(Special::SubGroupId)],
            BuiltIn::SubgroupLocalInvocationId => vec![self.special(Special::SubGroupLocalId)],
            _ => return Err(format!("the built-in variable {b:?} is not supported")),
        })
    }

    fn special(&mut self, s: Special) -> Value {
        self.e.emit(Opcode::Special(s), &[], Ty::I32)
    }
    fn launch(&mut self, c: LaunchConstant) -> Value {
        self.e.emit(Opcode::Launch(c), &[], Ty::I32)
    }
    /// A 64-bit launch constant from its words.
    fn wide(&mut self, low: LaunchConstant, high: LaunchConstant) -> Value {
        let (l, h) = (self.launch(low), self.launch(high));
        let (l, h) = (self.e.resize(l, Ty::I64, false), self.e.resize(h, Ty::I64, false));
        let shift = self.e.constant(Ty::I64, 32);
        let up = self.e.ibin(IBin::Shl, h, shift);
        self.e.ibin(IBin::Or, l, up)
    }
    fn global_size(&mut self, dim: u8) -> Value {
        self.wide(LaunchConstant::GlobalSize { dim, high: false }, LaunchConstant::GlobalSize { dim, high: true })
    }
    fn global_offset(&mut self, dim: u8) -> Value {
        self.wide(LaunchConstant::GlobalOffset { dim, high: false }, LaunchConstant::GlobalOffset { dim, high: true })
    }
    /// `group * enqueued size + local id`, 64-bit.
    fn zero_based_id(&mut self, d: u8) -> Value {
        let (g, l) = (self.special(GROUP_ID[d as usize]), self.special(LOCAL_ID[d as usize]));
        let s = self.launch(LaunchConstant::EnqueuedLocalSize(d));
        let [g, l, s] = [g, l, s].map(|v| self.e.resize(v, Ty::I64, false));
        let flags = crate::ir::flag::NUW | crate::ir::flag::NSW;
        let base = self.e.emit_flags(Opcode::IBin(IBin::Mul), &[g, s], Ty::I64, flags);
        self.e.emit_flags(Opcode::IBin(IBin::Add), &[base, l], Ty::I64, flags)
    }
    /// The product comes last: a widening multiply-add takes the sum of the other two.
    fn global_id(&mut self, d: u8) -> Value {
        let (g, l) = (self.special(GROUP_ID[d as usize]), self.special(LOCAL_ID[d as usize]));
        let s = self.launch(LaunchConstant::EnqueuedLocalSize(d));
        let [g, l, s] = [g, l, s].map(|v| self.e.resize(v, Ty::I64, false));
        let offset = self.global_offset(d);
        let inner = self.e.ibin(IBin::Add, l, offset);
        let flags = crate::ir::flag::NUW | crate::ir::flag::NSW;
        let base = self.e.emit_flags(Opcode::IBin(IBin::Mul), &[g, s], Ty::I64, flags);
        self.e.ibin(IBin::Add, base, inner)
    }
    /// Zero-based, x fastest.
    fn global_linear_id(&mut self) -> Value {
        let [x, y, z] = [0, 1, 2].map(|d| self.zero_based_id(d));
        let (sx, sy) = (self.global_size(0), self.global_size(1));
        let plane = self.e.ibin(IBin::Mul, z, sy);
        let row = self.e.ibin(IBin::Add, plane, y);
        let rows = self.e.ibin(IBin::Mul, row, sx);
        self.e.ibin(IBin::Add, rows, x)
    }
}

/// What a built-in is in a dimension that does not exist.
fn beyond(b: BuiltIn) -> u64 {
    let size = matches!(
        b,
        BuiltIn::GlobalSize | BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize | BuiltIn::NumWorkgroups
    );
    u64::from(size)
}

const LOCAL_ID: [Special; 3] = [Special::LocalIdX, Special::LocalIdY, Special::LocalIdZ];
const GROUP_ID: [Special; 3] = [Special::GroupIdX, Special::GroupIdY, Special::GroupIdZ];
const LOCAL_SIZE: [Special; 3] = [Special::LocalSizeX, Special::LocalSizeY, Special::LocalSizeZ];
