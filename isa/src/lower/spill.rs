//! Spilling: registers go to private memory, predicates and uniform registers to vector registers.
use super::mir::{File, MFunc, MInst, Opd, Span, Term, VReg};
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
            let (reads, writes) = (i.reads(f), i.writes(f));
            let mut temps: BTreeMap<VReg, VReg> = BTreeMap::new();
            for v in reads.iter().chain(&writes).map(|s| s.v).filter(|v| homes.contains_key(v)) {
                temps.entry(v).or_insert_with(|| pinned_like(f, v));
            }
            for (&v, &t) in &temps {
                new.extend(reload(f, t, mask(&reads, v), homes[&v], zero, i.loc));
            }
            let loc = i.loc;
            let pseudo = i.pseudo;
            let constant = writes.iter().any(|s| matches!(homes.get(&s.v), Some(Home::Constant(_))));
            i.rename(|v| temps.get(&v).copied().unwrap_or(v));
            if constant || pseudo && !temps.is_empty() {
                // The definition itself: it is repeated at each use (or defines nothing yet).
                continue;
            }
            new.push(i);
            for (&v, &t) in &temps {
                new.extend(save(f, t, mask(&writes, v), homes[&v], zero, loc));
            }
        }
        let mut term = f.blocks[b].term.clone();
        if let Some(v) = term.operand()
            && let Some(&home) = homes.get(&v)
        {
            let t = pinned_like(f, v);
            // A branch decides by a predicate, a jump table by a word.
            let word = term.word();
            new.extend(reload(f, t, 1 << word, home, zero, f.blocks[b].loc));
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
        let whole = i.dst == Opd::Reg(v, 0) && i.words().dst[0] == f.info(v).size;
        let moves = matches!(i.op, Op::Mov32 | Op::Mov64) && i.kills() && whole && matches!(i.src[0], Opd::Const(_));
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

/// The words of a register among these spans, by bit.
fn mask(spans: &[Span], v: VReg) -> u32 {
    spans.iter().filter(|s| s.v == v).fold(0, |mask, s| mask | ((1 << s.count) - 1) << s.first)
}

/// Accesses (first word, words) that cover the words of a mask: one, two or four words at a multiple of their number.
fn pieces(mask: u32) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    let mut first = 0;
    while first < 32 {
        let fits = |&n: &u8| first % n == 0 && mask >> first & ((1 << n) - 1) == (1 << n) - 1;
        match [4, 2, 1].into_iter().find(fits) {
            Some(n) => {
                found.push((first, n));
                first += n;
            }
            None => first += 1,
        }
    }
    found
}

fn shape(count: u8) -> u32 {
    AccessShape { element: 4, count, atomic: 0, signed: false }.pack()
}

/// Brings words of a register back into `t`.
fn reload(f: &MFunc, t: VReg, mask: u32, home: Home, zero: Opd, loc: SourceLine) -> Vec<MInst> {
    match home {
        _ if mask == 0 => Vec::new(),
        Home::Private(offset) => pieces(mask)
            .into_iter()
            .map(|(first, count)| {
                MInst::new(Op::LdPrivate, Opd::Reg(t, first), &[zero], loc)
                    .imm((offset + 4 * first as u32) as i32)
                    .imm2(shape(count))
            })
            .collect(),
        Home::Vector(r) => vec![f.copy(t, Opd::Reg(r, 0), loc)],
        Home::Constant(c) => vec![f.copy(t, c, loc)],
    }
}

/// Puts words of `t` into the register's home.
fn save(f: &MFunc, t: VReg, mask: u32, home: Home, zero: Opd, loc: SourceLine) -> Vec<MInst> {
    match home {
        _ if mask == 0 => Vec::new(),
        Home::Private(offset) => pieces(mask)
            .into_iter()
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
