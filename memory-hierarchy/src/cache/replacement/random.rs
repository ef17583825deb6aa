//! Pseudo-random: the same sequence in every run.
use super::Ways;
use crate::clock::mix;

pub(super) fn victim<const M: usize>(clock: &mut u32, ways: usize, candidates: &Ways<M>) -> Option<usize> {
    *clock = clock.wrapping_add(1);
    let start = (((mix(u64::from(*clock)) >> 32) * ways as u64) >> 32) as usize;
    (start..ways).chain(0..start).find(|&way| candidates.contains(way))
}
