//! Predication: short arms of branches run under a guard instead of a branch.
use super::cfg::Cfg;
use super::liveness::{BitSet, live_in, live_out};
use super::mir::{File, MFunc, MInst, Opd, Term, Units, VReg, is_memory};
use std::collections::BTreeSet;
use warpscope_configs::specs::TargetSpec;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::flags;

/// How many operations arms may have.
#[derive(Copy, Clone)]
pub(super) struct Limits {
    any: usize,
    /// Those in loops.
    in_loops: usize,
    /// Those in loops that store.
    storing: usize,
}

impl Limits {
    pub fn of(target: &TargetSpec) -> Limits {
        let [any, in_loops, storing] =
            [target.predication, target.predication_in_loops, target.predication_storing].map(|n| n as usize);
        Limits { any, in_loops: in_loops.min(any), storing: storing.min(in_loops).min(any) }
    }

    /// The limit for an arm.
    fn limit(self, insts: &[MInst], in_loop: bool) -> usize {
        let stores = |i: &MInst| matches!(i.op, Op::StGlobal | Op::StLocal | Op::StPrivate | Op::StGeneric);
        match in_loop {
            true if insts.iter().any(stores) => self.storing,
            true => self.in_loops,
            false => self.any,
        }
    }
}

/// Turns arms within the limits into guarded code, innermost first.
pub(super) fn predicate(f: &mut MFunc, limits: Limits) {
    if limits.any == 0 {
        return;
    }
    let units = Units::of(f);
    let depth = Cfg::of(f).depth;
    let mut preds = f.predecessors();
    let mut live = live_out(f, &units);
    // Later blocks are inner ones as a rule. What a block looks like to a branch changes only where an arm joins it: then
    // the branches to it are looked at again. Liveness at the heads of blocks stays, so that the end of `b` is found again
    // from the block that follows it now: looking at the whole function for every arm took minutes in large kernels.
    let mut waiting: BTreeSet<usize> = (0..f.blocks.len()).collect();
    while let Some(b) = waiting.pop_last() {
        let Some(plan) = plan(f, &preds, b, limits, &depth) else { continue };
        let arms: Vec<usize> = plan.arms.iter().map(|arm| arm.0).collect();
        apply(f, b, plan, &units, &live);
        for &a in &arms {
            preds[a].clear();
            live[a] = BitSet::new(units.count());
        }
        let next: Vec<usize> = f.blocks[b].term.edges().iter().map(|e| e.block).collect();
        live[b] = BitSet::new(units.count());
        for &n in &next {
            preds[n].retain(|p| *p != b && !arms.contains(p));
            preds[n].push(b);
            let head = live_in(f, &units, n, &live[n]);
            live[b].union(&head);
        }
        waiting.extend(&preds[b]);
    }
}

/// Arms to predicate: (block, whether they run where the predicate is false), and where control goes on.
struct Plan {
    predicate: VReg,
    arms: Vec<(usize, bool)>,
    term: Term,
}

fn plan(f: &MFunc, preds: &[Vec<usize>], b: usize, limits: Limits, depth: &[u32]) -> Option<Plan> {
    let Term::Branch(p, negated, yes, no) = &f.blocks[b].term else { return None };
    let (p, negated) = (*p, *negated);
    // What stands behind a loop would run in every round of it.
    let arm = |a: usize| {
        let limit = limits.limit(&f.blocks[a].insts, depth[b] > 0);
        preds[a].len() == 1 && a != b && depth[a] >= depth[b] && fits(&f.blocks[a].insts, p, limit)
    };
    let after = |a: usize| match &f.blocks[a].term {
        Term::Jump(e) => Some(e.clone()),
        _ => None,
    };
    let ends = |a: usize| matches!(f.blocks[a].term, Term::Exit);
    // One arm that joins the other path, or two that join each other.
    for (a, other, sense) in [(yes, no, negated), (no, yes, !negated)] {
        if !arm(a.block) {
            continue;
        }
        if let Some(e) = after(a.block) {
            if e.block == other.block {
                return Some(Plan { predicate: p, arms: vec![(a.block, sense)], term: Term::Jump(e) });
            }
            if arm(other.block) && after(other.block).is_some_and(|o| o.block == e.block) {
                let arms = vec![(a.block, sense), (other.block, !sense)];
                let long: usize = arms.iter().map(|x| length(&f.blocks[x.0].insts)).sum();
                if long <= limits.any {
                    return Some(Plan { predicate: p, arms, term: Term::Jump(e) });
                }
            }
        }
        if ends(a.block) && !f.blocks[a.block].insts.is_empty() {
            let term = Term::ExitIf(p, sense, other.clone());
            return Some(Plan { predicate: p, arms: vec![(a.block, sense)], term });
        }
    }
    None
}

fn length(insts: &[MInst]) -> usize {
    insts.iter().filter(|i| !i.pseudo).count()
}

/// Whether an arm is short and can be guarded.
fn fits(insts: &[MInst], p: VReg, limit: usize) -> bool {
    length(insts) <= limit
        && insts.iter().all(|i| {
            // The uniform datapath takes no guards; loads of constants there may run in any case.
            i.guard.is_none()
                && (i.flags & flags::UNIFORM == 0 || i.class == OpClass::LoadUniform && i.op != Op::LdConstant)
                && i.defs().all(|d| d != p)
                && !matches!(
                    i.op,
                    Op::Bar
                        | Op::BarSub
                        | Op::MemBar
                        | Op::Trap
                        | Op::WarpReduce
                        | Op::WarpScan
                        | Op::WarpElect
                        | Op::WarpFull
                        | Op::VoteAny
                        | Op::VoteAll
                        | Op::Ballot
                        | Op::ShflIdx
                        | Op::ShflXor
                        | Op::ShflUp
                        | Op::ShflDown
                )
        })
}

/// Whether the operation does nothing but compute its destinations from registers.
fn is_pure(i: &MInst) -> bool {
    i.class != OpClass::LoadConstant && !is_memory(i.op) && !matches!(i.op, Op::Exit | Op::Bra)
}

fn apply(f: &mut MFunc, b: usize, plan: Plan, units: &Units, live: &[BitSet]) {
    let mut started: Vec<u32> = Vec::new();
    for (a, sense) in plan.arms {
        let insts = std::mem::take(&mut f.blocks[a].insts);
        for mut i in insts {
            let writes = i.writes(f);
            let mut written = writes.iter().flat_map(|&s| units.span(s));
            let local = written.all(|u| !live[b].contains(u) && !live[a].contains(u));
            // Temporaries of the arm may be computed in all lanes, but what is loaded from the constant bank waits for the
            // guard: in front of it it would hold registers (sass bfs, conv2d: @!P0 LDC.64).
            if !(i.pseudo || i.is_ghost() || local && is_pure(&i)) {
                for s in writes.into_iter().filter(|_| i.kills()) {
                    for (word, u) in (s.first..).zip(units.span(s)) {
                        if live[b].contains(u) || started.contains(&u) {
                            continue;
                        }
                        started.push(u);
                        let start = match f.info(s.v).file {
                            File::Predicate => Opd::Pred(s.v, false),
                            _ => Opd::Reg(s.v, word),
                        };
                        let mut start = MInst::new(Op::Nop, start, &[], i.loc);
                        start.pseudo = true;
                        f.blocks[b].insts.push(start);
                    }
                }
                i.guard = Some((plan.predicate, sense));
            }
            f.blocks[b].insts.push(i);
        }
        f.blocks[a].term = Term::Exit;
    }
    f.blocks[b].term = plan.term;
}
