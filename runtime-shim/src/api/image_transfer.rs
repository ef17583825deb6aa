//! Reading, writing, copying and filling images, and copying between images and buffers (OpenCL 3.0 API, 5.3.4 to
//! 5.3.6).
use super::call::{Call, Way, check_host_access, check_pointer};
use super::layout::{Block, Layout, bytes, triple};
use super::list;
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::image::encode;
use crate::model::{Image, MemObject, boxes_meet};
use std::ffi::c_void;
use std::sync::Arc;

/// A region of an image, in elements: "the region specified by origin and region is out of bounds" and "values in origin
/// and region do not follow rules": axes that an image does not have are one element long.
pub(super) unsafe fn region_of(
    image: &Image,
    origin: *const usize,
    region: *const usize,
) -> Result<([usize; 3], [usize; 3])> {
    let (origin, region) = (triple(origin, "origin")?, triple(region, "region")?);
    let extent = image.extent();
    for axis in 0..3 {
        ensure!(region[axis] > 0, CL_INVALID_VALUE, "region {region:?} is empty");
        ensure!(
            origin[axis].checked_add(region[axis]).is_some_and(|end| end <= extent[axis]),
            CL_INVALID_VALUE,
            "origin {origin:?} and region {region:?} leave the image of {extent:?}"
        );
    }
    Ok((origin, region))
}

/// The part of an image that a command uses.
struct Part {
    object: Arc<MemObject>,
    format: ImageFormat,
    element: usize,
    layered: bool,
    sliced: bool,
    origin: [usize; 3],
    region: [usize; 3],
    block: Block,
}

impl Part {
    unsafe fn new(call: &Call, image: Raw, origin: *const usize, region: *const usize) -> Result<Part> {
        let object = call.image(image)?;
        let Some(image) = object.as_image() else { fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image") };
        let (origin, region) = region_of(image, origin, region)?;
        Ok(Part {
            format: image.format,
            element: image.element,
            layered: image.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY,
            sliced: image.has_slices(),
            origin,
            region,
            block: Block::inside(&object, Layout::of_image(image, origin)),
            object,
        })
    }

    /// The region, with rows in bytes.
    fn rows(&self) -> [usize; 3] {
        [self.region[0] * self.element, self.region[1], self.region[2]]
    }

    /// How the region lies in the program's memory.
    fn outside(&self, row_pitch: usize, slice_pitch: usize) -> Result<Layout> {
        // "slice_pitch … must be 0 if image is a 1D or 2D image"
        ensure!(
            self.sliced || slice_pitch == 0,
            CL_INVALID_VALUE,
            "slice pitch {slice_pitch}: the image has no slices"
        );
        let [width, layers, _] = self.rows();
        if !self.layered {
            return Layout::new([0; 3], self.rows(), row_pitch, slice_pitch);
        }
        // The layers of a 1D array are a slice pitch apart.
        let layout = Layout::new([0; 3], [width, 1, layers], row_pitch, slice_pitch)?;
        Ok(Layout { row: layout.slice, ..layout })
    }

    /// How the region lies in a buffer, without gaps.
    fn packed(&self, buffer: &MemObject, offset: usize) -> Result<Block> {
        let layout = Layout::new([0; 3], self.rows(), 0, 0)?;
        super::transfer::check_range(buffer, offset, bytes(self.rows()), "the region of the buffer")?;
        // "if src_image is a 1D image buffer object created from dst_buffer"
        let own = self.object.parent().is_some_and(|parent| std::ptr::eq(&raw const **parent, buffer));
        ensure!(!own, CL_INVALID_MEM_OBJECT, "the image's elements are this buffer's");
        Ok(Block::inside(buffer, Layout { start: offset, ..layout }))
    }
}

pub unsafe fn enqueue_read_image(
    call: Call,
    image: Raw,
    blocking_read: u32,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
) -> Result {
    let part = Part::new(&call, image, origin, region)?;
    check_pointer(ptr, "ptr")?;
    check_host_access(&part.object, true, false)?;
    let blocks = (part.block, Block::at(ptr, part.outside(row_pitch, slice_pitch)?));
    let way = (Way::FromDevice, blocking_read != 0);
    call.transfer(CL_COMMAND_READ_IMAGE, way, blocks, part.rows(), vec![part.object])
}

pub unsafe fn enqueue_write_image(
    call: Call,
    image: Raw,
    blocking_write: u32,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
) -> Result {
    let part = Part::new(&call, image, origin, region)?;
    check_pointer(ptr, "ptr")?;
    check_host_access(&part.object, false, true)?;
    let blocks = (Block::at(ptr, part.outside(input_row_pitch, input_slice_pitch)?), part.block);
    let way = (Way::ToDevice, blocking_write != 0);
    call.transfer(CL_COMMAND_WRITE_IMAGE, way, blocks, part.rows(), vec![part.object])
}

pub unsafe fn enqueue_copy_image(
    call: Call,
    src_image: Raw,
    dst_image: Raw,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
) -> Result {
    let source = Part::new(&call, src_image, src_origin, region)?;
    let target = Part::new(&call, dst_image, dst_origin, region)?;
    ensure!(source.format == target.format, CL_IMAGE_FORMAT_MISMATCH, "the images have different formats");
    // "if src_image and dst_image are the same image object and the source and destination regions overlap"
    let meet = boxes_meet(source.origin, target.origin, |axis| (source.region[axis], source.region[axis]));
    let same = Arc::ptr_eq(&source.object, &target.object);
    ensure!(!(same && meet), CL_MEM_COPY_OVERLAP, "source and target overlap");
    let (blocks, rows) = ((source.block, target.block), source.rows());
    call.transfer(CL_COMMAND_COPY_IMAGE, (Way::OnDevice, false), blocks, rows, vec![source.object, target.object])
}

pub unsafe fn enqueue_copy_image_to_buffer(
    call: Call,
    src_image: Raw,
    dst_buffer: Raw,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
) -> Result {
    let source = Part::new(&call, src_image, src_origin, region)?;
    let target = call.buffer(dst_buffer)?;
    let blocks = (source.block, source.packed(&target, dst_offset)?);
    let (way, rows) = ((Way::OnDevice, false), source.rows());
    call.transfer(CL_COMMAND_COPY_IMAGE_TO_BUFFER, way, blocks, rows, vec![source.object, target])
}

pub unsafe fn enqueue_copy_buffer_to_image(
    call: Call,
    src_buffer: Raw,
    dst_image: Raw,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
) -> Result {
    let source = call.buffer(src_buffer)?;
    let target = Part::new(&call, dst_image, dst_origin, region)?;
    let blocks = (target.packed(&source, src_offset)?, target.block);
    let (way, rows) = ((Way::OnDevice, false), target.rows());
    call.transfer(CL_COMMAND_COPY_BUFFER_TO_IMAGE, way, blocks, rows, vec![source, target.object])
}

pub unsafe fn enqueue_fill_image(
    call: Call,
    image: Raw,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
) -> Result {
    let part = Part::new(&call, image, origin, region)?;
    check_pointer(fill_color, "fill_color")?;
    // "The fill color is a single floating-point value if the channel order is CL_DEPTH", else four components.
    let given = list(fill_color.cast::<[u8; 4]>(), if part.format.order == CL_DEPTH { 1 } else { 4 });
    let mut color = [0; 4];
    given.iter().zip(&mut color).for_each(|(bytes, word)| *word = u32::from_ne_bytes(*bytes));
    let pattern = encode(part.format, color);
    call.fill(CL_COMMAND_FILL_IMAGE, part.block, part.rows(), pattern, vec![part.object])
}
