//! Program queries (OpenCL 3.0 API, 5.8.9).
use super::info::Query;
use super::{device, unknown};
use crate::cl::*;
use crate::error::{Result, fail};
use crate::model::handle;
use crate::model::{BuildStatus, ProgramObject};
use std::ffi::c_void;

pub unsafe fn get_program_info(
    program: Raw,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result {
    let object = handle::resolve::<ProgramObject>(program)?;
    let query = Query::new(param_value_size, param_value, param_value_size_ret);
    let bytes = || object.binary().map(|b| b.to_bytes()).unwrap_or_default();
    match param_name {
        CL_PROGRAM_REFERENCE_COUNT => query.value(handle::count::<ProgramObject>(program)),
        CL_PROGRAM_CONTEXT => query.value(object.context.handle.raw()),
        CL_PROGRAM_NUM_DEVICES => query.value(1u32),
        CL_PROGRAM_DEVICES => query.value(device::DEVICE_HEADER.raw()),
        CL_PROGRAM_SOURCE => query.text(object.source.as_deref().unwrap_or("")),
        CL_PROGRAM_IL => query.slice(object.il.as_deref().unwrap_or(&[])),
        CL_PROGRAM_BINARY_SIZES => query.value(bytes().len()),
        CL_PROGRAM_BINARIES => {
            return binaries(&bytes(), param_value_size, param_value, param_value_size_ret);
        }
        // "CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS or CL_PROGRAM_KERNEL_NAMES and a
        // successful program executable has not been built"
        CL_PROGRAM_NUM_KERNELS => query.value(object.executable()?.kernels.len()),
        CL_PROGRAM_KERNEL_NAMES => {
            let built = object.executable()?;
            let names: Vec<&str> = built.kernels.iter().map(|k| k.name.as_str()).collect();
            query.text(&names.join(";"))
        }
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => query.truth(false),
        _ => return unknown("program query", param_name),
    }?
    .done()
}

/// The value is an array of pointers, one a device, to memory of the program's.
unsafe fn binaries(bytes: &[u8], size: usize, value: *mut c_void, size_ret: *mut usize) -> Result {
    if !size_ret.is_null() {
        size_ret.write(size_of::<*mut u8>());
    }
    if value.is_null() {
        return Ok(());
    }
    if size < size_of::<*mut u8>() {
        fail!(CL_INVALID_VALUE, "the answer takes {} bytes; there is room for {size}", size_of::<*mut u8>());
    }
    let target = value.cast::<*mut u8>().read();
    if !target.is_null() {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
    }
    Ok(())
}

pub unsafe fn get_program_build_info(
    program: Raw,
    device: Raw,
    param_name: u32,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result {
    let object = handle::resolve::<ProgramObject>(program)?;
    device::resolve(device)?;
    let query = Query::new(param_value_size, param_value, param_value_size_ret);
    match param_name {
        CL_PROGRAM_BUILD_STATUS => query.value(match object.status() {
            BuildStatus::None => CL_BUILD_NONE,
            BuildStatus::InProgress => CL_BUILD_IN_PROGRESS,
            BuildStatus::Error => CL_BUILD_ERROR,
            BuildStatus::Success => CL_SUCCESS,
        }),
        CL_PROGRAM_BUILD_OPTIONS => query.text(&object.options()),
        CL_PROGRAM_BUILD_LOG => query.text(&object.log()),
        CL_PROGRAM_BINARY_TYPE => query.value(object.binary().map_or(CL_PROGRAM_BINARY_TYPE_NONE, |b| b.kind)),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => query.value(object.built().map_or(0, |b| b.variable_bytes())),
        _ => return unknown("build query", param_name),
    }?
    .done()
}
