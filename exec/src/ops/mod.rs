//! The operations of the machine program: one table row each (see `table.rs`).
mod class;
mod codes;
mod table;
mod words;

pub use class::OpClass;
pub use codes::*;
pub use table::Op;
pub use words::{Words, words};

/// Fence flags: which memories a barrier or fence orders.
pub mod fence {
    #![allow(missing_docs)]
    pub const LOCAL: u8 = 1;
    pub const GLOBAL: u8 = 2;
    pub const IMAGE: u8 = 4;
}
