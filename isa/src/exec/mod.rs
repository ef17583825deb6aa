//! Functional execution: one warp, one operation at a time (`step`), for every mode of the simulator.
mod memory;
mod warp;

pub use memory::*;
pub use warp::*;
