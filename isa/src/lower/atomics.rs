//! Marks plain global accesses that may follow an atomic of the same work-item.
use super::emit::Code;
use warpscope_exec::ops::Op;
use warpscope_exec::program::flags;

/// Sets [`flags::AFTER_ATOMICS`] on every plain global or generic access that control can reach from a global or
/// generic atomic without passing a barrier or fence (these wait for pending atomics themselves).
pub(super) fn mark(code: &mut Code) {
    let n = code.ops.len();
    let mut reached = vec![false; n];
    let mut work: Vec<usize> = Vec::new();
    for (at, op) in code.ops.iter().enumerate() {
        if matches!(op.op, Op::AtomGlobal | Op::AtomGeneric) && op.flags & flags::GHOST == 0 {
            work.push(at);
        }
    }
    while let Some(at) = work.pop() {
        let op = &code.ops[at];
        let always = op.guard.get().is_none();
        let mut next: Vec<usize> = Vec::new();
        match op.op {
            _ if op.flags & flags::GHOST != 0 => next.push(at + 1),
            Op::Bra => {
                next.push(op.imm as usize);
                if !always {
                    next.push(at + 1);
                }
            }
            Op::Brx => next.extend(code.jump_tables[op.imm as usize].iter().map(|&t| t as usize)),
            Op::Exit if always => {}
            Op::Trap | Op::Bar | Op::MemBar => {}
            _ => next.push(at + 1),
        }
        for s in next {
            if s < n && !reached[s] {
                reached[s] = true;
                work.push(s);
            }
        }
    }
    for (op, reached) in code.ops.iter_mut().zip(reached) {
        let plain = matches!(op.op, Op::LdGlobal | Op::LdGeneric | Op::StGlobal | Op::StGeneric);
        if reached && plain && op.flags & flags::GHOST == 0 {
            op.flags |= flags::AFTER_ATOMICS;
        }
    }
}
