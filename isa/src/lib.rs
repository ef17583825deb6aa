//! The instruction set: SPIR-V front end, SSA IR and its passes, and lowering to the machine program, which
//! `warpscope_exec` defines and runs.

mod compile;
pub mod frontend;
pub mod ir;
pub mod lower;
pub mod passes;

pub use compile::{compile, optimised};
