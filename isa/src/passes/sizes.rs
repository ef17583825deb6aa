//! Sizes of loops as the vendor's compiler counts them where it decides about copies.
use super::loops::{self, Loop};
use super::rewrite::count_uses;
use super::trip::{self, Known};
use super::unroll::{Shape, shape};
use crate::ir::{Cfg, FBin, Function, IBin, Inst, InstData, MathFn, Opcode, Ty, Value};

/// Instructions of a loop as the vendor's compiler counts them: products that go into a sum belong to that, and so do
/// extensions of an index that moves evenly, and jumps that only lead on.
pub(super) fn vendor_size(f: &Function, l: &Loop) -> usize {
    let uses = count_uses(f);
    let insts = || l.blocks.iter().flat_map(|&b| &f.block(b).insts).map(|&i| f.inst(i));
    // What is used once, in a float sum or as the offset of an address.
    let mut part = vec![false; f.values.len()];
    for d in insts() {
        let used = match d.op {
            Opcode::FBin(FBin::Add | FBin::Sub) => &d.args[..],
            Opcode::PtrAdd { .. } => &d.args[1..],
            _ => continue,
        };
        used.iter().filter(|v| uses[v.0 as usize] == 1).for_each(|v| part[v.0 as usize] = true);
    }
    let counts = |d: &InstData| match d.op {
        Opcode::Const(_) | Opcode::Undef | Opcode::Jump | Opcode::Bitcast => false,
        Opcode::FBin(FBin::Mul) => !part[d.results[0].0 as usize],
        Opcode::IBin(IBin::Mul | IBin::Shl) => !part[d.results[0].0 as usize] || f.as_const(d.args[1]).is_none(),
        Opcode::Sext => {
            matches!(f.def_inst(d.args[0]).map(|d| &d.op), Some(op) if !matches!(op, Opcode::IBin(IBin::Mul | IBin::Shl)))
        }
        _ => true,
    };
    let size = |d: &InstData| match d.op {
        Opcode::Math(m) => library_size(m),
        _ => usize::from(counts(d)),
    };
    insts().map(size).sum()
}

/// Instructions of one copy of a loop as the vendor's assembler sees them: counters and addresses apart, divisions by
/// constants written out, products fused into sums.
pub(super) fn assembler_size(f: &Function, l: &Loop) -> usize {
    let uses = count_uses(f);
    let insts = || l.blocks.iter().rev().flat_map(|&b| f.block(b).insts.iter().rev()).map(|&i| f.inst(i));
    let mut part = vec![false; f.values.len()];
    let mut size = 0;
    for d in insts() {
        let free = d.results.first().is_some_and(|r| part[r.0 as usize]);
        let (parts, own): (&[Value], usize) = match d.op {
            Opcode::Const(_) | Opcode::Undef | Opcode::Jump | Opcode::Bitcast => (&[], 0),
            Opcode::Branch => (&d.args, 0),
            Opcode::PtrAdd { .. } => (&d.args[1..], 0),
            Opcode::Sext | Opcode::Zext | Opcode::Trunc => (if free { &d.args } else { &[] }, 0),
            Opcode::FBin(FBin::Add | FBin::Sub) => (&d.args, 1),
            Opcode::FBin(FBin::Mul) => (&[], usize::from(!free)),
            Opcode::Math(m) => (&[], library_size(m)),
            Opcode::IBin(op) => (if free { &d.args } else { &[] }, if free { 0 } else { written_out(f, op, d) }),
            _ => (&[], usize::from(!free)),
        };
        // A product is no part of an address, nor anything else of a sum.
        let float = matches!(d.op, Opcode::FBin(_));
        let fits = |v: &Value| f.def_inst(*v).is_some_and(|d| float == matches!(d.op, Opcode::FBin(FBin::Mul)));
        parts.iter().filter(|v| uses[v.0 as usize] == 1 && fits(v)).for_each(|v| part[v.0 as usize] = true);
        size += own;
    }
    // The counter's step.
    size.saturating_sub(1)
}

/// Instructions of an integer operation.
fn written_out(f: &Function, op: IBin, d: &InstData) -> usize {
    match op {
        _ if f.as_const(d.args[1]).is_none_or(u64::is_power_of_two) => 1,
        IBin::UDiv => 3,
        IBin::URem | IBin::SDiv => 5,
        IBin::SRem => 7,
        _ => 1,
    }
}

/// Trips of inner loops that are followed.
const MOST_TRIPS: u64 = 64;

/// Instructions of `trips` copies of a loop that indexes private memory, each with its inner loops' trips as the
/// longest has them: behind that, places in private memory are constants and become values. Nothing if the loop does
/// not. Inner loops whose trips are not known even then stay loops.
pub(super) fn private_size(f: &Function, cfg: &Cfg, all: &[Loop], index: usize, trips: u64) -> Option<usize> {
    let l = &all[index];
    let uses = count_uses(f);
    let indexes = |i: Inst| {
        let d = f.inst(i);
        matches!(d.op, Opcode::PtrAdd { .. }) && f.ty(d.args[0]) == Ty::PtrPrivate && f.as_const(d.args[1]).is_none()
    };
    if !l.blocks.iter().flat_map(|&b| &f.block(b).insts).any(|&i| indexes(i)) {
        return None;
    }
    let mut longest = 0;
    with_trips(f, &shape(f, cfg, l)?, trips, &Known::new(), |known| {
        longest = longest.max(copy_size(f, cfg, all, index, &uses, known));
    })?;
    // What tests and jumps back stands once.
    Some(longest.saturating_sub(2) * trips as usize)
}

fn with_trips(f: &Function, s: &Shape, most: u64, outer: &Known, mut trip: impl FnMut(&Known)) -> Option<()> {
    let mut known = outer.clone();
    trip::each_trip(f, [s.header, s.entry, s.latch], s.inner, most, &mut known, |state| {
        let mut all = outer.clone();
        all.extend(state);
        trip(&all);
    })
}

/// Instructions of one copy of a loop, addresses in private memory apart.
fn copy_size(f: &Function, cfg: &Cfg, all: &[Loop], index: usize, uses: &[u32], known: &Known) -> usize {
    let inner: Vec<usize> = loops::inside(all, index).collect();
    let own = all[index].blocks.iter().filter(|&&b| !inner.iter().any(|&n| all[n].contains(b)));
    let mut part = vec![false; f.values.len()];
    let mut size = 0;
    for &b in own {
        for &i in f.block(b).insts.iter().rev() {
            let d = f.inst(i);
            let address = match d.op {
                Opcode::PtrAdd { .. } => f.ty(d.args[0]) == Ty::PtrPrivate,
                Opcode::IBin(IBin::Mul | IBin::Shl | IBin::Add) | Opcode::Sext | Opcode::Zext | Opcode::Trunc => {
                    part[d.results[0].0 as usize]
                }
                _ => false,
            };
            if address {
                let alone = d.args.iter().filter(|v| uses[v.0 as usize] == 1);
                alone.for_each(|v| part[v.0 as usize] = true);
            }
            size += match d.op {
                Opcode::Const(_) | Opcode::Undef | Opcode::Jump | Opcode::Bitcast => 0,
                Opcode::FBin(FBin::Div) => 4,
                Opcode::Math(m) => library_size(m),
                _ => usize::from(!address),
            };
        }
    }
    for n in inner {
        let (mut trips, mut first) = (0, None);
        let all_trips = shape(f, cfg, &all[n]).and_then(|s| {
            with_trips(f, &s, MOST_TRIPS, known, |known| {
                first.get_or_insert_with(|| known.clone());
                trips += 1;
            })
        });
        let copies = if all_trips.is_some() { trips } else { 1 };
        size += copies * copy_size(f, cfg, all, n, uses, first.as_ref().unwrap_or(known));
    }
    size
}

/// About how many instructions a function of the vendor's library has, which are there before loops are unrolled.
fn library_size(m: MathFn) -> usize {
    use MathFn::*;
    match m {
        Exp | Exp10 => 10,
        Log | Log2 | Log10 | Asin | Acos | Atan | Cbrt | Tanh | Erf => 25,
        Atan2 | Sinh | Cosh | Log1p | Expm1 | Asinh | Acosh | Atanh | Erfc => 40,
        // Those with large arguments to reduce or results to extend.
        Sin | Cos | SinCos | Tan | Pow | Pown | Powr | Rootn | Lgamma | Tgamma => 120,
        _ => 1,
    }
}
