//! One file a command.
pub mod config;
pub mod disasm;
pub mod kernel;
pub mod occupancy;
pub mod suite;
pub mod validate;
