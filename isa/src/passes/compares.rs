//! Compares stand beside the conditions that they are part of: an operand of `and` and `or` costs nothing there, as
//! machines compare and combine in one operation, and fewer predicates have to be kept.
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
                for n in 0..2 {
                    let v = f.inst(i).args[n];
                    if uses.get(v.0 as usize).is_some_and(|&u| u > 1) && is_compare(f, v) {
                        let d = f.inst(i).loc;
                        let Some(c) = f.def_inst(v).cloned() else { continue };
                        let copy = f.make_inst(c.op, &c.args, &[crate::ir::Ty::Bool], d);
                        let result = f.inst(copy).results[0];
                        f.inst_mut(i).args[n] = result;
                        new.push(copy);
                        changed = true;
                    }
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
