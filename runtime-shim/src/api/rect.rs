//! Rectangular regions of buffers (OpenCL 3.0 API, 5.2.2).
use super::call::{Call, Way, check_host_access, check_pointer};
use super::layout::{Block, Layout, overlap, triple};
use crate::cl::*;
use crate::error::{Result, ensure};
use std::ffi::c_void;
use std::sync::Arc;

unsafe fn layout(
    (origin, name): (*const usize, &str),
    region: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
) -> Result<Layout> {
    Layout::new(triple(origin, name)?, region, row_pitch, slice_pitch)
}

pub unsafe fn enqueue_read_buffer_rect(
    call: Call,
    buffer: Raw,
    blocking_read: u32,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
) -> Result {
    let buffer = call.buffer(buffer)?;
    check_pointer(ptr, "ptr")?;
    check_host_access(&buffer, true, false)?;
    let region = triple(region, "region")?;
    let inside = layout((buffer_origin, "buffer_origin"), region, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = layout((host_origin, "host_origin"), region, host_row_pitch, host_slice_pitch)?;
    inside.check(region, &buffer)?;
    let blocks = (Block::inside(&buffer, inside), Block::at(ptr, outside));
    let way = (Way::FromDevice, blocking_read != 0);
    call.transfer(CL_COMMAND_READ_BUFFER_RECT, way, blocks, region, vec![buffer])
}

pub unsafe fn enqueue_write_buffer_rect(
    call: Call,
    buffer: Raw,
    blocking_write: u32,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
) -> Result {
    let buffer = call.buffer(buffer)?;
    check_pointer(ptr, "ptr")?;
    check_host_access(&buffer, false, true)?;
    let region = triple(region, "region")?;
    let inside = layout((buffer_origin, "buffer_origin"), region, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = layout((host_origin, "host_origin"), region, host_row_pitch, host_slice_pitch)?;
    inside.check(region, &buffer)?;
    let blocks = (Block::at(ptr, outside), Block::inside(&buffer, inside));
    let way = (Way::ToDevice, blocking_write != 0);
    call.transfer(CL_COMMAND_WRITE_BUFFER_RECT, way, blocks, region, vec![buffer])
}

pub unsafe fn enqueue_copy_buffer_rect(
    call: Call,
    src_buffer: Raw,
    dst_buffer: Raw,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
) -> Result {
    let (source, target) = (call.buffer(src_buffer)?, call.buffer(dst_buffer)?);
    let region = triple(region, "region")?;
    let from = layout((src_origin, "src_origin"), region, src_row_pitch, src_slice_pitch)?;
    let to = layout((dst_origin, "dst_origin"), region, dst_row_pitch, dst_slice_pitch)?;
    from.check(region, &source)?;
    to.check(region, &target)?;
    let (source_root, source_origin) = source.root();
    let (target_root, target_origin) = target.root();
    if Arc::ptr_eq(&source_root, &target_root) {
        // "if src_buffer and dst_buffer are the same buffer object and src_slice_pitch is not equal to dst_slice_pitch
        // and src_row_pitch is not equal to dst_row_pitch"
        let same_pitches = from.row == to.row && from.slice == to.slice;
        ensure!(
            same_pitches || !Arc::ptr_eq(&source, &target),
            CL_INVALID_VALUE,
            "source and target are one buffer, so their pitches must be equal"
        );
        let a = Layout { start: from.start + source_origin, ..from };
        let b = Layout { start: to.start + target_origin, ..to };
        ensure!(!overlap(a, b, region), CL_MEM_COPY_OVERLAP, "source and target overlap");
    }
    let blocks = (Block::inside(&source, from), Block::inside(&target, to));
    call.transfer(CL_COMMAND_COPY_BUFFER_RECT, (Way::OnDevice, false), blocks, region, vec![source, target])
}
