//! First in, first out: a stamp is the time of the fill.
use super::{Stamp, Ways, lru};

pub(super) fn victim<const M: usize>(clock: u32, stamps: &[Stamp], candidates: &Ways<M>) -> Option<usize> {
    lru::victim(clock, stamps, candidates)
}
