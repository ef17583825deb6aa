//! Comparison of simulated launches with measured hardware (`docs/reference.md` describes the file).
mod ablation;
mod baseline;
mod quantities;
mod reference;
mod report;
mod runs;
mod statistics;
mod worst;

pub use ablation::{Ablation, Variant};
pub use baseline::Baseline;
pub use quantities::{Kind, QUANTITIES, Quantity, quantity_reference};
pub use reference::{Reference, ReferenceError};
pub use report::{Comparison, Row};
pub use runs::RunsComparison;
pub use statistics::Summary;
