//! The operations of the machine program: one table row each (see `table.rs`).
mod class;
mod codes;
mod table;

pub use class::OpClass;
pub use codes::*;
pub use table::Op;
