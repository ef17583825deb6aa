//! One file a command.
pub mod ablation;
pub mod bench;
pub mod config;
pub mod disasm;
pub mod icd;
pub mod kernel;
pub mod measure;
pub mod occupancy;
pub mod report;
pub mod run;
pub mod suite;
pub mod validate;
