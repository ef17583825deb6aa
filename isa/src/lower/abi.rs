//! What the launch ABI adds: steps at the kernel's start, before its first global and local accesses, and the
//! convergence barriers around regions that may diverge.
use super::cfg::Cfg;
use super::mir::{MFunc, MInst, Opd, Term};
use super::{Options, constants, recipes};
use std::collections::BTreeSet;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::flags;

/// Inserts the ABI's steps.
pub(super) fn insert(f: &mut MFunc, options: &Options<'_>, local_variables: usize) -> Result<(), String> {
    let abi = &options.target.abi;
    let cfg = Cfg::of(f);
    let idom = constants::dominators(f);
    let global = accesses(f, |i| {
        matches!(i.op, Op::AtomGlobal | Op::AtomGeneric | Op::LdGeneric | Op::StGeneric | Op::LdGlobal | Op::StGlobal)
            || i.op == Op::LdConstant && i.class == OpClass::LoadGlobal
    });
    let local = accesses(f, |i| matches!(i.op, Op::LdLocal | Op::StLocal | Op::AtomLocal));
    for (blocks, lines, what) in
        [(global, &abi.global_access, "abi.global_access"), (local, &abi.local_access, "abi.local_access")]
    {
        let Some(mut at) = blocks.iter().copied().reduce(|a, b| common_dominator(&idom, a, b)) else { continue };
        while cfg.depth[at] > 0 {
            match idom[at] {
                Some(d) => at = d,
                None => break,
            }
        }
        let loc = f.blocks[at].loc;
        let mut steps = recipes::sequence(f, lines, what, loc)?;
        if what == "abi.local_access" {
            for _ in 1..local_variables {
                steps.extend(recipes::sequence(f, &abi.local_variable, "abi.local_variable", loc)?);
            }
        }
        let here = blocks.contains(&at);
        let insts = &mut f.blocks[at].insts;
        let place = if here { 0 } else { insts.len() };
        insts.splice(place..place, steps);
    }
    let steps = recipes::sequence(f, &abi.entry, "abi.entry", f.blocks[0].loc)?;
    f.blocks[0].insts.splice(0..0, steps);
    Ok(())
}

/// Blocks with an access of this kind.
fn accesses(f: &MFunc, is: impl Fn(&MInst) -> bool) -> BTreeSet<usize> {
    f.blocks.iter().enumerate().filter(|(_, b)| b.insts.iter().any(&is)).map(|(n, _)| n).collect()
}

fn common_dominator(idom: &[Option<usize>], a: usize, b: usize) -> usize {
    let chain = |mut x: usize| {
        let mut all = vec![x];
        while let Some(d) = idom[x] {
            all.push(d);
            x = d;
        }
        all
    };
    let of_a = chain(a);
    chain(b).into_iter().find(|x| of_a.contains(x)).unwrap_or(0)
}

/// Marks regions that may diverge with the operations that open and close them, where the machine has such.
pub(super) fn converge(f: &mut MFunc, options: &Options<'_>) {
    if !options.target.convergence_barriers {
        return;
    }
    let cfg = Cfg::of(f);
    let idom = constants::dominators(f);
    let mut opens: BTreeSet<(usize, usize)> = BTreeSet::new();
    for b in 0..f.blocks.len() {
        let branches = matches!(f.blocks[b].term, Term::Branch(..) | Term::Table(..));
        let Some(join) = cfg.post_dominator[b].filter(|_| branches && f.blocks[b].divergent) else { continue };
        // A loop is opened before it is entered.
        let mut at = b;
        while cfg.depth[at] > cfg.depth[join] {
            match idom[at] {
                Some(d) => at = d,
                None => break,
            }
        }
        opens.insert((at, join));
    }
    for (at, join) in opens {
        let mark = |loc, class| {
            let mut i = MInst::new(Op::Nop, Opd::None, &[], loc);
            i.flags = flags::GHOST;
            i.class = class;
            i
        };
        let (open, close) = (mark(f.blocks[at].loc, OpClass::Converge), mark(f.blocks[join].loc, OpClass::Branch));
        f.blocks[at].insts.push(open);
        f.blocks[join].insts.insert(0, close);
    }
}
