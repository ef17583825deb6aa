//! Events: the state of one command, or of the program's own event.
use super::clock::Time;
use super::command::Command;
use super::{Context, Handle, Queue};
use crate::error::{Result, ensure};
use crate::sync::{Condvar, Mutex};
use std::sync::Arc;

/// Execution status as the API counts it: 3 queued, 2 submitted, 1 running, 0 complete, negative: failed.
pub type Status = i32;
/// In its queue.
pub const QUEUED: Status = 3;
/// Given to the device.
pub const SUBMITTED: Status = 2;
/// Running.
pub const RUNNING: Status = 1;
/// Over.
pub const COMPLETE: Status = 0;

/// What a callback does with the event and the state reached.
pub type CallbackFunction = Box<dyn FnOnce(&Arc<Event>, Status) + Send>;

/// A function of the program, to be called when a state is reached.
pub struct Callback {
    /// The state that it waits for.
    pub at: Status,
    /// What to call, with the state reached.
    pub run: CallbackFunction,
}

/// When a command passed its states.
#[derive(Copy, Clone, Default, Debug, PartialEq)]
pub struct Times {
    /// Enqueued.
    pub queued: Time,
    /// Submitted to the device.
    pub submit: Time,
    /// Execution began.
    pub start: Time,
    /// Execution ended.
    pub end: Time,
}

#[derive(Default)]
struct State {
    status: Status,
    times: Times,
    callbacks: Vec<Callback>,
    /// Callbacks that are running.
    calling: u32,
    /// Whether it has its place in the order of execution (a user event: whether it is set).
    placed: bool,
    waiters: Vec<Arc<Command>>,
}

/// An event.
pub struct Event {
    pub(crate) handle: Option<Handle>,
    /// Its context.
    pub context: Arc<Context>,
    /// Its queue; none for a user event.
    pub queue: Option<Arc<Queue>>,
    /// Command type (`CL_COMMAND_…`).
    pub command: u32,
    state: Mutex<State>,
    changed: Condvar,
}

impl Event {
    /// The event of a command that is being enqueued at `queued`.
    pub fn of_command(queue: &Arc<Queue>, command: u32, queued: Time, visible: bool) -> Result<Event> {
        let submit = queued + queue.context.device.clock.submit;
        Ok(Event {
            handle: if visible { Some(Handle::reserve()?) } else { None },
            context: queue.context.clone(),
            queue: Some(queue.clone()),
            command,
            state: Mutex::new(State {
                status: QUEUED,
                times: Times { queued, submit, start: 0, end: 0 },
                ..State::default()
            }),
            changed: Condvar::new(),
        })
    }

    /// A user event, submitted.
    pub fn of_user(context: &Arc<Context>, command: u32) -> Result<Event> {
        Ok(Event {
            handle: Some(Handle::reserve()?),
            context: context.clone(),
            queue: None,
            command,
            state: Mutex::new(State { status: SUBMITTED, ..State::default() }),
            changed: Condvar::new(),
        })
    }

    /// Execution status.
    pub fn status(&self) -> Status {
        self.state.lock().status
    }

    /// When it passed its states; meaningful once it is complete.
    pub fn times(&self) -> Times {
        self.state.lock().times
    }

    /// Moves to another state, wakes who waits and calls back, in this order.
    pub fn set_status(self: &Arc<Self>, status: Status) {
        let due = {
            let mut state = self.state.lock();
            state.status = status;
            self.changed.notify_all();
            take_due(&mut state)
        };
        self.call(due, status);
    }

    /// Ends: complete, or failed.
    pub fn finish(self: &Arc<Self>, start: Time, end: Time, status: Status) {
        {
            let mut state = self.state.lock();
            state.times.start = start;
            state.times.end = end;
        }
        self.set_status(status);
    }

    /// Sets a user event; `false` if it was set before.
    pub fn set_once(self: &Arc<Self>, now: Time, status: Status) -> bool {
        let due = {
            let mut state = self.state.lock();
            if state.status <= COMPLETE {
                return false;
            }
            state.times.end = now;
            state.status = status;
            self.changed.notify_all();
            take_due(&mut state)
        };
        self.call(due, status);
        true
    }

    /// Registers a callback; where the state is reached already it is called at once.
    pub fn add_callback(self: &Arc<Self>, callback: Callback) {
        let (due, status) = {
            let mut state = self.state.lock();
            state.callbacks.push(callback);
            (take_due(&mut state), state.status)
        };
        self.call(due, status);
    }

    /// Whether its command has not ended, or a callback runs.
    pub fn in_flight(&self) -> bool {
        let state = self.state.lock();
        state.status > COMPLETE || state.calling > 0
    }

    fn call(self: &Arc<Self>, due: Vec<Callback>, status: Status) {
        if due.is_empty() {
            return;
        }
        self.state.lock().calling += 1;
        for callback in due {
            // A callback learns the state that it asked for, or the error.
            let shown = if status < 0 { status } else { callback.at };
            (callback.run)(self, shown);
        }
        self.state.lock().calling -= 1;
    }

    /// Waits for the end; returns the final status and the time of it. A callback on the thread that executes the commands
    /// would wait for ever.
    pub fn wait(&self) -> Result<(Status, Time)> {
        let mut state = self.state.lock();
        ensure!(
            state.status <= COMPLETE || !self.context.scheduler.executes_here(),
            CL_INVALID_OPERATION,
            "a callback waits for a command that cannot run before it returns"
        );
        while state.status > COMPLETE {
            state = self.changed.wait(state);
        }
        Ok((state.status, state.times.end))
    }

    /// Lets `command` wait for this event's place; `false` if it has one already.
    pub(super) fn hold(&self, command: &Arc<Command>) -> bool {
        let mut state = self.state.lock();
        if !state.placed {
            state.waiters.push(command.clone());
        }
        !state.placed
    }

    /// Gives the event its place; returns the commands that waited for that.
    pub(super) fn place(&self) -> Vec<Arc<Command>> {
        let mut state = self.state.lock();
        state.placed = true;
        std::mem::take(&mut state.waiters)
    }
}

fn take_due(state: &mut State) -> Vec<Callback> {
    let status = state.status;
    let (due, rest) = std::mem::take(&mut state.callbacks).into_iter().partition(|c| status <= c.at);
    state.callbacks = rest;
    due
}
