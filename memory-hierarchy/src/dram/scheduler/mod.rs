//! Which waiting request a channel serves next: one file a policy.

mod fcfs;
mod frfcfs;

use super::channel::{Access, Rank};
use crate::clock::Ticks;
use warpscope_configs::specs::DramScheduler;

/// Chooses among `waiting` (oldest first), of which only those that are ready by `now` count.
pub(super) fn choose(policy: DramScheduler, rank: &Rank, waiting: &[Access], now: Ticks) -> Option<usize> {
    match policy {
        DramScheduler::FrFcfs => frfcfs::choose(rank, waiting, now),
        DramScheduler::Fcfs => fcfs::choose(waiting, now),
    }
}
