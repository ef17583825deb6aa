//! Issue: the operation is carried out, its time charged, and the warp's next operation prepared.
use super::access::{Request, WindowMemory};
use super::code::{Kind, Needs, TimedOp};
use super::compute_unit::{ComputeUnit, Context, Tally};
use super::fetch_cache::PENDING;
use super::slot::{FUTURE, Slot, State};
use super::sub_core::SubCore;
use crate::lanes::full_mask;
use crate::{Cause, LaunchError, diagnosis};
use warpscope_exec::exec::{Effect, step};

/// Lanes in a mask. Kept out of the way of full warps: without the host's own instruction it takes a while.
#[cold]
#[inline(never)]
fn lanes_of(mask: u64) -> u64 {
    u64::from(mask.count_ones())
}

/// Tells the sub-core when the slot's next operation `op`, which has been fetched, can issue: what it waits for is in
/// the scoreboard.
#[inline(always)]
fn arm<const W: usize>(
    sub_core: &mut SubCore,
    slot: usize,
    warp_slot: &Slot<W>,
    op: &TimedOp,
    context: &Context<'_, W>,
) {
    let code = context.timed;
    let (there, cause) = warp_slot.operands(code, op);
    let spaced = warp_slot.ports[op.port as usize];
    let (there, cause) = if spaced > there { (spaced, Cause::Wait) } else { (there, cause) };
    let gated = op.after_barrier && warp_slot.barrier > there;
    let (there, cause) = if gated { (warp_slot.barrier, Cause::Barrier) } else { (there, cause) };
    if there >= FUTURE {
        sub_core.sleep(slot, cause);
    } else if warp_slot.atomics > 0 && op.after_atomics {
        sub_core.sleep(slot, Cause::Membar);
    } else {
        let waits = there > warp_slot.base;
        let (at, cause) = if waits { (there, cause) } else { (warp_slot.base, warp_slot.base_cause()) };
        sub_core.arm(slot, op.needs, at, cause);
    }
}

/// Warp instructions between two looks at the launch's limit and interrupt flag are counted by the engine.
impl<const W: usize> ComputeUnit<W> {
    /// Issues the next operation of a slot at `now`.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        sub: usize,
        slot: usize,
        now: u64,
        context: &Context<'_, W>,
        tally: &mut Tally<W>,
    ) -> Result<(), LaunchError> {
        let index = sub << self.sub_shift | slot;
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return Ok(()) };
        let warp = &mut warp_slot.warp;
        let group = &mut self.groups[warp_slot.group as usize].group;
        let (pc, active) = (warp.pc, warp.active);
        let Some(op) = context.timed.ops.get(pc as usize) else {
            return Err(diagnosis::ran_off(context.code.program(), context.grid, group, warp));
        };
        let executed = &mut tally.executed[pc as usize];
        executed.0 += 1;
        executed.1 += if active == full_mask(W) { W as u64 } else { lanes_of(active) };
        tally.instructions += 1;
        let start = self.subs[sub].issue(slot, now, op, context.timed, &mut self.shared_pipes);
        tally.capture.clear();
        let mut memory = WindowMemory {
            view: context.view,
            spans: &mut tally.spans,
            overlay: &mut self.overlay,
            atomics: &mut self.atomics,
            capture: &mut tally.capture,
            banks: self.state.memory.banks(),
        };
        let effect = step(&context.code, warp, group, &mut memory, &mut tally.scratch)
            .map_err(|fault| diagnosis::fault(context.code.program(), context.grid, group, warp, pc, fault))?;
        warp_slot.hold(now + u64::from(op.hold), Cause::Wait);
        warp_slot.ports[op.port as usize] = now + u64::from(op.spacing);
        if warp_slot.warp.active != active && effect == Effect::Next && op.kind != Kind::Exit {
            // The end of a path: other lanes have their turn, which is a jump.
            warp_slot.hold(now + context.timed.jump, Cause::Branch);
        }
        match effect {
            // Most operations: a branch that is well foretold, unlike the others.
            _ if effect == Effect::Next && !matches!(op.kind, Kind::LaunchConstant | Kind::Memory) => {
                warp_slot.produce(context.timed, op, start + u64::from(op.latency));
            }
            Effect::Next if op.kind == Kind::Memory => {
                // It passes the load/store unit all the same.
                let loads = !context.timed.writes(op).is_empty();
                tally.capture.set_idle(if loads { Request::Load } else { Request::Store });
                self.access(index, pc, op, now, context, tally);
            }
            Effect::Next => self.load_launch_constant(index, pc, op, now, context),
            Effect::Jumped => {
                let now_active = warp_slot.warp.active;
                let divergent = now_active != active && now_active & !active == 0;
                tally.work.divergent_branches += u64::from(divergent);
                // Where lanes part, both ways are gone.
                warp_slot.hold(now + context.timed.jump * (1 + u64::from(divergent)), Cause::Branch);
            }
            Effect::Fence => {
                warp_slot.hold(now + u64::from(op.latency.max(1)), Cause::Membar);
            }
            Effect::Access => self.access(index, pc, op, now, context, tally),
            Effect::Barrier => {
                self.arrive(index, now + u64::from(op.latency), context);
            }
            Effect::Exit => {
                self.exit(index, now + u64::from(op.latency.max(1)), context);
                return Ok(());
            }
        }
        // Mostly the next operation is there and its operands are in registers.
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return Ok(()) };
        match context.timed.ops.get(warp_slot.warp.pc as usize) {
            Some(op) if warp_slot.has_fetched(warp_slot.warp.pc) && !op.reads_constants() => {
                arm(&mut self.subs[sub], slot, warp_slot, op, context);
            }
            _ => self.prepare(index, now, context),
        }
        Ok(())
    }

    /// Finds out when the slot's next operation can issue.
    pub(super) fn prepare(&mut self, index: usize, now: u64, context: &Context<'_, W>) {
        let (sub, slot) = (index >> self.sub_shift, index & self.slot_mask);
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return };
        let pc = warp_slot.warp.pc;
        let Some(op) = context.timed.ops.get(pc as usize) else {
            // Issuing reports it.
            self.subs[sub].arm(slot, Needs::default(), warp_slot.base, Cause::Fetch);
            return;
        };
        if !warp_slot.has_fetched(pc) && !self.fetch(index, pc, now, context) {
            return;
        }
        if op.reads_constants() && !self.fetch_constants(index, op, now, context) {
            return;
        }
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return };
        arm(&mut self.subs[sub], slot, warp_slot, op, context);
    }

    /// Fetches the line of operation `pc`; `false`: the slot sleeps until it comes.
    fn fetch(&mut self, index: usize, pc: u32, now: u64, context: &Context<'_, W>) -> bool {
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return false };
        let frontend = &context.spec.frontend;
        let bytes = u64::from(frontend.instruction_bytes);
        let stretch = context.timed.stretch(pc);
        // Other jumps have been charged.
        let skips = pc == warp_slot.line.1 && stretch.behind_gap;
        let address = context.code_base + u64::from(stretch.line * context.timed.line_ops) * bytes;
        let end = context.code_base + u64::from(context.timed.length) * bytes;
        let sub = index >> self.sub_shift;
        let at = self.state.frontend.instruction(sub, address, end, warp_slot.base);
        self.send_fetches(now, context);
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return false };
        if at == PENDING {
            self.subs[sub].sleep(index & self.slot_mask, Cause::Fetch);
            self.fetch_waiters.push(index as u32);
            return false;
        }
        let at = at + if skips { u64::from(frontend.refill) } else { 0 };
        if at > warp_slot.base {
            self.subs[sub].charge_as(index & self.slot_mask, warp_slot.base, warp_slot.base_cause());
            warp_slot.hold(at, Cause::Fetch);
        }
        warp_slot.line = stretch.ops;
        true
    }

    /// Makes sure that constant operands are in the sub-core; `false`: the slot sleeps until they come.
    fn fetch_constants(&mut self, index: usize, op: &TimedOp, now: u64, context: &Context<'_, W>) -> bool {
        let sub = index >> self.sub_shift;
        let line_bytes = u64::from(context.spec.frontend.l0_constant.line);
        let Some(warp_slot) = self.slots[index].as_deref_mut() else { return false };
        let mut there = std::mem::take(&mut warp_slot.constants_there);
        for (n, line) in context.timed.constant_lines(op).iter().enumerate() {
            if there >> n & 1 != 0 {
                continue;
            }
            let address = context.bank_base + u64::from(context.timed.bank_lines[*line as usize]) * line_bytes;
            let at = self.state.frontend.operand(sub, address, warp_slot.base);
            if at == PENDING {
                warp_slot.constants_there = there;
                self.send_fetches(now, context);
                self.subs[sub].sleep(index & self.slot_mask, Cause::ConstantMiss);
                self.fetch_waiters.push(index as u32);
                return false;
            }
            there |= 1 << n;
            if at > warp_slot.base {
                self.subs[sub].charge_as(index & self.slot_mask, warp_slot.base, warp_slot.base_cause());
                warp_slot.hold(at, Cause::ConstantMiss);
            }
        }
        true
    }

    /// A warp's arrival reaches the barrier unit at `at`.
    fn arrive(&mut self, index: usize, at: u64, context: &Context<'_, W>) {
        let barrier = &context.spec.compute_unit.barrier;
        let start = at.max(self.barrier_free);
        self.barrier_free = start + u64::from(barrier.unit_interval);
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        slot.barrier = FUTURE;
        let group = slot.group as usize;
        self.groups[group].arrive(start, u64::from(barrier.interval));
        self.release(group, context);
    }

    /// Lets the group's warps go on if all have arrived.
    pub(super) fn release(&mut self, group: usize, context: &Context<'_, W>) {
        let Some(arrived) = self.groups[group].complete() else { return };
        let at = arrived + u64::from(context.spec.compute_unit.barrier.latency);
        for n in 0..self.groups[group].slots.len() {
            let index = self.groups[group].slots[n] as usize;
            if let Some(slot) = self.slots[index].as_deref_mut()
                && slot.barrier == FUTURE
            {
                slot.barrier = at;
                self.wake(index, at, context);
            }
        }
    }

    /// Every lane of a warp has ended; the warp ends at `at` at the earliest.
    fn exit(&mut self, index: usize, at: u64, context: &Context<'_, W>) {
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        // It waits for all that its instructions still have under way, used or not, but for reductions.
        slot.departure = slot.departure.max(at).max(slot.last_result());
        let at = slot.departure;
        let busy = slot.outstanding > slot.reductions;
        slot.state = State::Draining;
        self.subs[index >> self.sub_shift].sleep(index & self.slot_mask, Cause::Drain);
        if !busy && !self.lsu.holds(index) {
            self.end_warp(index, at, context);
        }
    }

    /// An event may have given the slot what it slept for.
    pub(super) fn wake(&mut self, index: usize, now: u64, context: &Context<'_, W>) {
        let Some(slot) = self.slots[index].as_deref() else { return };
        match slot.state {
            State::Running if self.subs[index >> self.sub_shift].is_asleep(index & self.slot_mask) => {
                self.prepare(index, now, context);
            }
            State::Draining if slot.outstanding == slot.reductions && !self.lsu.holds(index) => {
                let at = slot.departure.max(now);
                self.end_warp(index, at, context);
            }
            _ => {}
        }
    }

    /// Whether an operation's time is the memory system's.
    pub(super) fn is_timed_by_memory(op: &TimedOp) -> bool {
        matches!(op.kind, Kind::Memory)
    }
}
