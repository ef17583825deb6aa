//! Contexts (OpenCL 3.0 API, 4.4).
use super::info::{Query, Written};
use super::{Foreign, destructor, device, list, platform, properties as property_list, release, retain, unknown};
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::handle::{self, publish};
use crate::model::{Context, Notify};
use std::ffi::{CString, c_void};
use std::sync::Arc;

fn notify(function: Option<ContextNotify>, data: *mut c_void) -> Option<Notify> {
    let foreign = Foreign::new(function?, data);
    Some(Box::new(move |why| {
        let text = CString::new(why.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the program passed the function for this.
        unsafe { (foreign.function)(text.as_ptr(), std::ptr::null(), 0, foreign.data()) }
    }))
}

unsafe fn create(properties: Vec<isize>, function: Option<ContextNotify>, user_data: *mut c_void) -> Result<Raw> {
    platform::check_context_properties(&properties)?;
    ensure!(function.is_some() || user_data.is_null(), CL_INVALID_VALUE, "there is user_data, but no function for it");
    let context = Context::new(device::get()?, properties, notify(function, user_data))?;
    Ok(publish(Arc::new(context)))
}

pub unsafe fn create_context(
    properties: *const isize,
    num_devices: u32,
    devices: *const Raw,
    pfn_notify: Option<ContextNotify>,
    user_data: *mut c_void,
) -> Result<Raw> {
    ensure!(!devices.is_null() && num_devices > 0, CL_INVALID_VALUE, "the device list is empty");
    let properties = property_list(properties);
    platform::check_context_properties(&properties)?;
    for &raw in list(devices, num_devices as usize) {
        device::resolve(raw)?;
    }
    create(properties, pfn_notify, user_data)
}

pub unsafe fn create_context_from_type(
    properties: *const isize,
    device_type: u64,
    pfn_notify: Option<ContextNotify>,
    user_data: *mut c_void,
) -> Result<Raw> {
    let properties = property_list(properties);
    platform::check_context_properties(&properties)?;
    device::check_type(device_type)?;
    create(properties, pfn_notify, user_data)
}

pub unsafe fn retain_context(context: Raw) -> Result {
    retain::<Context>(context)
}

pub unsafe fn release_context(context: Raw) -> Result {
    release::<Context>(context)
}

pub unsafe fn get_context_info(context: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Context>(context)?;
    match param_name {
        CL_CONTEXT_REFERENCE_COUNT => query.value(handle::count::<Context>(context)),
        CL_CONTEXT_NUM_DEVICES => query.value(1u32),
        CL_CONTEXT_DEVICES => query.value(device::DEVICE_HEADER.raw()),
        CL_CONTEXT_PROPERTIES => query.slice(&object.properties),
        _ => unknown("context query", param_name),
    }
}

pub unsafe fn set_context_destructor_callback(
    context: Raw,
    pfn_notify: Option<ObjectCallback>,
    user_data: *mut c_void,
) -> Result {
    let context = handle::resolve::<Context>(context)?;
    let Some(function) = pfn_notify else { crate::error::fail!(CL_INVALID_VALUE, "pfn_notify is NULL") };
    context.add_destructor(destructor(function, user_data));
    Ok(())
}
