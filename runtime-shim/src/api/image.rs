//! Images (OpenCL 3.0 API, 5.3). The device reports CL_DEVICE_IMAGE_SUPPORT as false, so none can be made; the calls
//! that take one refuse whatever they are given.
use super::{Wait, buffer, list, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle;
use crate::model::{Context, MemObject};
use std::ffi::c_void;

const UNSUPPORTED: &str = "the device does not support images (CL_DEVICE_IMAGE_SUPPORT is false)";

/// Refuses a handle where an image belongs.
pub(super) fn no_image<T>(image: Raw) -> Result<T> {
    handle::resolve::<MemObject>(image)?;
    fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image")
}

pub unsafe fn create_image_with_properties(
    context: Raw,
    _properties: *const u64,
    flags: u64,
    image_format: *const ImageFormat,
    image_desc: *const ImageDesc,
    _host_ptr: *mut c_void,
) -> Result<Raw> {
    handle::resolve::<Context>(context)?;
    buffer::check_flags(flags)?;
    ensure!(!list(image_format, 1).is_empty(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is NULL");
    ensure!(!list(image_desc, 1).is_empty(), CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is NULL");
    // "CL_INVALID_OPERATION if there are no devices in context that support images"
    fail!(CL_INVALID_OPERATION, "{UNSUPPORTED}")
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

pub unsafe fn create_image2d(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    _image_width: usize,
    _image_height: usize,
    _image_row_pitch: usize,
    _host_ptr: *mut c_void,
) -> Result<Raw> {
    handle::resolve::<Context>(context)?;
    buffer::check_flags(flags)?;
    ensure!(!list(image_format, 1).is_empty(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is NULL");
    fail!(CL_INVALID_OPERATION, "{UNSUPPORTED}")
}

pub unsafe fn create_image3d(
    context: Raw,
    flags: u64,
    image_format: *const ImageFormat,
    image_width: usize,
    image_height: usize,
    _image_depth: usize,
    image_row_pitch: usize,
    _image_slice_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    create_image2d(context, flags, image_format, image_width, image_height, image_row_pitch, host_ptr)
}

pub unsafe fn get_supported_image_formats(
    context: Raw,
    flags: u64,
    image_type: u32,
    num_entries: u32,
    image_formats: *mut ImageFormat,
    num_image_formats: *mut u32,
) -> Result {
    handle::resolve::<Context>(context)?;
    buffer::check_flags(flags & !CL_MEM_KERNEL_READ_AND_WRITE)?;
    let types = [
        CL_MEM_OBJECT_IMAGE1D,
        CL_MEM_OBJECT_IMAGE1D_ARRAY,
        CL_MEM_OBJECT_IMAGE1D_BUFFER,
        CL_MEM_OBJECT_IMAGE2D,
        CL_MEM_OBJECT_IMAGE2D_ARRAY,
        CL_MEM_OBJECT_IMAGE3D,
    ];
    ensure!(types.contains(&image_type), CL_INVALID_VALUE, "image type {image_type:#x} is not known");
    ensure!(num_entries > 0 || image_formats.is_null(), CL_INVALID_VALUE, "there is a list, but num_entries is 0");
    if !num_image_formats.is_null() {
        num_image_formats.write(0);
    }
    Ok(())
}

pub unsafe fn get_image_info(
    image: Raw,
    _param_name: u32,
    _param_value_size: usize,
    _param_value: *mut c_void,
    _param_value_size_ret: *mut usize,
) -> Result {
    no_image(image)
}

unsafe fn refuse(queue: Raw, image: Raw, count: u32, events: *const Raw, event: *mut Raw) -> Result {
    let queue = queue_of(queue)?;
    Wait::new(&queue.context, count, events, event)?;
    no_image(image)
}

pub unsafe fn enqueue_read_image(
    command_queue: Raw,
    image: Raw,
    _blocking_read: u32,
    _origin: *const usize,
    _region: *const usize,
    _row_pitch: usize,
    _slice_pitch: usize,
    _ptr: *mut c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, image, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_write_image(
    command_queue: Raw,
    image: Raw,
    _blocking_write: u32,
    _origin: *const usize,
    _region: *const usize,
    _input_row_pitch: usize,
    _input_slice_pitch: usize,
    _ptr: *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, image, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_copy_image(
    command_queue: Raw,
    src_image: Raw,
    _dst_image: Raw,
    _src_origin: *const usize,
    _dst_origin: *const usize,
    _region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, src_image, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_copy_image_to_buffer(
    command_queue: Raw,
    src_image: Raw,
    _dst_buffer: Raw,
    _src_origin: *const usize,
    _region: *const usize,
    _dst_offset: usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, src_image, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_copy_buffer_to_image(
    command_queue: Raw,
    _src_buffer: Raw,
    dst_image: Raw,
    _src_offset: usize,
    _dst_origin: *const usize,
    _region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, dst_image, num_events_in_wait_list, event_wait_list, event)
}

pub unsafe fn enqueue_fill_image(
    command_queue: Raw,
    image: Raw,
    _fill_color: *const c_void,
    _origin: *const usize,
    _region: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    refuse(command_queue, image, num_events_in_wait_list, event_wait_list, event)
}
