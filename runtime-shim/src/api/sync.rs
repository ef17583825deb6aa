//! Markers, barriers and waiting for events in a queue (OpenCL 3.0 API, 5.12).
use super::{Wait, list, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::Event;
use crate::model::command::{Done, Order, Resource};
use crate::model::handle;

unsafe fn enqueue(queue: Raw, command: u32, order: Order, count: u32, events: *const Raw, event: *mut Raw) -> Result {
    let queue = queue_of(queue)?;
    let wait = Wait::new(&queue.context, count, events, event)?;
    let action = Box::new(|_: &mut _| Ok(Done::default()));
    wait.enqueue_in_order(&queue, command, Resource::None, order, false, action)
}

pub unsafe fn enqueue_marker_with_wait_list(
    command_queue: Raw,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    enqueue(command_queue, CL_COMMAND_MARKER, Order::Marker, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_barrier_with_wait_list(
    command_queue: Raw,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    enqueue(command_queue, CL_COMMAND_BARRIER, Order::Barrier, num_events_in_wait_list, event_wait_list, event)
}

/// Deprecated since 1.1: a marker that waits for everything before it.
pub unsafe fn enqueue_marker(command_queue: Raw, event: *mut Raw) -> Result {
    queue_of(command_queue)?;
    ensure!(!event.is_null(), CL_INVALID_VALUE, "event is NULL");
    enqueue(command_queue, CL_COMMAND_MARKER, Order::Marker, 0, std::ptr::null(), event)
}

/// Deprecated since 1.1: everything after waits for everything before.
pub unsafe fn enqueue_barrier(command_queue: Raw) -> Result {
    enqueue(command_queue, CL_COMMAND_BARRIER, Order::Barrier, 0, std::ptr::null(), std::ptr::null_mut())
}

/// Deprecated since 1.1: everything after waits for the events.
pub unsafe fn enqueue_wait_for_events(command_queue: Raw, num_events: u32, event_list: *const Raw) -> Result {
    queue_of(command_queue)?;
    ensure!(num_events > 0 && !event_list.is_null(), CL_INVALID_VALUE, "the event list is empty");
    for &raw in list(event_list, num_events as usize) {
        handle::resolve::<Event>(raw)?;
    }
    enqueue(command_queue, CL_COMMAND_BARRIER, Order::Barrier, num_events, event_list, std::ptr::null_mut())
}
