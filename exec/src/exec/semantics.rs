//! The one table of semantics: an arm for every operation, compiled once for each width and level of vector
//! extensions. Operations on memory and control flow are only named here ([`Outcome`]); `step` carries them out.
use super::arith::*;
use super::builtin::{int_fn, math, math32};
use super::convert::convert_lanes;
use super::float::{max32, max64, min32, min64};
use super::lanes::{Lanes, each, full_mask};
#[cfg(target_arch = "x86_64")]
use super::level::{Avx2, Avx512};
use super::level::{Base, HostLevel, Level};
use super::memory::Space;
use super::{Code, Group, Row, Scratch, Warp};
use crate::ops::Op;
use crate::ops::Ty;
use crate::program::{MachineOp, Special, flags};

/// What is left to do for an operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nothing.
    Done,
    /// To announce an access that was carried out: memory, whether a store.
    Announce(Space, bool),
    Load(Target),
    Store(Target),
    Atomic(Target),
    Branch,
    BranchTable,
    Exit,
    Barrier,
    SubGroupBarrier,
    Fence,
    Trap,
}

/// Memory that an operation names.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Known(Space),
    Generic,
}

type Run<const W: usize> =
    unsafe fn(&MachineOp, &Code<'_, W>, &mut Warp<W>, &mut Group, &mut Scratch<W>, u64) -> Outcome;

/// The semantics compiled for what the host offers.
#[derive(Copy, Clone)]
pub(super) struct Execute<const W: usize>(Run<W>);

impl<const W: usize> Execute<W> {
    /// The best level of this host.
    pub fn select() -> Self {
        Self::of(HostLevel::best())
    }

    /// A given level, which the host must have.
    pub fn of(level: HostLevel) -> Self {
        match W {
            8 => same_width(table8(level)),
            16 => same_width(table16(level)),
            32 => same_width(table32(level)),
            64 => same_width(table64(level)),
            _ => panic!("a warp has 8, 16, 32 or 64 lanes, not {W}"),
        }
    }

    /// Carries out `op` for the lanes in `mask`, which is not 0.
    #[inline(always)]
    pub fn run(
        &self,
        op: &MachineOp,
        code: &Code<'_, W>,
        warp: &mut Warp<W>,
        group: &mut Group,
        scratch: &mut Scratch<W>,
        mask: u64,
    ) -> Outcome {
        // SAFETY: `of` is only given levels of this host.
        unsafe { (self.0)(op, code, warp, group, scratch, mask) }
    }
}

/// The functions are compiled in this crate for each width; users name the width by a parameter of their own.
fn same_width<const A: usize, const B: usize>(run: Run<A>) -> Execute<B> {
    assert_eq!(A, B);
    // SAFETY: A and B are equal, so both sides are the same type.
    Execute(unsafe { std::mem::transmute_copy::<Run<A>, Run<B>>(&run) })
}

/// Not generic and never inlined, so that this crate holds the only instantiations, one for each width and level: they
/// take a minute to compile.
macro_rules! tables {
    ($($name:ident $width:literal;)*) => {
        $(#[inline(never)]
        fn $name(level: HostLevel) -> Run<$width> {
            match level {
                HostLevel::Base => run_base::<$width>,
                #[cfg(target_arch = "x86_64")]
                HostLevel::Avx2 => run_avx2::<$width>,
                #[cfg(target_arch = "x86_64")]
                HostLevel::Avx512 => run_avx512::<$width>,
            }
        })*
    };
}

tables! {
    table8 8;
    table16 16;
    table32 32;
    table64 64;
}

/// # Safety
/// None needed; unsafe to have the type of the others.
unsafe fn run_base<const W: usize>(
    op: &MachineOp,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    scratch: &mut Scratch<W>,
    mask: u64,
) -> Outcome {
    semantics::<Base, W>(op, code, warp, group, scratch, mask)
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx2<const W: usize>(
    op: &MachineOp,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    scratch: &mut Scratch<W>,
    mask: u64,
) -> Outcome {
    semantics::<Avx2, W>(op, code, warp, group, scratch, mask)
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_avx512<const W: usize>(
    op: &MachineOp,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    scratch: &mut Scratch<W>,
    mask: u64,
) -> Outcome {
    semantics::<Avx512, W>(op, code, warp, group, scratch, mask)
}

#[inline(always)]
fn special<const W: usize>(x: &mut Lanes<'_, W>, group: &Group) {
    let w = &*x.warp;
    let splat = |v: u32| [v; W];
    let d = match Special::ALL[x.op.imm as usize % Special::ALL.len()] {
        Special::LocalIdX => w.local_id(0, group.size),
        Special::LocalIdY => w.local_id(1, group.size),
        Special::LocalIdZ => w.local_id(2, group.size),
        Special::GroupIdX => splat(group.id[0]),
        Special::GroupIdY => splat(group.id[1]),
        Special::GroupIdZ => splat(group.id[2]),
        Special::LocalSizeX => splat(group.size[0]),
        Special::LocalSizeY => splat(group.size[1]),
        Special::LocalSizeZ => splat(group.size[2]),
        Special::SubGroupId => splat(w.sub_group),
        Special::SubGroupLocalId => std::array::from_fn(|i| i as u32),
        Special::SubGroupSize => splat(w.sub_group_size),
        Special::NumSubGroups => splat(group.sub_groups),
        Special::LinearLocalId => std::array::from_fn(|i| w.sub_group * W as u32 + i as u32),
    };
    x.put(d);
}

/// Selects between sources 0 and 1 by predicate 2.
#[inline(always)]
fn select<const W: usize>(x: &mut Lanes<'_, W>) {
    let mut d = Row(x.words(1));
    super::lanes::blend(&mut d, &x.words(0), x.predicate(2));
    x.put(d.0);
}

#[inline(always)]
fn select64<const W: usize>(x: &mut Lanes<'_, W>) {
    let (a, b, p) = (x.longs(0), x.longs(1), x.predicate(2));
    let mut d = b;
    for i in 0..W {
        d[i] = if p >> i & 1 != 0 { a[i] } else { b[i] };
    }
    x.put64(d);
}

#[inline(always)]
fn predicate_to_row<const W: usize>(x: &mut Lanes<'_, W>) {
    let mut d = Row([0; W]);
    super::lanes::blend(&mut d, &[1; W], x.predicate(0));
    x.put(d.0);
}

#[inline(always)]
fn row_to_predicate<L: Level, const W: usize>(x: &mut Lanes<'_, W>) {
    let rows = each(&x.words(0), |a| if a != 0 { u32::MAX } else { 0 });
    x.put_predicate(L::top_bits(&rows));
}

#[inline(always)]
fn semantics<L: Level, const W: usize>(
    op: &MachineOp,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    scratch: &mut Scratch<W>,
    mask: u64,
) -> Outcome {
    // Here, so that rows are written and read with vectors of one size: the host forwards them from its store queue.
    scratch.spread_sources(op, warp);
    let mut x = Lanes::new(op, code, warp, scratch, mask);
    match op.op {
        Op::Nop => {}
        Op::Mov32 => x.map1(|a| a),
        Op::Mov64 => x.wide1(|a| a),
        Op::Sel32 => select(&mut x),
        Op::Sel64 => select64(&mut x),
        Op::PredToReg => predicate_to_row(&mut x),
        Op::RegToPred => row_to_predicate::<L, W>(&mut x),
        Op::PMov => x.put_predicate(x.predicate(0)),
        Op::PAnd => x.put_predicate(x.predicate(0) & x.predicate(1)),
        Op::POr => x.put_predicate(x.predicate(0) | x.predicate(1)),
        Op::PXor => x.put_predicate(x.predicate(0) ^ x.predicate(1)),
        Op::PSel => {
            let c = x.predicate(2);
            x.put_predicate(x.predicate(0) & c | x.predicate(1) & !c);
        }
        Op::ReadSpecial => special(&mut x, group),
        // Integer arithmetic
        Op::IAdd8 => x.map2(|a, b| a.wrapping_add(b) & 0xff),
        Op::IAdd16 => x.map2(|a, b| a.wrapping_add(b) & 0xffff),
        Op::IAdd32 => x.map2(u32::wrapping_add),
        Op::IAdd64 => x.wide2(u64::wrapping_add),
        Op::ISub8 => x.map2(|a, b| a.wrapping_sub(b) & 0xff),
        Op::ISub16 => x.map2(|a, b| a.wrapping_sub(b) & 0xffff),
        Op::ISub32 => x.map2(u32::wrapping_sub),
        Op::ISub64 => x.wide2(u64::wrapping_sub),
        Op::IMul8 => x.map2(|a, b| a.wrapping_mul(b) & 0xff),
        Op::IMul16 => x.map2(|a, b| a.wrapping_mul(b) & 0xffff),
        Op::IMul32 => x.map2(u32::wrapping_mul),
        Op::IMul64 => x.wide2(u64::wrapping_mul),
        Op::IMad32 => x.map3(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Op::IMad64 => x.wide3(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Op::IMadWideS => {
            x.widen3(|a, b, c| (a as i32 as i64).wrapping_mul(b as i32 as i64).wrapping_add(c as i64) as u64)
        }
        Op::IMadWideU => x.widen3(|a, b, c| (a as u64 * b as u64).wrapping_add(c)),
        Op::IAdd3 => x.map3(|a, b, c| a.wrapping_add(b).wrapping_add(c)),
        Op::Lea32 => x.map2(|a, b| (a << (op.imm & 31)).wrapping_add(b)),
        Op::LeaHiU32 => x.map2(|a, b| (a >> (op.imm & 31)).wrapping_add(b)),
        Op::LeaHiS32 => x.map2(|a, b| (((a as i32) >> (op.imm & 31)) as u32).wrapping_add(b)),
        Op::Lea64 => x.wide2(|a, b| (a << (op.imm & 63)).wrapping_add(b)),
        Op::LeaSext => x.widen2(|a, b| ((a as i32 as u64) << (op.imm & 63)).wrapping_add(b)),
        Op::LeaZext => x.widen2(|a, b| ((a as u64) << (op.imm & 63)).wrapping_add(b)),
        Op::IAddSext => x.widen2(|a, b| (a as i32 as u64).wrapping_add(b)),
        Op::IAddZext => x.widen2(|a, b| (a as u64).wrapping_add(b)),
        Op::SMulHi8 => x.map2(|a, b| (s8(a) * s8(b)) as u32 >> 8 & 0xff),
        Op::SMulHi16 => x.map2(|a, b| (s16(a) * s16(b)) as u32 >> 16),
        Op::SMulHi32 => x.map2(|a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u32),
        Op::SMulHi64 => x.wide2(|a, b| smulhi64(a as i64, b as i64) as u64),
        Op::UMulHi8 => x.map2(|a, b| a.wrapping_mul(b) >> 8 & 0xff),
        Op::UMulHi16 => x.map2(|a, b| a.wrapping_mul(b) >> 16),
        Op::UMulHi32 => x.map2(|a, b| ((a as u64 * b as u64) >> 32) as u32),
        Op::UMulHi64 => x.wide2(umulhi64),
        Op::SDiv8 => x.map2(|a, b| sdiv32(s8(a), s8(b)) as u32 & 0xff),
        Op::SDiv16 => x.map2(|a, b| sdiv32(s16(a), s16(b)) as u32 & 0xffff),
        Op::SDiv32 => x.map2(|a, b| sdiv32(a as i32, b as i32) as u32),
        Op::SDiv64 => x.wide2(|a, b| sdiv64(a as i64, b as i64) as u64),
        Op::UDiv8 => x.map2(|a, b| udiv32(a, b) & 0xff),
        Op::UDiv16 => x.map2(|a, b| udiv32(a, b) & 0xffff),
        Op::UDiv32 => x.map2(udiv32),
        Op::UDiv64 => x.wide2(udiv64),
        Op::SRem8 => x.map2(|a, b| srem32(s8(a), s8(b)) as u32 & 0xff),
        Op::SRem16 => x.map2(|a, b| srem32(s16(a), s16(b)) as u32 & 0xffff),
        Op::SRem32 => x.map2(|a, b| srem32(a as i32, b as i32) as u32),
        Op::SRem64 => x.wide2(|a, b| srem64(a as i64, b as i64) as u64),
        Op::URem8 => x.map2(urem32),
        Op::URem16 => x.map2(urem32),
        Op::URem32 => x.map2(urem32),
        Op::URem64 => x.wide2(urem64),
        Op::INeg8 => x.map1(|a| a.wrapping_neg() & 0xff),
        Op::INeg16 => x.map1(|a| a.wrapping_neg() & 0xffff),
        Op::INeg32 => x.map1(u32::wrapping_neg),
        Op::INeg64 => x.wide1(u64::wrapping_neg),
        Op::IAbs8 => x.map1(|a| s8(a).unsigned_abs()),
        Op::IAbs16 => x.map1(|a| s16(a).unsigned_abs()),
        Op::IAbs32 => x.map1(|a| (a as i32).unsigned_abs()),
        Op::IAbs64 => x.wide1(|a| (a as i64).unsigned_abs()),
        // Logic and shifts
        Op::And32 => x.map2(|a, b| a & b),
        Op::And64 => x.wide2(|a, b| a & b),
        Op::Or32 => x.map2(|a, b| a | b),
        Op::Or64 => x.wide2(|a, b| a | b),
        Op::Xor32 => x.map2(|a, b| a ^ b),
        Op::Xor64 => x.wide2(|a, b| a ^ b),
        Op::Not8 => x.map1(|a| !a & 0xff),
        Op::Not16 => x.map1(|a| !a & 0xffff),
        Op::Not32 => x.map1(|a| !a),
        Op::Not64 => x.wide1(|a| !a),
        Op::Lop3 => {
            let table = lop3_table(op.imm);
            x.map3(|a, b, c| lop3(table, a, b, c));
        }
        Op::Shl8 => x.map2(|a, b| a << (b & 7) & 0xff),
        Op::Shl16 => x.map2(|a, b| a << (b & 15) & 0xffff),
        Op::Shl32 => x.map2(|a, b| a << (b & 31)),
        Op::Shl64 => x.shift(|a, b| a << (b & 63)),
        Op::LShr8 => x.map2(|a, b| a >> (b & 7)),
        Op::LShr16 => x.map2(|a, b| a >> (b & 15)),
        Op::LShr32 => x.map2(|a, b| a >> (b & 31)),
        Op::LShr64 => x.shift(|a, b| a >> (b & 63)),
        Op::AShr8 => x.map2(|a, b| (s8(a) >> (b & 7)) as u32 & 0xff),
        Op::AShr16 => x.map2(|a, b| (s16(a) >> (b & 15)) as u32 & 0xffff),
        Op::AShr32 => x.map2(|a, b| (a as i32 >> (b & 31)) as u32),
        Op::AShr64 => x.shift(|a, b| (a as i64 >> (b & 63)) as u64),
        Op::Rotl8 => x.map2(|a, b| (a << (b & 7) | a >> (8 - (b & 7))) & 0xff),
        Op::Rotl16 => x.map2(|a, b| (a << (b & 15) | a >> (16 - (b & 15))) & 0xffff),
        Op::Rotl32 => x.map2(|a, b| a.rotate_left(b & 31)),
        Op::Rotl64 => x.shift(|a, b| a.rotate_left(b & 63)),
        Op::ShfL => x.map3(|a, b, c| (((b as u64) << 32 | a as u64) << (c & 31) >> 32) as u32),
        Op::ShfR => x.map3(|a, b, c| (((b as u64) << 32 | a as u64) >> (c & 31)) as u32),
        Op::Bfe32U => {
            let (left, right) = bit_field(op.imm);
            x.map1(|a| bfe_u(a, left, right));
        }
        Op::Bfe32S => {
            let (left, right) = bit_field(op.imm);
            x.map1(|a| bfe_s(a, left, right));
        }
        // Min, max, counts
        Op::SMin8 => x.map2(|a, b| if s8(a) < s8(b) { a } else { b }),
        Op::SMin16 => x.map2(|a, b| if s16(a) < s16(b) { a } else { b }),
        Op::SMin32 => x.map2(|a, b| (a as i32).min(b as i32) as u32),
        Op::SMin64 => x.wide2(|a, b| (a as i64).min(b as i64) as u64),
        Op::SMax8 => x.map2(|a, b| if s8(a) > s8(b) { a } else { b }),
        Op::SMax16 => x.map2(|a, b| if s16(a) > s16(b) { a } else { b }),
        Op::SMax32 => x.map2(|a, b| (a as i32).max(b as i32) as u32),
        Op::SMax64 => x.wide2(|a, b| (a as i64).max(b as i64) as u64),
        Op::UMin8 | Op::UMin16 | Op::UMin32 => x.map2(u32::min),
        Op::UMin64 => x.wide2(u64::min),
        Op::UMax8 | Op::UMax16 | Op::UMax32 => x.map2(u32::max),
        Op::UMax64 => x.wide2(u64::max),
        Op::IAddMnMx => {
            let kind = MinMax::of(op.imm);
            x.map3(|a, b, c| kind.of_two(a.wrapping_add(b), c));
        }
        Op::IMnMx3 => {
            let kind = MinMax::of(op.imm);
            x.map3(|a, b, c| kind.of_two(kind.of_two(a, b), c));
        }
        Op::Popc32 => x.map1(u32::count_ones),
        Op::Popc64 => x.wide1(|a| a.count_ones() as u64),
        Op::Clz8 => x.map1(|a| clz(a, 8)),
        Op::Clz16 => x.map1(|a| clz(a, 16)),
        Op::Clz32 => x.map1(u32::leading_zeros),
        Op::Clz64 => x.wide1(|a| a.leading_zeros() as u64),
        Op::Ctz8 => x.map1(|a| ctz(a, 8)),
        Op::Ctz16 => x.map1(|a| ctz(a, 16)),
        Op::Ctz32 => x.map1(u32::trailing_zeros),
        Op::Ctz64 => x.wide1(|a| a.trailing_zeros() as u64),
        Op::BitRev8 => x.map1(|a| a.reverse_bits() >> 24),
        Op::BitRev16 => x.map1(|a| a.reverse_bits() >> 16),
        Op::BitRev32 => x.map1(u32::reverse_bits),
        Op::BitRev64 => x.wide1(u64::reverse_bits),
        Op::IntFn => int_fn(x),
        Op::Sext8To32 => x.map1(|a| s8(a) as u32),
        Op::Sext16To32 => x.map1(|a| s16(a) as u32),
        Op::Sext8To16 => x.map1(|a| s8(a) as u32 & 0xffff),
        Op::Sext32To64 => x.widen(|a| a as i32 as u64),
        Op::Zext32To64 => x.widen(|a| a as u64),
        Op::Trunc8 => x.map1(|a| a & 0xff),
        Op::Trunc16 => x.map1(|a| a & 0xffff),
        // Compares
        Op::ICmp8 => x.compare_int::<L>(24),
        Op::ICmp16 => x.compare_int::<L>(16),
        Op::ICmp32 => x.compare_int::<L>(0),
        Op::ICmp64 => x.compare_int64::<L>(),
        Op::Test32 => x.test_bits::<L>(),
        Op::FCmpF16 => x.compare_f16::<L>(),
        Op::FCmpF32 => x.compare_f32::<L>(),
        Op::FCmpF64 => x.compare_f64::<L>(),
        // Floats
        Op::FAddF16 => x.half2(|a, b| a + b),
        Op::FAddF32 => x.float2(|a, b| a + b),
        Op::FAddF64 => x.double2(|a, b| a + b),
        Op::FMulF16 => x.half2(|a, b| a * b),
        Op::FMulF32 => x.float2(|a, b| a * b),
        Op::FMulF64 => x.double2(|a, b| a * b),
        Op::FFmaF16 => x.half_fma(),
        Op::FFmaF32 => x.float3(L::fma32),
        Op::FFmaF64 => x.double3(L::fma64),
        Op::FDivF16 => x.half2(|a, b| a / b),
        Op::FDivF32 => x.float2(|a, b| a / b),
        Op::FDivF64 => x.double2(|a, b| a / b),
        Op::FRemF16 => x.half2(libm::fmodf),
        Op::FRemF32 => x.float2(libm::fmodf),
        Op::FRemF64 => x.double2(libm::fmod),
        Op::FMinF16 => x.half2(min32),
        Op::FMinF32 => x.float2(min32),
        Op::FMinF64 => x.double2(min64),
        Op::FMaxF16 => x.half2(max32),
        Op::FMaxF32 => x.float2(max32),
        Op::FMaxF64 => x.double2(max64),
        Op::FSqrtF16 => x.half1(f32::sqrt),
        Op::FSqrtF32 => x.float1(f32::sqrt),
        Op::FSqrtF64 => x.double1(f64::sqrt),
        Op::FNegF16 => x.sign_bits(u32::MAX, 0x8000),
        Op::FNegF32 => x.sign_bits(u32::MAX, 0x8000_0000),
        Op::FNegF64 => x.wide1(|a| a ^ 1 << 63),
        Op::FAbsF16 => x.sign_bits(0x7fff, 0),
        Op::FAbsF32 => x.sign_bits(0x7fff_ffff, 0),
        Op::FAbsF64 => x.wide1(|a| a & !(1 << 63)),
        Op::FRoundF16 => x.round_halves(),
        Op::FRoundF32 => x.round_singles(),
        Op::FRoundF64 => x.round_doubles(),
        Op::MathF16 => math(x, Ty::F16),
        Op::MathF32 => math32(x),
        Op::MathF64 => math(x, Ty::F64),
        Op::Convert => convert_lanes(x),
        // Memory
        Op::LdGlobal => return x.at_address(Outcome::Load(Target::Known(Space::Global))),
        Op::LdConstant => return x.at_address(Outcome::Load(Target::Known(Space::Constant))),
        Op::LdLocal => return x.load_local::<L>(group),
        Op::LdPrivate => return x.load_private(),
        Op::LdGeneric => return x.at_address(Outcome::Load(Target::Generic)),
        Op::StGlobal => return x.at_address(Outcome::Store(Target::Known(Space::Global))),
        Op::StLocal => return x.store_local(group),
        Op::StPrivate => return x.store_private(),
        Op::StGeneric => return x.at_address(Outcome::Store(Target::Generic)),
        Op::AtomGlobal => return x.at_address(Outcome::Atomic(Target::Known(Space::Global))),
        Op::AtomLocal => return x.at_offset(Outcome::Atomic(Target::Known(Space::Local))),
        Op::AtomGeneric => return x.at_address(Outcome::Atomic(Target::Generic)),
        // Control
        Op::Bra => return Outcome::Branch,
        Op::Brx => return Outcome::BranchTable,
        Op::Exit => return Outcome::Exit,
        Op::Bar => return Outcome::Barrier,
        Op::BarSub => return Outcome::SubGroupBarrier,
        Op::MemBar => return Outcome::Fence,
        Op::Trap => return Outcome::Trap,
        // Cross-lane
        Op::WarpReduce => x.warp_reduce(),
        Op::WarpFull => x.warp_full(),
        Op::WarpElect => x.warp_elect(),
        Op::WarpScan => x.warp_scan(),
        Op::VoteAny => x.vote(false),
        Op::VoteAll => x.vote(true),
        Op::Ballot => x.ballot(),
        Op::ShflIdx => x.shuffle(|_, b| b),
        Op::ShflXor => x.shuffle(|own, b| own ^ b),
        Op::ShflUp => x.shuffle(|own, b| own.wrapping_sub(b)),
        Op::ShflDown => x.shuffle(|own, b| own.saturating_add(b)),
    }
    Outcome::Done
}

/// Lanes that `op` concerns: active and not held back by its guard.
#[inline(always)]
pub(super) fn guarded<const W: usize>(op: &MachineOp, warp: &Warp<W>) -> u64 {
    match op.guard.get() {
        None => warp.active,
        Some((p, negated)) => {
            warp.active & (warp.predicates[(p & 15) as usize] ^ if negated { full_mask(W) } else { 0 })
        }
    }
}

/// Whether `op` only takes time.
#[inline(always)]
pub(super) fn is_ghost(op: &MachineOp) -> bool {
    op.flags & flags::GHOST != 0
}
