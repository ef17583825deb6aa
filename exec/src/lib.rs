//! The machine program and its functional semantics: operations and their classes, the built-in functions of
//! OpenCL C, and the execution of every operation over a warp's lanes.
//!
//! It is a crate of its own because the semantics are compiled for every warp width and host vector level: nothing
//! of the front end, the passes or lowering may make that happen again.

pub mod builtins;
pub mod exec;
pub mod ops;
pub mod printf;
pub mod program;
