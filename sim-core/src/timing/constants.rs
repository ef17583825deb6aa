//! Loads from the constant bank: the launch's own, and indexed ones.
use super::access::Captured;
use super::code::TimedOp;
use super::compute_unit::{ComputeUnit, Context};
use super::fetch_cache::PENDING;
use super::slot::FUTURE;

/// An indexed constant load that waits for lines.
#[derive(Clone, Debug)]
pub(crate) struct ConstantWait {
    token: u32,
    /// Lines that have not come yet.
    lines: Vec<u64>,
    /// When the last of the others came.
    latest: u64,
    /// Cycles that it takes once the lines are there.
    extra: u64,
}

impl<const W: usize> ComputeUnit<W> {
    /// A load from the constant bank's first line.
    pub(super) fn load_launch_constant(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let line_bytes = u64::from(context.spec.frontend.l1_constant.line);
        self.lsu.lines.clear();
        self.lsu.lines.push(context.bank_base / line_bytes * line_bytes);
        self.read_constant_lines(index, pc, op, 1, now, context);
    }

    /// An indexed load from the constant bank: each distinct word takes the constant cache's port.
    pub(super) fn load_constant(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        part: Option<&Captured<W>>,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let Some(part) = part else {
            let Some(slot) = self.slots[index].as_deref_mut() else { return };
            slot.produce(context.timed, op, now + u64::from(op.latency));
            return;
        };
        let line_bytes = u64::from(context.spec.frontend.l1_constant.line);
        let (lines, words) = (&mut self.lsu.lines, &mut self.lsu.words);
        lines.clear();
        words.clear();
        crate::lanes::for_lanes::<W>(part.mask, |lane| {
            let address = part.addresses[lane];
            if !words.contains(&address) {
                words.push(address);
                let line = address / line_bytes * line_bytes;
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        });
        let words = words.len() as u64;
        self.read_constant_lines(index, pc, op, words, now, context);
    }

    /// Charges a read of `words` words in `lsu.lines`; it waits for those that are not in the constant cache.
    fn read_constant_lines(
        &mut self,
        index: usize,
        pc: u32,
        op: &TimedOp,
        words: u64,
        now: u64,
        context: &Context<'_, W>,
    ) {
        let Some(slot) = self.slots[index].as_deref_mut() else { return };
        let replay = context.spec.frontend.constant_replay.max(context.spec.frontend.l1_constant.interval);
        let extra = u64::from(op.latency) + words.saturating_sub(1) * u64::from(replay);
        let frontend = &mut self.state.frontend;
        let start = frontend.start_indexed(words, now);
        let mut latest = now;
        self.lsu.lines.retain(|line| note_arrival(frontend.indexed(*line, start), &mut latest));
        if self.lsu.lines.is_empty() {
            slot.produce(context.timed, op, latest + extra);
            return;
        }
        slot.produce(context.timed, op, FUTURE);
        slot.outstanding += 1;
        let token = self.lsu.await_constants(index, pc);
        let lines = self.lsu.lines.clone();
        self.lsu.constants.push(ConstantWait { token, lines, latest, extra });
        self.send_fetches(now, context);
    }

    /// Ends the indexed constant loads whose lines are all there.
    pub(super) fn finish_constants(&mut self, now: u64, context: &Context<'_, W>) {
        let mut waiting = std::mem::take(&mut self.lsu.constants);
        waiting.retain_mut(|wait| {
            let frontend = &mut self.state.frontend;
            wait.lines.retain(|line| note_arrival(frontend.indexed(*line, now), &mut wait.latest));
            if !wait.lines.is_empty() {
                return true;
            }
            let at = wait.latest;
            let op = &context.timed.ops[self.lsu.pc_of(wait.token) as usize];
            let latency = u64::from(op.latency);
            self.end_part(wait.token, at + wait.extra - latency, true, now, context);
            false
        });
        self.lsu.constants = waiting;
        self.send_fetches(now, context);
    }
}

/// Whether a line is still under way; else `latest` becomes the time of the last that is there.
fn note_arrival(at: u64, latest: &mut u64) -> bool {
    if at != PENDING {
        *latest = at.max(*latest);
    }
    at == PENDING
}
