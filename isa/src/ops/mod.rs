//! The operations of the machine program: one table row each (see `table.rs`).
mod class;
mod codes;
mod table;
mod words;

pub use class::OpClass;
pub use codes::*;
pub use table::Op;
pub use words::{Words, words};
