//! DRAM channels, at the granularity of accesses with the times of their commands.

mod bank;
pub mod channel;
mod scheduler;
#[cfg(test)]
mod tests;
mod timing;

pub use channel::Channel;
pub use timing::DramTiming;
