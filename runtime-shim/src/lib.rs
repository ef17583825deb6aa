//! The OpenCL API on the simulated machine, as a Rust library; `icd/` wraps it as a driver.
//!
//! `entry` has one table row an entry point, `api` checks what programs pass, `model` holds the objects.
mod api;
mod cl;
pub mod entry;
mod error;
mod model;
mod sync;
