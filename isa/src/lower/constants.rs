//! Constant operands: what an instruction can take directly stays; the rest is loaded into registers first.
//!
//! A machine without constant-bank operands reads parameters and launch quantities with loads of their own, into
//! uniform registers where every reader can take one, else into vector registers. Literals beyond what an
//! instruction encodes are moved into registers.
use super::cfg::Cfg;
use super::mir::{File, MFunc, MInst, Opd, Term, VReg};
use super::{Options, bank_offset};
use std::collections::{BTreeMap, BTreeSet};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::{ConstantRow, flags};

/// A place where a constant operand is read.
#[derive(Copy, Clone, Debug)]
pub(super) struct Use {
    block: usize,
    inst: usize,
    slot: usize,
    /// Words that are read.
    pub words: u8,
    /// First row.
    pub row: u16,
    /// Whether a uniform register will do.
    pub uniform: bool,
}

/// What is loaded as one: a word or an aligned pair of the constant bank, or a literal.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Unit {
    /// Byte offset in the bank, bytes.
    Bank(u32, u32),
    /// A quantity of the launch by its row: where it lies in the bank is the target's affair, so two may share a place.
    Launch(u16),
    /// Literal: words and value.
    Literal(u8, u64),
    /// Anything else by its row.
    Row(u16, u8),
}

/// Loads and moves what instructions cannot take as it is.
pub(super) fn legalise(f: &mut MFunc, options: &Options<'_>) {
    let cfg = Cfg::of(f);
    let mut uses: BTreeMap<Unit, Vec<Use>> = BTreeMap::new();
    for b in 0..f.blocks.len() {
        for n in 0..f.blocks[b].insts.len() {
            for u in operands_to_load(f, b, n, options) {
                uses.entry(unit(f, &u, options)).or_default().push(u);
            }
        }
        // A jump table's index comes in a register as well, but is never constant in practice.
    }
    join_halves(f, &mut uses);
    let idom = dominators(f);
    let arms = arms(f, options.target.predication as usize);
    let mut inserts: Vec<(usize, usize, MInst)> = Vec::new();
    for (unit, list) in uses {
        place(f, options, &cfg, &idom, &arms, unit, list, &mut inserts);
    }
    insert(f, inserts);
}

/// Puts operations before the instruction at their index (or at the block's end).
fn insert(f: &mut MFunc, mut inserts: Vec<(usize, usize, MInst)>) {
    inserts.sort_by_key(|i| (i.0, i.1));
    let mut inserts = inserts.into_iter().peekable();
    for b in 0..f.blocks.len() {
        if inserts.peek().is_none_or(|i| i.0 != b) {
            continue;
        }
        let old = std::mem::take(&mut f.blocks[b].insts);
        let count = old.len();
        let mut new = Vec::with_capacity(count + 8);
        for (n, i) in old.into_iter().map(Some).chain([None]).enumerate() {
            while let Some((_, _, load)) = inserts.next_if(|x| x.0 == b && (x.1 <= n || n == count)) {
                new.push(load);
            }
            new.extend(i);
        }
        f.blocks[b].insts = new;
    }
}

/// Immediate dominators.
pub(super) fn dominators(f: &MFunc) -> Vec<Option<usize>> {
    use petgraph::graph::{DiGraph, NodeIndex};
    let mut g = DiGraph::<(), ()>::new();
    f.blocks.iter().for_each(|_| {
        g.add_node(());
    });
    for (b, block) in f.blocks.iter().enumerate() {
        for e in block.term.edges() {
            g.add_edge(NodeIndex::new(b), NodeIndex::new(e.block), ());
        }
    }
    let d = petgraph::algo::dominators::simple_fast(&g, NodeIndex::new(0));
    (0..f.blocks.len()).map(|b| d.immediate_dominator(NodeIndex::new(b)).map(|x| x.index())).collect()
}

/// Blocks that only one side of a branch runs, short enough for a guard.
fn arms(f: &MFunc, limit: usize) -> Vec<bool> {
    let preds = f.predecessors();
    let short = |b: usize| f.blocks[b].insts.len() <= limit && matches!(f.blocks[b].term, Term::Jump(_));
    let split = |p: usize| matches!(f.blocks[p].term, Term::Branch(..));
    (0..f.blocks.len()).map(|b| matches!(preds[b][..], [p] if split(p)) && short(b)).collect()
}

/// Whether source `slot` must be a vector register (or zero).
pub(super) fn needs_register(i: &MInst, slot: usize) -> bool {
    use Op::*;
    match i.op {
        LdGlobal | LdConstant | LdGeneric | LdLocal | LdPrivate | StGlobal | StGeneric | StLocal | StPrivate
        | AtomGlobal | AtomLocal | AtomGeneric => true,
        ShflIdx | ShflXor | ShflUp | ShflDown => slot == 0,
        MathF16 | MathF32 | MathF64 | FDivF32 | FDivF64 | FSqrtF32 | FSqrtF64 => i.class != OpClass::Fp32,
        _ => false,
    }
}

/// Constant operands of an instruction that it cannot take.
pub(super) fn operands_to_load(f: &MFunc, b: usize, n: usize, options: &Options<'_>) -> Vec<Use> {
    let target = options.target;
    let i = &f.blocks[b].insts[n];
    if i.is_ghost() || i.pseudo {
        return Vec::new();
    }
    let copies = matches!(i.op, Op::Mov32 | Op::Mov64 | Op::RegToPred);
    let widths = i.words().src;
    let mut found = Vec::new();
    // Constants that the instruction can hold: literals have precedence over reads of the bank.
    let mut room = target.constant_operands as usize;
    // An operation of the uniform datapath reads any number of uniform registers, others one at the price of a literal.
    let in_uniform = i.dst.vreg().is_some_and(|v| f.info(v).file == File::Uniform);
    let mut read: Vec<VReg> = i.src.iter().filter_map(|o| o.vreg()).collect();
    read.retain(|&v| f.info(v).file == File::Uniform);
    read.sort_unstable();
    read.dedup();
    if !in_uniform && target.constant_operands < 4 {
        let address = matches!(i.op, Op::LdLocal | Op::StLocal | Op::AtomLocal) as usize;
        room = room.saturating_sub(read.len().saturating_sub(address));
    }
    let mut candidates: Vec<(usize, u16, bool)> = (0..4)
        .filter_map(|slot| match i.src[slot] {
            Opd::Const(row) => {
                let bank = bank_offset(&f.pool.rows[row as usize], target) != u32::MAX;
                let zero = (0..widths[slot] as usize)
                    .all(|w| f.pool.rows.get(row as usize + w) == Some(&ConstantRow::Immediate(0)));
                (!zero).then_some((slot, row, bank))
            }
            _ => None,
        })
        .collect();
    candidates.sort_by_key(|&(slot, _, bank)| (bank, slot));
    for (slot, row, bank) in candidates {
        let words = widths[slot].max(1);
        let register = needs_register(i, slot) && options.target.constant_operands < 4;
        let fits = room > 0 && !register || in_uniform && bank;
        // A double's literal is encoded by its high word.
        let encodable = words == 1
            || f.pool.rows.get(row as usize) == Some(&ConstantRow::Immediate(0))
            || !matches!(i.class, OpClass::Fp64 | OpClass::IMadWide | OpClass::IMadHigh);
        if fits && !bank && encodable {
            room -= 1;
            continue;
        }
        if bank && target.bank_operands && fits {
            room = room.saturating_sub(1);
            continue;
        }
        if copies && !(bank && i.op == Op::RegToPred) {
            // The copy itself is the load.
            continue;
        }
        let uniform = in_uniform || fits && bank && target.uniform_registers > 0;
        if uniform && !in_uniform {
            room -= 1;
        }
        found.push(Use { block: b, inst: n, slot, words, row, uniform });
    }
    found
}

fn unit(f: &MFunc, u: &Use, options: &Options<'_>) -> Unit {
    let row = f.pool.rows[u.row as usize];
    let offset = bank_offset(&row, options.target);
    if matches!(row, ConstantRow::Launch(_)) {
        // The words of a wide one lie apart.
        return if u.words == 1 { Unit::Launch(u.row) } else { Unit::Row(u.row, u.words) };
    }
    if offset != u32::MAX {
        return Unit::Bank(offset, 4 * u.words as u32);
    }
    let literal = |w: u16| match f.pool.rows.get((u.row + w) as usize) {
        Some(ConstantRow::Immediate(v)) => Some(*v as u64),
        _ => None,
    };
    match (u.words, literal(0), literal(1)) {
        (1, Some(v), _) => Unit::Literal(1, v),
        (2, Some(l), Some(h)) => Unit::Literal(2, l | h << 32),
        (words, ..) => Unit::Row(u.row, words),
    }
}

/// Neighbouring words of the bank that make an aligned pair are loaded together.
fn join_halves(f: &MFunc, uses: &mut BTreeMap<Unit, Vec<Use>>) {
    // Parameters only; the launch's quantities are read one by one.
    let parameter =
        |list: &[Use]| list.first().is_some_and(|u| matches!(f.pool.rows[u.row as usize], ConstantRow::Parameter(_)));
    let singles: Vec<u32> = uses
        .iter()
        .filter(|(_, list)| parameter(list))
        .filter_map(|(u, _)| if let Unit::Bank(o, 4) = u { Some(*o) } else { None })
        // Parameters below four bytes may begin inside a word: that is not one of the pair's halves.
        .filter(|o| o.is_multiple_of(4))
        .collect();
    for o in singles {
        let base = o & !7;
        let pair = Unit::Bank(base, 8);
        // Halves that go to different files are loaded apart, unless one instruction reads both.
        let uniform = |u: Unit| uses.get(&u).map(|list| list.iter().all(|u| u.uniform));
        let readers = |u: Unit| -> BTreeSet<(usize, usize)> {
            uses.get(&u).into_iter().flatten().map(|u| (u.block, u.inst)).collect()
        };
        let (low, high) = (Unit::Bank(base, 4), Unit::Bank(base + 4, 4));
        let alike = uniform(low) == uniform(high) || !readers(low).is_disjoint(&readers(high));
        let both = uses.contains_key(&low) && uses.contains_key(&high) && alike;
        if uses.contains_key(&pair) || both {
            let list = uses.remove(&Unit::Bank(o, 4)).unwrap_or_default();
            // The other half joins once its turn comes, because the pair is there now.
            uses.entry(pair).or_default().extend(list);
        }
    }
}

/// The block in front of the loop around `b`, where that contains no other loop; else `b` itself.
pub(super) fn out_of_innermost_loop(cfg: &Cfg, idom: &[Option<usize>], b: usize) -> usize {
    let depth = cfg.depth[b];
    let (mut header, mut before) = (b, b);
    while cfg.depth[before] >= depth && depth > 0 {
        header = before;
        match idom[before] {
            Some(d) => before = d,
            None => return b,
        }
    }
    let inside = |x: usize| std::iter::successors(Some(x), |&x| idom[x]).any(|x| x == header);
    let outer = (0..cfg.depth.len()).any(|x| cfg.depth[x] > depth && inside(x));
    if outer { b } else { before }
}

/// Loads one unit where its uses can see it, once for uses that a common place dominates.
#[allow(clippy::too_many_arguments)]
fn place(
    f: &mut MFunc,
    options: &Options<'_>,
    cfg: &Cfg,
    idom: &[Option<usize>],
    arms: &[bool],
    unit: Unit,
    mut list: Vec<Use>,
    inserts: &mut Vec<(usize, usize, MInst)>,
) {
    let rank: BTreeMap<usize, usize> = cfg.order.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    list.sort_by_key(|u| (rank[&u.block], u.inst));
    let uniform = list.iter().all(|u| u.uniform) && options.target.uniform_registers > 0;
    // Arms that will run under a guard keep their loads, which will as well.
    let home = |b: usize| if arms[b] { b } else { out_of_innermost_loop(cfg, idom, b) };
    let dominates = |a: usize, mut b: usize| loop {
        if a == b {
            return true;
        }
        match idom[b] {
            Some(d) => b = d,
            None => return false,
        }
    };
    // Places chosen so far: block, position, register.
    let mut places: Vec<(usize, VReg)> = Vec::new();
    let (size, row) = rows_of(f, unit, &list, options);
    for u in list {
        let at = home(u.block);
        // What was loaded outside an outer loop is not kept over that loop.
        let shared = |p: usize| dominates(p, u.block) && cfg.depth[p] == cfg.depth[at];
        let register = match places.iter().find(|p| shared(p.0)) {
            Some(p) => p.1,
            None => {
                let v = f.new_vreg(if uniform { File::Uniform } else { File::Vector }, size as u32);
                let mut load = f.copy(v, row, f.blocks[u.block].insts[u.inst].loc);
                let bank = match unit {
                    Unit::Bank(..) | Unit::Launch(_) => true,
                    Unit::Row(row, _) => matches!(f.pool.rows[row as usize], ConstantRow::Launch(_)),
                    Unit::Literal(..) => false,
                };
                if bank {
                    load.class = if uniform { OpClass::LoadUniform } else { OpClass::LoadConstant };
                }
                load.flags |= if uniform { flags::UNIFORM } else { 0 };
                let position = if at == u.block { u.inst } else { usize::MAX };
                inserts.push((at, position, load));
                places.push((at, v));
                v
            }
        };
        let word = match unit {
            Unit::Bank(base, _) => (bank_offset(&f.pool.rows[u.row as usize], options.target) - base) as u8 / 4,
            _ => 0,
        };
        f.blocks[u.block].insts[u.inst].src[u.slot] = Opd::Reg(register, word);
    }
}

/// Size and constant operand of a unit.
fn rows_of(f: &mut MFunc, unit: Unit, list: &[Use], options: &Options<'_>) -> (u8, Opd) {
    match unit {
        Unit::Bank(base, 8) => {
            let mut halves = [None; 2];
            for u in list {
                for w in 0..u.words as u16 {
                    let row = f.pool.rows[(u.row + w) as usize];
                    let at = (bank_offset(&row, options.target) - base) / 4;
                    halves[at as usize & 1] = Some(row);
                }
            }
            let zero = ConstantRow::Immediate(0);
            (2, f.pool.pair(halves[0].unwrap_or(zero), halves[1].unwrap_or(zero)))
        }
        Unit::Literal(2, v) => (2, f.pool.wide(v)),
        Unit::Literal(_, v) => (1, f.pool.word(v as u32)),
        Unit::Bank(..) => (1, Opd::Const(list[0].row)),
        Unit::Launch(row) => (1, Opd::Const(row)),
        Unit::Row(row, words) => (words, Opd::Const(row)),
    }
}
