//! Splits copies that touch private memory into loads and stores along the ranges that other accesses use.
use super::{Pointers, bytes, integer, join_ranges};
use crate::ir::{Access, Cfg, Function, Inst, Opcode, Ty, Value};

/// Larger copies stay copies.
const MAX_BYTES: u32 = 1024;
/// Rounds in which ranges travel along chains of copies.
const ROUNDS: usize = 8;

struct CopyInst {
    inst: Inst,
    to: Option<(usize, u32)>,
    from: Option<(usize, u32)>,
    bytes: u32,
}

pub(super) fn expand(f: &mut Function, cfg: &Cfg) -> bool {
    let pointers = Pointers::new(f, cfg);
    let mut copies = Vec::new();
    let mut ranges: Vec<Vec<(u32, u32)>> = pointers.places.iter().map(|_| Vec::new()).collect();
    for &i in cfg.rpo.iter().flat_map(|&b| &f.block(b).insts) {
        let d = f.inst(i);
        let (ty, count) = match &d.op {
            Opcode::Load(a) => (f.ty(d.results[0]), a.count),
            Opcode::Store(a) => (f.ty(d.args[1]), a.count),
            Opcode::Copy { bytes, .. } => {
                let (to, from) = (pointers.local(d.args[0]), pointers.local(d.args[1]));
                if (to.is_some() || from.is_some()) && *bytes <= MAX_BYTES {
                    copies.push(CopyInst { inst: i, to, from, bytes: *bytes });
                }
                continue;
            }
            _ => continue,
        };
        if let Some((place, offset)) = pointers.local(d.args[0]) {
            let n = bytes(ty);
            ranges[place].extend((0..u32::from(count)).map(|k| (offset + k * n, offset + (k + 1) * n)));
        }
    }
    if copies.is_empty() {
        return false;
    }
    spread(&copies, &mut ranges);
    for c in &copies {
        let mut pieces = Vec::new();
        for (side, base) in [(c.to, c.to), (c.from, c.from)].into_iter().filter_map(|(s, b)| s.zip(b)) {
            pieces.extend(within(&ranges[side.0], base.1, c.bytes));
        }
        split(f, c, cover(join_ranges(pieces), c.bytes));
    }
    let gone: Vec<Inst> = copies.iter().map(|c| c.inst).collect();
    for b in &mut f.blocks {
        b.insts.retain(|i| !gone.contains(i));
    }
    true
}

/// Ranges inside a copy, relative to its start.
fn within(ranges: &[(u32, u32)], base: u32, bytes: u32) -> Vec<(u32, u32)> {
    ranges.iter().filter(|(lo, hi)| *lo >= base && *hi <= base + bytes).map(|(lo, hi)| (lo - base, hi - base)).collect()
}

/// Ranges accessed on one side of a copy are accessed on the other.
fn spread(copies: &[CopyInst], ranges: &mut [Vec<(u32, u32)>]) {
    for list in ranges.iter_mut() {
        list.sort_unstable();
        list.dedup();
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for c in copies {
            let (Some(to), Some(from)) = (c.to, c.from) else { continue };
            for (a, b) in [(to, from), (from, to)] {
                for (lo, hi) in within(&ranges[a.0], a.1, c.bytes) {
                    let range = (lo + b.1, hi + b.1);
                    if !ranges[b.0].contains(&range) {
                        ranges[b.0].push(range);
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
}

/// Pieces of 1, 2, 4 or 8 bytes that cover all bytes and respect the given ranges.
fn cover(ranges: Vec<(u32, u32)>, bytes: u32) -> Vec<(u32, u32)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let fill = |pieces: &mut Vec<(u32, u32)>, mut at: u32, end: u32| {
        while at < end {
            let n = [4, 2, 1].into_iter().find(|n| at.is_multiple_of(*n) && at + n <= end).unwrap_or(1);
            pieces.push((at, n));
            at += n;
        }
    };
    for (lo, hi) in ranges {
        fill(&mut pieces, at, lo);
        match integer(hi - lo) {
            Some(_) => pieces.push((lo, hi - lo)),
            None => fill(&mut pieces, lo, hi),
        }
        at = hi;
    }
    fill(&mut pieces, at, bytes);
    pieces
}

/// Replaces a copy by a load and a store for each piece, placed before it.
fn split(f: &mut Function, c: &CopyInst, pieces: Vec<(u32, u32)>) {
    let d = f.inst(c.inst).clone();
    let Opcode::Copy { align, .. } = d.op else { return };
    let mut new = Vec::new();
    for (offset, n) in pieces {
        let Some(ty) = integer(n) else { continue };
        let align = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros().min(30)) };
        let access = Access { count: 1, align, volatile: false };
        let from = place(f, d.args[1], offset, &mut new, d.loc);
        let to = place(f, d.args[0], offset, &mut new, d.loc);
        let load = f.make_inst(Opcode::Load(access), &[from], &[ty], d.loc);
        let v = f.inst(load).results[0];
        let store = f.make_inst(Opcode::Store(access), &[to, v], &[], d.loc);
        new.extend([load, store]);
    }
    for b in &mut f.blocks {
        if let Some(at) = b.insts.iter().position(|&i| i == c.inst) {
            b.insts.splice(at..at, new);
            break;
        }
    }
}

fn place(f: &mut Function, p: Value, offset: u32, new: &mut Vec<Inst>, loc: crate::ir::Loc) -> Value {
    if offset == 0 {
        return p;
    }
    let ty = f.ty(p);
    let wide = if ty.bits() == 32 { Ty::I32 } else { Ty::I64 };
    let k = f.make_inst(Opcode::Const(u64::from(offset)), &[], &[wide], loc);
    let kv = f.inst(k).results[0];
    let add = f.make_inst(Opcode::PtrAdd { inbounds: true }, &[p, kv], &[ty], loc);
    new.extend([k, add]);
    f.inst(add).results[0]
}
