//! Uniform datapath: what is the same for all work-items of a sub-group is computed once, in uniform registers.
//!
//! A register moves there as a whole: all operations that define it must have a uniform form, stand where all live
//! work-items are active, and read nothing but literals, the constant bank and uniform registers. Operations of
//! work-items read it like a literal; where one has no room for it, or wants a vector register, a copy is made. What
//! takes more copies than it saves stays a vector register.
use super::Options;
use super::bank_offset;
use super::cfg::Cfg;
use super::constants::{needs_register, operands_to_load};
use super::mir::{File, MFunc, MInst, Opd, Term, VReg};
use std::collections::{BTreeMap, BTreeSet};
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::flags;

/// Moves registers to the uniform file.
pub(super) fn assign(f: &mut MFunc, options: &Options<'_>) {
    let target = options.target;
    if target.uniform_operations.is_empty() || target.uniform_registers == 0 {
        return;
    }
    let mut registers = candidates(f, options);
    let cfg = Cfg::of(f);
    loop {
        restrict(f, options, &mut registers);
        let losses = losses(f, &cfg, options, &registers);
        if losses.is_empty() {
            break;
        }
        losses.iter().for_each(|&v| leave(f, &mut registers, v));
    }
    for b in 0..f.blocks.len() {
        copy_for_readers(f, options, b);
        let pool = &f.pool;
        for i in &mut f.blocks[b].insts {
            if i.dst.vreg().is_some_and(|v| registers.contains(&v)) {
                i.flags |= flags::UNIFORM;
                let bank =
                    |o: Opd| matches!(o, Opd::Const(row) if bank_offset(&pool.rows[row as usize], target) != u32::MAX);
                let loads = i.op == Op::LdConstant || matches!(i.op, Op::Mov32 | Op::Mov64) && bank(i.src[0]);
                i.class = if loads { OpClass::LoadUniform } else { OpClass::Uniform };
            }
        }
    }
}

/// Registers that hold the same for all work-items and are made by operations with a uniform form. They are put into
/// the uniform file, from which [`leave`] takes those that turn out not to fit.
fn candidates(f: &mut MFunc, options: &Options<'_>) -> BTreeSet<VReg> {
    let mut found: BTreeSet<VReg> = BTreeSet::new();
    let mut refused: BTreeSet<VReg> = BTreeSet::new();
    for block in &f.blocks {
        for i in &block.insts {
            let has_form = options.target.uniform_operations.iter().any(|o| o == i.op.mnemonic());
            let indexed = i.op == Op::LdConstant && i.class != OpClass::LoadConstant;
            let fits = has_form && !indexed && !block.partial && i.guard.is_none() && i.dst2.is_none();
            for v in i.defs() {
                let info = f.info(v);
                let whole = i.dst == Opd::Reg(v, 0) && i.words().dst[0] == info.size;
                if fits && whole && info.uniform && info.file == File::Vector && info.size <= 2 {
                    found.insert(v);
                } else {
                    refused.insert(v);
                }
            }
        }
    }
    found.retain(|v| !refused.contains(v));
    found.iter().for_each(|v| f.vregs[v.0 as usize].file = File::Uniform);
    found
}

fn leave(f: &mut MFunc, registers: &mut BTreeSet<VReg>, v: VReg) {
    registers.remove(&v);
    f.vregs[v.0 as usize].file = File::Vector;
}

/// Takes out what depends on registers that do not move, or on parts of the constant bank that others need in vector
/// registers (they are loaded once).
fn restrict(f: &mut MFunc, options: &Options<'_>, registers: &mut BTreeSet<VReg>) {
    loop {
        let mut loaded: BTreeSet<u32> = BTreeSet::new();
        for b in 0..f.blocks.len() {
            for n in 0..f.blocks[b].insts.len() {
                for u in operands_to_load(f, b, n, options).into_iter().filter(|u| !u.uniform) {
                    loaded.extend((0..u.words as usize).map(|w| offset(f, options, u.row as usize + w)));
                }
            }
        }
        let mut unfit: Vec<VReg> = Vec::new();
        for i in f.blocks.iter().flat_map(|b| &b.insts) {
            match i.dst.vreg().filter(|v| registers.contains(v)) {
                Some(v) if !reads_uniform(f, options, i, &loaded) => unfit.push(v),
                Some(_) => {}
                None if computes_places(i.op) => {}
                None => unfit.extend(i.src.iter().filter_map(|o| o.vreg()).filter(|v| registers.contains(v))),
            }
        }
        if unfit.is_empty() {
            return;
        }
        unfit.into_iter().for_each(|v| leave(f, registers, v));
    }
}

/// Whether an operation of work-items that reads a uniform register makes addresses or decides about loops. What flows
/// into data, such as the number of the best cluster so far, is computed with the data (sass `kmeans`).
fn computes_places(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IAdd32
            | ISub32
            | IAdd3
            | IMul32
            | IMad32
            | Lea32
            | LeaHiU32
            | LeaHiS32
            | Shl32
            | LShr32
            | AShr32
            | And32
            | Or32
            | Xor32
            | Lop3
            | ICmp32
            | ICmp64
            | IAdd64
            | ISub64
            | IAddSext
            | IAddZext
            | IMadWideS
            | IMadWideU
            | Lea64
            | LeaSext
            | LeaZext
            | LdLocal
            | StLocal
            | AtomLocal
            | LdGlobal
            | StGlobal
            | LdConstant
            | AtomGlobal
    )
}

fn offset(f: &MFunc, options: &Options<'_>, row: usize) -> u32 {
    f.pool.rows.get(row).map_or(u32::MAX, |r| bank_offset(r, options.target))
}

/// Whether an operation's sources are all uniform, none of them in a part of the bank that is loaded into a vector
/// register, and at most one a literal. Addresses of variables are moved into uniform registers.
fn reads_uniform(f: &MFunc, options: &Options<'_>, i: &MInst, loaded: &BTreeSet<u32>) -> bool {
    let mut literals = 0;
    for (&o, words) in i.src.iter().zip(i.words().src) {
        match o {
            Opd::None => {}
            Opd::Pred(..) => return false,
            Opd::Reg(v, _) if f.info(v).file != File::Uniform => return false,
            Opd::Reg(..) => {}
            Opd::Const(row) => {
                let places: Vec<u32> =
                    (0..words.max(1) as usize).map(|w| offset(f, options, row as usize + w)).collect();
                if places.iter().any(|p| *p != u32::MAX && loaded.contains(p)) {
                    return false;
                }
                literals += f.pool.literal(o).is_some_and(|v| v != 0) as u32;
            }
        }
    }
    literals <= 1
}

/// Source slots in which an operation cannot read the uniform register that it names.
fn unreadable(f: &MFunc, options: &Options<'_>, i: &MInst) -> Vec<usize> {
    let uniform = |o: Opd| matches!(o, Opd::Reg(v, _) if f.info(v).file == File::Uniform);
    if i.is_ghost() || i.pseudo || i.dst.vreg().is_some_and(|v| f.info(v).file == File::Uniform) {
        return Vec::new();
    }
    let any = options.target.constant_operands >= 4;
    let literals = i.src.iter().filter(|&&o| {
        f.pool.literal(o).is_some_and(|v| v != 0)
            || matches!(o, Opd::Const(row) if f.pool.literal(o).is_none() && offset(f, options, row as usize) == u32::MAX)
    });
    let mut room = (options.target.constant_operands as usize).saturating_sub(literals.count());
    let mut taken: Vec<VReg> = Vec::new();
    let mut found = Vec::new();
    for slot in (0..4).filter(|&s| uniform(i.src[s])) {
        let Some(v) = i.src[slot].vreg() else { continue };
        let address = slot == 0 && matches!(i.op, Op::LdLocal | Op::StLocal | Op::AtomLocal);
        if any && !needs_register(i, slot) || address || taken.contains(&v) && !needs_register(i, slot) {
            continue;
        }
        if needs_register(i, slot) || room == 0 {
            found.push(slot);
        } else {
            room -= 1;
            taken.push(v);
        }
    }
    found
}

/// Registers whose moving would take more copies than it saves operations. Registers that depend on each other stay
/// together.
fn losses(f: &MFunc, cfg: &Cfg, options: &Options<'_>, registers: &BTreeSet<VReg>) -> Vec<VReg> {
    let mut group: BTreeMap<VReg, VReg> = registers.iter().map(|&v| (v, v)).collect();
    fn find(group: &BTreeMap<VReg, VReg>, mut v: VReg) -> VReg {
        while group[&v] != v {
            v = group[&v];
        }
        v
    }
    let mut balance: BTreeMap<VReg, f64> = BTreeMap::new();
    for (b, block) in f.blocks.iter().enumerate() {
        let weight = 10f64.powi(cfg.depth[b].min(8) as i32);
        let mut copied: BTreeSet<VReg> = BTreeSet::new();
        for i in &block.insts {
            if let Some(d) = i.dst.vreg().filter(|d| registers.contains(d)) {
                let words = f.info(d).size as f64;
                *balance.entry(d).or_default() += weight * words;
                for s in i.src.iter().filter_map(|o| o.vreg()).filter(|s| registers.contains(s)) {
                    let (x, y) = (find(&group, d), find(&group, s));
                    group.insert(x, y);
                }
            }
            for v in unreadable(f, options, i).into_iter().filter_map(|slot| i.src[slot].vreg()) {
                if copied.insert(v) {
                    *balance.entry(v).or_default() -= weight * f.info(v).size as f64;
                }
            }
            i.defs().for_each(|d| {
                copied.remove(&d);
            });
        }
        if let Term::Table(Opd::Reg(v, _), _) = block.term
            && registers.contains(&v)
        {
            *balance.entry(v).or_default() -= weight;
        }
    }
    let mut total: BTreeMap<VReg, f64> = BTreeMap::new();
    for (&v, &x) in &balance {
        if registers.contains(&v) {
            *total.entry(find(&group, v)).or_default() += x;
        }
    }
    registers.iter().copied().filter(|&v| total.get(&find(&group, v)).is_some_and(|&t| t < 0.0)).collect()
}

/// Copies uniform registers to vector registers for what cannot read them in a block.
fn copy_for_readers(f: &mut MFunc, options: &Options<'_>, b: usize) {
    let old = std::mem::take(&mut f.blocks[b].insts);
    let mut new = Vec::with_capacity(old.len());
    let mut copies: BTreeMap<VReg, VReg> = BTreeMap::new();
    for mut i in old {
        for slot in unreadable(f, options, &i) {
            if let Opd::Reg(v, word) = i.src[slot] {
                let copy = *copies.entry(v).or_insert_with(|| {
                    let c = f.new_vreg(File::Vector, f.info(v).size as u32);
                    new.push(f.copy(c, Opd::Reg(v, 0), i.loc));
                    c
                });
                i.src[slot] = Opd::Reg(copy, word);
            }
        }
        i.defs().for_each(|d| {
            copies.remove(&d);
        });
        new.push(i);
    }
    if let Term::Table(Opd::Reg(v, word), _) = f.blocks[b].term
        && f.info(v).file == File::Uniform
    {
        let c = f.new_vreg(File::Vector, f.info(v).size as u32);
        new.push(f.copy(c, Opd::Reg(v, 0), f.blocks[b].loc));
        if let Term::Table(index, _) = &mut f.blocks[b].term {
            *index = Opd::Reg(c, word);
        }
    }
    f.blocks[b].insts = new;
}
