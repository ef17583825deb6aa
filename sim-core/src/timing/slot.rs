//! A warp slot of a compute unit, and its scoreboard.
use super::code::PORTS;
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
    /// At a work-group barrier.
    Waiting,
    /// Ended, but loads are still under way.
    Draining,
    /// Ended; its slot is free when its whole group has ended.
    Ended,
}

/// One slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot<const W: usize> {
    pub warp: Warp<W>,
    board: Vec<u64>,
    pub state: State,
    /// Group slot.
    pub group: u32,
    /// Operations that the fetched line holds: from, to (exclusive).
    pub line: (u32, u32),
    /// Lines of the next operation's constant operands that came while it waited for others, by bit.
    pub constants_there: u16,
    /// The next operation issues no earlier, and why: a number, which is written and soon read in one size.
    pub base: u64,
    base_cause: u64,
    /// When the warp's next operation through each spacing pipe can issue; the last is that of all others.
    pub ports: [u64; PORTS + 1],
    /// Loads and atomics under way.
    pub outstanding: u32,
    /// Atomics among them.
    pub atomics: u32,
    /// Global atomics without a result among those: a warp can end before they are done.
    pub reductions: u32,
    /// When its last memory instruction leaves the load/store unit.
    pub departure: u64,
}

impl<const W: usize> Slot<W> {
    pub fn new(warp: Warp<W>, board: usize) -> Slot<W> {
        Slot {
            warp,
            board: vec![0; board],
            state: State::Empty,
            group: 0,
            line: (0, 0),
            constants_there: 0,
            base: 0,
            base_cause: Cause::Fetch as u64,
            ports: [0; PORTS + 1],
            outstanding: 0,
            atomics: 0,
            reductions: 0,
            departure: 0,
        }
    }

    /// Begins warp `number` of a group.
    pub fn begin(&mut self, number: u32, size: [u32; 3], group: u32, at: u64) {
        self.warp.reset(number, size);
        self.board.fill(0);
        self.state = State::Running;
        self.group = group;
        self.line = (0, 0);
        self.constants_there = 0;
        self.base = at;
        self.base_cause = Cause::Fetch as u64;
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

    /// Lets the host bring near what issuing the slot's next operation will touch first.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(std::slice::from_ref(&self.warp.pc));
        prefetch(std::slice::from_ref(&self.warp.rows));
        prefetch(std::slice::from_ref(&self.board));
        prefetch(std::slice::from_ref(&self.group));
        prefetch(std::slice::from_ref(&self.base));
        prefetch(std::slice::from_ref(&self.line));
        prefetch(std::slice::from_ref(&self.atomics));
        prefetch(std::slice::from_ref(&self.warp.active));
        prefetch(&self.warp.predicates[..1]);
    }

    /// And all of the slot, for an operation that has addresses.
    #[inline]
    pub fn prefetch_all(&self) {
        prefetch(std::slice::from_ref(self));
    }

    /// And then these scoreboard entries, with the registers behind those that are registers.
    #[inline]
    pub fn prefetch_operands(&self, entries: &[u16]) {
        for &entry in entries {
            if let Some(row) = self.warp.rows.get(entry as usize) {
                prefetch(std::slice::from_ref(row));
            }
            if let Some(entry) = self.board.get(entry as usize) {
                prefetch(std::slice::from_ref(entry));
            }
        }
    }

    /// Marks results: they can be used from `at` on ([`FUTURE`]: an event will tell).
    #[inline]
    pub fn produce(&mut self, entries: &[u16], at: u64, producer: u8) {
        let value = at << TIME_SHIFT | u64::from(producer);
        for entry in entries {
            self.board[*entry as usize] = value;
        }
    }

    /// When the last result whose arrival is known is there.
    pub fn last_result(&self) -> u64 {
        self.board.iter().map(|value| value >> TIME_SHIFT).filter(|at| *at < FUTURE).max().unwrap_or(0)
    }

    /// When all of the operation's entries (guards, reads, writes) are there, and what the last of them is waited for.
    /// Operands from another forwarding group than `group` take `crossing` cycles more, guards `guard`.
    #[inline]
    pub fn operands(&self, [guards, reads, writes]: [&[u16]; 3], group: u8, crossing: u64, guard: u64) -> (u64, Cause) {
        let mut latest = 0;
        for entry in guards {
            latest = latest.max(self.board[*entry as usize] + (guard << TIME_SHIFT));
        }
        for entry in reads {
            let value = self.board[*entry as usize];
            let from = value as u8 & 15;
            let crosses = from != group && from != 0 && group != 0;
            latest = latest.max(value + ((u64::from(crosses) * crossing) << TIME_SHIFT));
        }
        for entry in writes {
            latest = latest.max(self.board[*entry as usize]);
        }
        let cause = Cause::ALL[(latest >> 4 & 15) as usize];
        (latest >> TIME_SHIFT, cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_operand_counts_and_crossing_costs_more() {
        let warp = Warp::<8>::idle();
        let mut slot = Slot::new(warp, 8);
        let producer = |cause: Cause, group: u8| group | (cause as u8) << 4;
        slot.produce(&[0, 1], 100, producer(Cause::Wait, 1));
        slot.produce(&[2], 100, producer(Cause::LongScoreboard, 0));
        let reads = |slot: &Slot<8>, entries: &[u16], group| slot.operands([&[], entries, &[]], group, 3, 9);
        assert_eq!(reads(&slot, &[0], 1), (100, Cause::Wait));
        assert_eq!(reads(&slot, &[0], 2), (103, Cause::Wait));
        assert_eq!(reads(&slot, &[2], 2), (100, Cause::LongScoreboard));
        assert_eq!(slot.operands([&[], &[], &[1]], 2, 3, 9).0, 100);
        assert_eq!(slot.operands([&[1], &[], &[]], 2, 3, 9).0, 109);
        slot.produce(&[3], FUTURE, producer(Cause::LongScoreboard, 0));
        assert!(reads(&slot, &[0, 3], 1).0 >= FUTURE);
    }
}
