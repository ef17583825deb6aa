//! Values brought into consecutive registers for wide stores: once for stores of the same values, and in front of the
//! loop where it changes none of them (sass `write_f4`, `l2write_f4`: one set of registers for all STG.128).
use super::cfg::Cfg;
use super::constants::{dominators, out_of_innermost_loop};
use super::mir::{File, MFunc, MInst, Opd, VReg};
use std::collections::{BTreeMap, HashMap};
use warpscope_exec::ops::Op;

/// Where each register is written: how often, and in which block last.
type Writes = HashMap<VReg, (u32, usize)>;

/// A set of registers: the block whose end or course it is made in, what it holds, and its name.
type Pack = (usize, Vec<Opd>, VReg);

/// Joins and hoists packs; `room`: words that may be held in front of one loop.
pub(super) fn share(f: &mut MFunc, room: usize) {
    let mut writes = Writes::new();
    for (b, block) in f.blocks.iter().enumerate() {
        for v in block.insts.iter().flat_map(MInst::defs) {
            let w = writes.entry(v).or_insert((0, b));
            *w = (w.0 + 1, b);
        }
    }
    let cfg = Cfg::of(f);
    let idom = dominators(f);
    let dominates = |a: usize, b: usize| std::iter::successors(Some(b), |&x| idom[x]).any(|x| x == a);
    let mut made: Vec<Pack> = Vec::new();
    let mut held: HashMap<usize, usize> = HashMap::new();
    let mut renamed: HashMap<VReg, VReg> = HashMap::new();
    for &b in &cfg.order {
        for (v, sources) in candidates(f, b, &writes) {
            let before = out_of_innermost_loop(&cfg, &idom, b);
            let outside = |o: &Opd| o.vreg().is_none_or(|s| writes.get(&s).is_some_and(|w| dominates(w.1, before)));
            let hoists = before != b && sources.iter().all(outside);
            let known = made.iter().any(|p| p.0 == before && p.1 == sources);
            let fits = known || held.get(&before).unwrap_or(&0) + sources.len() <= room;
            let home = if hoists && fits { before } else { b };
            let same = made.iter().find(|p| p.0 == home && p.1 == sources).map(|p| p.2);
            if same.is_none() && home == b {
                made.push((home, sources, v));
                continue;
            }
            let is_part = |i: &MInst| i.dst.vreg() == Some(v);
            let (parts, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut f.blocks[b].insts).into_iter().partition(is_part);
            f.blocks[b].insts = rest;
            match same {
                Some(other) => {
                    renamed.insert(v, other);
                }
                None => {
                    *held.entry(home).or_insert(0) += sources.len();
                    f.blocks[home].insts.extend(parts);
                    made.push((home, sources, v));
                }
            }
        }
    }
    let resolve = |v: VReg| renamed.get(&v).copied().unwrap_or(v);
    for block in &mut f.blocks {
        block.insts.iter_mut().for_each(|i| i.rename(resolve));
        block.term.rename(resolve);
    }
}

/// Registers of several words that copies in this block alone make, each word once, of values written once, in the
/// order of their first copies.
fn candidates(f: &MFunc, b: usize, writes: &Writes) -> Vec<(VReg, Vec<Opd>)> {
    let mut words: BTreeMap<VReg, Vec<Option<Opd>>> = BTreeMap::new();
    let mut order = Vec::new();
    for i in f.blocks[b].insts.iter().filter(|i| i.op == Op::Mov32 && i.flags == 0 && !i.pseudo) {
        let Opd::Reg(v, word) = i.dst else { continue };
        let info = f.info(v);
        if info.size < 2 || info.file != File::Vector {
            continue;
        }
        let list = words.entry(v).or_insert_with(|| {
            order.push(v);
            vec![None; info.size as usize]
        });
        if let Some(place) = list.get_mut(word as usize) {
            *place = Some(i.src[0]);
        }
    }
    let fixed = |o: &Opd| match o {
        Opd::Const(_) => true,
        Opd::Reg(s, _) => writes.get(s).is_some_and(|w| w.0 == 1),
        _ => false,
    };
    let whole = |v: VReg| {
        let list: Vec<Opd> = words.get(&v)?.iter().copied().collect::<Option<_>>()?;
        (writes.get(&v)?.0 as usize == list.len() && list.iter().all(fixed)).then_some((v, list))
    };
    order.into_iter().filter_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::mir::{Edge, MBlock, Term};
    use warpscope_exec::program::SourceLine;

    fn copy(v: VReg, word: u8, from: Opd) -> MInst {
        MInst::new(Op::Mov32, Opd::Reg(v, word), &[from], SourceLine::default())
    }

    fn store(v: VReg) -> MInst {
        MInst::new(Op::StGlobal, Opd::None, &[Opd::None, Opd::Reg(v, 0)], SourceLine::default())
    }

    /// Makes these instructions the body of a loop, and shares its packs.
    fn shared(f: &mut MFunc, body: Vec<MInst>) {
        let p = f.new_vreg(File::Predicate, 1);
        let edge = |block| Edge { block, args: vec![] };
        let block = |insts, term| {
            let loc = SourceLine::default();
            MBlock { params: vec![], insts, term, loc, divergent: false, partial: false }
        };
        f.blocks.push(block(vec![], Term::Jump(edge(1))));
        f.blocks.push(block(body, Term::Branch(p, false, edge(1), edge(2))));
        f.blocks.push(block(vec![], Term::Exit));
        share(f, 8);
    }

    #[test]
    fn stores_of_the_same_values_share_registers_in_front_of_the_loop() {
        let mut f = MFunc::default();
        let packs: Vec<VReg> = (0..3).map(|_| f.new_vreg(File::Vector, 2)).collect();
        let changing = f.new_vreg(File::Vector, 1);
        let (one, two) = (f.pool.word(1), f.pool.word(2));
        let mut insts = vec![copy(changing, 0, one)];
        for (v, low) in [(packs[0], one), (packs[1], one), (packs[2], Opd::Reg(changing, 0))] {
            insts.extend([copy(v, 0, low), copy(v, 1, two), store(v)]);
        }
        shared(&mut f, insts);
        assert_eq!(f.blocks[0].insts.len(), 2, "the constants are in registers before the loop");
        let stored: Vec<_> = f.blocks[1].insts.iter().filter(|i| i.op == Op::StGlobal).map(|i| i.src[1]).collect();
        assert_eq!(stored, [packs[0], packs[0], packs[2]].map(|v| Opd::Reg(v, 0)));
        assert_eq!(f.blocks[1].insts.len(), 6, "what changes is made in the loop");
    }

    #[test]
    fn what_a_loop_stores_does_not_fill_the_registers() {
        let mut f = MFunc::default();
        let mut insts = Vec::new();
        for n in 0..9 {
            let (v, word) = (f.new_vreg(File::Vector, 2), f.pool.word(n));
            insts.extend([copy(v, 0, word), copy(v, 1, word), store(v)]);
        }
        shared(&mut f, insts);
        assert_eq!(f.blocks[0].insts.len(), 8, "four pairs are in registers before the loop");
        assert_eq!(f.blocks[1].insts.len(), 9 + 10, "the other five are made where they are stored");
    }
}
