//! Operand reuse: marks sources that the operand cache still holds from the instruction before.
use super::Options;
use super::emit::Code;
use super::schedule::class_latency;
use warpscope_exec::ops::{Op, OpClass, words};
use warpscope_exec::program::{MachineOp, Operand, OperandKind, flags};

/// Marks a source where the operation before it in the same straight line read the same register in the same slot,
/// did not write it, and the operation can issue in the very next cycle (else another warp's operands replace it).
pub(super) fn mark(code: &mut Code, options: &Options<'_>) {
    if !options.reuse_cache {
        return;
    }
    let mut starts = vec![false; code.ops.len() + 1];
    for op in &code.ops {
        if op.op == Op::Bra && op.flags & flags::GHOST == 0 {
            starts[op.imm as usize] = true;
        }
    }
    code.jump_tables.iter().flatten().for_each(|&t| starts[t as usize] = true);
    let registers = 1 + code.ops.iter().flat_map(|o| o.src.into_iter().chain([o.dst])).map(top).max().unwrap_or(0);
    // Cycle from which each register can be read.
    let mut ready = vec![0u64; registers];
    let mut loading = vec![false; registers];
    let mut now = 0;
    let mut before: Option<MachineOp> = None;
    for at in 0..code.ops.len() {
        let op = code.ops[at];
        if starts[at] {
            before = None;
        }
        let w = words(&op);
        let mut issue = now + 1;
        let mut waits = false;
        for r in op.src.into_iter().zip(w.src).flat_map(|(o, n)| range(o, n)) {
            issue = issue.max(ready[r]);
            waits |= loading[r] && ready[r] > now + 1;
        }
        if waits {
            // Loads come back in groups: what was on its way beside the awaited one is there as well.
            (0..registers).filter(|&r| loading[r]).for_each(|r| ready[r] = ready[r].min(issue));
        }
        let shares = before.filter(|_| issue == now + 1);
        if let Some(last) = shares.filter(|_| keeps_operands(op.class)) {
            for slot in 0..3 {
                let o = op.src[slot];
                let vector = matches!(o.kind(), OperandKind::Register(_));
                let written = range(last.dst, words(&last).dst[0]).any(|r| range(o, w.src[slot]).any(|x| x == r));
                if vector && last.src[slot] == o && !written {
                    code.ops[at].flags |= 1 << (flags::REUSE_SHIFT + slot as u8);
                }
            }
        }
        now = issue;
        for r in range(op.dst, w.dst[0]) {
            ready[r] = now + class_latency(op.class, &options.target.schedule) as u64;
            loading[r] = matches!(op.class, OpClass::LoadGlobal | OpClass::LoadLocal | OpClass::LoadPrivate);
        }
        let ends = matches!(op.op, Op::Bra | Op::Brx | Op::Exit) && op.flags & flags::GHOST == 0;
        before = (!ends).then_some(op);
    }
}

/// Whether operations of a class read through the operand cache (those of the arithmetic pipes).
fn keeps_operands(class: OpClass) -> bool {
    use OpClass::*;
    matches!(class, Fp32 | Fp16 | Fp64 | IMad | IMadWide | Alu | Compare | Move)
}

/// Vector registers of an operand of `words` words.
fn range(o: Operand, words: u8) -> std::ops::Range<usize> {
    match o.kind() {
        OperandKind::Register(r) => r as usize..r as usize + words.max(1) as usize,
        _ => 0..0,
    }
}

/// The highest vector register that an operand can touch.
fn top(o: Operand) -> usize {
    match o.kind() {
        OperandKind::Register(r) => r as usize + 16,
        _ => 0,
    }
}
