//! Of what a condition combines, one compare stands beside it: it costs nothing there, as machines compare and combine in
//! one operation, and fewer predicates have to be kept.
use super::rewrite::count_uses;
use crate::ir::{Function, Opcode, Value};

/// Copies compares of several uses to where conditions combine them; gives whether there were any.
pub fn run(f: &mut Function) -> bool {
    let uses = count_uses(f);
    let mut changed = false;
    for b in f.block_ids() {
        let old = std::mem::take(&mut f.blocks[b.0 as usize].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            if matches!(f.inst(i).op, Opcode::BoolAnd | Opcode::BoolOr) {
                // One that nothing else uses is compared there; then the other may be shared (sass conv2d, transpose).
                let args = f.inst(i).args.clone();
                let own = |v: Value| is_compare(f, v) && uses.get(v.0 as usize).is_none_or(|&u| u <= 1);
                let copied = match args[..] {
                    [a, b] if own(a) || own(b) => None,
                    [_, b] if is_compare(f, b) => Some(1),
                    _ => Some(0),
                };
                let shared = |v: Value| uses.get(v.0 as usize).is_some_and(|&u| u > 1) && is_compare(f, v);
                if let Some(n) = copied.filter(|&n| shared(args[n]))
                    && let Some(c) = f.def_inst(args[n]).cloned()
                {
                    let copy = f.make_inst(c.op, &c.args, &[crate::ir::Ty::Bool], f.inst(i).loc);
                    f.inst_mut(i).args[n] = f.inst(copy).results[0];
                    new.push(copy);
                    changed = true;
                }
            }
            new.push(i);
        }
        f.blocks[b.0 as usize].insts = new;
    }
    changed
}

fn is_compare(f: &Function, v: Value) -> bool {
    f.def_inst(v).is_some_and(|d| matches!(d.op, Opcode::ICmp(_)) && f.ty(d.args[0]).bits() <= 32)
}
