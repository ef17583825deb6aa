//! Machines as data: the typed specifications, their units and ranges, the presets and `--set` overrides.
//!
//! Every other crate takes its parameters from here; no constant elsewhere describes a particular machine.
#![forbid(unsafe_code)]

mod counters;
mod spec;
pub mod specs;

pub use counters::{CounterInfo, CounterValue, Counters, Peak};
pub use spec::{KeyInfo, Problem, Section, join};
pub use specs::MachineSpec;
