//! First come, first served.
use crate::clock::Ticks;
use crate::dram::channel::Access;

pub(super) fn choose(waiting: &[Access], now: Ticks) -> Option<usize> {
    waiting.iter().position(|a| a.ready <= now)
}
