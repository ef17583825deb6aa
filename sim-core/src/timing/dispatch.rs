//! The dispatcher: hands work-groups to compute units, each at its own pace, and hears of their ends at its own.
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
    /// When each compute unit can take its next group, in steps.
    ready: Vec<u64>,
    /// When the next group can be handed out, and the next end be taken note of, in steps.
    clock: u64,
    noted: u64,
    /// Steps between groups in all, to one compute unit, and between ends.
    interval: u64,
    unit_interval: u64,
    end_interval: u64,
    latency: u64,
    /// Ends of groups on their way here: cycle of arrival, compute unit; and how many from each unit.
    notices: BinaryHeap<Reverse<(u64, u32)>>,
    noticed: Vec<u32>,
    running: u64,
}

impl Dispatcher {
    /// For `groups` groups of `warps` warps on `units` compute units with room for `room` each; the first one goes at
    /// `start`.
    pub fn new(spec: &LaunchSpec, groups: u64, warps: u32, units: u32, room: u32, start: u64) -> Dispatcher {
        let steps = |cycles: f64| (cycles * STEPS as f64).round() as u64;
        Dispatcher {
            next_group: 0,
            groups,
            room: vec![room; units as usize],
            ready: vec![0; units as usize],
            clock: start * STEPS,
            noted: 0,
            interval: steps(spec.group_interval),
            unit_interval: steps(spec.unit_interval.max(spec.unit_warp_interval * f64::from(warps))),
            end_interval: steps(spec.end_interval),
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

    /// When the last end that was taken note of would have come from its compute unit, had nothing been in its way.
    pub fn last_end(&self) -> u64 {
        (self.noted.saturating_sub(self.end_interval) / STEPS).saturating_sub(self.latency)
    }

    /// When something happens here next.
    pub fn next_event(&self) -> u64 {
        self.next_note().min(self.next_start().map_or(u64::MAX, |(at, _)| at)) / STEPS
    }

    /// When the next end is taken note of, in steps; `u64::MAX` where none is known.
    fn next_note(&self) -> u64 {
        self.notices.peek().map_or(u64::MAX, |Reverse((at, _))| self.noted.max(at * STEPS))
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
        let until = until.saturating_mul(STEPS);
        loop {
            let note = self.next_note();
            match self.next_start() {
                Some((at, unit)) if at < note => {
                    if at >= until {
                        return;
                    }
                    self.room[unit] -= 1;
                    self.running += 1;
                    start(unit as u32, at / STEPS + self.latency, self.next_group);
                    self.next_group += 1;
                    self.clock = at + self.interval;
                    self.ready[unit] = at + self.unit_interval;
                }
                _ => {
                    if note >= until {
                        return;
                    }
                    let Some(Reverse((_, unit))) = self.notices.pop() else { return };
                    self.noted = note + self.end_interval;
                    self.room[unit as usize] += 1;
                    self.noticed[unit as usize] -= 1;
                    self.running -= 1;
                    // Room that was not there before cannot be used before.
                    self.ready[unit as usize] = self.ready[unit as usize].max(note);
                }
            }
        }
    }

    /// When the next group goes, in steps, and where: to the compute unit that can take it first; of several to that
    /// with the most room, of these to the first.
    fn next_start(&self) -> Option<(u64, usize)> {
        if self.next_group == self.groups {
            return None;
        }
        let units = self.room.iter().zip(&self.ready).enumerate().filter(|(_, (room, _))| **room > 0);
        let best = units.min_by_key(|(unit, (room, ready))| (self.clock.max(**ready), Reverse(**room), *unit))?;
        Some((self.clock.max(*best.1.1), best.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> LaunchSpec {
        LaunchSpec {
            head: 0,
            tail: 0,
            fence: 0,
            group_interval: 1.5,
            unit_interval: 0.0,
            unit_warp_interval: 0.0,
            end_interval: 0.0,
            group_latency: 10,
            warp_interval: 0,
            read_sectors: 0,
            l2_hits: 0,
            l2_misses: 0,
            l2_hits_stored: 0.0,
            l2_hits_loaded: 0.0,
            l2_hits_most: 0,
            read_bytes: 0,
            dirty_bytes: 0,
            warp_end_interval: 0,
            warp_setup: 0,
            epoch: 1,
        }
    }

    #[test]
    fn groups_spread_over_the_units_and_follow_as_room_appears() {
        let mut d = Dispatcher::new(&spec(), 6, 1, 2, 2, 100);
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
            let mut d = Dispatcher::new(&spec(), 20, 1, 3, 2, 0);
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

    #[test]
    fn each_unit_takes_groups_at_its_pace_and_ends_come_one_after_the_other() {
        let paced = LaunchSpec { group_interval: 0.0, unit_interval: 20.0, end_interval: 5.0, ..spec() };
        let mut d = Dispatcher::new(&paced, 5, 1, 2, 2, 0);
        let mut started = vec![];
        d.run(1000, |unit, at, _| started.push((unit, at)));
        assert_eq!(started, [(0, 10), (1, 10), (0, 30), (1, 30)]);
        (0..2).for_each(|unit| d.ended(100, unit));
        started.clear();
        d.run(1000, |unit, at, _| started.push((unit, at)));
        assert_eq!(started, [(0, 120)], "noted at 110");
        assert_eq!(d.last_end(), 105, "the second end was noted 5 cycles after the first");
        let wide = LaunchSpec { unit_warp_interval: 6.0, ..paced };
        let mut d = Dispatcher::new(&wide, 2, 8, 1, 2, 0);
        started.clear();
        d.run(1000, |unit, at, _| started.push((unit, at)));
        assert_eq!(started, [(0, 10), (0, 58)]);
    }
}
