//! One file a command.
pub mod config;
