//! Rectangular regions of buffers (OpenCL 3.0 API, 5.2.2).
use super::transfer::{check_host_access, move_bytes};
use super::{HostPointer, Wait, buffer_of, list, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::MemObject;
use crate::model::command::{Done, Resource};
use std::ffi::c_void;
use std::sync::Arc;

/// Where the lines of a region lie: line (y, z) begins `start + y * row + z * slice` bytes from the base.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Layout {
    start: usize,
    row: usize,
    slice: usize,
}

unsafe fn triple(pointer: *const usize, what: &str) -> Result<[usize; 3]> {
    match list(pointer, 3) {
        &[x, y, z] => Ok([x, y, z]),
        _ => fail!(CL_INVALID_VALUE, "{what} is NULL"),
    }
}

impl Layout {
    fn new(origin: [usize; 3], region: [usize; 3], row: usize, slice: usize) -> Result<Layout> {
        let [width, height, _] = region;
        ensure!(!region.contains(&0), CL_INVALID_VALUE, "region {region:?} is empty");
        ensure!(row == 0 || row >= width, CL_INVALID_VALUE, "row pitch {row} is less than the width {width}");
        let row = if row == 0 { width } else { row };
        let Some(least) = row.checked_mul(height) else { fail!(CL_INVALID_VALUE, "the region is too large") };
        // "if buffer_slice_pitch is not 0 and is less than region[1] × buffer_row_pitch and not a multiple of
        // buffer_row_pitch"
        ensure!(slice == 0 || slice >= least, CL_INVALID_VALUE, "slice pitch {slice} is less than {least}");
        ensure!(
            slice.is_multiple_of(row),
            CL_INVALID_VALUE,
            "slice pitch {slice} is no multiple of the row pitch {row}"
        );
        let slice = if slice == 0 { least } else { slice };
        let start = || {
            let rows = origin[1].checked_mul(row)?;
            let slices = origin[2].checked_mul(slice)?;
            origin[0].checked_add(rows)?.checked_add(slices)
        };
        let Some(start) = start() else { fail!(CL_INVALID_VALUE, "origin {origin:?} is too large") };
        Ok(Layout { start, row, slice })
    }

    /// One past the last byte.
    fn end(&self, region: [usize; 3]) -> Option<usize> {
        let slices = self.slice.checked_mul(region[2] - 1)?;
        let rows = self.row.checked_mul(region[1] - 1)?;
        self.start.checked_add(slices)?.checked_add(rows)?.checked_add(region[0])
    }

    fn check(&self, region: [usize; 3], object: &MemObject) -> Result {
        ensure!(
            self.end(region).is_some_and(|end| end <= object.size),
            CL_INVALID_VALUE,
            "the region exceeds the buffer's {} bytes",
            object.size
        );
        Ok(())
    }

    fn line(&self, y: usize, z: usize) -> usize {
        self.start + y * self.row + z * self.slice
    }
}

fn bytes(region: [usize; 3]) -> usize {
    region[0].saturating_mul(region[1]).saturating_mul(region[2])
}

/// # Safety
/// Both bases are valid for their layouts.
unsafe fn move_lines(from: (HostPointer, Layout), to: (HostPointer, Layout), region: [usize; 3]) {
    for z in 0..region[2] {
        for y in 0..region[1] {
            let source = HostPointer(from.0.0 + from.1.line(y, z));
            let target = HostPointer(to.0.0 + to.1.line(y, z));
            move_bytes(source, target, region[0]);
        }
    }
}

fn base(object: &MemObject) -> HostPointer {
    HostPointer(object.address as usize)
}

pub unsafe fn enqueue_read_buffer_rect(
    command_queue: Raw,
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
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    ensure!(!ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
    let region = triple(region, "region")?;
    let inside = Layout::new(triple(buffer_origin, "buffer_origin")?, region, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Layout::new(triple(host_origin, "host_origin")?, region, host_row_pitch, host_slice_pitch)?;
    inside.check(region, &buffer)?;
    check_host_access(&buffer, true, false)?;
    let host = HostPointer::new(ptr);
    let duration = queue.context.device.link.read(bytes(region));
    let action = Box::new(move |_: &mut _| {
        move_lines((base(&buffer), inside), (host, outside), region);
        Ok(Done { duration, bytes: bytes(region) as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_READ_BUFFER_RECT, Resource::FromDevice, blocking_read != 0, action)
}

pub unsafe fn enqueue_write_buffer_rect(
    command_queue: Raw,
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
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let buffer = buffer_of(&queue, buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    ensure!(!ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
    let region = triple(region, "region")?;
    let inside = Layout::new(triple(buffer_origin, "buffer_origin")?, region, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Layout::new(triple(host_origin, "host_origin")?, region, host_row_pitch, host_slice_pitch)?;
    inside.check(region, &buffer)?;
    check_host_access(&buffer, false, true)?;
    let host = HostPointer::new(ptr);
    let duration = queue.context.device.link.write(bytes(region));
    let action = Box::new(move |_: &mut _| {
        move_lines((host, outside), (base(&buffer), inside), region);
        Ok(Done { duration, bytes: bytes(region) as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_WRITE_BUFFER_RECT, Resource::ToDevice, blocking_write != 0, action)
}

pub unsafe fn enqueue_copy_buffer_rect(
    command_queue: Raw,
    src_buffer: Raw,
    dst_buffer: Raw,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let source = buffer_of(&queue, src_buffer)?;
    let target = buffer_of(&queue, dst_buffer)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    let region = triple(region, "region")?;
    let from = Layout::new(triple(src_origin, "src_origin")?, region, src_row_pitch, src_slice_pitch)?;
    let to = Layout::new(triple(dst_origin, "dst_origin")?, region, dst_row_pitch, dst_slice_pitch)?;
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
    let duration = queue.context.device.link.inside(bytes(region), bytes(region));
    let action = Box::new(move |_: &mut _| {
        move_lines((base(&source), from), (base(&target), to), region);
        Ok(Done { duration, bytes: bytes(region) as u64, launch: None })
    });
    wait.enqueue(&queue, CL_COMMAND_COPY_BUFFER_RECT, Resource::Compute, false, action)
}

/// Whether two regions of one buffer share a byte. Appendix D allows regions that interleave in the gaps between rows.
fn overlap(a: Layout, b: Layout, region: [usize; 3]) -> bool {
    let (Some(a_end), Some(b_end)) = (a.end(region), b.end(region)) else { return true };
    if a_end <= b.start || b_end <= a.start {
        return false;
    }
    let width = region[0];
    let lines = |layout: Layout| {
        let mut starts: Vec<usize> =
            (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| layout.line(y, z))).collect();
        starts.sort_unstable();
        starts
    };
    // Both lists rise; the nearest lines decide.
    let (first, second) = (lines(a), lines(b));
    let mut j = 0;
    for start in first {
        while j < second.len() && second[j] + width <= start {
            j += 1;
        }
        if j < second.len() && second[j] < start + width {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_may_interleave_in_the_gaps_between_rows() {
        // Appendix D: two 4-byte-wide columns of one 16-byte-pitch image.
        let column = |x| Layout::new([x, 0, 0], [4, 3, 1], 16, 0).unwrap();
        assert!(!overlap(column(0), column(4), [4, 3, 1]));
        assert!(overlap(column(0), column(3), [4, 3, 1]));
    }

    #[test]
    fn pitches_default_to_the_region() {
        let layout = Layout::new([1, 2, 3], [8, 4, 2], 0, 0).unwrap();
        assert_eq!(layout, Layout { start: 1 + 2 * 8 + 3 * 32, row: 8, slice: 32 });
        assert_eq!(layout.end([8, 4, 2]), Some(113 + 32 + 3 * 8 + 8));
    }
}
