//! The dispatcher: hands work-groups to compute units at its rate, to the unit with the most room first.
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warpscope_configs::specs::LaunchSpec;

/// Steps of a cycle: intervals between groups are fractional.
const STEPS: u64 = 1 << 16;

pub(crate) struct Dispatcher {
    next_group: u64,
    groups: u64,
    /// Groups that each compute unit has room for, as far as the dispatcher knows.
    room: Vec<u32>,
    /// When the next group can be handed out, in steps.
    clock: u64,
    interval: u64,
    latency: u64,
    /// Ends of groups on their way here: cycle of arrival, compute unit; and how many from each unit.
    notices: BinaryHeap<Reverse<(u64, u32)>>,
    noticed: Vec<u32>,
    running: u64,
}

impl Dispatcher {
    /// For `groups` groups on `units` compute units with room for `room` each; the first one goes at `start`.
    pub fn new(spec: &LaunchSpec, groups: u64, units: u32, room: u32, start: u64) -> Dispatcher {
        Dispatcher {
            next_group: 0,
            groups,
            room: vec![room; units as usize],
            clock: start * STEPS,
            interval: (spec.group_interval * STEPS as f64).round() as u64,
            latency: u64::from(spec.group_latency),
            notices: BinaryHeap::new(),
            noticed: vec![0; units as usize],
            running: 0,
        }
    }

    /// A group has ended (or will) at `at` on compute unit `unit`.
    pub fn ended(&mut self, at: u64, unit: u32) {
        self.notices.push(Reverse((at + self.latency, unit)));
        self.noticed[unit as usize] += 1;
    }

    /// The cycle before which no group that is not announced yet arrives at compute unit `unit`, if none before
    /// `until` does, as long as none ends there; and how long after the end of one none arrives.
    pub fn quiet(&self, unit: usize, until: u64) -> (u64, u64) {
        if self.next_group == self.groups {
            (u64::MAX, u64::MAX)
        } else if self.room[unit] == 0 && self.noticed[unit] == 0 {
            (u64::MAX, 2 * self.latency)
        } else {
            (until, 2 * self.latency)
        }
    }

    /// Whether every group has been handed out and has ended.
    pub fn is_done(&self) -> bool {
        self.next_group == self.groups && self.running == 0
    }

    /// When something happens here next.
    pub fn next_event(&self) -> u64 {
        let notice = self.notices.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        if self.next_group < self.groups && self.room.iter().any(|r| *r > 0) {
            notice.min(self.clock / STEPS)
        } else {
            notice
        }
    }

    /// The earliest cycle, of those to come, at which a group can arrive at a compute unit or has ended at one.
    pub fn next_at_units(&self) -> u64 {
        match self.next_event() {
            u64::MAX => u64::MAX,
            at if self.next_group < self.groups => at + self.latency,
            notice => notice - self.latency,
        }
    }

    /// Acts up to `until` (exclusive): `start` gets compute unit, cycle of arrival and number of each group.
    pub fn run(&mut self, until: u64, mut start: impl FnMut(u32, u64, u64)) {
        loop {
            let now = self.clock / STEPS;
            let notice = self.notices.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
            let best = if self.next_group < self.groups { self.roomiest() } else { None };
            match best {
                Some(unit) if now < notice => {
                    if now >= until {
                        return;
                    }
                    self.room[unit] -= 1;
                    self.running += 1;
                    start(unit as u32, now + self.latency, self.next_group);
                    self.next_group += 1;
                    self.clock += self.interval;
                }
                _ => {
                    if notice >= until {
                        return;
                    }
                    if let Some(Reverse((at, unit))) = self.notices.pop() {
                        self.room[unit as usize] += 1;
                        self.noticed[unit as usize] -= 1;
                        self.running -= 1;
                        if best.is_none() {
                            self.clock = self.clock.max(at * STEPS);
                        }
                    }
                }
            }
        }
    }

    /// The compute unit with the most room, the first of several.
    fn roomiest(&self) -> Option<usize> {
        let (unit, room) = self.room.iter().enumerate().max_by_key(|(unit, room)| (**room, Reverse(*unit)))?;
        (*room > 0).then_some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> LaunchSpec {
        LaunchSpec {
            head: 0,
            tail: 0,
            group_interval: 1.5,
            group_latency: 10,
            warp_interval: 0,
            warp_setup: 0,
            epoch: 1,
        }
    }

    #[test]
    fn groups_spread_over_the_units_and_follow_as_room_appears() {
        let mut d = Dispatcher::new(&spec(), 6, 2, 2, 100);
        let mut started = vec![];
        d.run(1000, |unit, at, group| started.push((unit, at, group)));
        assert_eq!(started, [(0, 110, 0), (1, 111, 1), (0, 113, 2), (1, 114, 3)]);
        d.ended(300, 1);
        assert_eq!(d.next_event(), 310);
        started.clear();
        d.run(310, |unit, at, group| started.push((unit, at, group)));
        assert!(started.is_empty());
        d.run(400, |unit, at, group| started.push((unit, at, group)));
        assert_eq!(started, [(1, 320, 4)]);
        assert!(!d.is_done());
    }

    #[test]
    fn the_cut_of_time_does_not_matter() {
        let run = |step: u64| {
            let mut d = Dispatcher::new(&spec(), 20, 3, 2, 0);
            let mut started = vec![];
            let mut until = 0;
            while !d.is_done() {
                until += step;
                let mut now = vec![];
                d.run(until, |unit, at, group| now.push((unit, at, group)));
                for &(unit, at, _) in &now {
                    d.ended(at + 7 + u64::from(unit), unit);
                }
                started.extend(now);
            }
            started
        };
        assert_eq!(run(1), run(10));
        assert_eq!(run(3), run(10));
    }
}
