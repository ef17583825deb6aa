//! Reading, writing, copying, filling and migrating buffers (OpenCL 3.0 API, 5.2.2, 5.2.3, 5.5.4).
use super::call::{Call, Way, check_host_access, check_migration, check_pointer};
use super::layout::{Block, Layout};
use super::list;
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::MemObject;
use std::ffi::c_void;
use std::sync::Arc;

pub(super) fn check_range(object: &MemObject, offset: usize, size: usize, what: &str) -> Result {
    // "if the region being read or written specified by (offset, size) is out of bounds"
    ensure!(
        offset.checked_add(size).is_some_and(|end| end <= object.size),
        CL_INVALID_VALUE,
        "{what}: offset {offset} and size {size} exceed the buffer's {} bytes",
        object.size
    );
    Ok(())
}

pub unsafe fn enqueue_read_buffer(
    call: Call,
    buffer: Raw,
    blocking_read: u32,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
) -> Result {
    let buffer = call.buffer(buffer)?;
    check_pointer(ptr, "ptr")?;
    check_range(&buffer, offset, size, "read")?;
    check_host_access(&buffer, true, false)?;
    let blocks = (Block::inside(&buffer, Layout::linear(offset)), Block::at(ptr, Layout::linear(0)));
    let way = (Way::FromDevice, blocking_read != 0);
    call.transfer(CL_COMMAND_READ_BUFFER, way, blocks, [size, 1, 1], vec![buffer])
}

pub unsafe fn enqueue_write_buffer(
    call: Call,
    buffer: Raw,
    blocking_write: u32,
    offset: usize,
    size: usize,
    ptr: *const c_void,
) -> Result {
    let buffer = call.buffer(buffer)?;
    check_pointer(ptr, "ptr")?;
    check_range(&buffer, offset, size, "write")?;
    check_host_access(&buffer, false, true)?;
    let blocks = (Block::at(ptr, Layout::linear(0)), Block::inside(&buffer, Layout::linear(offset)));
    let way = (Way::ToDevice, blocking_write != 0);
    call.transfer(CL_COMMAND_WRITE_BUFFER, way, blocks, [size, 1, 1], vec![buffer])
}

pub unsafe fn enqueue_copy_buffer(
    call: Call,
    src_buffer: Raw,
    dst_buffer: Raw,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
) -> Result {
    let (source, target) = (call.buffer(src_buffer)?, call.buffer(dst_buffer)?);
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
    let from = Block::inside(&source, Layout::linear(src_offset));
    let to = Block::inside(&target, Layout::linear(dst_offset));
    let way = (Way::OnDevice, false);
    call.transfer(CL_COMMAND_COPY_BUFFER, way, (from, to), [size, 1, 1], vec![source, target])
}

/// A pattern: 1, 2, 4, … 128 bytes.
pub(super) unsafe fn check_pattern(pattern: *const c_void, size: usize) -> Result<Vec<u8>> {
    // "if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of { 1, 2, 4, 8, 16, 32, 64, 128 }"
    check_pointer(pattern, "the pattern")?;
    ensure!(size.is_power_of_two() && size <= 128, CL_INVALID_VALUE, "pattern size {size} is none of 1, 2, 4 … 128");
    Ok(list(pattern.cast::<u8>(), size).to_vec())
}

pub unsafe fn enqueue_fill_buffer(
    call: Call,
    buffer: Raw,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
) -> Result {
    let buffer = call.buffer(buffer)?;
    check_range(&buffer, offset, size, "fill")?;
    let pattern = check_pattern(pattern, pattern_size)?;
    // "if offset and size are not a multiple of pattern_size"
    ensure!(
        offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size),
        CL_INVALID_VALUE,
        "offset {offset} and size {size} are not both multiples of the pattern's {pattern_size} bytes"
    );
    let to = Block::inside(&buffer, Layout::linear(offset));
    call.fill(CL_COMMAND_FILL_BUFFER, to, [size, 1, 1], pattern, vec![buffer])
}

/// There is one device, and its memory is where the objects are: migration only orders.
pub unsafe fn enqueue_migrate_mem_objects(
    call: Call,
    num_mem_objects: u32,
    mem_objects: *const Raw,
    flags: u64,
) -> Result {
    // "if num_mem_objects is zero or if mem_objects is NULL", "if flags is not 0 or is not any of the values"
    ensure!(num_mem_objects > 0 && !mem_objects.is_null(), CL_INVALID_VALUE, "there are no objects to migrate");
    check_migration(flags)?;
    let objects = list(mem_objects, num_mem_objects as usize);
    let objects = objects.iter().map(|&raw| call.object(raw)).collect::<Result<Vec<_>>>()?;
    call.order(CL_COMMAND_MIGRATE_MEM_OBJECTS, move || drop(objects))
}
