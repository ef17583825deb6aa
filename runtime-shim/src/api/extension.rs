//! Functions by name (OpenCL 3.0 extension specification, "Getting OpenCL API extension function pointers").
use super::platform;
use crate::cl::Raw;
use crate::entry;
use crate::error::Result;
use std::ffi::{CStr, c_char};

unsafe fn find(name: *const c_char) -> Raw {
    if name.is_null() { std::ptr::null_mut() } else { entry::address(CStr::from_ptr(name)).cast_mut().cast() }
}

pub unsafe fn get_extension_function_address(func_name: *const c_char) -> Result<Raw> {
    Ok(find(func_name))
}

pub unsafe fn get_extension_function_address_for_platform(platform: Raw, func_name: *const c_char) -> Result<Raw> {
    let ours = platform::is_platform(platform);
    Ok(if ours { find(func_name) } else { std::ptr::null_mut() })
}
