//! Executing kernels (OpenCL 3.0 API, 5.10).
use super::{HostPointer, Wait, list, queue_of};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::command::{Done, Resource};
use crate::model::{Geometry, Kernel, MemObject, handle};
use std::ffi::c_void;

/// The sizes that a program passes: `dimensions` of them, the rest filled up.
unsafe fn sizes(pointer: *const usize, dimensions: u32, rest: u64) -> Option<[u64; 3]> {
    let given = list(pointer, if pointer.is_null() { 0 } else { dimensions as usize });
    let mut out = [rest; 3];
    if given.is_empty() {
        return None;
    }
    given.iter().zip(&mut out).for_each(|(from, to)| *to = *from as u64);
    Some(out)
}

pub unsafe fn enqueue_nd_range_kernel(
    command_queue: Raw,
    kernel: Raw,
    work_dim: u32,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let kernel = handle::resolve::<Kernel>(kernel)?;
    super::same_context(&queue.context, &kernel.program.context, "the kernel")?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    ensure!((1..=3).contains(&work_dim), CL_INVALID_WORK_DIMENSION, "work_dim is {work_dim}, not 1, 2 or 3");
    // A global size of NULL or 0 runs nothing, and is no error (OpenCL 2.1 and later).
    let global = sizes(global_work_size, work_dim, 1).unwrap_or([0, 1, 1]);
    let offset = sizes(global_work_offset, work_dim, 0).unwrap_or([0; 3]);
    let local = sizes(local_work_size, work_dim, 1);
    for d in 0..3 {
        ensure!(
            offset[d].checked_add(global[d]).is_some(),
            CL_INVALID_GLOBAL_OFFSET,
            "offset {} and size {} of dimension {d} exceed the range of size_t",
            offset[d],
            global[d]
        );
    }
    let geometry = Geometry { work_dim, offset, global, local };
    let launch = kernel.launch(geometry)?;
    let action = Box::new(move |engine: &mut crate::model::Engine| launch.run(engine));
    wait.enqueue(&queue, CL_COMMAND_NDRANGE_KERNEL, Resource::Compute, false, action)
}

/// Deprecated since 2.0: one work-item.
pub unsafe fn enqueue_task(
    command_queue: Raw,
    kernel: Raw,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let kernel = handle::resolve::<Kernel>(kernel)?;
    super::same_context(&queue.context, &kernel.program.context, "the kernel")?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    let launch = kernel.launch(Geometry { work_dim: 1, offset: [0; 3], global: [1; 3], local: Some([1; 3]) })?;
    let action = Box::new(move |engine: &mut crate::model::Engine| launch.run(engine));
    wait.enqueue(&queue, CL_COMMAND_TASK, Resource::Compute, false, action)
}

/// The program's own function, with the addresses of memory objects written into a copy of its arguments.
pub unsafe fn enqueue_native_kernel(
    command_queue: Raw,
    user_func: Option<NativeKernel>,
    args: *mut c_void,
    cb_args: usize,
    num_mem_objects: u32,
    mem_list: *const Raw,
    args_mem_loc: *const *const c_void,
    num_events_in_wait_list: u32,
    event_wait_list: *const Raw,
    event: *mut Raw,
) -> Result {
    let queue = queue_of(command_queue)?;
    let wait = Wait::new(&queue.context, num_events_in_wait_list, event_wait_list, event)?;
    let Some(function) = user_func else { fail!(CL_INVALID_VALUE, "user_func is NULL") };
    // "if args is a NULL value and cb_args > 0, or if args is a NULL value and num_mem_objects > 0", "if args is not
    // NULL and cb_args is 0", "if num_mem_objects > 0 and mem_list or args_mem_loc are NULL", and the reverse
    ensure!(args.is_null() == (cb_args == 0), CL_INVALID_VALUE, "args and cb_args {cb_args} contradict each other");
    let lists = mem_list.is_null() == (num_mem_objects == 0) && args_mem_loc.is_null() == (num_mem_objects == 0);
    ensure!(
        lists && (num_mem_objects == 0 || !args.is_null()),
        CL_INVALID_VALUE,
        "the memory object lists are inconsistent"
    );
    // Words, so that the copy is aligned for whatever the arguments are.
    let mut copy = vec![0u128; cb_args.div_ceil(16)];
    std::ptr::copy_nonoverlapping(args.cast::<u8>().cast_const(), copy.as_mut_ptr().cast(), cb_args);
    let mut keep = Vec::new();
    let places = list(args_mem_loc, num_mem_objects as usize);
    for (&raw, &place) in list(mem_list, num_mem_objects as usize).iter().zip(places) {
        let object = handle::resolve::<MemObject>(raw)?;
        let at = (place as usize).wrapping_sub(args as usize);
        ensure!(at.saturating_add(8) <= cb_args, CL_INVALID_VALUE, "a place of args_mem_loc lies outside args");
        copy.as_mut_ptr().cast::<u8>().add(at).cast::<u64>().write_unaligned(object.address);
        keep.push(object);
    }
    let has_arguments = HostPointer::new(args).0 != 0;
    let action = Box::new(move |_: &mut _| {
        let pointer = if has_arguments { copy.as_mut_ptr().cast() } else { std::ptr::null_mut() };
        function(pointer);
        drop(keep);
        Ok(Done::default())
    });
    wait.enqueue(&queue, CL_COMMAND_NATIVE_KERNEL, Resource::Host, false, action)
}
