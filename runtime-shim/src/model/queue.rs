//! Command queues.
use super::clock::Time;
use super::command::{Order, Request};
use super::event::{COMPLETE, Event};
use super::{Context, Handle};
use crate::error::{ClError, Result};
use crate::sync::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Default)]
struct State {
    /// Commands that have not ended, in order of arrival.
    pending: VecDeque<Arc<Event>>,
    /// The last barrier of an out-of-order queue, until it ends.
    barrier: Option<Arc<Event>>,
    /// The last marker or barrier that waits for all before it: later ones need to wait for it and what came since only.
    gathered: Option<Arc<Event>>,
    /// When the last command that has ended did so, in virtual time: later commands may not start before, however
    /// quickly the host gets there.
    ended: Time,
    /// When the last barrier ended.
    barrier_ended: Time,
    /// A command failed since the last `finish`.
    fault: Option<ClError>,
}

/// A command queue.
pub struct Queue {
    pub(crate) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Bits of CL_QUEUE_PROPERTIES.
    pub properties: crate::sync::Mutex<u64>,
    /// Whether commands may overtake each other.
    pub out_of_order: bool,
    /// Bytes of a queue on the device, which takes commands of kernels only; none for a queue on the host.
    pub on_device: Option<u32>,
    /// Whether it was made to measure times.
    pub profiling: bool,
    /// The list given at its creation, terminator included; empty if none was given.
    pub property_list: Vec<u64>,
    state: Mutex<State>,
}

impl Queue {
    /// A queue.
    pub fn new(
        context: Arc<Context>,
        properties: u64,
        property_list: Vec<u64>,
        on_device: Option<u32>,
    ) -> Result<Queue> {
        use crate::cl::bits::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE};
        Ok(Queue {
            handle: Handle::reserve()?,
            context,
            properties: Mutex::new(properties),
            out_of_order: properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            profiling: properties & CL_QUEUE_PROFILING_ENABLE != 0,
            property_list,
            on_device,
            state: Mutex::default(),
        })
    }

    /// Enqueues a command.
    pub fn enqueue(self: &Arc<Self>, request: Request) -> Result<Arc<Event>> {
        self.context.scheduler.enqueue(self, request)
    }

    /// Takes a new command in; returns what it has to wait for by the queue's rules, and the end of what has ended.
    pub(super) fn admit(&self, event: &Arc<Event>, order: Order, no_wait_list: bool) -> (Vec<Arc<Event>>, Time) {
        let mut state = self.state.lock();
        let before = if !self.out_of_order {
            (state.pending.back().cloned().into_iter().collect(), state.ended)
        } else if order != Order::Plain && no_wait_list {
            let gathered = state.gathered.replace(event.clone());
            let is_gathered = |e: &Arc<Event>| gathered.as_ref().is_some_and(|g| Arc::ptr_eq(g, e));
            let since = state.pending.iter().rev().position(is_gathered).map_or(state.pending.len(), |n| n + 1);
            (state.pending.iter().rev().take(since).cloned().collect(), state.ended)
        } else {
            (state.barrier.clone().into_iter().collect(), state.barrier_ended)
        };
        if order == Order::Barrier {
            state.barrier = Some(event.clone());
        }
        state.pending.push_back(event.clone());
        before
    }

    /// A command ended.
    pub(super) fn retire(&self, event: &Arc<Event>) {
        let end = event.times().end;
        let mut state = self.state.lock();
        state.ended = state.ended.max(end);
        if let Some(i) = state.pending.iter().position(|e| Arc::ptr_eq(e, event)) {
            state.pending.remove(i);
        }
        if state.barrier.as_ref().is_some_and(|b| Arc::ptr_eq(b, event)) {
            state.barrier = None;
            state.barrier_ended = end;
        }
        if state.gathered.as_ref().is_some_and(|g| Arc::ptr_eq(g, event)) {
            state.gathered = None;
        }
    }

    /// A command failed: tells the context, and the next `finish`.
    pub(super) fn fault(&self, error: &ClError) {
        self.context.report(error);
        self.state.lock().fault.get_or_insert_with(|| error.clone());
    }

    /// Waits until everything enqueued so far has ended.
    pub fn finish(&self) -> Result {
        let (pending, ended) = {
            let state = self.state.lock();
            (state.pending.iter().cloned().collect::<Vec<_>>(), state.ended)
        };
        // Also past what has ended already: how quickly that went on the host must not show.
        self.context.device.clock.raise(ended);
        for event in pending {
            let (_, end) = event.wait()?;
            self.context.device.clock.raise(end);
        }
        match self.state.lock().fault.take() {
            Some(error) => Err(ClError::new(
                crate::cl::errors::CL_OUT_OF_RESOURCES,
                format!("a command of this queue failed: {}", error.why),
            )),
            None => Ok(()),
        }
    }

    /// Waits for one command; the thread's clock moves to its end.
    pub fn wait(&self, event: &Event) -> Result {
        let (status, end) = event.wait()?;
        self.context.device.clock.raise(end);
        if status < COMPLETE {
            return Err(ClError::new(status, "the command failed, or one that it waits for"));
        }
        Ok(())
    }
}
