//! Everything that is said about launches, as functions of their records: tables, CSV, JSON Lines, plots, HTML, and
//! the comparison with measured hardware. Old records can be rendered again at any time.
#![forbid(unsafe_code)]

pub mod compare;
mod entry;
mod metrics;
pub mod program;
pub mod render;
pub mod sections;
mod store;

pub use entry::{Check, ENTRY_FORMAT, Entry, Peaks};
pub use metrics::{COLUMNS, Column, Value, work_size};
pub use store::{Fingerprints, Folder, StoreError, read_entries};
