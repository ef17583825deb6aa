//! The driver that an OpenCL loader opens: the three entry points that loaders look up by name. Everything else is
//! reached through the dispatch table of the objects.
use std::ffi::{c_char, c_void};
use warpscope_runtime::entry;

/// `clGetExtensionFunctionAddress` (OpenCL 1.1 API, 9.2).
///
/// # Safety
/// `name` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promise is the callee's.
    unsafe { entry::get_extension_function_address(name) }
}

/// `clIcdGetPlatformIDsKHR` (cl_khr_icd).
///
/// # Safety
/// The pointers are NULL or valid for what they return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: u32,
    platforms: *mut *mut c_void,
    num_platforms: *mut u32,
) -> i32 {
    // SAFETY: the caller's promise is the callee's.
    unsafe { entry::get_platform_ids(num_entries, platforms, num_platforms) }
}

/// `clGetPlatformInfo` (OpenCL 3.0 API, 4.1).
///
/// # Safety
/// The pointers are NULL or valid for what they return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: *mut c_void,
    name: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise is the callee's.
    unsafe { entry::get_platform_info(platform, name, size, value, size_ret) }
}
