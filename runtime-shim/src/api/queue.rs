//! Command queues (OpenCL 3.0 API, 5.1, 5.15).
use super::info::Query;
use super::{device, properties as property_list, queue_of, release, retain, unknown};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Context, Queue};
use std::ffi::c_void;
use std::sync::Arc;

const HOST_PROPERTIES: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const DEVICE_PROPERTIES: u64 = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

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
    ensure!(!on_device, CL_INVALID_QUEUE_PROPERTIES, "queues on the device are not supported");
    Ok(publish(Arc::new(Queue::new(context, properties, list)?)))
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

pub unsafe fn get_command_queue_info(
    command_queue: Raw,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result {
    let queue = queue_of(command_queue)?;
    let query = Query::new(param_value_size, param_value, param_value_size_ret);
    match param_name {
        CL_QUEUE_CONTEXT => query.value(queue.context.handle.raw()),
        CL_QUEUE_DEVICE => query.value(device::DEVICE_HEADER.raw()),
        CL_QUEUE_REFERENCE_COUNT => query.value(handle::count::<Queue>(command_queue)),
        CL_QUEUE_PROPERTIES => query.value(*queue.properties.lock()),
        CL_QUEUE_PROPERTIES_ARRAY => query.slice(&queue.property_list),
        // "CL_QUEUE_SIZE: … valid only for device queues", "CL_QUEUE_DEVICE_DEFAULT … NULL where there is none"
        CL_QUEUE_SIZE => fail!(CL_INVALID_COMMAND_QUEUE, "CL_QUEUE_SIZE is for queues on the device"),
        CL_QUEUE_DEVICE_DEFAULT => query.value(0usize),
        _ => return unknown("command-queue query", param_name),
    }?
    .done()
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
    handle::resolve::<Context>(context)?;
    device::resolve(device)?;
    queue_of(command_queue)?;
    fail!(CL_INVALID_OPERATION, "queues on the device are not supported, so there can be no default one")
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
