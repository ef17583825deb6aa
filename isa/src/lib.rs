//! The instruction set: SPIR-V front end, SSA IR and its passes, lowering, the machine program, and the functional
//! semantics of every operation over a warp's lanes.

pub mod builtins;
mod compile;
pub mod exec;
pub mod frontend;
pub mod ir;
pub mod lower;
pub mod ops;
pub mod passes;
pub mod program;

pub use compile::compile;
