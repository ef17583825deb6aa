//! Not recently used: one bit an entry, cleared for all when every entry has it.
use super::{Stamp, Ways};

pub(super) const RECENT: Stamp = 1;

pub(super) fn victim<const M: usize>(stamps: &mut [Stamp], candidates: &Ways<M>) -> Option<usize> {
    if let Some(way) = candidates.iter().find(|&w| stamps[w] != RECENT) {
        return Some(way);
    }
    let first = candidates.iter().next()?;
    stamps.fill(0);
    Some(first)
}
