//! Pipes (OpenCL 3.0 API, 5.4). The device reports CL_DEVICE_PIPE_SUPPORT as false, so none can be made.
use crate::cl::*;
use crate::error::{Result, fail};
use crate::model::handle;
use crate::model::{Context, MemObject};
use std::ffi::c_void;

pub unsafe fn create_pipe(
    context: Raw,
    _flags: u64,
    _pipe_packet_size: u32,
    _pipe_max_packets: u32,
    _properties: *const isize,
) -> Result<Raw> {
    handle::resolve::<Context>(context)?;
    // "CL_INVALID_OPERATION if no devices in context support pipes"
    fail!(CL_INVALID_OPERATION, "the device does not support pipes (CL_DEVICE_PIPE_SUPPORT is false)")
}

pub unsafe fn get_pipe_info(
    pipe: Raw,
    _param_name: u32,
    _param_value_size: usize,
    _param_value: *mut c_void,
    _param_value_size_ret: *mut usize,
) -> Result {
    handle::resolve::<MemObject>(pipe)?;
    fail!(CL_INVALID_MEM_OBJECT, "the memory object is no pipe")
}
