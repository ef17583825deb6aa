//! State of one bank.
use crate::clock::Ticks;

/// No row is open.
pub const CLOSED: u32 = u32::MAX;

/// What limits a bank's next commands.
#[derive(Copy, Clone, Debug)]
pub struct Bank {
    /// The open row, or [`CLOSED`].
    pub row: u32,
    /// Earliest activate.
    pub next_act: Ticks,
    /// Earliest precharge.
    pub next_pre: Ticks,
    /// Earliest read or write.
    pub next_col: Ticks,
}

impl Bank {
    /// Closed and free.
    pub const IDLE: Bank = Bank { row: CLOSED, next_act: 0, next_pre: 0, next_col: 0 };
}
