//! Loop hints: OpLoopMerge and OpLoopControlINTEL say how far the program wants a loop to be unrolled.
use super::error::Res;
use super::words::Instr;
use crate::ir::{Block, Cfg, Function, UnrollHint};
use spirv::{LoopControl, Op};

/// A hint as it stands in a block.
pub(super) struct LoopHint {
    block: Block,
    hint: UnrollHint,
    /// The loop's block that leads back to the header, where the instruction says so.
    back: Option<Block>,
}

impl LoopHint {
    /// Reads a hint; `label` finds the block of a label.
    pub fn read(i: &Instr<'_>, block: Block, label: impl Fn(u32) -> Res<Block>) -> Res<Self> {
        let merge = i.op == Op::LoopMerge;
        let (mask, first) = if merge { (i.at(2)?, 3) } else { (i.at(0)?, 1) };
        let mask = LoopControl::from_bits_retain(mask);
        let hint = if mask.contains(LoopControl::DONT_UNROLL) {
            UnrollHint::Never
        } else if mask.contains(LoopControl::PARTIAL_COUNT) {
            // Operands come in the order of the mask's bits: DependencyLength, MinIterations, MaxIterations,
            // IterationMultiple and PeelCount before it have one each.
            let before = (mask.bits() & 0xf8).count_ones() as usize;
            UnrollHint::Factor(i.at(first + before)?)
        } else if mask.contains(LoopControl::UNROLL) {
            UnrollHint::Unroll
        } else {
            UnrollHint::None
        };
        let back = if merge { Some(label(i.at(1)?)?) } else { None };
        Ok(LoopHint { block, hint, back })
    }
}

/// Puts hints on the headers of their loops. The translator also writes those of loops that are tested at their end
/// into the block behind the loop, which leads nowhere back.
pub(super) fn apply(f: &mut Function, hints: &[LoopHint]) {
    if hints.is_empty() {
        return;
    }
    let cfg = Cfg::new(f);
    for h in hints {
        let header = h.back.is_none_or(|b| cfg.reachable(b) && cfg.reachable(h.block) && cfg.dominates(h.block, b));
        if header {
            f.blocks[h.block.0 as usize].unroll = h.hint;
        }
    }
}
