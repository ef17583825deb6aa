//! Mapping (OpenCL 3.0 API, 5.2.4, 5.3.6, 5.5.2). Device memory is host memory here, so a mapping is the memory itself;
//! what moves over the link on a real device takes its simulated time.
use super::call::{Call, Way, check_host_access, check_pointer};
use super::image_transfer::region_of;
use super::layout::{Layout, bytes};
use super::transfer::check_range;
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::{Mapping, MemKind, MemObject};
use std::ffi::c_void;
use std::sync::Arc;

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

/// A map call, checked but for what it maps.
struct Map {
    command: u32,
    flags: u64,
    blocking: bool,
}

impl Map {
    /// Maps a region that begins `start` bytes into the object and has `size` bytes.
    unsafe fn enqueue(
        self,
        call: Call,
        object: Arc<MemObject>,
        (start, size): (usize, usize),
        (origin, region): ([usize; 3], [usize; 3]),
    ) -> Result<Raw> {
        let (read, write) = check_map_flags(self.flags)?;
        check_host_access(&object, self.flags & CL_MAP_READ != 0, write)?;
        let address = object.address + start as u64;
        // "if mapping would lead to overlapping regions being mapped for writing"
        let free = object.map(Mapping { address, size, write, origin, region });
        ensure!(free, CL_INVALID_OPERATION, "a part of the region is mapped for writing already");
        let way = (Way::FromDevice, self.blocking);
        let keep = vec![object.clone()];
        let enqueued = call.synchronise(self.command, way, if read { size } else { 0 }, keep);
        enqueued.inspect_err(|_| {
            object.unmap(address);
        })?;
        Ok(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

pub unsafe fn enqueue_map_buffer(
    call: Call,
    buffer: Raw,
    blocking_map: u32,
    map_flags: u64,
    offset: usize,
    size: usize,
) -> Result<Raw> {
    let buffer = call.buffer(buffer)?;
    // "if region being mapped given by (offset, size) is out of bounds or if size is 0"
    ensure!(size > 0, CL_INVALID_VALUE, "size is 0");
    check_range(&buffer, offset, size, "map")?;
    let map = Map { command: CL_COMMAND_MAP_BUFFER, flags: map_flags, blocking: blocking_map != 0 };
    map.enqueue(call, buffer, (offset, size), ([offset, 0, 0], [size, 1, 1]))
}

pub unsafe fn enqueue_map_image(
    call: Call,
    image: Raw,
    blocking_map: u32,
    map_flags: u64,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
) -> Result<Raw> {
    let object = call.image(image)?;
    let Some(image) = object.as_image() else { fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image") };
    let (origin, region) = region_of(image, origin, region)?;
    check_pointer(image_row_pitch, "image_row_pitch")?;
    // "if image is a 3D image, 1D or 2D image array object and image_slice_pitch is NULL"
    ensure!(
        !(image.has_slices() && image_slice_pitch.is_null()),
        CL_INVALID_VALUE,
        "image_slice_pitch is NULL, but the image has slices or layers"
    );
    let start = Layout::of_image(image, origin).start;
    let size = bytes([region[0] * image.element, region[1], region[2]]);
    let (row_pitch, slice_pitch) = (image.row_pitch, image.slice_pitch);
    let map = Map { command: CL_COMMAND_MAP_IMAGE, flags: map_flags, blocking: blocking_map != 0 };
    let mapped = map.enqueue(call, object, (start, size), (origin, region))?;
    image_row_pitch.write(row_pitch);
    if !image_slice_pitch.is_null() {
        image_slice_pitch.write(slice_pitch);
    }
    Ok(mapped)
}

pub unsafe fn enqueue_unmap_mem_object(call: Call, memobj: Raw, mapped_ptr: *mut c_void) -> Result {
    let object = call.object(memobj)?;
    // "if memobj is not a valid memory object or is a pipe object"
    let pipe = matches!(object.kind, MemKind::Pipe { .. });
    ensure!(!pipe, CL_INVALID_MEM_OBJECT, "a pipe cannot be mapped");
    let Some(mapping) = object.unmap(mapped_ptr as u64) else {
        fail!(CL_INVALID_VALUE, "{mapped_ptr:p} is no mapping of this object")
    };
    let size = if mapping.write { mapping.size } else { 0 };
    call.synchronise(CL_COMMAND_UNMAP_MEM_OBJECT, (Way::ToDevice, false), size, vec![object])
}
