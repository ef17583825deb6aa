//! Samplers (OpenCL 3.0 API, 5.7). Without images there are none.
use super::properties as property_list;
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::Context;
use crate::model::handle;
use std::ffi::c_void;

fn refuse(raw: Raw) -> Result {
    fail!(CL_INVALID_SAMPLER, "{raw:p} is no sampler: the device does not support images, so there are none")
}

fn check_modes(addressing_mode: u32, filter_mode: u32) -> Result {
    let modes =
        [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
    ensure!(modes.contains(&addressing_mode), CL_INVALID_VALUE, "addressing mode {addressing_mode:#x} is not known");
    let filters = [CL_FILTER_NEAREST, CL_FILTER_LINEAR];
    ensure!(filters.contains(&filter_mode), CL_INVALID_VALUE, "filter mode {filter_mode:#x} is not known");
    Ok(())
}

pub unsafe fn create_sampler(
    context: Raw,
    _normalized_coords: u32,
    addressing_mode: u32,
    filter_mode: u32,
) -> Result<Raw> {
    handle::resolve::<Context>(context)?;
    check_modes(addressing_mode, filter_mode)?;
    // "CL_INVALID_OPERATION if images are not supported by any device associated with context"
    fail!(CL_INVALID_OPERATION, "the device does not support images")
}

pub unsafe fn create_sampler_with_properties(context: Raw, sampler_properties: *const u64) -> Result<Raw> {
    let (mut addressing, mut filter) = (CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    let properties = property_list(sampler_properties);
    let mut seen = Vec::new();
    for pair in properties.chunks_exact(2) {
        ensure!(!seen.contains(&pair[0]), CL_INVALID_VALUE, "sampler property {:#x} is given twice", pair[0]);
        seen.push(pair[0]);
        match u32::try_from(pair[0]) {
            Ok(CL_SAMPLER_NORMALIZED_COORDS) => {}
            Ok(CL_SAMPLER_ADDRESSING_MODE) => addressing = pair[1] as u32,
            Ok(CL_SAMPLER_FILTER_MODE) => filter = pair[1] as u32,
            _ => fail!(CL_INVALID_VALUE, "sampler property {:#x} is not known", pair[0]),
        }
    }
    create_sampler(context, 1, addressing, filter)
}

pub unsafe fn retain_sampler(sampler: Raw) -> Result {
    refuse(sampler)
}

pub unsafe fn release_sampler(sampler: Raw) -> Result {
    refuse(sampler)
}

pub unsafe fn get_sampler_info(
    sampler: Raw,
    _param_name: u32,
    _param_value_size: usize,
    _param_value: *mut c_void,
    _param_value_size_ret: *mut usize,
) -> Result {
    refuse(sampler)
}
