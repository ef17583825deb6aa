//! Constants of a module, specialisation constants and constant expressions included.
use super::error::Res;
use super::module::ModuleReader;
use super::types::{Kind, memory_bytes};
use super::words::Instr;
use crate::ir::{Cond, Conversion, FBin, FCond, FUn, Global, IBin, IUn, Rounding, Ty, eval};
use spirv::Op;

/// A leaf of a constant.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum ConstLeaf {
    Bits(u64),
    Undef,
    /// Address of a module-scope variable plus a byte offset.
    Address {
        global: usize,
        addend: i64,
    },
}

/// A constant.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    /// Type id.
    pub ty: u32,
    /// Leaves, or `None` for all zeros (never expanded where it is only memory).
    pub leaves: Option<Vec<ConstLeaf>>,
}

/// Largest module-scope variable.
pub(super) const MAX_GLOBAL_BYTES: u64 = 1 << 28;

impl ModuleReader<'_> {
    /// A constant's leaves.
    pub fn constant_leaves(&self, id: u32) -> Res<Vec<ConstLeaf>> {
        let c = self.constants.get(&id).ok_or_else(|| format!("%{id} is not a constant defined above"))?;
        match &c.leaves {
            Some(l) => Ok(l.clone()),
            None => Ok(vec![ConstLeaf::Bits(0); self.types.leaves(c.ty)?.len()]),
        }
    }
    /// An integer constant.
    pub fn constant_int(&self, id: u32) -> Res<u64> {
        match self.constant_leaves(id)?[..] {
            [ConstLeaf::Bits(b)] => Ok(b),
            _ => Err(format!("%{id} is not an integer constant")),
        }
    }
    fn add_constant(&mut self, i: &Instr<'_>, leaves: Option<Vec<ConstLeaf>>) -> Res<()> {
        if let Some(l) = &leaves {
            let expected = self.types.get(i.ty)?.leaves;
            if l.len() as u64 != expected {
                return Err(format!("{} parts for a type of {expected}", l.len()));
            }
        }
        self.constants.insert(i.id, Constant { ty: i.ty, leaves });
        Ok(())
    }

    /// Reads a constant instruction.
    pub fn read_constant(&mut self, i: &Instr<'_>) -> Res<()> {
        match i.op {
            Op::ConstantTrue => self.add_constant(i, Some(vec![ConstLeaf::Bits(1)])),
            Op::ConstantFalse => self.add_constant(i, Some(vec![ConstLeaf::Bits(0)])),
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = (i.op == Op::SpecConstantTrue) as u64;
                let v = self.specialised(i.id, 1, default)?;
                self.add_constant(i, Some(vec![ConstLeaf::Bits((v != 0) as u64)]))
            }
            Op::Constant | Op::SpecConstant => {
                let (ty, 1) = self.types.scalar(i.ty)? else { return Err("a literal of a vector type".into()) };
                if ty.is_pointer() || ty == Ty::Bool {
                    return Err("a literal of a type that is not a number".into());
                }
                let high = if ty.bits() > 32 { i.at(1)? } else { 0 };
                let mut v = u64::from(i.at(0)?) | u64::from(high) << 32;
                if i.op == Op::SpecConstant {
                    v = self.specialised(i.id, ty.bits() as usize / 8, v)?;
                }
                self.add_constant(i, Some(vec![ConstLeaf::Bits(eval::mask(v, ty.bits()))]))
            }
            Op::ConstantNull => self.add_constant(i, None),
            Op::Undef => {
                let n = self.types.leaves(i.ty)?.len();
                self.add_constant(i, Some(vec![ConstLeaf::Undef; n]))
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut leaves = Vec::new();
                for &part in i.operands {
                    leaves.extend(self.constant_leaves(part)?);
                }
                self.add_constant(i, Some(leaves))
            }
            Op::SpecConstantOp => {
                let leaves = self.constant_expression(i)?;
                self.add_constant(i, Some(leaves))
            }
            _ => Err("this kind of constant is not supported".into()),
        }
    }

    fn specialised(&self, id: u32, bytes: usize, default: u64) -> Res<u64> {
        let Some(spec) = self.decoration(id).spec_id else { return Ok(default) };
        let Some((_, value)) = self.options.specialisation.iter().find(|(s, _)| *s == spec) else {
            return Ok(default);
        };
        if value.len() != bytes {
            let n = value.len();
            return Err(format!("specialisation constant {spec} has {bytes} bytes, the value given has {n}"));
        }
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(value);
        Ok(u64::from_le_bytes(all))
    }

    /// OpSpecConstantOp.
    fn constant_expression(&self, i: &Instr<'_>) -> Res<Vec<ConstLeaf>> {
        let code = i.at(0)?;
        let op = Op::from_u32(code).ok_or_else(|| format!("opcode {code} of the constant expression is unknown"))?;
        let ids = i.rest(1);
        let arg = |n: usize| -> Res<Vec<ConstLeaf>> {
            self.constant_leaves(*ids.get(n).ok_or("an operand of the constant expression is missing")?)
        };
        match op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.constant_chain(op, i.ty, ids)
            }
            Op::Bitcast | Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::CopyObject => arg(0),
            Op::ConvertPtrToU | Op::ConvertUToPtr => arg(0),
            Op::CompositeExtract => {
                let whole = self.constants.get(ids.first().unwrap_or(&0)).ok_or("no such constant")?.ty;
                let (mut ty, mut first) = (whole, 0);
                for &index in ids.get(1..).unwrap_or(&[]) {
                    let (part, leaf, _) = self.types.part(ty, u64::from(index))?;
                    (ty, first) = (part, first + leaf);
                }
                let n = self.types.get(ty)?.leaves as usize;
                Ok(arg(0)?.get(first..first + n).ok_or("an index out of range")?.to_vec())
            }
            Op::Select => {
                let (c, a, b) = (arg(0)?, arg(1)?, arg(2)?);
                if a.len() != b.len() || c.is_empty() {
                    return Err("operands of a select do not match".into());
                }
                let pick = |n: usize| match c[if c.len() == a.len() { n } else { 0 }] {
                    ConstLeaf::Bits(0) => b[n],
                    _ => a[n],
                };
                Ok((0..a.len()).map(pick).collect())
            }
            _ => self.constant_arithmetic(op, i, ids),
        }
    }

    fn constant_arithmetic(&self, op: Op, i: &Instr<'_>, ids: &[u32]) -> Res<Vec<ConstLeaf>> {
        let (to, count) = self.types.scalar(i.ty)?;
        let first = *ids.first().ok_or("an operand of the constant expression is missing")?;
        let from_ty = self.constants.get(&first).ok_or("an operand is not a constant")?.ty;
        let (from, _) = self.types.scalar(from_ty)?;
        let args: Vec<_> = ids.iter().map(|&id| self.constant_leaves(id)).collect::<Res<_>>()?;
        let mut out = Vec::with_capacity(count);
        for n in 0..count {
            let mut operands = [0u64; 2];
            if args.len() > 2 {
                return Err(format!("Op{op:?} is not supported in constant expressions"));
            }
            for (slot, a) in operands.iter_mut().zip(&args) {
                match a.get(n) {
                    Some(ConstLeaf::Bits(b)) => *slot = *b,
                    Some(ConstLeaf::Undef) => *slot = 0,
                    _ => return Err(format!("Op{op:?} of an address is not supported in constant expressions")),
                }
            }
            let folded = scalar_expression(op, from, to, operands[0], operands[1]);
            out.push(ConstLeaf::Bits(
                folded.ok_or_else(|| format!("Op{op:?} of these operands is not supported in constant expressions"))?,
            ));
        }
        Ok(out)
    }

    fn constant_chain(&self, op: Op, result: u32, ids: &[u32]) -> Res<Vec<ConstLeaf>> {
        let (&base, indices) = ids.split_first().ok_or("an access chain without a base")?;
        let leaves = self.constant_leaves(base)?;
        let [ConstLeaf::Address { global, addend }] = leaves[..] else {
            return Err("an access chain whose base is not a variable's address".into());
        };
        let base_ty = self.constants.get(&base).map(|c| c.ty).ok_or("no such base")?;
        let (_, mut ty) = self.types.pointer(base_ty)?;
        let mut offset = addend;
        let mut rest = indices;
        if matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain)
            && let Some((&element, more)) = indices.split_first()
        {
            let n = self.constant_index(element)?;
            offset = offset.wrapping_add(n.wrapping_mul(self.types.get(ty)?.size as i64));
            rest = more;
        }
        for &id in rest {
            let index = self.constant_index(id)?;
            match &self.types.get(ty)?.kind {
                Kind::Array { element, .. } | Kind::Vector { element, .. } => {
                    offset = offset.wrapping_add(index.wrapping_mul(self.types.get(*element)?.size as i64));
                    ty = *element;
                }
                _ => {
                    let (part, _, at) = self.types.part(ty, index as u64)?;
                    offset = offset.wrapping_add(at as i64);
                    ty = part;
                }
            }
        }
        self.types.pointer(result)?;
        Ok(vec![ConstLeaf::Address { global, addend: offset }])
    }

    fn constant_index(&self, id: u32) -> Res<i64> {
        let ty = self.constants.get(&id).ok_or("an index is not a constant")?.ty;
        let (t, _) = self.types.scalar(ty)?;
        Ok(eval::signed(self.constant_int(id)?, t.bits()))
    }

    /// The initial bytes of a variable.
    pub fn initial_bytes(&self, id: u32, size: u64, global: &mut Global) -> Res<()> {
        let c = self.constants.get(&id).ok_or_else(|| format!("the initializer %{id} is not a constant"))?;
        let Some(leaves) = &c.leaves else { return Ok(()) };
        if self.types.get(c.ty)?.size > size {
            return Err("the initializer is larger than the variable".into());
        }
        for (place, leaf) in self.types.leaves(c.ty)?.into_iter().zip(leaves) {
            let at = place.offset as usize;
            match *leaf {
                ConstLeaf::Bits(b) => {
                    let n = memory_bytes(place.ty) as usize;
                    global.init[at..at + n].copy_from_slice(&b.to_le_bytes()[..n]);
                }
                ConstLeaf::Undef => {}
                ConstLeaf::Address { global: g, addend } => global.relocations.push((at as u32, g, addend)),
            }
        }
        Ok(())
    }
}

/// A scalar constant expression.
fn scalar_expression(op: Op, from: Ty, to: Ty, a: u64, b: u64) -> Option<u64> {
    let bits = from.bits();
    let int = |o: IBin| eval::ibin(o, bits, a, b);
    let cmp = |c: Cond| Some(eval::icmp(c, bits, a, b) as u64);
    let fcmp = |c: FCond| Some(eval::fcmp(c, from, a, b) as u64);
    let float = |o: FBin| eval::fbin(o, from, a, b);
    let convert = |from_signed: bool, to_signed: bool| {
        let rounding = if to.is_float() { Rounding::NearestEven } else { Rounding::Zero };
        eval::convert(Conversion { from, to, from_signed, to_signed, rounding, saturate: false }, a)
    };
    match op {
        Op::IAdd => int(IBin::Add),
        Op::ISub => int(IBin::Sub),
        Op::IMul => int(IBin::Mul),
        Op::SDiv => int(IBin::SDiv),
        Op::UDiv => int(IBin::UDiv),
        Op::SRem => int(IBin::SRem),
        Op::UMod => int(IBin::URem),
        Op::ShiftLeftLogical => int(IBin::Shl),
        Op::ShiftRightLogical => int(IBin::LShr),
        Op::ShiftRightArithmetic => int(IBin::AShr),
        Op::BitwiseAnd | Op::LogicalAnd => int(IBin::And),
        Op::BitwiseOr | Op::LogicalOr => int(IBin::Or),
        Op::BitwiseXor | Op::LogicalNotEqual => int(IBin::Xor),
        Op::LogicalEqual => Some((a == b) as u64),
        Op::LogicalNot => Some((a == 0) as u64),
        Op::Not => Some(eval::iun(IUn::Not, bits, a)),
        Op::SNegate => Some(eval::iun(IUn::Neg, bits, a)),
        Op::UConvert => Some(eval::mask(a, to.bits())),
        Op::SConvert => Some(eval::mask(eval::signed(a, bits) as u64, to.bits())),
        Op::FConvert => convert(false, false),
        Op::ConvertSToF => convert(true, false),
        Op::ConvertUToF => convert(false, false),
        Op::ConvertFToS => convert(false, true),
        Op::ConvertFToU => convert(false, false),
        Op::FAdd => float(FBin::Add),
        Op::FSub => float(FBin::Sub),
        Op::FMul => float(FBin::Mul),
        Op::FDiv => float(FBin::Div),
        Op::FNegate => eval::fun(FUn::Neg, from, a),
        Op::IEqual => cmp(Cond::Eq),
        Op::INotEqual => cmp(Cond::Ne),
        Op::SLessThan => cmp(Cond::SLt),
        Op::SLessThanEqual => cmp(Cond::SLe),
        Op::SGreaterThan => cmp(Cond::SGt),
        Op::SGreaterThanEqual => cmp(Cond::SGe),
        Op::ULessThan => cmp(Cond::ULt),
        Op::ULessThanEqual => cmp(Cond::ULe),
        Op::UGreaterThan => cmp(Cond::UGt),
        Op::UGreaterThanEqual => cmp(Cond::UGe),
        Op::FOrdEqual => fcmp(FCond::OEq),
        Op::FOrdLessThan => fcmp(FCond::OLt),
        Op::FOrdGreaterThan => fcmp(FCond::OGt),
        _ => None,
    }
}
