//! Spilling: registers go to private memory, predicates and uniform registers to vector registers.
use super::mir::{File, MFunc, MInst, Opd, Term, VReg};
use std::collections::BTreeMap;
use warpscope_exec::ops::Op;
use warpscope_exec::program::{AccessShape, SourceLine};

/// Where a spilled register lives.
#[derive(Copy, Clone, Debug)]
enum Home {
    /// Offset in private memory.
    Private(u32),
    /// A vector register.
    Vector(VReg),
    /// Computed again from these constant rows.
    Constant(Opd),
}

/// Rewrites the code so that the given registers no longer occupy theirs for long. `private` grows by the slots.
pub(super) fn spill(f: &mut MFunc, victims: &[VReg], private: &mut u32) {
    let mut homes = BTreeMap::new();
    for &v in victims {
        let info = f.info(v);
        let home = match (info.file, constant_source(f, v)) {
            (File::Vector, Some(c)) => Home::Constant(c),
            (File::Vector, None) => {
                let offset = *private;
                *private += 4 * info.size as u32;
                Home::Private(offset)
            }
            _ => Home::Vector(f.new_vreg(File::Vector, info.size as u32)),
        };
        homes.insert(v, home);
    }
    let zero = f.pool.word(0);
    for b in 0..f.blocks.len() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut new = Vec::with_capacity(old.len());
        for mut i in old {
            let reads: Vec<VReg> = i.uses().collect();
            let writes: Vec<VReg> = i.defs().collect();
            let mut temps: BTreeMap<VReg, VReg> = BTreeMap::new();
            let mut touched: Vec<VReg> =
                reads.iter().chain(&writes).copied().filter(|v| homes.contains_key(v)).collect();
            touched.sort_unstable();
            touched.dedup();
            for &v in &touched {
                let t = pinned_like(f, v);
                temps.insert(v, t);
                if reads.contains(&v) {
                    new.extend(reload(f, t, homes[&v], zero, i.loc));
                }
            }
            let loc = i.loc;
            let pseudo = i.pseudo;
            let constant = touched.iter().any(|v| writes.contains(v) && matches!(homes[v], Home::Constant(_)));
            i.rename(|v| temps.get(&v).copied().unwrap_or(v));
            if constant || pseudo && !touched.is_empty() {
                // The definition itself: it is repeated at each use (or defines nothing yet).
                continue;
            }
            new.push(i);
            for &v in touched.iter().filter(|v| writes.contains(v)) {
                new.extend(save(f, temps[&v], homes[&v], zero, loc));
            }
        }
        let mut term = f.blocks[b].term.clone();
        if let Some(v) = term.operand()
            && let Some(&home) = homes.get(&v)
        {
            let t = pinned_like(f, v);
            new.extend(reload(f, t, home, zero, f.blocks[b].loc));
            term = rename_operand(term, t);
        }
        f.blocks[b].insts = new;
        f.blocks[b].term = term;
    }
}

fn rename_operand(mut term: Term, to: VReg) -> Term {
    term.rename(|_| to);
    term
}

/// The constant that a register always holds, if its only definition is a move of one.
fn constant_source(f: &MFunc, v: VReg) -> Option<Opd> {
    let mut source = None;
    for i in f.blocks.iter().flat_map(|b| &b.insts).filter(|i| i.defs().any(|d| d == v)) {
        let moves = matches!(i.op, Op::Mov32 | Op::Mov64) && i.kills() && matches!(i.src[0], Opd::Const(_));
        if !moves || source.is_some() {
            return None;
        }
        source = Some(i.src[0]);
    }
    source
}

fn pinned_like(f: &mut MFunc, v: VReg) -> VReg {
    let info = f.info(v);
    let t = f.new_vreg(info.file, info.size as u32);
    f.vregs[t.0 as usize].pinned = true;
    t
}

/// Words of one access to a slot at this offset of the register.
fn pieces(size: u8) -> impl Iterator<Item = (u8, u8)> {
    (0..size).step_by(4).map(move |first| (first, (size - first).min(4)))
}

fn shape(count: u8) -> u32 {
    AccessShape { element: 4, count, atomic: 0, signed: false }.pack()
}

fn reload(f: &MFunc, t: VReg, home: Home, zero: Opd, loc: SourceLine) -> Vec<MInst> {
    match home {
        Home::Private(offset) => pieces(f.info(t).size)
            .map(|(first, count)| {
                let mut i = MInst::new(Op::LdPrivate, Opd::Reg(t, first), &[zero], loc)
                    .imm((offset + 4 * first as u32) as i32)
                    .imm2(shape(count));
                i.partial = first > 0;
                i
            })
            .collect(),
        Home::Vector(r) => vec![f.copy(t, Opd::Reg(r, 0), loc)],
        Home::Constant(c) => vec![f.copy(t, c, loc)],
    }
}

fn save(f: &MFunc, t: VReg, home: Home, zero: Opd, loc: SourceLine) -> Vec<MInst> {
    match home {
        Home::Private(offset) => pieces(f.info(t).size)
            .map(|(first, count)| {
                MInst::new(Op::StPrivate, Opd::None, &[zero, Opd::Reg(t, first)], loc)
                    .imm((offset + 4 * first as u32) as i32)
                    .imm2(shape(count))
            })
            .collect(),
        Home::Vector(r) if f.info(t).file == File::Predicate => {
            vec![MInst::new(Op::PredToReg, Opd::Reg(r, 0), &[Opd::Pred(t, false)], loc)]
        }
        Home::Vector(r) => vec![f.copy(r, Opd::Reg(t, 0), loc)],
        Home::Constant(_) => Vec::new(),
    }
}
