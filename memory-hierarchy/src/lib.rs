//! Device memory and the timing of everything between a compute unit's load/store unit and the DRAM.
//!
//! [`device_memory`] holds the bytes: allocations, their checks, and accessors for the host and for simulated kernels.
//! The rest is timing; it never touches a byte.

pub mod banks;
pub mod cache;
pub mod calendar;
pub mod clock;
pub mod coalescer;
pub mod compute_unit;
pub mod counters;
pub mod device_memory;
pub mod dram;
pub mod host_cache;
pub mod host_heap;
pub mod l2;
pub mod request;
#[cfg(test)]
mod tests;
