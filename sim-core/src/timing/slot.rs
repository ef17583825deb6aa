//! A warp slot of a compute unit, and its scoreboard.
use super::code::{PORTS, TimedCode, TimedOp};
use crate::Cause;
use warpscope_exec::exec::Warp;
use warpscope_memory::host_cache::prefetch;

/// Scoreboard time of a result whose arrival an event will tell.
pub(crate) const FUTURE: u64 = 1 << 54;

/// Scoreboard entries hold the cycle from which a register can be used, in the high bits, and what the wait for it is
/// (see `TimedOp::producer`) in the low 8.
const TIME_SHIFT: u32 = 8;

/// Where a warp stands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Empty,
    Running,
    /// Ended, but loads are still under way.
    Draining,
    /// Ended; its slot is free when its whole group has ended.
    Ended,
}

/// One slot. What every issue looks at comes first and close together, followed by the first of the warp's.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Slot<const W: usize> {
    /// The next operation issues no earlier, and why: a number, which is written and soon read in one size.
    pub base: u64,
    base_cause: u64,
    /// Two more entries than operations name: one that is never written, one that is never read.
    board: Vec<u64>,
    /// Operations that the fetched line holds: from, to (exclusive).
    pub line: (u32, u32),
    /// Group slot.
    pub group: u32,
    /// Atomics among the loads and atomics under way.
    pub atomics: u32,
    pub state: State,
    /// Lines of the next operation's constant operands that came while it waited for others, by bit.
    pub constants_there: u16,
    /// When the barrier at which it has arrived lets its accesses to memory go on; [`FUTURE`] while others are awaited.
    pub barrier: u64,
    /// When the warp's next operation through each spacing pipe can issue; the last is that of all others.
    pub ports: [u64; PORTS + 1],
    /// Loads and atomics under way.
    pub outstanding: u32,
    /// Global atomics without a result among those: a warp can end before they are done.
    pub reductions: u32,
    /// When its last memory instruction leaves the load/store unit.
    pub departure: u64,
    pub warp: Warp<W>,
}

impl<const W: usize> Slot<W> {
    pub fn new(warp: Warp<W>, board: usize) -> Slot<W> {
        Slot {
            warp,
            board: vec![0; board + 2],
            state: State::Empty,
            group: 0,
            line: (0, 0),
            constants_there: 0,
            base: 0,
            base_cause: Cause::Fetch as u64,
            barrier: 0,
            ports: [0; PORTS + 1],
            outstanding: 0,
            atomics: 0,
            reductions: 0,
            departure: 0,
        }
    }

    /// Begins warp `number` of a group; it must find the registers `zeroed` so.
    pub fn begin(&mut self, number: u32, size: [u32; 3], group: u32, at: u64, zeroed: &[u32]) {
        self.warp.reset_some(number, size, zeroed);
        self.board.fill(0);
        self.state = State::Running;
        self.group = group;
        self.line = (0, 0);
        self.constants_there = 0;
        self.base = at;
        self.base_cause = Cause::Fetch as u64;
        self.barrier = 0;
        self.ports = [0; PORTS + 1];
        self.outstanding = 0;
        self.atomics = 0;
        self.reductions = 0;
        self.departure = 0;
    }

    /// The next operation issues no earlier than `until`.
    #[inline]
    pub fn hold(&mut self, until: u64, cause: Cause) {
        (self.base, self.base_cause) = (until, cause as u64);
    }

    /// Why it issues no earlier.
    #[inline]
    pub fn base_cause(&self) -> Cause {
        Cause::ALL[self.base_cause as usize]
    }

    /// Whether the line that was fetched last holds operation `pc`.
    #[inline(always)]
    pub fn has_fetched(&self, pc: u32) -> bool {
        (self.line.0..self.line.1).contains(&pc)
    }

    /// Lets the host bring near what issuing the slot's next operation will touch first.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(std::slice::from_ref(&self.base));
        prefetch(&self.ports[PORTS..]);
        prefetch(std::slice::from_ref(&self.warp.pc));
    }

    /// And then its uniform registers, which follow `registers` vector registers,
    #[inline]
    pub fn prefetch_uniform(&self, registers: usize) {
        prefetch(&self.warp.rows[registers..]);
    }

    /// and these scoreboard entries, with the rows of those that are vector registers.
    #[inline]
    pub fn prefetch_operands(&self, entries: &[u16], registers: usize) {
        let rows = &self.warp.rows[..registers];
        for &entry in entries {
            if let Some(row) = rows.get(entry as usize) {
                prefetch(std::slice::from_ref(row));
            }
            if let Some(entry) = self.board.get(entry as usize) {
                prefetch(std::slice::from_ref(entry));
            }
        }
    }

    /// Marks the operation's results: they can be used from `at` on ([`FUTURE`]: an event will tell).
    #[inline(always)]
    pub fn produce(&mut self, code: &TimedCode, op: &TimedOp, at: u64) {
        let value = at << TIME_SHIFT | u64::from(op.producer);
        self.board[op.near_target as usize] = value;
        if op.writes_more() {
            for entry in code.writes(op) {
                self.board[*entry as usize] = value;
            }
        }
    }

    /// When the last result whose arrival is known is there.
    pub fn last_result(&self) -> u64 {
        let named = &self.board[..self.board.len() - 2];
        named.iter().map(|value| value >> TIME_SHIFT).filter(|at| *at < FUTURE).max().unwrap_or(0)
    }

    /// When all of the operation's entries (guards, reads, writes) are there, and what the last of them is waited for.
    /// Operands from another forwarding group than the operation's take `crossing` cycles more, guards `guard`. Most
    /// operations are done without a branch: which of them comes next cannot be foretold.
    #[inline(always)]
    pub fn operands(&self, code: &TimedCode, op: &TimedOp) -> (u64, Cause) {
        let crossing = if op.group == 0 { 0 } else { code.crossing << TIME_SHIFT };
        let read = |entry: u16| {
            let value = self.board[entry as usize];
            let from = value as u8 & 15;
            value + if (from != op.group) & (from != 0) { crossing } else { 0 }
        };
        let [first, second, third] = op.near;
        let mut latest = read(first).max(read(second)).max(read(third)).max(self.board[op.near_write as usize]);
        if op.is_guarded() {
            for entry in code.guards(op) {
                latest = latest.max(self.board[*entry as usize] + (code.guard << TIME_SHIFT));
            }
        }
        if op.reads_more() {
            latest = code.reads(op).iter().fold(latest, |latest, entry| latest.max(read(*entry)));
        }
        if op.writes_more() {
            latest = code.writes(op).iter().fold(latest, |latest, entry| latest.max(self.board[*entry as usize]));
        }
        let cause = Cause::ALL[(latest >> 4 & 15) as usize];
        (latest >> TIME_SHIFT, cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers 0 and 1 come from group 1, 2 from memory, 3 at a time to be told.
    #[test]
    fn the_latest_operand_counts_and_crossing_costs_more() {
        let warp = Warp::<8>::idle();
        let mut slot = Slot::new(warp, 8);
        let producer = |cause: Cause, group: u8| group | (cause as u8) << 4;
        let mut write = |entry: u16, at: u64, cause: Cause, group: u8| {
            let (code, op) = TimedCode::of_one([&[], &[], &[entry]], producer(cause, group), 0);
            slot.produce(&code, &op, at);
        };
        write(0, 100, Cause::Wait, 1);
        write(1, 100, Cause::Wait, 1);
        write(2, 100, Cause::LongScoreboard, 0);
        write(3, FUTURE, Cause::LongScoreboard, 0);
        for entry in 4..7 {
            write(entry, 90, Cause::Wait, 1);
        }
        let operands = |lists: [&[u16]; 3], group: u8| {
            let (code, op) = TimedCode::of_one(lists, 0, group);
            slot.operands(&code, &op)
        };
        let reads = |entries: &[u16], group| operands([&[], entries, &[]], group);
        assert_eq!(reads(&[0], 1), (100, Cause::Wait));
        assert_eq!(reads(&[0], 2), (103, Cause::Wait));
        assert_eq!(reads(&[2], 2), (100, Cause::LongScoreboard));
        assert_eq!(operands([&[], &[], &[1]], 2).0, 100);
        assert_eq!(operands([&[1], &[], &[]], 2).0, 109);
        assert!(reads(&[0, 3], 1).0 >= FUTURE);
        // Entries beyond those that an operation keeps itself.
        assert_eq!(reads(&[4, 5, 6, 4, 0], 2).0, 103);
        assert_eq!(operands([&[], &[4], &[5, 6, 1]], 1).0, 100);
        assert_eq!(slot.last_result(), 100);
    }
}
