//! Shared virtual memory (OpenCL 3.0 API, 5.6). Device memory is host memory here: coarse-grained and fine-grained
//! buffers are the same, and mapping takes only its simulated time.
use super::call::{Call, Way, check_migration, check_pointer};
use super::layout::{Block, Layout};
use super::map::check_map_flags;
use super::transfer::check_pattern;
use super::{Foreign, HostPointer, list};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::{Context, SvmAllocation, handle};
use std::ffi::c_void;

pub unsafe fn svm_alloc(context: Raw, flags: u64, size: usize, alignment: u32) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    let access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
    let known = access | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    ensure!(flags & !known == 0, CL_INVALID_VALUE, "SVM flags {flags:#x} are not known");
    ensure!((flags & access).count_ones() <= 1, CL_INVALID_VALUE, "SVM flags {flags:#x} exclude each other");
    // "CL_MEM_SVM_ATOMICS … This flag is valid only if CL_MEM_SVM_FINE_GRAIN_BUFFER is specified in flags."
    let fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER != 0;
    ensure!(fine || flags & CL_MEM_SVM_ATOMICS == 0, CL_INVALID_VALUE, "SVM atomics need a fine-grained allocation");
    let most = context.device.max_allocation();
    ensure!(size > 0 && size as u64 <= most, CL_INVALID_BUFFER_SIZE, "size {size} is 0 or more than {most}");
    // "if alignment is not a power of two or the OpenCL implementation cannot support the specified alignment"; 0: the
    // largest data type's
    let aligned = alignment == 0 || (alignment.is_power_of_two() && alignment <= 128);
    ensure!(aligned, CL_INVALID_VALUE, "alignment {alignment} is no power of two up to 128");
    let address = context.svm_allocate(size, 128)?;
    Ok(std::ptr::with_exposed_provenance_mut(address as usize))
}

/// "this function does not wait for previously enqueued commands that may be using svm_pointer"
pub unsafe fn svm_free(context: Raw, svm_pointer: *mut c_void) -> Result {
    let context = handle::resolve::<Context>(context)?;
    let freed = svm_pointer.is_null() || context.svm_free(svm_pointer as u64);
    ensure!(freed, CL_INVALID_VALUE, "{svm_pointer:p} did not come from clSVMAlloc, or was freed");
    Ok(())
}

pub unsafe fn enqueue_svm_free(
    call: Call,
    num_svm_pointers: u32,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<SvmFree>,
    user_data: *mut c_void,
) -> Result {
    // "if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers is NULL and num_svm_pointers is not 0"
    ensure!(
        svm_pointers.is_null() == (num_svm_pointers == 0),
        CL_INVALID_VALUE,
        "the pointer list is inconsistent with num_svm_pointers {num_svm_pointers}"
    );
    let pointers: Vec<usize> =
        list(svm_pointers.cast_const(), num_svm_pointers as usize).iter().map(|p| *p as usize).collect();
    let foreign = pfn_free_func.map(|f| Foreign::new(f, user_data));
    let context = call.queue.context.clone();
    let queue_handle = HostPointer::new(call.queue.handle.raw());
    call.order(CL_COMMAND_SVM_FREE, move || match foreign {
        None => pointers.iter().for_each(|p| {
            context.svm_free(*p as u64);
        }),
        Some(foreign) => {
            let mut raw: Vec<*mut c_void> =
                pointers.iter().map(|p| std::ptr::with_exposed_provenance_mut(*p)).collect();
            let queue = queue_handle.write().cast();
            (foreign.function)(queue, raw.len() as u32, raw.as_mut_ptr(), foreign.data());
        }
    })
}

/// The shared allocation at a pointer; refuses a range that leaves it.
fn shared(context: &Context, pointer: usize, size: usize) -> Result<Option<SvmAllocation>> {
    let Some(found) = context.svm_find(pointer as u64) else { return Ok(None) };
    ensure!(
        found.holds(pointer as u64, size),
        CL_INVALID_VALUE,
        "{size} bytes at {pointer:#x} exceed the shared allocation of {} bytes at {:#x}",
        found.size,
        found.address
    );
    Ok(Some(found))
}

pub unsafe fn enqueue_svm_memcpy(
    call: Call,
    blocking_copy: u32,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
) -> Result {
    ensure!(size == 0 || !(dst_ptr.is_null() || src_ptr.is_null()), CL_INVALID_VALUE, "a pointer is NULL");
    let (from, to) = (HostPointer::new(src_ptr), HostPointer::new(dst_ptr));
    // "if the values specified for dst_ptr, src_ptr and size result in an overlapping copy"
    let apart = from.0.saturating_add(size) <= to.0 || to.0.saturating_add(size) <= from.0;
    ensure!(apart, CL_MEM_COPY_OVERLAP, "source and target overlap");
    let context = &call.queue.context;
    let way = match (shared(context, from.0, size)?.is_some(), shared(context, to.0, size)?.is_some()) {
        (true, true) => Way::OnDevice,
        (true, false) => Way::FromDevice,
        (false, true) => Way::ToDevice,
        (false, false) => Way::OnHost,
    };
    let blocks = (Block::at(src_ptr, Layout::linear(0)), Block::at(dst_ptr, Layout::linear(0)));
    call.transfer(CL_COMMAND_SVM_MEMCPY, (way, blocking_copy != 0), blocks, [size, 1, 1], Vec::new())
}

pub unsafe fn enqueue_svm_mem_fill(
    call: Call,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
) -> Result {
    check_pointer(svm_ptr, "svm_ptr")?;
    let pattern = check_pattern(pattern, pattern_size)?;
    let to = HostPointer::new(svm_ptr);
    // "if svm_ptr is not aligned to pattern_size bytes", "if size is not a multiple of pattern_size"
    ensure!(to.0.is_multiple_of(pattern_size), CL_INVALID_VALUE, "svm_ptr is not aligned to {pattern_size} bytes");
    ensure!(size.is_multiple_of(pattern_size), CL_INVALID_VALUE, "size {size} is no multiple of {pattern_size} bytes");
    shared(&call.queue.context, to.0, size)?;
    let to = Block::at(svm_ptr, Layout::linear(0));
    call.fill(CL_COMMAND_SVM_MEMFILL, to, [size, 1, 1], pattern, Vec::new())
}

pub unsafe fn enqueue_svm_map(call: Call, blocking_map: u32, flags: u64, svm_ptr: *mut c_void, size: usize) -> Result {
    check_pointer(svm_ptr, "svm_ptr")?;
    ensure!(size > 0, CL_INVALID_VALUE, "size is 0");
    let (read, _) = check_map_flags(flags)?;
    shared(&call.queue.context, svm_ptr as usize, size)?;
    let way = (Way::FromDevice, blocking_map != 0);
    call.synchronise(CL_COMMAND_SVM_MAP, way, if read { size } else { 0 }, Vec::new())
}

pub unsafe fn enqueue_svm_unmap(call: Call, svm_ptr: *mut c_void) -> Result {
    check_pointer(svm_ptr, "svm_ptr")?;
    call.synchronise(CL_COMMAND_SVM_UNMAP, (Way::ToDevice, false), 0, Vec::new())
}

/// There is one device and one memory: migration only orders.
pub unsafe fn enqueue_svm_migrate_mem(
    call: Call,
    num_svm_pointers: u32,
    svm_pointers: *const *const c_void,
    sizes: *const usize,
    flags: u64,
) -> Result {
    ensure!(num_svm_pointers > 0 && !svm_pointers.is_null(), CL_INVALID_VALUE, "there are no pointers to migrate");
    check_migration(flags)?;
    let sizes = list(sizes, num_svm_pointers as usize);
    for (i, &pointer) in list(svm_pointers, num_svm_pointers as usize).iter().enumerate() {
        // "if sizes[i] is non-zero range [svm_pointers[i], svm_pointers[i]+sizes[i]) is not contained within an existing
        // clSVMAlloc allocation"
        let size = sizes.get(i).copied().unwrap_or(0);
        if shared(&call.queue.context, pointer as usize, size)?.is_none() {
            fail!(CL_INVALID_VALUE, "{pointer:p} lies in no allocation of clSVMAlloc");
        }
    }
    call.order(CL_COMMAND_SVM_MIGRATE_MEM, || ())
}
