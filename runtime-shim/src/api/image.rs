//! Image objects: creation, formats, queries (OpenCL 3.0 API, 5.3.1, 5.3.2, 5.3.8).
use super::info::{Query, Written};
use super::layout::{Block, Layout, bytes, move_lines};
use super::{buffer, list, properties as property_list, unknown};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::image::{KINDS, compatible_orders, element_size, has_slices, supported_formats};
use crate::model::{Context, Device, Image, MemObject};
use std::ffi::c_void;
use std::sync::Arc;

/// "CL_INVALID_OPERATION if there are no devices in context that support images"
pub(super) fn check_support(device: &Device) -> Result {
    ensure!(
        device.spec.host.images,
        CL_INVALID_OPERATION,
        "the device does not offer images (CL_DEVICE_IMAGE_SUPPORT); the machine's key host.images says so"
    );
    Ok(())
}

/// The largest images: what the specification's newest devices offer at least doubled, and what fits into an allocation.
pub(super) struct Limits {
    pub plane: usize,
    pub cube: usize,
    pub layers: usize,
    pub buffer: usize,
}

pub(super) fn limits(device: &Device) -> Limits {
    // The largest element has 16 bytes.
    Limits { plane: 32768, cube: 16384, layers: 2048, buffer: ((device.max_allocation() / 16) as usize).max(65536) }
}

unsafe fn format(image_format: *const ImageFormat) -> Result<(ImageFormat, usize)> {
    let Some(&format) = list(image_format, 1).first() else {
        fail!(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is NULL")
    };
    let Some(element) = element_size(format) else {
        fail!(
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "channel order {:#x} and type {:#x} do not go together",
            format.order,
            format.data_type
        )
    };
    Ok((format, element))
}

/// Width, height, depth and layers within the device's limits; those that the kind does not have are 0.
fn dimensions(device: &Device, desc: &ImageDesc) -> Result<Image> {
    let limits = limits(device);
    let kind = desc.image_type;
    let most_wide = match kind {
        CL_MEM_OBJECT_IMAGE1D_BUFFER => limits.buffer,
        CL_MEM_OBJECT_IMAGE3D => limits.cube,
        _ => limits.plane,
    };
    let tall = matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D);
    let most_tall = if kind == CL_MEM_OBJECT_IMAGE3D { limits.cube } else { limits.plane };
    let deep = kind == CL_MEM_OBJECT_IMAGE3D;
    let array = matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY);
    let size = |name: &str, has: bool, value: usize, most: usize| -> Result<usize> {
        if !has {
            return Ok(0);
        }
        // "if the image dimensions specified in image_desc are not valid or exceed the maximum image dimensions"
        ensure!(
            (1..=most).contains(&value),
            CL_INVALID_IMAGE_SIZE,
            "the image's {name} is {value}; 1 to {most} are possible"
        );
        Ok(value)
    };
    Ok(Image {
        format: ImageFormat { order: 0, data_type: 0 },
        kind,
        width: size("width", true, desc.width, most_wide)?,
        height: size("height", tall, desc.height, most_tall)?,
        depth: size("depth", deep, desc.depth, limits.cube)?,
        array_size: size("array size", array, desc.array_size, limits.layers)?,
        element: 0,
        row_pitch: 0,
        slice_pitch: 0,
    })
}

/// Sets the pitches: those given, or elements without gaps. Returns the bytes.
fn set_pitches(image: &mut Image, row: usize, slice: usize) -> Result<usize> {
    let width = image.width * image.element;
    let multiple = row.is_multiple_of(image.element);
    ensure!(
        row == 0 || (row >= width && multiple),
        CL_INVALID_IMAGE_DESCRIPTOR,
        "row pitch {row} is no multiple of the element's {} bytes or less than the width of {width}",
        image.element
    );
    image.row_pitch = if row == 0 { width } else { row };
    if has_slices(image.kind) {
        let Some(least) = image.row_pitch.checked_mul(image.height.max(1)) else {
            fail!(CL_INVALID_IMAGE_SIZE, "the image is too large")
        };
        ensure!(
            slice == 0 || (slice >= least && slice.is_multiple_of(image.row_pitch)),
            CL_INVALID_IMAGE_DESCRIPTOR,
            "slice pitch {slice} is less than {least} or no multiple of the row pitch {}",
            image.row_pitch
        );
        image.slice_pitch = if slice == 0 { least } else { slice };
    }
    match image.bytes() {
        Some(bytes) => Ok(bytes),
        None => fail!(CL_INVALID_IMAGE_SIZE, "the image is too large"),
    }
}

pub unsafe fn create_image_with_properties(
    context: Raw,
    properties: *const u64,
    flags: u64,
    image_format: *const ImageFormat,
    image_desc: *const ImageDesc,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    let properties = property_list(properties);
    ensure!(properties.len() <= 1, CL_INVALID_PROPERTY, "image property {:#x} is not known", properties[0]);
    buffer::check_flags(flags)?;
    let (format, element) = format(image_format)?;
    let Some(desc) = list(image_desc, 1).first() else { fail!(CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is NULL") };
    check_support(&context.device)?;
    let known = KINDS.contains(&desc.image_type);
    ensure!(known, CL_INVALID_IMAGE_DESCRIPTOR, "image type {:#x} is not known", desc.image_type);
    ensure!(
        desc.num_mip_levels == 0 && desc.num_samples == 0,
        CL_INVALID_IMAGE_DESCRIPTOR,
        "num_mip_levels and num_samples must be 0"
    );
    let image = Image { format, element, ..dimensions(&context.device, desc)? };
    if !desc.mem_object.is_null() {
        return create_view(&context, flags, image, desc, host_ptr, properties);
    }
    ensure!(
        desc.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER,
        CL_INVALID_IMAGE_DESCRIPTOR,
        "a 1D image buffer needs a buffer in mem_object"
    );
    check_supported(&image)?;
    buffer::check_host_ptr(flags, host_ptr)?;
    create_own(context, buffer::with_access(flags), image, desc, host_ptr, properties)
}

/// "if there are no devices in context that support image_format"
fn check_supported(image: &Image) -> Result {
    let format = image.format;
    ensure!(
        supported_formats(image.kind, CL_MEM_READ_ONLY).contains(&format),
        CL_IMAGE_FORMAT_NOT_SUPPORTED,
        "the device has no images of channel order {:#x} and type {:#x} for this kind",
        format.order,
        format.data_type
    );
    Ok(())
}

unsafe fn create_own(
    context: Arc<Context>,
    flags: u64,
    mut image: Image,
    desc: &ImageDesc,
    host_ptr: *mut c_void,
    properties: Vec<u64>,
) -> Result<Raw> {
    let (row, slice) = (desc.row_pitch, desc.slice_pitch);
    // "image_row_pitch must be zero if host_ptr is NULL", the slice pitch likewise
    ensure!(
        !host_ptr.is_null() || (row == 0 && slice == 0),
        CL_INVALID_IMAGE_DESCRIPTOR,
        "pitches {row} and {slice} are given without host_ptr"
    );
    // The program's layout; memory of our own has no gaps.
    let mut given = image.clone();
    let given_size = set_pitches(&mut given, row, slice)?;
    let size = set_pitches(&mut image, 0, 0)?;
    let (image, size) = if flags & CL_MEM_USE_HOST_PTR != 0 { (given.clone(), given_size) } else { (image, size) };
    let most = context.device.max_allocation();
    ensure!(
        size as u64 <= most,
        CL_MEM_OBJECT_ALLOCATION_FAILURE,
        "the image has {size} bytes; CL_DEVICE_MAX_MEM_ALLOC_SIZE is {most}"
    );
    let object = MemObject::image(context, flags, (image.clone(), size), host_ptr.cast(), properties)?;
    if flags & CL_MEM_COPY_HOST_PTR != 0 {
        let [width, rows, slices] = image.extent();
        let region = [width * image.element, rows, slices];
        let from = Block::at(host_ptr, Layout::of_image(&given, [0; 3]));
        debug_assert!(bytes(region) == size);
        move_lines(from, Block::inside(&object, Layout::of_image(&image, [0; 3])), region);
    }
    Ok(publish(Arc::new(object)))
}

/// An image whose elements are those of a buffer or of another image.
unsafe fn create_view(
    context: &Arc<Context>,
    flags: u64,
    mut image: Image,
    desc: &ImageDesc,
    host_ptr: *mut c_void,
    properties: Vec<u64>,
) -> Result<Raw> {
    let invalid = |e: crate::error::ClError| crate::error::ClError::new(CL_INVALID_IMAGE_DESCRIPTOR, e.why);
    let parent = handle::resolve::<MemObject>(desc.mem_object).map_err(invalid)?;
    super::same_context(context, &parent.context, "mem_object")?;
    // "flags specifies CL_MEM_USE_HOST_PTR or CL_MEM_ALLOC_HOST_PTR or CL_MEM_COPY_HOST_PTR"
    buffer::check_no_host_pointer(flags)?;
    buffer::check_host_ptr(flags, host_ptr)?;
    let flags = buffer::inherit(&parent, flags)?;
    let parent_type = parent.object_type();
    match (image.kind, parent_type) {
        (CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_BUFFER) => {}
        (CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_BUFFER | CL_MEM_OBJECT_IMAGE2D) => {}
        _ => fail!(CL_INVALID_IMAGE_DESCRIPTOR, "an image of this kind cannot be made from this mem_object"),
    }
    let size = match parent.as_image() {
        Some(of) => {
            check_view(&image, of, desc)?;
            (image.row_pitch, image.slice_pitch) = (of.row_pitch, of.slice_pitch);
            parent.size
        }
        None => {
            check_supported(&image)?;
            // "if an image is created from a buffer and the row pitch … or base address alignment do not follow the
            // rules described for creating an image from a buffer"
            let not = |e: crate::error::ClError| crate::error::ClError::new(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, e.why);
            let row = if image.kind == CL_MEM_OBJECT_IMAGE2D { desc.row_pitch } else { 0 };
            let size = set_pitches(&mut image, row, 0).map_err(not)?;
            ensure!(
                parent.address.is_multiple_of(image.element as u64),
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                "the buffer is not aligned to elements of {} bytes",
                image.element
            );
            ensure!(
                size <= parent.size,
                CL_INVALID_IMAGE_SIZE,
                "the image takes {size} bytes; the buffer has {}",
                parent.size
            );
            size
        }
    };
    Ok(publish(Arc::new(MemObject::image_of(parent, flags, (image, size), properties)?)))
}

/// "if a 2D image is created from a 2D image object and the rules described above are not followed": the same
/// descriptor and channel type, and a compatible channel order.
fn check_view(image: &Image, of: &Image, desc: &ImageDesc) -> Result {
    let pitches = matches!(desc.row_pitch, 0) || desc.row_pitch == of.row_pitch;
    let same = (image.width, image.height) == (of.width, of.height) && pitches;
    ensure!(same, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_desc differs from that of the image in mem_object");
    let (format, other) = (image.format, of.format);
    ensure!(
        format.data_type == other.data_type && compatible_orders(format.order, other.order),
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        "channel order {:#x} cannot show elements of channel order {:#x}",
        format.order,
        other.order
    );
    check_supported(image)
}

pub unsafe fn create_image(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    image_desc: *const ImageDesc,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    create_image_with_properties(context, std::ptr::null(), flags, image_format, image_desc, host_ptr)
}

/// The deprecated creators know one error for whatever is wrong with sizes and pitches.
unsafe fn create_plain(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    desc: ImageDesc,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    create_image(context, flags, image_format, &raw const desc, host_ptr).map_err(|e| match e.code {
        CL_INVALID_IMAGE_DESCRIPTOR => crate::error::ClError::new(CL_INVALID_IMAGE_SIZE, e.why),
        _ => e,
    })
}

const PLAIN: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE2D,
    width: 0,
    height: 0,
    depth: 0,
    array_size: 0,
    row_pitch: 0,
    slice_pitch: 0,
    num_mip_levels: 0,
    num_samples: 0,
    mem_object: std::ptr::null_mut(),
};

pub unsafe fn create_image2d(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    create_plain(context, flags, image_format, ImageDesc { width, height, row_pitch, ..PLAIN }, host_ptr)
}

pub unsafe fn create_image3d(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    // "For clCreateImage3D, this must be a value > 1."
    ensure!(depth > 1, CL_INVALID_IMAGE_SIZE, "the depth is {depth}; it must be more than 1");
    let image_type = CL_MEM_OBJECT_IMAGE3D;
    let desc = ImageDesc { image_type, width, height, depth, row_pitch, slice_pitch, ..PLAIN };
    create_plain(context, flags, image_format, desc, host_ptr)
}

pub unsafe fn get_supported_image_formats(
    context: Raw,
    flags: u64,
    image_type: u32,
    num_entries: u32,
    image_formats: *mut ImageFormat,
    num_image_formats: *mut u32,
) -> Result {
    let context = handle::resolve::<Context>(context)?;
    buffer::check_flags(flags & !CL_MEM_KERNEL_READ_AND_WRITE)?;
    ensure!(KINDS.contains(&image_type), CL_INVALID_VALUE, "image type {image_type:#x} is not known");
    ensure!(num_entries > 0 || image_formats.is_null(), CL_INVALID_VALUE, "there is a list, but num_entries is 0");
    let offered = context.device.spec.host.images;
    // "flags … 0" is CL_MEM_READ_WRITE, as it is for creating.
    let kernel_only = flags & CL_MEM_KERNEL_READ_AND_WRITE != 0;
    let flags = if kernel_only { flags } else { buffer::with_access(flags) };
    let formats = if offered { supported_formats(image_type, flags) } else { Vec::new() };
    if !image_formats.is_null() {
        let count = formats.len().min(num_entries as usize);
        std::ptr::copy_nonoverlapping(formats.as_ptr(), image_formats, count);
    }
    if !num_image_formats.is_null() {
        num_image_formats.write(formats.len() as u32);
    }
    Ok(())
}

pub unsafe fn get_image_info(image: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<MemObject>(image)?;
    let Some(image) = object.as_image() else { fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image") };
    match param_name {
        CL_IMAGE_FORMAT => query.value(image.format),
        CL_IMAGE_ELEMENT_SIZE => query.value(image.element),
        CL_IMAGE_ROW_PITCH => query.value(image.row_pitch),
        CL_IMAGE_SLICE_PITCH => query.value(image.slice_pitch),
        CL_IMAGE_WIDTH => query.value(image.width),
        CL_IMAGE_HEIGHT => query.value(image.height),
        CL_IMAGE_DEPTH => query.value(image.depth),
        CL_IMAGE_ARRAY_SIZE => query.value(image.array_size),
        CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => query.value(0u32),
        // Deprecated since 2.0: the buffer only, not an image.
        CL_IMAGE_BUFFER => {
            let buffer = object.parent().filter(|parent| parent.as_image().is_none());
            query.value(buffer.map_or(std::ptr::null_mut(), |b| b.handle.raw()))
        }
        _ => unknown("image query", param_name),
    }
}
