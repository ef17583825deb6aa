//! Operand reuse: marks sources that the operand cache still holds from the instruction before.
use super::Options;
use super::emit::Code;
use super::schedule::class_latency;
use warpscope_exec::ops::{Op, OpClass, words};
use warpscope_exec::program::{Operand, OperandKind, flags};

/// An operand cache without contents: registers and words by slot.
const NOTHING: [(Operand, u8); 3] = [(Operand::NONE, 0); 3];

/// Marks a source where the operand cache holds the register since an earlier operation read it in the same slot: all
/// between issue in successive cycles (else another warp's operands replace it), and none read another register there
/// or wrote this one. Operations of the uniform datapath and constant operands leave the cache alone (sass `ilp`:
/// UIADD3 and ISETP with a uniform register between two FFMA that share two operands).
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
    let mut now = 0;
    let mut held = NOTHING;
    for at in 0..code.ops.len() {
        let op = code.ops[at];
        if starts[at] {
            held = NOTHING;
            ready.fill(now);
        }
        let w = words(&op);
        let mut issue = now + 1;
        for (o, n) in op.src.into_iter().zip(w.src) {
            for r in range(o, n) {
                issue = issue.max(ready[r]);
            }
        }
        if issue > now + 1 {
            held = NOTHING;
        }
        now = issue;
        let keeps = keeps_operands(op.class);
        if keeps {
            for (slot, h) in held.iter_mut().enumerate() {
                let o = op.src[slot];
                if !matches!(o.kind(), OperandKind::Register(_)) {
                    continue;
                }
                let read = (o, w.src[slot]);
                if *h == read {
                    code.ops[at].flags |= 1 << (flags::REUSE_SHIFT + slot as u8);
                }
                *h = read;
            }
        } else if op.flags & (flags::UNIFORM | flags::GHOST) == 0 {
            held = NOTHING;
        }
        for r in range(op.dst, w.dst[0]) {
            // What takes a time of its own is waited for before anything else is counted.
            let latency = if keeps { class_latency(op.class, &options.target.schedule) as u64 } else { 1 };
            ready[r] = now + latency;
            held.iter_mut().filter(|h| range(h.0, h.1).contains(&r)).for_each(|h| *h = NOTHING[0]);
        }
    }
}

/// Whether operations of a class read through the operand cache (those of the arithmetic pipes).
fn keeps_operands(class: OpClass) -> bool {
    use OpClass::*;
    matches!(class, Fp32 | Fp16 | Fp64 | IMad | IMadWide | IMadHigh | Alu | Compare | Move)
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
