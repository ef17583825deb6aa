//! Functional execution: one warp, one operation at a time ([`step`]), for every mode of the simulator.
//!
//! `semantics` holds the table with an arm for every operation; the other modules are families of semantic functions.
mod arith;
mod atomic;
mod builtin;
mod compare;
mod constants;
mod control;
mod convert;
mod cross_lane;
pub mod float;
pub mod half;
mod lanes;
pub mod level;
mod local;
mod memory;
mod private;
mod semantics;
mod step;
mod warp;
mod words;

pub use atomic::atomic_result;
pub use constants::{LaunchValues, evaluate_constants};
pub use convert::convert_value;
pub use memory::*;
pub use step::step;
pub use warp::*;

#[cfg(test)]
mod tests;
