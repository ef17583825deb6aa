//! Control flow: the reconvergence stack.
//!
//! A branch that splits the active lanes names the point where they meet again. Two kinds of entries are pushed: the
//! lanes of the path not taken first, waiting at their target; and below them, unless one for the same point is there
//! already, all lanes, to go on from the meeting point. Every push takes at least one lane out of the active set, and
//! the sets shrink towards the top, so the stack never holds more than `2 * W` entries.
use super::{Divergence, Effect, Fault, Warp};
use crate::program::NO_RECONVERGENCE;

impl<const W: usize> Warp<W> {
    /// Goes on at `pc`; where that is the meeting point, the waiting lanes have their turn.
    #[inline(always)]
    pub(super) fn advance(&mut self, pc: u32) {
        self.pc = pc;
        if pc == self.reconvergence {
            self.pop();
        }
    }

    /// Takes entries off the stack until one has lanes and is not at its own meeting point. False: none left.
    #[cold]
    #[inline(never)]
    pub(super) fn pop(&mut self) -> bool {
        while let Some(entry) = self.stack.pop() {
            self.active = entry.mask & self.alive;
            self.pc = entry.pc;
            self.reconvergence = entry.reconvergence;
            if self.active != 0 && self.pc != self.reconvergence {
                return true;
            }
        }
        self.active = 0;
        false
    }

    fn push(&mut self, entry: Divergence) -> Result<(), Fault> {
        if self.stack.len() >= Self::STACK {
            return Err(Fault::StackOverflow(Self::STACK));
        }
        self.stack.push(entry);
        Ok(())
    }

    /// Opens a divergent region that ends at `point`; returns the meeting point to give to its paths.
    fn split(&mut self, point: u32) -> Result<u32, Fault> {
        if point == NO_RECONVERGENCE || point == self.reconvergence {
            return Ok(self.reconvergence);
        }
        self.push(Divergence { pc: point, reconvergence: self.reconvergence, mask: self.active })?;
        Ok(point)
    }

    /// Lanes in `taken` go to `target`, the other active ones to the next operation.
    #[inline]
    pub(super) fn branch(&mut self, taken: u64, target: u32, point: u32) -> Result<Effect, Fault> {
        if taken == self.active {
            self.advance(target);
            return Ok(Effect::Jumped);
        }
        self.diverge(taken, target, point)?;
        Ok(Effect::Jumped)
    }

    #[inline(never)]
    fn diverge(&mut self, taken: u64, target: u32, point: u32) -> Result<(), Fault> {
        let next = self.pc + 1;
        let others = self.active & !taken;
        let point = self.split(point)?;
        self.reconvergence = point;
        let (pc, active) = if target == point {
            (next, others)
        } else if next == point {
            (target, taken)
        } else {
            self.push(Divergence { pc: target, reconvergence: point, mask: taken })?;
            (next, others)
        };
        self.active = active;
        self.advance(pc);
        Ok(())
    }

    /// Each active lane goes to its own target; equal targets stay together, the lowest lane's goes first.
    pub(super) fn branch_table(
        &mut self,
        exec: u64,
        point: u32,
        target: impl Fn(usize) -> u32,
    ) -> Result<Effect, Fault> {
        let group = |mut rest: u64| {
            let first = target(rest.trailing_zeros() as usize);
            let mut same = 0;
            while rest != 0 {
                let lane = rest.trailing_zeros();
                if target(lane as usize) == first {
                    same |= 1 << lane;
                }
                rest &= rest - 1;
            }
            (first, same)
        };
        let (first, same) = group(exec);
        if same == self.active {
            self.advance(first);
            return Ok(Effect::Jumped);
        }
        let skipped = self.active & !exec;
        let point = self.split(point)?;
        self.reconvergence = point;
        let next = self.pc + 1;
        if skipped != 0 && next != point {
            self.push(Divergence { pc: next, reconvergence: point, mask: skipped })?;
        }
        let mut rest = exec;
        while rest != 0 {
            let (pc, mask) = group(rest);
            rest &= !mask;
            if pc != point {
                self.push(Divergence { pc, reconvergence: point, mask })?;
            }
        }
        self.pop();
        Ok(Effect::Jumped)
    }

    /// Lanes in `exec` end.
    pub(super) fn exit(&mut self, exec: u64) -> Effect {
        self.alive &= !exec;
        self.active &= !exec;
        if self.active != 0 {
            self.advance(self.pc + 1);
            return Effect::Next;
        }
        if self.pop() { Effect::Jumped } else { Effect::Exit }
    }
}
