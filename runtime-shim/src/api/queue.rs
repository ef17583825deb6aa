//! Command queues (OpenCL 3.0 API, 5.1, 5.15).
use super::info::{Query, Written};
use super::{device, properties as property_list, queue_of, release, retain, unknown};
use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Context, Queue};
use std::sync::Arc;

const HOST_PROPERTIES: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const DEVICE_PROPERTIES: u64 = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, CL_DEVICE_MAX_ON_DEVICE_QUEUES: sizes
/// are the least that the specification allows; one queue is its minimum.
pub(super) const PREFERRED_SIZE: u32 = 16 << 10;
pub(super) const MAX_SIZE: u32 = 256 << 10;
pub(super) const MAX_ON_DEVICE: usize = 16;

fn create(context: Raw, device: Raw, properties: u64, list: Vec<u64>, size: Option<u64>) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    device::resolve(device)?;
    let known = properties & !(HOST_PROPERTIES | DEVICE_PROPERTIES) == 0;
    ensure!(known, CL_INVALID_VALUE, "queue properties {properties:#x} are not known");
    // "CL_QUEUE_ON_DEVICE … If this bit is set, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE must also be set",
    // "CL_QUEUE_ON_DEVICE_DEFAULT … can only be used with CL_QUEUE_ON_DEVICE"
    let on_device = properties & CL_QUEUE_ON_DEVICE != 0;
    let order_given = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
    let consistent = if on_device { order_given } else { properties & CL_QUEUE_ON_DEVICE_DEFAULT == 0 };
    ensure!(consistent, CL_INVALID_VALUE, "queue properties {properties:#x} contradict each other");
    ensure!(size.is_none() || on_device, CL_INVALID_VALUE, "CL_QUEUE_SIZE is for queues on the device");
    if on_device {
        return create_on_device(context, properties, list, size);
    }
    Ok(publish(Arc::new(Queue::new(context, properties, list, None)?)))
}

fn check_device_queues(context: &Context, code: i32) -> Result {
    let offered = context.device.spec.host.device_queues;
    let why = "the device does not offer queues on the device; the machine's key host.device_queues says so";
    if offered { Ok(()) } else { Err(ClError::new(code, why)) }
}

fn create_on_device(context: Arc<Context>, properties: u64, list: Vec<u64>, size: Option<u64>) -> Result<Raw> {
    check_device_queues(&context, CL_INVALID_QUEUE_PROPERTIES)?;
    let size = size.unwrap_or(PREFERRED_SIZE.into());
    let fits = size > 0 && size <= MAX_SIZE.into();
    ensure!(fits, CL_INVALID_QUEUE_PROPERTIES, "a queue of {size} bytes; 1 to {MAX_SIZE} are possible");
    let default = properties & CL_QUEUE_ON_DEVICE_DEFAULT != 0;
    let mut queues = context.device_queues.lock();
    if default && let Some(queue) = queues.default.upgrade() {
        // "If CL_QUEUE_ON_DEVICE_DEFAULT is specified and there is already a default device queue … the handle to that
        // queue is returned", with its reference count incremented.
        let raw = queue.handle.raw();
        retain::<Queue>(raw)?;
        return Ok(raw);
    }
    let most = MAX_ON_DEVICE;
    ensure!(queues.count() < most, CL_OUT_OF_RESOURCES, "the context has its {most} queues on the device already");
    let queue = Arc::new(Queue::new(context.clone(), properties, list, Some(size as u32))?);
    queues.add(&queue);
    if default {
        queues.default = Arc::downgrade(&queue);
    }
    drop(queues);
    Ok(publish(queue))
}

pub unsafe fn create_command_queue(context: Raw, device: Raw, properties: u64) -> Result<Raw> {
    ensure!(properties & !HOST_PROPERTIES == 0, CL_INVALID_VALUE, "queue properties {properties:#x} are not known");
    create(context, device, properties, Vec::new(), None)
}

pub unsafe fn create_command_queue_with_properties(context: Raw, device: Raw, properties: *const u64) -> Result<Raw> {
    let list = property_list(properties);
    let (mut bits, mut size) = (0, None);
    for pair in list.chunks_exact(2) {
        match u32::try_from(pair[0]) {
            Ok(CL_QUEUE_PROPERTIES) => bits = pair[1],
            Ok(CL_QUEUE_SIZE) => size = Some(pair[1]),
            _ => fail!(CL_INVALID_VALUE, "queue property {:#x} is not known", pair[0]),
        }
    }
    create(context, device, bits, list, size)
}

pub unsafe fn retain_command_queue(command_queue: Raw) -> Result {
    retain::<Queue>(command_queue)
}

/// Commands are on their way as soon as they are enqueued, so the implied flush has nothing to do.
pub unsafe fn release_command_queue(command_queue: Raw) -> Result {
    release::<Queue>(command_queue)
}

pub unsafe fn get_command_queue_info(command_queue: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let queue = handle::resolve::<Queue>(command_queue)?;
    match param_name {
        CL_QUEUE_CONTEXT => query.value(queue.context.handle.raw()),
        CL_QUEUE_DEVICE => query.value(device::DEVICE_HEADER.raw()),
        CL_QUEUE_REFERENCE_COUNT => query.value(handle::count::<Queue>(command_queue)),
        CL_QUEUE_PROPERTIES => query.value(*queue.properties.lock()),
        CL_QUEUE_PROPERTIES_ARRAY => query.slice(&queue.property_list),
        // "CL_QUEUE_SIZE: … can only be used with a device command-queue"
        CL_QUEUE_SIZE => match queue.on_device {
            Some(size) => query.value(size),
            None => fail!(CL_INVALID_COMMAND_QUEUE, "CL_QUEUE_SIZE is for queues on the device"),
        },
        // "Return the current default command-queue for the underlying device."
        CL_QUEUE_DEVICE_DEFAULT => {
            let default = queue.context.device_queues.lock().default.upgrade();
            query.value(default.map_or(std::ptr::null_mut(), |q| q.handle.raw()))
        }
        _ => unknown("command-queue query", param_name),
    }
}

/// Deprecated since 1.1: the properties of a queue do not change after its creation.
pub unsafe fn set_command_queue_property(
    command_queue: Raw,
    properties: u64,
    _enable: u32,
    old_properties: *mut u64,
) -> Result {
    let queue = queue_of(command_queue)?;
    ensure!(properties & !HOST_PROPERTIES == 0, CL_INVALID_VALUE, "queue properties {properties:#x} are not known");
    if !old_properties.is_null() {
        old_properties.write(*queue.properties.lock());
    }
    fail!(CL_INVALID_OPERATION, "the properties of a queue cannot change after its creation")
}

pub unsafe fn set_default_device_command_queue(context: Raw, device: Raw, command_queue: Raw) -> Result {
    let context = handle::resolve::<Context>(context)?;
    device::resolve(device)?;
    // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue": whatever the queue is
    check_device_queues(&context, CL_INVALID_OPERATION)?;
    let queue = handle::resolve::<Queue>(command_queue)?;
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for device"
    let fits = queue.on_device.is_some() && Arc::ptr_eq(&queue.context, &context);
    ensure!(fits, CL_INVALID_COMMAND_QUEUE, "the command-queue is no queue on the device of this context");
    context.device_queues.lock().default = Arc::downgrade(&queue);
    Ok(())
}

/// Commands are on their way as soon as they are enqueued.
pub unsafe fn flush(command_queue: Raw) -> Result {
    queue_of(command_queue).map(|_| ())
}

pub unsafe fn finish(command_queue: Raw) -> Result {
    let queue = queue_of(command_queue)?;
    queue.context.usable()?;
    queue.finish()
}
