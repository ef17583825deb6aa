//! Analyses and transformations of the IR. Each pass is one file, takes a function and can be switched off.
pub mod licm;
#[cfg(test)]
mod loop_tests;
pub mod loops;
pub mod rotate;
mod trip;
pub mod uniformity;
pub mod unroll;
