//! Memory objects: buffers, and what all memory objects share (OpenCL 3.0 API, 5.2.1, 5.5).
use super::info::{Query, Written};
use super::{destructor, list, properties as property_list, release, retain, unknown};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Context, MemKind, MemObject};
use std::ffi::c_void;
use std::sync::Arc;

const ACCESS: u64 = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS: u64 = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_POINTER: u64 = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// Memory flags: known, and none that exclude each other.
pub(super) fn check_flags(flags: u64) -> Result {
    let known = flags & !(ACCESS | HOST_ACCESS | HOST_POINTER) == 0;
    ensure!(known, CL_INVALID_VALUE, "memory flags {flags:#x} are not known");
    let one_of = |group: u64| (flags & group).count_ones() <= 1;
    ensure!(one_of(ACCESS), CL_INVALID_VALUE, "memory flags {flags:#x}: more than one kind of kernel access");
    ensure!(one_of(HOST_ACCESS), CL_INVALID_VALUE, "memory flags {flags:#x}: more than one kind of host access");
    let in_place = flags & CL_MEM_USE_HOST_PTR != 0;
    let other = flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure!(!(in_place && other), CL_INVALID_VALUE, "CL_MEM_USE_HOST_PTR excludes ALLOC and COPY");
    Ok(())
}

/// The flags with the kernel access that is meant where none is said.
pub(super) fn with_access(flags: u64) -> u64 {
    if flags & ACCESS == 0 { flags | CL_MEM_READ_WRITE } else { flags }
}

/// Refuses flags about memory that an object takes from another one.
pub(super) fn check_no_host_pointer(flags: u64) -> Result {
    ensure!(flags & HOST_POINTER == 0, CL_INVALID_VALUE, "host pointer flags {flags:#x} are inherited, not given");
    Ok(())
}

pub(super) fn check_host_ptr(flags: u64, host_ptr: *mut c_void) -> Result {
    let needed = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure!(
        needed != host_ptr.is_null(),
        CL_INVALID_HOST_PTR,
        "host_ptr is {}, which does not go with the flags {flags:#x}",
        if needed { "NULL" } else { "given" }
    );
    Ok(())
}

pub unsafe fn create_buffer(context: Raw, flags: u64, size: usize, host_ptr: *mut c_void) -> Result<Raw> {
    create_buffer_with_properties(context, std::ptr::null(), flags, size, host_ptr)
}

pub unsafe fn create_buffer_with_properties(
    context: Raw,
    properties: *const u64,
    flags: u64,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    let properties = property_list(properties);
    ensure!(properties.len() <= 1, CL_INVALID_PROPERTY, "buffer property {:#x} is not known", properties[0]);
    check_flags(flags)?;
    let most = context.device.max_allocation();
    ensure!(size > 0, CL_INVALID_BUFFER_SIZE, "size is 0");
    ensure!(size as u64 <= most, CL_INVALID_BUFFER_SIZE, "size is {size}; CL_DEVICE_MAX_MEM_ALLOC_SIZE is {most}");
    check_host_ptr(flags, host_ptr)?;
    // "if CL_MEM_USE_HOST_PTR is set in flags and host_ptr is a pointer returned by clSVMAlloc and size is greater than
    // the size passed to clSVMAlloc"
    if flags & CL_MEM_USE_HOST_PTR != 0
        && let Some(svm) = context.svm_find(host_ptr as u64)
    {
        let left = svm.address + svm.size as u64 - host_ptr as u64;
        ensure!(size as u64 <= left, CL_INVALID_BUFFER_SIZE, "size is {size}; the shared allocation ends after {left}");
    }
    let object = MemObject::buffer(context, with_access(flags), size, host_ptr.cast(), properties)?;
    Ok(publish(Arc::new(object)))
}

pub unsafe fn create_sub_buffer(
    buffer: Raw,
    flags: u64,
    buffer_create_type: u32,
    buffer_create_info: *const c_void,
) -> Result<Raw> {
    let parent = handle::resolve::<MemObject>(buffer)?;
    // "if buffer is not a valid buffer object or is a sub-buffer object"
    let divisible = matches!(parent.kind, MemKind::Buffer { .. });
    ensure!(divisible, CL_INVALID_MEM_OBJECT, "only a buffer that is no sub-buffer can be divided");
    check_flags(flags)?;
    check_no_host_pointer(flags)?;
    let flags = inherit(&parent, flags)?;
    ensure!(
        buffer_create_type == CL_BUFFER_CREATE_TYPE_REGION,
        CL_INVALID_VALUE,
        "buffer_create_type {buffer_create_type:#x} is not known"
    );
    let Some(&BufferRegion { origin, size }) = list(buffer_create_info.cast::<BufferRegion>(), 1).first() else {
        fail!(CL_INVALID_VALUE, "buffer_create_info is NULL")
    };
    ensure!(size > 0, CL_INVALID_BUFFER_SIZE, "size is 0");
    ensure!(
        origin.checked_add(size).is_some_and(|end| end <= parent.size),
        CL_INVALID_VALUE,
        "origin {origin} and size {size} exceed the buffer's {} bytes",
        parent.size
    );
    // "CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer for which the origin
    // field … is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value"
    let align = super::device::BASE_ADDRESS_ALIGN_BITS as usize / 8;
    ensure!(
        origin.is_multiple_of(align),
        CL_MISALIGNED_SUB_BUFFER_OFFSET,
        "origin {origin} is no multiple of {align} bytes"
    );
    Ok(publish(Arc::new(MemObject::sub_buffer(parent, flags, origin, size)?)))
}

/// What an object inherits from the one whose memory it uses, where its own flags do not say.
pub(super) fn inherit(parent: &MemObject, flags: u64) -> Result<u64> {
    // "if buffer was created with CL_MEM_WRITE_ONLY and flags specifies CL_MEM_READ_WRITE or CL_MEM_READ_ONLY, or if
    // buffer was created with CL_MEM_READ_ONLY and flags specifies CL_MEM_READ_WRITE or CL_MEM_WRITE_ONLY"
    let access = flags & ACCESS;
    let narrowed = parent.flags & ACCESS;
    let allowed = access == 0 || narrowed == CL_MEM_READ_WRITE || access == narrowed;
    ensure!(allowed, CL_INVALID_VALUE, "flags {flags:#x} allow more than the memory's {:#x}", parent.flags);
    // "if buffer was created with CL_MEM_HOST_WRITE_ONLY and flags specify CL_MEM_HOST_READ_ONLY, … or with
    // CL_MEM_HOST_NO_ACCESS and flags specify CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_WRITE_ONLY"
    let host = flags & HOST_ACCESS;
    let narrowed_host = parent.flags & HOST_ACCESS;
    let allowed = host == 0 || narrowed_host == 0 || host == narrowed_host || host == CL_MEM_HOST_NO_ACCESS;
    ensure!(allowed, CL_INVALID_VALUE, "flags {flags:#x} allow the host more than the memory's {:#x}", parent.flags);
    let access = if access == 0 { narrowed } else { access };
    let host = if host == 0 { narrowed_host } else { host };
    Ok(access | host)
}

pub unsafe fn retain_mem_object(memobj: Raw) -> Result {
    retain::<MemObject>(memobj)
}

pub unsafe fn release_mem_object(memobj: Raw) -> Result {
    release::<MemObject>(memobj)
}

pub unsafe fn get_mem_object_info(memobj: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<MemObject>(memobj)?;
    let parent = object.parent().map_or(std::ptr::null_mut(), |parent| parent.handle.raw());
    let origin = if let MemKind::SubBuffer { origin, .. } = object.kind { origin } else { 0 };
    match param_name {
        CL_MEM_TYPE => query.value(object.object_type()),
        CL_MEM_FLAGS => query.value(object.flags),
        CL_MEM_SIZE => query.value(object.size),
        CL_MEM_HOST_PTR => query.value(object.host_ptr),
        CL_MEM_MAP_COUNT => query.value(object.map_count() as u32),
        CL_MEM_REFERENCE_COUNT => query.value(handle::count::<MemObject>(memobj)),
        CL_MEM_CONTEXT => query.value(object.context.handle.raw()),
        CL_MEM_ASSOCIATED_MEMOBJECT => query.value(parent),
        CL_MEM_OFFSET => query.value(origin),
        CL_MEM_USES_SVM_POINTER => {
            let in_svm = object.host_ptr != 0 && object.context.svm_find(object.host_ptr as u64).is_some();
            query.truth(in_svm)
        }
        CL_MEM_PROPERTIES => query.slice(&object.properties),
        _ => unknown("memory object query", param_name),
    }
}

pub unsafe fn set_mem_object_destructor_callback(
    memobj: Raw,
    pfn_notify: Option<ObjectCallback>,
    user_data: *mut c_void,
) -> Result {
    let object = handle::resolve::<MemObject>(memobj)?;
    let Some(function) = pfn_notify else { fail!(CL_INVALID_VALUE, "pfn_notify is NULL") };
    object.add_destructor(destructor(function, user_data));
    Ok(())
}
