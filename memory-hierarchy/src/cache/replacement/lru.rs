//! Least recently used: a stamp is the time of the last use.
use super::{Stamp, Ways};

#[inline(always)]
pub(super) fn tick(clock: &mut u32) -> Stamp {
    *clock = clock.wrapping_add(1);
    *clock
}

pub(super) fn victim<const M: usize>(clock: u32, stamps: &[Stamp], candidates: &Ways<M>) -> Option<usize> {
    // Ages, not stamps, are compared, so that the clock may wrap.
    let mut oldest = None;
    let mut most = 0;
    for way in candidates.iter() {
        let age = clock.wrapping_sub(stamps[way]);
        if oldest.is_none() || age > most {
            (oldest, most) = (Some(way), age);
        }
    }
    oldest
}
