//! Common subexpressions: a value computed by a dominating instruction is not computed again. Loads take part as long
//! as nothing in between may have changed the memory (constant memory: always).
use super::rewrite::Replacements;
use crate::ir::{Cfg, Function, Inst, Opcode, Ty, Value, Visit};
use smallvec::SmallVec;
use std::collections::HashMap;

#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    op: Opcode,
    args: SmallVec<[Value; 4]>,
    types: SmallVec<[Ty; 2]>,
    /// Version of the memory that a load reads; 0 for everything else.
    memory: u64,
}

/// Memory versions within a block: accesses of disjoint spaces do not disturb each other.
struct Versions {
    next: u64,
    global: u64,
    local: u64,
    private: u64,
}

impl Versions {
    fn bump(&mut self, space: Option<Ty>) {
        self.next += 1;
        let n = self.next;
        let all = matches!(space, None | Some(Ty::PtrGeneric));
        if all || space == Some(Ty::PtrGlobal) {
            self.global = n;
        }
        if all || space == Some(Ty::PtrLocal) {
            self.local = n;
        }
        if all || space == Some(Ty::PtrPrivate) {
            self.private = n;
        }
    }
    fn of(&self, space: Ty) -> u64 {
        match space {
            Ty::PtrConstant => 0,
            Ty::PtrLocal => self.local,
            Ty::PtrPrivate => self.private,
            Ty::PtrGeneric => self.global.max(self.local).max(self.private),
            _ => self.global,
        }
    }
}

/// Removes repeated computations; gives whether there were any.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let mut table: HashMap<Key, Inst> = HashMap::new();
    let mut log: Vec<(Key, Option<Inst>)> = Vec::new();
    let mut r = Replacements::new(f);
    let mut versions = Versions { next: 0, global: 0, local: 0, private: 0 };
    let mut marks = Vec::new();
    for step in cfg.dominator_walk() {
        let Visit::Enter(b) = step else {
            // Back out of the subtree: the table is as it was before the block.
            for (key, old) in log.drain(marks.pop().unwrap_or(0)..).rev() {
                match old {
                    Some(i) => table.insert(key, i),
                    None => table.remove(&key),
                };
            }
            continue;
        };
        marks.push(log.len());
        versions.bump(None);
        let insts = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            r.apply_to(f, i);
            if let Some(earlier) = visit(f, i, &mut versions, &mut table, &mut log) {
                merge(f, i, earlier, &mut r);
            } else {
                kept.push(i);
            }
        }
        f.blocks[b.0 as usize].insts = kept;
    }
    let changed = r.any();
    r.apply(f);
    changed
}

/// The earlier instruction that computes the same, if any; otherwise this one is entered.
fn visit(
    f: &Function,
    i: Inst,
    versions: &mut Versions,
    table: &mut HashMap<Key, Inst>,
    log: &mut Vec<(Key, Option<Inst>)>,
) -> Option<Inst> {
    let d = f.inst(i);
    let memory = match &d.op {
        Opcode::Load(a) if !a.volatile => versions.of(f.ty(d.args[0])),
        Opcode::Store(_) | Opcode::Copy { .. } => {
            versions.bump(Some(f.ty(d.args[0])));
            return None;
        }
        Opcode::Atomic { order, .. } => {
            let relaxed = *order == crate::ir::Order::Relaxed;
            versions.bump(relaxed.then(|| f.ty(d.args[0])));
            return None;
        }
        Opcode::Barrier { .. } | Opcode::Fence { .. } | Opcode::Call(_) | Opcode::Load(_) => {
            versions.bump(None);
            return None;
        }
        Opcode::Alloca { .. } | Opcode::Vote(_) | Opcode::Shuffle(_) | Opcode::Warp(_) | Opcode::Undef => return None,
        op if op.is_terminator() => return None,
        _ => 0,
    };
    let mut args = d.args.clone();
    if commutes(&d.op) && args[0] > args[1] {
        args.swap(0, 1);
    }
    let key = Key { op: d.op.clone(), args, types: d.results.iter().map(|&v| f.ty(v)).collect(), memory };
    if let Some(&earlier) = table.get(&key) {
        return Some(earlier);
    }
    let old = table.insert(key.clone(), i);
    log.push((key, old));
    None
}

/// The later of two equal instructions gives way; only promises of both are kept.
fn merge(f: &mut Function, later: Inst, earlier: Inst, r: &mut Replacements) {
    f.insts[earlier.0 as usize].flags &= f.insts[later.0 as usize].flags;
    if let (Opcode::Load(a), Opcode::Load(b)) = (f.inst(earlier).op.clone(), f.inst(later).op.clone()) {
        debug_assert_eq!(a.count, b.count);
    }
    for n in 0..f.inst(later).results.len() {
        r.replace(f.inst(later).results[n], f.inst(earlier).results[n]);
    }
}

/// Whether the first two operands may change places.
pub(super) fn commutes(op: &Opcode) -> bool {
    use crate::ir::{Cond, FBin, IBin};
    matches!(
        op,
        Opcode::IBin(
            IBin::Add
                | IBin::Mul
                | IBin::SMulHi
                | IBin::UMulHi
                | IBin::And
                | IBin::Or
                | IBin::Xor
                | IBin::SMin
                | IBin::SMax
                | IBin::UMin
                | IBin::UMax
        ) | Opcode::FBin(FBin::Add | FBin::Mul)
            | Opcode::BoolAnd
            | Opcode::BoolOr
            | Opcode::BoolXor
            | Opcode::ICmp(Cond::Eq | Cond::Ne)
            | Opcode::Mad
            | Opcode::Fma
    )
}
