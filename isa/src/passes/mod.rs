//! Analyses and transformations of the IR. Each pass is one file or folder, takes a function and can be switched off.
pub mod address;
pub mod aggregate;
pub mod ahead;
#[cfg(test)]
mod branch_tests;
pub mod compares;
pub mod conditions;
pub mod cse;
pub mod dce;
pub mod facts;
pub mod fold;
pub mod implied;
pub mod inline;
pub mod licm;
#[cfg(test)]
mod loop_tests;
pub mod loops;
pub mod low_bits;
pub mod mad;
pub mod memory;
pub mod origins;
mod pipeline;
pub mod rewrite;
pub mod rotate;
pub mod rows;
pub mod simplify_cfg;
mod sizes;
pub mod speculate;
pub mod sroa;
pub mod ssa;
pub mod strength;
mod strides;
pub mod thread;
mod top_test;
mod trip;
pub mod uniformity;
pub mod unroll;
pub mod vectorise;
pub mod widen;

pub use pipeline::{PassOptions, optimise};
