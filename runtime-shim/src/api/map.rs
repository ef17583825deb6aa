//! Mapping (OpenCL 3.0 API, 5.2.4, 5.3.6, 5.5.2). Device memory is host memory here, so a mapping is the memory itself;
//! what moves over the link on a real device takes its simulated time.
use super::transfer::check_host_access;
use super::{Wait, buffer_of, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::command::{Done, Resource};
use crate::model::{Mapping, MemObject, handle};
use std::ffi::c_void;

/// Map flags: known, and consistent.
pub(super) fn check_map_flags(flags: u64) -> Result<(bool, bool)> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    ensure!(flags & !known == 0, CL_INVALID_VALUE, "map flags {flags:#x} are not known");
    let invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    // "CL_MAP_READ or CL_MAP_WRITE and CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive"
    let plain = flags & (CL_MAP_READ | CL_MAP_WRITE) != 0;
    ensure!(!(invalidate && plain), CL_INVALID_VALUE, "CL_MAP_WRITE_INVALIDATE_REGION excludes the other map flags");
    // The host sees the contents unless it promised to overwrite them.
    Ok((!invalidate, flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0))
}

pub unsafe fn enqueue_map_buffer(
    command_queue: Raw,
    buffer: Raw,
    blocking_map: u32,
    map_flags: u64,
    offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result<Raw> {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    // "if region being mapped given by (offset, size) is out of bounds or if size is 0"
    ensure!(
        size > 0 && offset.checked_add(size).is_some_and(|end| end <= buffer.size),
        CL_INVALID_VALUE,
        "offset {offset} and size {size} are empty or exceed the buffer's {} bytes",
        buffer.size
    );
    let (read, write) = check_map_flags(map_flags)?;
    check_host_access(&buffer, map_flags & CL_MAP_READ != 0, write)?;
    let mapping = Mapping { address: buffer.address + offset as u64, size, write };
    let link = queue.context.device.link;
    let duration = if read { link.read(size) } else { link.read(0) };
    let keep = buffer.clone();
    let action = Box::new(move |_: &mut _| {
        drop(keep);
        Ok(Done { duration, bytes: if read { size as u64 } else { 0 }, launch: None })
    });
    buffer.map(mapping);
    let enqueued = wait.enqueue(&queue, CL_COMMAND_MAP_BUFFER, Resource::FromDevice, blocking_map != 0, action);
    if let Err(error) = enqueued {
        buffer.unmap(mapping.address);
        return Err(error);
    }
    Ok(std::ptr::with_exposed_provenance_mut(mapping.address as usize))
}

pub unsafe fn enqueue_unmap_mem_object(
    command_queue: Raw,
    memobj: Raw,
    mapped_ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let object = handle::resolve::<MemObject>(memobj)?;
    super::same_context(&queue.context, &object.context, "the memory object")?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    let Some(mapping) = object.unmap(mapped_ptr as u64) else {
        fail!(CL_INVALID_VALUE, "{mapped_ptr:p} is no mapping of this object")
    };
    let link = queue.context.device.link;
    let bytes = if mapping.write { mapping.size } else { 0 };
    let duration = link.write(bytes);
    let action = Box::new(move |_: &mut _| {
        drop(object);
        Ok(Done { duration, bytes: bytes as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_UNMAP_MEM_OBJECT, Resource::ToDevice, false, action)
}

/// No image exists, so none can be mapped.
pub unsafe fn enqueue_map_image(
    command_queue: Raw,
    image: Raw,
    _blocking_map: u32,
    map_flags: u64,
    _origin: *const usize,
    _region: *const usize,
    _image_row_pitch: *mut usize,
    _image_slice_pitch: *mut usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result<Raw> {
    let queue = queue_of(command_queue)?;
    Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    check_map_flags(map_flags)?;
    super::image::no_image(image)
}
