//! Comparison of simulated launches with measured hardware (`docs/reference.md` describes the file).
mod quantities;
mod reference;
mod report;
mod statistics;

pub use quantities::{Kind, QUANTITIES, Quantity, quantity_reference};
pub use reference::{Reference, ReferenceError};
pub use report::{Comparison, Row};
pub use statistics::Summary;
