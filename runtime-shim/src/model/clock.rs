//! Virtual time. Each host thread has a clock that moves by a configured cost for each enqueue and each reading of a
//! timer and, when a wait returns, to the awaited command's end; polling, callbacks and the program's own work cost
//! nothing.
use std::cell::Cell;
use std::time::Instant;
use warpscope_configs::specs::{HostClock, HostSpec};

/// Picoseconds since the start.
pub type Time = u64;

/// Picoseconds in a nanosecond.
pub const NANOSECOND: Time = 1000;

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(0) };
}

/// The costs of the host side, and which clock is shown.
#[derive(Clone, Debug)]
pub struct Clock {
    origin: Option<Instant>,
    enqueue: Time,
    timer_read: Time,
    /// From QUEUED to SUBMIT.
    pub submit: Time,
}

impl Clock {
    /// A clock as the configuration says.
    pub fn new(host: &HostSpec) -> Clock {
        let picoseconds = |us: f64| (us * 1e6) as Time;
        let origin = match host.clock {
            HostClock::Virtual => None,
            HostClock::Real => Some(Instant::now()),
        };
        Clock {
            origin,
            enqueue: picoseconds(host.enqueue),
            timer_read: picoseconds(host.timer_read),
            submit: picoseconds(host.submit),
        }
    }

    /// Whether the host's own clock is shown.
    pub fn real(&self) -> bool {
        self.origin.is_some()
    }

    /// The calling thread's time.
    pub fn now(&self) -> Time {
        match self.origin {
            Some(_) => host_nanoseconds() * NANOSECOND,
            None => NOW.get(),
        }
    }

    /// The calling thread enqueues: returns when, and moves its clock on.
    pub fn enqueue(&self) -> Time {
        let now = self.now();
        NOW.set(NOW.get().saturating_add(self.enqueue));
        now
    }

    /// The calling thread reads a timer: returns nanoseconds, and moves its clock on. The time stamp is taken half-way, so
    /// that it is later than what went before and earlier than what follows.
    pub fn read_timer(&self) -> u64 {
        let half = self.timer_read / 2;
        NOW.set(NOW.get().saturating_add(half));
        let now = self.now();
        NOW.set(NOW.get().saturating_add(self.timer_read - half));
        now / NANOSECOND
    }

    /// The calling thread waited for something that ended at `end`.
    pub fn raise(&self, end: Time) {
        NOW.set(NOW.get().max(end));
    }
}

/// The host's monotonic clock.
fn host_nanoseconds() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid; CLOCK_MONOTONIC always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
