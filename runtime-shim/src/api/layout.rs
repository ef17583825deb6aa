//! Blocks of bytes: where the rows of a region lie in memory (OpenCL 3.0 API, 5.2.2, 5.3.4).
use super::{HostPointer, list};
use crate::error::{Result, ensure, fail};
use crate::model::{Image, MemObject};

/// Three sizes or offsets that the program passes.
pub(super) unsafe fn triple(pointer: *const usize, what: &str) -> Result<[usize; 3]> {
    match list(pointer, 3) {
        &[x, y, z] => Ok([x, y, z]),
        _ => fail!(CL_INVALID_VALUE, "{what} is NULL"),
    }
}

/// Where the rows of a region lie: row (y, z) begins `start + y * row + z * slice` bytes from the base.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub start: usize,
    pub row: usize,
    pub slice: usize,
}

impl Layout {
    /// Bytes without rows.
    pub fn linear(start: usize) -> Layout {
        Layout { start, row: 0, slice: 0 }
    }

    /// Rows of `row` bytes and slices of `slice` bytes, by default without gaps.
    pub fn new(origin: [usize; 3], region: [usize; 3], row: usize, slice: usize) -> Result<Layout> {
        let [width, height, _] = region;
        ensure!(!region.contains(&0), CL_INVALID_VALUE, "region {region:?} is empty");
        ensure!(row == 0 || row >= width, CL_INVALID_VALUE, "row pitch {row} is less than the width of {width} bytes");
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
        let layout = Layout { start, row, slice };
        ensure!(layout.end(region).is_some(), CL_INVALID_VALUE, "the pitches {row} and {slice} are too large");
        Ok(layout)
    }

    /// Where a region of an image begins and how its rows lie.
    pub fn of_image(image: &Image, origin: [usize; 3]) -> Layout {
        let (row, slice) = image.pitches();
        Layout { start: origin[0] * image.element + origin[1] * row + origin[2] * slice, row, slice }
    }

    /// One past the last byte.
    pub fn end(&self, region: [usize; 3]) -> Option<usize> {
        let slices = self.slice.checked_mul(region[2] - 1)?;
        let rows = self.row.checked_mul(region[1] - 1)?;
        self.start.checked_add(slices)?.checked_add(rows)?.checked_add(region[0])
    }

    /// Refuses a region that exceeds a buffer.
    pub fn check(&self, region: [usize; 3], object: &MemObject) -> Result {
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

/// A region of memory.
#[derive(Copy, Clone)]
pub(super) struct Block {
    pub base: HostPointer,
    pub layout: Layout,
}

impl Block {
    /// Bytes of a memory object.
    pub fn inside(object: &MemObject, layout: Layout) -> Block {
        Block { base: HostPointer(object.address as usize), layout }
    }
    /// Bytes at a pointer.
    pub fn at<T>(pointer: *const T, layout: Layout) -> Block {
        Block { base: HostPointer::new(pointer), layout }
    }
    /// The address of the first byte of a region, and the bytes to its last one, gaps included.
    pub fn extent(&self, region: [usize; 3]) -> (u64, u64) {
        let [width, height, depth] = region;
        let (first, last) = (self.line(0, 0).0, self.line(height.saturating_sub(1), depth.saturating_sub(1)).0);
        (first as u64, (last - first + width) as u64)
    }
    fn line(&self, y: usize, z: usize) -> HostPointer {
        HostPointer(self.base.0 + self.layout.line(y, z))
    }
}

/// Bytes of a region whose rows have `region[0]` bytes.
pub(super) fn bytes(region: [usize; 3]) -> usize {
    region[0].saturating_mul(region[1]).saturating_mul(region[2])
}

/// Copies a region; a row may overlap itself.
///
/// # Safety
/// Both blocks are valid for the region.
pub(super) unsafe fn move_lines(from: Block, to: Block, region: [usize; 3]) {
    for z in 0..region[2] {
        for y in 0..region[1] {
            std::ptr::copy(from.line(y, z).read(), to.line(y, z).write(), region[0]);
        }
    }
}

/// Writes a pattern again and again.
///
/// # Safety
/// The block is valid for the region, whose rows are multiples of the pattern.
pub(super) unsafe fn fill_lines(to: Block, pattern: &[u8], region: [usize; 3]) {
    for z in 0..region[2] {
        for y in 0..region[1] {
            let line = to.line(y, z).write();
            for at in (0..region[0]).step_by(pattern.len()) {
                std::ptr::copy_nonoverlapping(pattern.as_ptr(), line.add(at), pattern.len());
            }
        }
    }
}

/// Whether two regions of one buffer share a byte. Appendix D allows regions that interleave in the gaps between rows.
pub(super) fn overlap(a: Layout, b: Layout, region: [usize; 3]) -> bool {
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
