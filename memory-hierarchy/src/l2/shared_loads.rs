//! Loads of neighbouring compute units that ask a slice for the same sectors while these are under way: one of them is
//! looked up, and its answer goes to all.
use crate::clock::{Divisor, Ticks};
use crate::host_cache::prefetch;
use crate::request::{L2Request, RequestKind};

/// Loads under way that a slice remembers.
const ENTRIES: usize = 256;

/// A load under way.
#[derive(Copy, Clone, Debug)]
struct UnderWay {
    line: u64,
    group: u16,
    sectors: u8,
    /// Until when others can join it.
    until: Ticks,
    /// When its data leave the slice; [`Ticks::MAX`] while that is not known.
    leaves: Ticks,
}

/// What a slice knows of loads under way, by line and group of compute units.
#[derive(Clone, Debug)]
pub(super) struct SharedLoads {
    entries: Vec<UnderWay>,
    /// Compute units of a group.
    units: Divisor,
    window: Ticks,
}

impl SharedLoads {
    /// For groups of `units` compute units; at most 1: nothing is coalesced.
    pub(super) fn new(units: u32, window: Ticks) -> SharedLoads {
        let free = UnderWay { line: 0, group: 0, sectors: 0, until: 0, leaves: 0 };
        let entries = if units > 1 { ENTRIES } else { 0 };
        SharedLoads {
            entries: vec![free; entries],
            units: Divisor::new(units.clamp(1, u32::from(u16::MAX)).into()),
            window,
        }
    }

    fn place(&self, number: u64, request: &L2Request) -> Option<(usize, u16)> {
        if self.entries.is_empty() || request.kind != RequestKind::Load {
            return None;
        }
        let group = self.units.divide(request.unit.into()).0 as u16;
        Some(((number ^ (u64::from(group) * 41)) as usize % ENTRIES, group))
    }

    /// Lets the host bring near what a request of line number `number` will look at.
    #[inline]
    pub(super) fn prefetch(&self, number: u64, request: &L2Request) {
        if let Some((at, _)) = self.place(number, request) {
            prefetch(std::slice::from_ref(&self.entries[at]));
        }
    }

    /// A load of line number `number` comes at `now`. Where the sectors are under way to its group: when they leave the
    /// slice, [`Ticks::MAX`] if that is not known. Otherwise it is under way itself from now on.
    pub(super) fn join(&mut self, number: u64, request: &L2Request, now: Ticks) -> Option<Ticks> {
        let (at, group) = self.place(number, request)?;
        let entry = &mut self.entries[at];
        let same = entry.line == request.line && entry.group == group && entry.until > now && entry.leaves > now;
        if same && request.sectors & !entry.sectors == 0 {
            return Some(entry.leaves);
        }
        *entry = UnderWay {
            line: request.line,
            group,
            sectors: request.sectors,
            until: now + self.window,
            leaves: Ticks::MAX,
        };
        None
    }

    /// When the answer to a load that joined another one leaves, if that one's is known.
    pub(super) fn leaves(&self, number: u64, request: &L2Request, ready: Ticks) -> Option<Ticks> {
        if !request.joined {
            return None;
        }
        let (at, group) = self.place(number, request)?;
        let entry = &self.entries[at];
        let same = entry.line == request.line && entry.group == group && request.sectors & !entry.sectors == 0;
        (same && entry.leaves != Ticks::MAX && entry.leaves >= ready).then_some(entry.leaves)
    }

    /// The answer to a load leaves at `leaves`.
    pub(super) fn answered(&mut self, number: u64, request: &L2Request, leaves: Ticks) {
        let Some((at, group)) = self.place(number, request) else { return };
        let entry = &mut self.entries[at];
        if entry.line == request.line && entry.group == group && entry.sectors & !request.sectors == 0 {
            entry.leaves = leaves;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::SetIndex;

    fn load(unit: u16, sectors: u8) -> L2Request {
        L2Request {
            at: 0,
            line: 4096,
            lanes: 0,
            token: 0,
            sequence: 0,
            unit,
            written: 0,
            kind: RequestKind::Load,
            sectors,
            passes: 0,
            slot: 0,
            joined: false,
            home: 0,
            local: 0,
            set: SetIndex::default(),
        }
    }

    #[test]
    fn a_load_joins_what_is_under_way_to_its_group() {
        let mut c = SharedLoads::new(4, 1000);
        assert_eq!(c.join(32, &load(0, 3), 100), None);
        assert_eq!(c.join(32, &load(3, 1), 101), Some(Ticks::MAX));
        assert_eq!(c.join(32, &load(4, 1), 102), None, "another group");
        c.answered(32, &load(0, 3), 500);
        assert_eq!(c.join(32, &load(1, 2), 499), Some(500));
        assert_eq!(c.join(32, &load(1, 2), 500), None, "too late");
        assert_eq!(c.join(32, &load(1, 2), 1499), Some(Ticks::MAX));
        assert_eq!(c.join(32, &load(1, 2), 1500), None, "beyond the window");
        assert_eq!(SharedLoads::new(1, 1000).join(32, &load(0, 3), 0), None);
    }

    #[test]
    fn other_sectors_do_not_join() {
        let mut c = SharedLoads::new(4, 1000);
        c.join(32, &load(0, 1), 100);
        assert_eq!(c.join(32, &load(1, 3), 100), None);
        let joined = L2Request { joined: true, ..load(2, 1) };
        assert_eq!(c.leaves(32, &joined, 100), None);
        c.answered(32, &load(1, 3), 300);
        assert_eq!((c.leaves(32, &joined, 200), c.leaves(32, &load(2, 1), 200)), (Some(300), None));
    }
}
