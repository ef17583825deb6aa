//! The platform (OpenCL 3.0 API, 4.1), and unloading the compiler (5.8.8).
use super::device::DEVICE_HEADER;
use super::info::{Query, Written};
use super::{device, unknown};
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::handle::Header;

static PLATFORM_HEADER: Header = Header::fixed();

/// Whether `raw` is the platform.
pub(super) fn is_platform(raw: Raw) -> bool {
    raw == PLATFORM_HEADER.raw()
}

/// The platform's handle.
pub(super) fn handle() -> Raw {
    PLATFORM_HEADER.raw()
}

/// A platform handle; NULL selects the only platform, as the specification lets the implementation choose.
pub(super) fn check(raw: Raw) -> Result {
    ensure!(raw.is_null() || is_platform(raw), CL_INVALID_PLATFORM, "{raw:p} is no platform of this library");
    Ok(())
}

/// Extensions of the platform.
const EXTENSIONS: &[(&str, u32)] =
    &[("cl_khr_extended_versioning", version(1, 0, 0)), ("cl_khr_icd", version(1, 0, 0))];

pub unsafe fn get_platform_ids(num_entries: u32, platforms: *mut Raw, num_platforms: *mut u32) -> Result {
    // "if num_entries is equal to zero and platforms is not NULL or if both num_platforms and platforms are NULL"
    ensure!(num_entries > 0 || platforms.is_null(), CL_INVALID_VALUE, "there is a list, but num_entries is 0");
    ensure!(!platforms.is_null() || !num_platforms.is_null(), CL_INVALID_VALUE, "both results are NULL");
    if !platforms.is_null() {
        platforms.write(handle());
    }
    if !num_platforms.is_null() {
        num_platforms.write(1);
    }
    Ok(())
}

pub unsafe fn get_platform_info(platform: Raw, param_name: u32, query: &Query) -> Result<Written> {
    check(platform)?;
    match param_name {
        CL_PLATFORM_PROFILE => query.text("FULL_PROFILE"),
        CL_PLATFORM_VERSION => query.text(concat!("OpenCL 3.0 Warpscope ", env!("CARGO_PKG_VERSION"))),
        CL_PLATFORM_NUMERIC_VERSION => query.value(version(3, 0, 0)),
        CL_PLATFORM_NAME => query.text("Warpscope"),
        CL_PLATFORM_VENDOR => query.text("Warpscope"),
        CL_PLATFORM_EXTENSIONS => {
            let names: Vec<&str> = EXTENSIONS.iter().map(|e| e.0).collect();
            query.text(&names.join(" "))
        }
        CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
            let list: Vec<_> = EXTENSIONS.iter().map(|(n, v)| NameVersion::new(n, *v)).collect();
            query.slice(&list)
        }
        CL_PLATFORM_HOST_TIMER_RESOLUTION => query.value(1u64),
        CL_PLATFORM_ICD_SUFFIX_KHR => query.text("WARPSCOPE"),
        _ => unknown("platform query", param_name),
    }
}

/// There is nothing to unload: the compiler is a program of its own.
pub unsafe fn unload_platform_compiler(platform: Raw) -> Result {
    ensure!(is_platform(platform), CL_INVALID_PLATFORM, "{platform:p} is no platform of this library");
    Ok(())
}

pub unsafe fn unload_compiler() -> Result {
    Ok(())
}

/// The platform named in a context's property list, and whether the list is well formed.
pub(super) fn check_context_properties(properties: &[isize]) -> Result {
    let mut seen = Vec::new();
    for pair in properties.chunks_exact(2) {
        // "if context property name in properties is not a supported property name, if the value specified for a
        // supported property name is not valid, or if the same property name is specified more than once"
        ensure!(!seen.contains(&pair[0]), CL_INVALID_PROPERTY, "property {:#x} is given twice", pair[0]);
        seen.push(pair[0]);
        match u32::try_from(pair[0]) {
            Ok(CL_CONTEXT_PLATFORM) => {
                let raw = std::ptr::with_exposed_provenance_mut(pair[1] as usize);
                ensure!(is_platform(raw), CL_INVALID_PLATFORM, "{raw:p} is no platform of this library");
            }
            Ok(CL_CONTEXT_INTEROP_USER_SYNC) => {
                ensure!(matches!(pair[1], 0 | 1), CL_INVALID_PROPERTY, "CL_CONTEXT_INTEROP_USER_SYNC is {}", pair[1]);
            }
            _ => {
                ensure!(false, CL_INVALID_PROPERTY, "context property {:#x} is not known", pair[0]);
            }
        }
    }
    Ok(())
}

/// Checks that the device can be had, and returns its handle.
pub(super) fn device_handle() -> Result<Raw> {
    device::get()?;
    Ok(DEVICE_HEADER.raw())
}
