//! Program queries (OpenCL 3.0 API, 5.8.9).
use super::info::{Query, Written};
use super::{device, unknown};
use crate::cl::*;
use crate::error::Result;
use crate::model::handle;
use crate::model::{BuildStatus, ProgramObject};

pub unsafe fn get_program_info(program: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<ProgramObject>(program)?;
    let bytes = || object.binary().map(|b| b.to_bytes()).unwrap_or_default();
    match param_name {
        CL_PROGRAM_REFERENCE_COUNT => query.value(handle::count::<ProgramObject>(program)),
        CL_PROGRAM_CONTEXT => query.value(object.context.handle.raw()),
        CL_PROGRAM_NUM_DEVICES => query.value(1u32),
        CL_PROGRAM_DEVICES => query.value(device::DEVICE_HEADER.raw()),
        CL_PROGRAM_SOURCE => query.text(object.source.as_deref().unwrap_or("")),
        CL_PROGRAM_IL => query.slice(object.il.as_deref().unwrap_or(&[])),
        CL_PROGRAM_BINARY_SIZES => query.value(bytes().len()),
        // The program passes an array of pointers, one a device: binaries go where they point.
        CL_PROGRAM_BINARIES => {
            let target: *mut u8 = query.given().unwrap_or(std::ptr::null_mut());
            let written = query.value(target)?;
            if !target.is_null() {
                let bytes = bytes();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
            }
            Ok(written)
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
        _ => unknown("program query", param_name),
    }
}

pub unsafe fn get_program_build_info(program: Raw, device: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<ProgramObject>(program)?;
    device::resolve(device)?;
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
        _ => unknown("build query", param_name),
    }
}
