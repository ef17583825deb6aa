//! Samplers (OpenCL 3.0 API, 5.7).
use super::info::{Query, Written};
use super::{image, properties as property_list, release, retain, unknown};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Context, Sampler};
use std::sync::Arc;

fn create(context: Raw, normalised: u64, addressing: u64, filter: u64, list: Vec<u64>) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    image::check_support(&context.device)?;
    ensure!(normalised <= 1, CL_INVALID_VALUE, "normalized_coords is {normalised}, neither CL_FALSE nor CL_TRUE");
    let (addressing, filter) =
        (u32::try_from(addressing).unwrap_or(u32::MAX), u32::try_from(filter).unwrap_or(u32::MAX));
    let modes =
        [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
    ensure!(modes.contains(&addressing), CL_INVALID_VALUE, "addressing mode {addressing:#x} is not known");
    let filters = [CL_FILTER_NEAREST, CL_FILTER_LINEAR];
    ensure!(filters.contains(&filter), CL_INVALID_VALUE, "filter mode {filter:#x} is not known");
    Ok(publish(Arc::new(Sampler::new(context, normalised != 0, addressing, filter, list)?)))
}

pub unsafe fn create_sampler(
    context: Raw,
    normalized_coords: u32,
    addressing_mode: u32,
    filter_mode: u32,
) -> Result<Raw> {
    create(context, normalized_coords.into(), addressing_mode.into(), filter_mode.into(), Vec::new())
}

pub unsafe fn create_sampler_with_properties(context: Raw, sampler_properties: *const u64) -> Result<Raw> {
    let (mut normalised, mut addressing, mut filter) = (1, CL_ADDRESS_CLAMP.into(), CL_FILTER_NEAREST.into());
    let properties = property_list(sampler_properties);
    let mut seen = Vec::new();
    for pair in properties.chunks_exact(2) {
        ensure!(!seen.contains(&pair[0]), CL_INVALID_VALUE, "sampler property {:#x} is given twice", pair[0]);
        seen.push(pair[0]);
        match u32::try_from(pair[0]) {
            Ok(CL_SAMPLER_NORMALIZED_COORDS) => normalised = pair[1],
            Ok(CL_SAMPLER_ADDRESSING_MODE) => addressing = pair[1],
            Ok(CL_SAMPLER_FILTER_MODE) => filter = pair[1],
            _ => fail!(CL_INVALID_VALUE, "sampler property {:#x} is not known", pair[0]),
        }
    }
    create(context, normalised, addressing, filter, properties)
}

pub unsafe fn retain_sampler(sampler: Raw) -> Result {
    retain::<Sampler>(sampler)
}

pub unsafe fn release_sampler(sampler: Raw) -> Result {
    release::<Sampler>(sampler)
}

pub unsafe fn get_sampler_info(sampler: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Sampler>(sampler)?;
    match param_name {
        CL_SAMPLER_REFERENCE_COUNT => query.value(handle::count::<Sampler>(sampler)),
        CL_SAMPLER_CONTEXT => query.value(object.context.handle.raw()),
        CL_SAMPLER_NORMALIZED_COORDS => query.truth(object.normalised),
        CL_SAMPLER_ADDRESSING_MODE => query.value(object.addressing),
        CL_SAMPLER_FILTER_MODE => query.value(object.filter),
        CL_SAMPLER_PROPERTIES => query.slice(&object.property_list),
        _ => unknown("sampler query", param_name),
    }
}
