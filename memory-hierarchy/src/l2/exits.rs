//! The exits of the compute units towards slices that are crowded with atomics: what a slice cannot take yet stays where it
//! is, with all that its compute unit sends behind it, and the units take turns.
use crate::clock::{TICKS, Ticks};
use crate::request::{L2Request, RequestKind};
use std::collections::VecDeque;

/// What one slice has taken, and who waits for it.
#[derive(Clone, Debug, Default)]
struct Crowd {
    /// When the slice will be through with all atomics that it has taken.
    through: Ticks,
    /// Compute units whose first request is for this slice, in the order of their turns.
    waiting: VecDeque<u16>,
    /// Whether a turn is due already.
    due: bool,
}

/// All exits and the crowds before the slices.
#[derive(Clone, Debug)]
pub(super) struct Exits {
    /// Requests by compute unit, oldest first; the first waits for a slice.
    held: Vec<VecDeque<L2Request>>,
    crowds: Vec<Crowd>,
    /// Work that a slice takes ahead.
    most: Ticks,
}

impl Exits {
    pub(super) fn new(units: u32, slices: u32, most: Ticks) -> Exits {
        Exits { held: vec![VecDeque::new(); units as usize], crowds: vec![Crowd::default(); slices as usize], most }
    }

    /// Whether a request must wait behind others of its compute unit. Fetches have a way of their own.
    #[inline(always)]
    pub(super) fn holds(&self, request: &L2Request) -> bool {
        !self.held[usize::from(request.unit)].is_empty() && request.kind != RequestKind::Fetch
    }

    pub(super) fn keep(&mut self, request: &L2Request) {
        self.held[usize::from(request.unit)].push_back(*request);
    }

    pub(super) fn first(&self, unit: u16) -> Option<L2Request> {
        self.held[usize::from(unit)].front().copied()
    }

    pub(super) fn pop(&mut self, unit: u16) {
        self.held[usize::from(unit)].pop_front();
    }

    /// An atomic that takes a slice `length` is first at its unit's exit at `now`. Where the slice has no room for it, the
    /// unit will have a turn.
    pub(super) fn admit(&mut self, slice: usize, unit: u16, length: Ticks, now: Ticks) -> bool {
        let crowd = &mut self.crowds[slice];
        if crowd.through > now + self.most {
            crowd.waiting.push_back(unit);
            return false;
        }
        crowd.through = crowd.through.max(now) + length;
        true
    }

    /// A slice passes on what the other half has admitted.
    pub(super) fn load(&mut self, slice: usize, length: Ticks, now: Ticks) {
        let crowd = &mut self.crowds[slice];
        crowd.through = crowd.through.max(now) + length;
    }

    /// The unit whose turn it is, if the slice has room.
    pub(super) fn turn(&mut self, slice: usize, now: Ticks) -> Option<u16> {
        let crowd = &mut self.crowds[slice];
        if crowd.through > now + self.most { None } else { crowd.waiting.pop_front() }
    }

    /// When the next turn must be called, unless that is known already or nobody waits.
    pub(super) fn next_turn(&mut self, slice: usize, now: Ticks) -> Option<Ticks> {
        let crowd = &mut self.crowds[slice];
        if crowd.due || crowd.waiting.is_empty() {
            return None;
        }
        crowd.due = true;
        Some(crowd.through.saturating_sub(self.most).max(now + TICKS))
    }

    /// The turn that was due is called.
    pub(super) fn turn_came(&mut self, slice: usize) {
        self.crowds[slice].due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_take_turns_at_a_crowded_slice() {
        let mut e = Exits::new(3, 2, 10 * TICKS);
        assert!(e.admit(0, 0, 11 * TICKS, 0), "there is room");
        assert!(!e.admit(0, 1, TICKS, 0) && !e.admit(0, 2, TICKS, 0), "it is full");
        assert!(e.admit(1, 0, TICKS, 0), "another slice");
        assert_eq!(e.next_turn(0, 0), Some(TICKS));
        assert_eq!(e.next_turn(0, 0), None, "known already");
        e.turn_came(0);
        assert_eq!(e.turn(0, 0), None);
        assert_eq!(e.turn(0, TICKS), Some(1));
        assert!(e.admit(0, 1, 5 * TICKS, TICKS));
        assert_eq!(e.turn(0, TICKS), None);
        assert_eq!(e.next_turn(0, TICKS), Some(6 * TICKS));
        assert_eq!(e.turn(0, 6 * TICKS), Some(2));
        assert_eq!((e.turn(0, 6 * TICKS), e.next_turn(0, 6 * TICKS)), (None, None));
    }
}
