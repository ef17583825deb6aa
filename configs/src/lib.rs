//! Machines as data: the typed specifications, their units and ranges, the presets and `--set` overrides.
//!
//! Every other crate takes its parameters from here; no constant elsewhere describes a particular machine.
#![forbid(unsafe_code)]

mod check;
mod counters;
mod error;
mod load;
mod presets;
mod schema;
mod show;
mod spec;
pub mod specs;
mod tree;

pub use check::OPERATION_CLASSES;
pub use counters::{CounterInfo, CounterValue, Counters, Peak};
pub use error::{ConfigError, Diagnostic};
pub use load::{Config, DEFAULT_MACHINE, Selection, digest, load, machine_keys, section_from_str};
pub use presets::{PRESETS, Preset};
pub use schema::nearest;
pub use show::{key_reference, preset_list};
pub use spec::{KeyInfo, Keys, Problem, Section, SectionInfo, join};
pub use specs::MachineSpec;
pub use tree::Origin;
