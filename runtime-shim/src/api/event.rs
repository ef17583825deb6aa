//! Events (OpenCL 3.0 API, 5.11, 5.14).
use super::info::{Query, Written};
use super::{Foreign, list, release, retain, unknown};
use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::clock::NANOSECOND;
use crate::model::event::{COMPLETE, Callback, SUBMITTED};
use crate::model::handle::{self, publish};
use crate::model::{Context, Event};
use std::ffi::c_void;
use std::sync::Arc;

pub unsafe fn create_user_event(context: Raw) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    Ok(publish(Arc::new(Event::of_user(&context, CL_COMMAND_USER)?)))
}

pub unsafe fn set_user_event_status(event: Raw, execution_status: i32) -> Result {
    let event = handle::resolve::<Event>(event)?;
    ensure!(event.queue.is_none(), CL_INVALID_EVENT, "this event belongs to a command; only user events can be set");
    // "if the execution_status is not CL_COMPLETE or a negative integer value"
    ensure!(execution_status <= COMPLETE, CL_INVALID_VALUE, "status {execution_status} is neither 0 nor negative");
    let now = event.context.device.clock.now();
    ensure!(event.set_once(now, execution_status), CL_INVALID_OPERATION, "the user event was set before");
    event.context.scheduler.resolve(&event);
    Ok(())
}

pub unsafe fn wait_for_events(num_events: u32, event_list: *const Raw) -> Result {
    ensure!(num_events > 0 && !event_list.is_null(), CL_INVALID_VALUE, "the event list is empty");
    let mut events: Vec<Arc<Event>> = Vec::new();
    for &raw in list(event_list, num_events as usize) {
        events.push(handle::resolve::<Event>(raw)?);
    }
    let context = events[0].context.clone();
    let same = events.iter().all(|e| Arc::ptr_eq(&e.context, &context));
    ensure!(same, CL_INVALID_CONTEXT, "the events belong to different contexts");
    context.usable()?;
    let mut failed = false;
    for event in events {
        let (status, end) = event.wait()?;
        context.device.clock.raise(end);
        failed |= status < COMPLETE;
    }
    ensure!(!failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command that was waited for failed");
    Ok(())
}

pub unsafe fn get_event_info(event: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Event>(event)?;
    match param_name {
        CL_EVENT_COMMAND_QUEUE => query.value(object.queue.as_ref().map_or(std::ptr::null_mut(), |q| q.handle.raw())),
        CL_EVENT_CONTEXT => query.value(object.context.handle.raw()),
        CL_EVENT_COMMAND_TYPE => query.value(object.command),
        CL_EVENT_COMMAND_EXECUTION_STATUS => query.value(object.status()),
        CL_EVENT_REFERENCE_COUNT => query.value(handle::count::<Event>(event)),
        _ => unknown("event query", param_name),
    }
}

pub unsafe fn set_event_callback(
    event: Raw,
    command_exec_callback_type: i32,
    pfn_notify: Option<EventCallback>,
    user_data: *mut c_void,
) -> Result {
    let event = handle::resolve::<Event>(event)?;
    // "if pfn_event_notify is NULL or if command_exec_callback_type is not CL_SUBMITTED, CL_RUNNING, or CL_COMPLETE"
    let Some(function) = pfn_notify else { fail!(CL_INVALID_VALUE, "the function is NULL") };
    let known = (COMPLETE..=SUBMITTED).contains(&command_exec_callback_type);
    ensure!(known, CL_INVALID_VALUE, "callback type {command_exec_callback_type} is not known");
    let foreign = Foreign::new(function, user_data);
    event.add_callback(Callback {
        at: command_exec_callback_type,
        run: Box::new(move |event, status| {
            let raw = event.handle.as_ref().map_or(std::ptr::null_mut(), |h| h.raw());
            // SAFETY: the program passed the function for this.
            unsafe { (foreign.function)(raw, status, foreign.data()) }
        }),
    });
    Ok(())
}

pub unsafe fn retain_event(event: Raw) -> Result {
    retain::<Event>(event)
}

pub unsafe fn release_event(event: Raw) -> Result {
    release::<Event>(event)
}

pub unsafe fn get_event_profiling_info(event: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Event>(event)?;
    // "if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue, if the execution status of the command
    // identified by event is not CL_COMPLETE or if event is a user event object"
    let missing = |why: &'static str| Err(ClError::new(CL_PROFILING_INFO_NOT_AVAILABLE, why));
    let Some(queue) = &object.queue else { return missing("user events are not measured") };
    if !queue.profiling {
        return missing("the queue was made without CL_QUEUE_PROFILING_ENABLE");
    }
    if object.command == CL_COMMAND_SVM_FREE {
        return missing("clEnqueueSVMFree is not measured");
    }
    if object.status() != COMPLETE {
        return missing("the command is not complete");
    }
    let times = object.times();
    match param_name {
        CL_PROFILING_COMMAND_QUEUED => query.value(times.queued / NANOSECOND),
        CL_PROFILING_COMMAND_SUBMIT => query.value(times.submit / NANOSECOND),
        CL_PROFILING_COMMAND_START => query.value(times.start / NANOSECOND),
        CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => query.value(times.end / NANOSECOND),
        _ => unknown("profiling query", param_name),
    }
}
