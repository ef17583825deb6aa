//! The entry points: each checks handles and arguments as the specification's error lists say, then calls the model.
//!
//! Functions here are `unsafe` for one reason: they trust the program where the API cannot check, in the validity of
//! its pointers for the sizes that go with them.
#![allow(clippy::too_many_arguments, reason = "the signatures are the API's")]
#![allow(clippy::missing_safety_doc, reason = "said once, above")]
#![allow(unsafe_op_in_unsafe_fn, reason = "said once, above: every access trusts the program's pointer")]

pub mod buffer;
pub mod build;
pub mod call;
pub mod context;
pub mod device;
pub mod event;
pub mod extension;
pub mod image;
pub mod image_transfer;
pub mod info;
pub mod kernel;
pub mod kernel_info;
pub mod launch;
mod layout;
pub mod map;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod program_info;
pub mod queue;
pub mod rect;
pub mod sampler;
pub mod svm;
pub mod sync;
pub mod transfer;

use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::command::{Action, Order, Request, Resource};
use crate::model::handle::{self, Object};
use crate::model::{Context, Event, MemObject, Queue};
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// A list that the program passes; empty where there is none.
unsafe fn list<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 { &[] } else { std::slice::from_raw_parts(first, count) }
}

/// A property list: pairs of name and value up to a zero. Returns it with the terminator; empty where there is none.
unsafe fn properties<T: Copy + PartialEq + Default>(first: *const T) -> Vec<T> {
    let mut out = Vec::new();
    if first.is_null() {
        return out;
    }
    while *first.add(out.len()) != T::default() {
        out.extend([*first.add(out.len()), *first.add(out.len() + 1)]);
    }
    out.push(T::default());
    out
}

/// A C string as text; bytes that are no UTF-8 are replaced.
unsafe fn text(chars: *const c_char) -> String {
    if chars.is_null() { String::new() } else { CStr::from_ptr(chars).to_string_lossy().into_owned() }
}

/// A pointer that may travel to the device's thread.
#[derive(Copy, Clone)]
struct HostPointer(usize);

impl HostPointer {
    fn new<T>(pointer: *const T) -> HostPointer {
        HostPointer(pointer.expose_provenance())
    }
    fn read(self) -> *const u8 {
        std::ptr::with_exposed_provenance(self.0)
    }
    fn write(self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

fn same_context(a: &Arc<Context>, b: &Arc<Context>, what: &str) -> Result {
    ensure!(Arc::ptr_eq(a, b), CL_INVALID_CONTEXT, "the command-queue and {what} belong to different contexts");
    Ok(())
}

/// A buffer that a command of `queue` uses.
fn buffer_of(queue: &Queue, raw: Raw) -> Result<Arc<MemObject>> {
    let buffer = handle::resolve::<MemObject>(raw)?;
    same_context(&queue.context, &buffer.context, "the memory object")?;
    ensure!(buffer.object_type() == CL_MEM_OBJECT_BUFFER, CL_INVALID_MEM_OBJECT, "the memory object is no buffer");
    if let crate::model::MemKind::SubBuffer { origin, .. } = buffer.kind {
        // "if buffer is a sub-buffer object and offset specified when the sub-buffer object is created is not aligned to
        // CL_DEVICE_MEM_BASE_ADDR_ALIGN value for device associated with queue"
        let align = device::BASE_ADDRESS_ALIGN_BITS as usize / 8;
        ensure!(
            origin.is_multiple_of(align),
            CL_MISALIGNED_SUB_BUFFER_OFFSET,
            "the sub-buffer's origin {origin} is no multiple of {align} bytes"
        );
    }
    Ok(buffer)
}

/// The end of every enqueue call.
struct Wait {
    events: Vec<Arc<Event>>,
    out: *mut Raw,
}

impl Wait {
    /// Checks the wait list.
    unsafe fn new(context: &Arc<Context>, count: u32, events: *const Raw, out: *mut Raw) -> Result<Wait> {
        // "if event_wait_list is NULL and num_events_in_wait_list > 0, or event_wait_list is not NULL and
        // num_events_in_wait_list is 0, or if event objects in event_wait_list are not valid events"
        ensure!(
            events.is_null() == (count == 0),
            CL_INVALID_EVENT_WAIT_LIST,
            "the wait list is {} but its length is {count}",
            if events.is_null() { "NULL" } else { "given" }
        );
        let mut wait = Vec::with_capacity(count as usize);
        for &raw in list(events, count as usize) {
            let event = handle::resolve::<Event>(raw).map_err(|e| ClError::new(CL_INVALID_EVENT_WAIT_LIST, e.why))?;
            same_context(context, &event.context, "an event of the wait list")?;
            wait.push(event);
        }
        Ok(Wait { events: wait, out })
    }

    /// Enqueues, waits where the call is blocking, and gives the event to the program.
    unsafe fn enqueue(
        self,
        queue: &Arc<Queue>,
        command: u32,
        resource: Resource,
        blocking: bool,
        action: Action,
    ) -> Result {
        self.enqueue_in_order(queue, command, resource, Order::Plain, blocking, action)
    }

    unsafe fn enqueue_in_order(
        self,
        queue: &Arc<Queue>,
        command: u32,
        resource: Resource,
        order: Order,
        blocking: bool,
        action: Action,
    ) -> Result {
        // Refused before anything is enqueued: the command would use the program's memory after the call.
        ensure!(
            !(blocking && queue.context.scheduler.executes_here()),
            CL_INVALID_OPERATION,
            "a callback makes a blocking call: its command cannot run before the callback returns"
        );
        let visible = !self.out.is_null();
        let event = queue.enqueue(Request { command, resource, wait: self.events, order, visible, action })?;
        if blocking {
            queue.wait(&event)?;
        }
        if visible {
            self.out.write(handle::publish(event));
        }
        Ok(())
    }
}

/// A queue for host commands.
fn queue_of(raw: Raw) -> Result<Arc<Queue>> {
    let queue = handle::resolve::<Queue>(raw)?;
    ensure!(queue.on_device.is_none(), CL_INVALID_COMMAND_QUEUE, "a queue on the device takes no commands of the host");
    Ok(queue)
}

/// A callback of the program with its data, to be called from another thread: the API asks the program for functions
/// that can be.
struct Foreign<F> {
    function: F,
    data: usize,
}

impl<F: Copy> Foreign<F> {
    fn new(function: F, data: *mut std::ffi::c_void) -> Foreign<F> {
        Foreign { function, data: data.expose_provenance() }
    }
    fn data(&self) -> *mut std::ffi::c_void {
        std::ptr::with_exposed_provenance_mut(self.data)
    }
}

/// A destructor callback.
fn destructor(function: ObjectCallback, data: *mut std::ffi::c_void) -> crate::model::Destructor {
    let foreign = Foreign::new(function, data);
    // SAFETY: the program passed the function for this.
    Box::new(move |raw| unsafe { (foreign.function)(raw, foreign.data()) })
}

fn retain<T: Object>(raw: Raw) -> Result {
    handle::retain::<T>(raw)
}

fn release<T: Object>(raw: Raw) -> Result {
    handle::release::<T>(raw)
}

/// Checks a device list: the one device that there is, for each entry.
unsafe fn check_devices(count: u32, devices: *const Raw) -> Result {
    // "if device_list is NULL and num_devices is greater than zero, or if device_list is not NULL and num_devices is
    // equal to zero"
    ensure!(
        devices.is_null() == (count == 0),
        CL_INVALID_VALUE,
        "the device list is {} but its length is {count}",
        if devices.is_null() { "NULL" } else { "given" }
    );
    for &raw in list(devices, count as usize) {
        device::resolve(raw)?;
    }
    Ok(())
}

fn unknown<T>(what: &str, name: u32) -> Result<T> {
    fail!(CL_INVALID_VALUE, "{what} {name:#x} is not known")
}
