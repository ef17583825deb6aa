//! Reading, writing, copying, filling and migrating buffers (OpenCL 3.0 API, 5.2.2, 5.2.3, 5.5.4).
use super::{HostPointer, Wait, buffer_of, list, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::MemObject;
use crate::model::command::{Done, Resource};
use std::ffi::c_void;
use std::sync::Arc;

/// Copies bytes; the ranges may overlap.
///
/// # Safety
/// Both ranges are valid: one belongs to a live memory object, the other to the program or to a live object.
pub(super) unsafe fn move_bytes(from: HostPointer, to: HostPointer, size: usize) {
    std::ptr::copy(from.read(), to.write(), size);
}

/// The address of a place in a memory object.
pub(super) fn place(object: &MemObject, offset: usize) -> HostPointer {
    HostPointer(object.address as usize + offset)
}

fn check_range(object: &MemObject, offset: usize, size: usize, what: &str) -> Result {
    // "if the region being read or written specified by (offset, size) is out of bounds"
    ensure!(
        offset.checked_add(size).is_some_and(|end| end <= object.size),
        CL_INVALID_VALUE,
        "{what}: offset {offset} and size {size} exceed the buffer's {} bytes",
        object.size
    );
    Ok(())
}

/// "if clEnqueueReadBuffer is called on buffer which has been created with CL_MEM_HOST_WRITE_ONLY or
/// CL_MEM_HOST_NO_ACCESS", and the like for writing.
pub(super) fn check_host_access(object: &MemObject, read: bool, write: bool) -> Result {
    let denied = |bits: u64| object.flags & (bits | CL_MEM_HOST_NO_ACCESS) != 0;
    ensure!(!(read && denied(CL_MEM_HOST_WRITE_ONLY)), CL_INVALID_OPERATION, "the host may not read this buffer");
    ensure!(!(write && denied(CL_MEM_HOST_READ_ONLY)), CL_INVALID_OPERATION, "the host may not write this buffer");
    Ok(())
}

pub unsafe fn enqueue_read_buffer(
    command_queue: Raw,
    buffer: Raw,
    blocking_read: u32,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    ensure!(!ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
    check_range(&buffer, offset, size, "read")?;
    check_host_access(&buffer, true, false)?;
    let to = HostPointer::new(ptr);
    let duration = queue.context.device.link.read(size);
    let action = Box::new(move |_: &mut _| {
        move_bytes(place(&buffer, offset), to, size);
        Ok(Done { duration, bytes: size as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_READ_BUFFER, Resource::FromDevice, blocking_read != 0, action)
}

pub unsafe fn enqueue_write_buffer(
    command_queue: Raw,
    buffer: Raw,
    blocking_write: u32,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    ensure!(!ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
    check_range(&buffer, offset, size, "write")?;
    check_host_access(&buffer, false, true)?;
    let from = HostPointer::new(ptr);
    let duration = queue.context.device.link.write(size);
    let action = Box::new(move |_: &mut _| {
        move_bytes(from, place(&buffer, offset), size);
        Ok(Done { duration, bytes: size as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_WRITE_BUFFER, Resource::ToDevice, blocking_write != 0, action)
}

pub unsafe fn enqueue_copy_buffer(
    command_queue: Raw,
    src_buffer: Raw,
    dst_buffer: Raw,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let source = buffer_of(&queue, src_buffer)?;
    let target = buffer_of(&queue, dst_buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    check_range(&source, src_offset, size, "source")?;
    check_range(&target, dst_offset, size, "target")?;
    // "if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source and destination regions
    // overlap or if src_buffer and dst_buffer are different sub-buffers of the same associated buffer object and they
    // overlap"
    let (source_root, source_origin) = source.root();
    let (target_root, target_origin) = target.root();
    if Arc::ptr_eq(&source_root, &target_root) {
        let (a, b) = (source_origin + src_offset, target_origin + dst_offset);
        ensure!(a + size <= b || b + size <= a, CL_MEM_COPY_OVERLAP, "source and target overlap");
    }
    let duration = queue.context.device.link.inside(size, size);
    let action = Box::new(move |_: &mut _| {
        move_bytes(place(&source, src_offset), place(&target, dst_offset), size);
        Ok(Done { duration, bytes: size as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_COPY_BUFFER, Resource::Compute, false, action)
}

/// Writes a pattern again and again.
///
/// # Safety
/// `to` is valid for `size` bytes, a multiple of the pattern's.
pub(super) unsafe fn fill_bytes(to: HostPointer, pattern: &[u8], size: usize) {
    for at in (0..size).step_by(pattern.len()) {
        std::ptr::copy_nonoverlapping(pattern.as_ptr(), to.write().add(at), pattern.len());
    }
}

/// A pattern: 1, 2, 4, … 128 bytes.
pub(super) unsafe fn check_pattern(pattern: *const c_void, size: usize) -> Result<Vec<u8>> {
    // "if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of { 1, 2, 4, 8, 16, 32, 64, 128 }"
    ensure!(!pattern.is_null(), CL_INVALID_VALUE, "the pattern is NULL");
    ensure!(size.is_power_of_two() && size <= 128, CL_INVALID_VALUE, "pattern size {size} is none of 1, 2, 4 … 128");
    Ok(list(pattern.cast::<u8>(), size).to_vec())
}

pub unsafe fn enqueue_fill_buffer(
    command_queue: Raw,
    buffer: Raw,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    check_range(&buffer, offset, size, "fill")?;
    let pattern = check_pattern(pattern, pattern_size)?;
    // "if offset and size are not a multiple of pattern_size"
    ensure!(
        offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size),
        CL_INVALID_VALUE,
        "offset {offset} and size {size} are not both multiples of the pattern's {pattern_size} bytes"
    );
    let duration = queue.context.device.link.inside(0, size);
    let action = Box::new(move |_: &mut _| {
        fill_bytes(place(&buffer, offset), &pattern, size);
        Ok(Done { duration, bytes: size as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_FILL_BUFFER, Resource::Compute, false, action)
}

/// There is one device, and its memory is where the objects are: migration only orders.
pub unsafe fn enqueue_migrate_mem_objects(
    command_queue: Raw,
    num_mem_objects: u32,
    mem_objects: *const Raw,
    flags: u64,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    // "if num_mem_objects is zero or if mem_objects is NULL", "if flags is not 0 or is not any of the values"
    ensure!(num_mem_objects > 0 && !mem_objects.is_null(), CL_INVALID_VALUE, "there are no objects to migrate");
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    ensure!(flags & !known == 0, CL_INVALID_VALUE, "migration flags {flags:#x} are not known");
    let objects = list(mem_objects, num_mem_objects as usize);
    let objects = objects.iter().map(|&raw| buffer_of(&queue, raw)).collect::<Result<Vec<_>>>()?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    let action = Box::new(move |_: &mut _| {
        drop(objects);
        Ok(Done::default())
    });
    wait.enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, Resource::None, false, action)
}
