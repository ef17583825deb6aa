//! The device (OpenCL 3.0 API, 4.2 and 4.3).
use super::info::{Query, Written};
use super::{image, list, pipe, platform, queue, unknown};
use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::handle::Header;
use crate::model::{C_FEATURES, Device, Feature, device};
use std::sync::{Arc, Once};

pub(super) static DEVICE_HEADER: Header = Header::fixed();

/// CL_DEVICE_MEM_BASE_ADDR_ALIGN, in bits: what sub-buffers must start at. The largest built-in type (long16) asks
/// for 1024; it is more here because allocations of real devices are aligned further.
pub(super) const BASE_ADDRESS_ALIGN_BITS: u32 = 1024;
/// CL_DEVICE_MAX_PARAMETER_SIZE.
pub(super) const MAX_PARAMETER_BYTES: usize = warpscope_isa::frontend::MAX_PARAMETER_BYTES as usize;

/// The device; where the configuration is wrong there is none, and standard error says why.
pub(super) fn get() -> Result<Arc<Device>> {
    device().map_err(|why| {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| eprintln!("warpscope: there is no device, because the configuration is not valid:\n{why}"));
        ClError::new(CL_DEVICE_NOT_FOUND, format!("the configuration is not valid: {why}"))
    })
}

/// The device behind a handle.
pub(super) fn resolve(raw: Raw) -> Result<Arc<Device>> {
    ensure!(!raw.is_null() && raw == DEVICE_HEADER.raw(), CL_INVALID_DEVICE, "{raw:p} is no device of this library");
    get()
}

/// Whether a device type matches a GPU that is the default device.
pub(super) fn check_type(device_type: u64) -> Result {
    let known = CL_DEVICE_TYPE_DEFAULT
        | CL_DEVICE_TYPE_CPU
        | CL_DEVICE_TYPE_GPU
        | CL_DEVICE_TYPE_ACCELERATOR
        | CL_DEVICE_TYPE_CUSTOM;
    let valid = device_type == CL_DEVICE_TYPE_ALL || (device_type != 0 && device_type & !known == 0);
    ensure!(valid, CL_INVALID_DEVICE_TYPE, "{device_type:#x} is no device type");
    let ours = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU;
    ensure!(device_type & ours != 0, CL_DEVICE_NOT_FOUND, "the only device is a GPU");
    Ok(())
}

pub unsafe fn get_device_ids(
    platform: Raw,
    device_type: u64,
    num_entries: u32,
    devices: *mut Raw,
    num_devices: *mut u32,
) -> Result {
    platform::check(platform)?;
    ensure!(num_entries > 0 || devices.is_null(), CL_INVALID_VALUE, "there is a list, but num_entries is 0");
    ensure!(!devices.is_null() || !num_devices.is_null(), CL_INVALID_VALUE, "both results are NULL");
    check_type(device_type)?;
    let handle = platform::device_handle()?;
    if !devices.is_null() {
        devices.write(handle);
    }
    if !num_devices.is_null() {
        num_devices.write(1);
    }
    Ok(())
}

fn names(features: &[Feature]) -> String {
    features.iter().map(|f| f.name).collect::<Vec<_>>().join(" ")
}

fn versions(features: &[Feature]) -> Vec<NameVersion> {
    features.iter().map(|f| NameVersion::new(f.name, f.version)).collect()
}

/// SPIR-V versions that programs may be given in.
const IL_VERSIONS: [(u32, u32); 5] = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)];
/// OpenCL C versions that source may be written in.
const C_VERSIONS: [(u32, u32); 4] = [(1, 0), (1, 1), (1, 2), (3, 0)];

pub unsafe fn get_device_info(device: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let device = resolve(device)?;
    for part in [identity, limits, memory, images, arithmetic, queues_and_sub_groups, versioned] {
        if let Some(written) = part(&device, param_name, query)? {
            return Ok(written);
        }
    }
    unknown("device query", param_name)
}

type Answer = Result<Option<Written>>;

unsafe fn identity(device: &Device, name: u32, q: &Query) -> Answer {
    let chip = &device.spec.chip;
    Ok(Some(match name {
        CL_DEVICE_TYPE => q.value(CL_DEVICE_TYPE_GPU),
        // No PCI vendor stands behind a simulated device.
        CL_DEVICE_VENDOR_ID => q.value(0u32),
        CL_DEVICE_NAME => q.text(&chip.name),
        CL_DEVICE_VENDOR => q.text(&chip.vendor),
        CL_DRIVER_VERSION => q.text(env!("CARGO_PKG_VERSION")),
        CL_DEVICE_PROFILE => q.text("FULL_PROFILE"),
        CL_DEVICE_VERSION => q.text("OpenCL 3.0 Warpscope"),
        CL_DEVICE_OPENCL_C_VERSION => q.text("OpenCL C 1.2 Warpscope"),
        CL_DEVICE_EXTENSIONS => q.text(&names(&device.extensions())),
        CL_DEVICE_PLATFORM => q.value(platform::handle()),
        CL_DEVICE_AVAILABLE | CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => q.truth(true),
        CL_DEVICE_ENDIAN_LITTLE => q.truth(true),
        CL_DEVICE_BUILT_IN_KERNELS => q.text(""),
        CL_DEVICE_PARENT_DEVICE => q.value(0usize),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => q.value(0u32),
        CL_DEVICE_PARTITION_PROPERTIES | CL_DEVICE_PARTITION_TYPE => q.value(0isize),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => q.value(0u64),
        CL_DEVICE_REFERENCE_COUNT => q.value(1u32),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => q.truth(true),
        CL_DEVICE_IL_VERSION => {
            let list: Vec<_> = IL_VERSIONS.iter().rev().map(|(a, b)| format!("SPIR-V_{a}.{b}")).collect();
            q.text(&list.join(" "))
        }
        // None: no suite was passed in the official process. The query's format demands a date.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => q.text("v0000-01-01-00"),
        _ => return Ok(None),
    }?))
}

unsafe fn limits(device: &Device, name: u32, q: &Query) -> Answer {
    let group = device.max_group_size();
    Ok(Some(match name {
        CL_DEVICE_MAX_COMPUTE_UNITS => q.value(device.spec.chip.compute_units),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => q.value(device.spec.chip.core_mhz as u32),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => q.value(3u32),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => q.value(group),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => q.value([group; 3]),
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => q.value(device.spec.chip.sub_group_size as usize),
        CL_DEVICE_ADDRESS_BITS => q.value(64u32),
        CL_DEVICE_MAX_PARAMETER_SIZE => q.value(MAX_PARAMETER_BYTES),
        CL_DEVICE_PRINTF_BUFFER_SIZE => q.value(device.spec.host.printf_buffer as usize),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => q.value(1usize),
        CL_DEVICE_EXECUTION_CAPABILITIES => q.value(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => q.truth(true),
        _ => return Ok(None),
    }?))
}

unsafe fn memory(device: &Device, name: u32, q: &Query) -> Answer {
    let spec = &device.spec;
    Ok(Some(match name {
        CL_DEVICE_GLOBAL_MEM_SIZE => q.value(device.global_memory()),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => q.value(device.max_allocation()),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => q.value(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => q.value(spec.memory.line),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => q.value(device.cache_bytes()),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => q.value(device.max_allocation()),
        CL_DEVICE_MAX_CONSTANT_ARGS => q.value((MAX_PARAMETER_BYTES / 8) as u32),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => q.value(device.max_allocation() as usize),
        CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => q.value(device.max_allocation() as usize),
        CL_DEVICE_LOCAL_MEM_TYPE => q.value(CL_LOCAL),
        CL_DEVICE_LOCAL_MEM_SIZE => q.value(device.local_memory()),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => q.truth(false),
        CL_DEVICE_HOST_UNIFIED_MEMORY => q.truth(false),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => q.value(BASE_ADDRESS_ALIGN_BITS),
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => q.value(128u32),
        CL_DEVICE_SVM_CAPABILITIES => {
            // Kernels' atomics are the host's own, on the same memory.
            let buffers = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
            q.value(buffers | CL_DEVICE_SVM_ATOMICS)
        }
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => q.value(0u32),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES | CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
            let orders =
                CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST;
            let scopes =
                CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;
            let items = if name == CL_DEVICE_ATOMIC_FENCE_CAPABILITIES { CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM } else { 0 };
            q.value(orders | scopes | items)
        }
        _ => return Ok(None),
    }?))
}

/// Limits of images and pipes; those of what is not offered are 0. Numbers of arguments are the least that the
/// specification allows.
unsafe fn images(device: &Device, name: u32, q: &Query) -> Answer {
    let host = &device.spec.host;
    let limits = image::limits(device);
    let with_images = |value: u32| if host.images { value } else { 0 };
    let size = |value: usize| if host.images { value } else { 0 };
    let with_pipes = |value: u32| if host.pipes { value } else { 0 };
    Ok(Some(match name {
        CL_DEVICE_IMAGE_SUPPORT => q.truth(host.images),
        CL_DEVICE_MAX_READ_IMAGE_ARGS => q.value(with_images(128)),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS | CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => q.value(with_images(64)),
        CL_DEVICE_MAX_SAMPLERS => q.value(with_images(16)),
        // Elements of an image over a buffer need no more than to be aligned to themselves.
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => q.value(with_images(1)),
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => q.value(size(limits.plane)),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => {
            q.value(size(limits.cube))
        }
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => q.value(size(limits.buffer)),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => q.value(size(limits.layers)),
        CL_DEVICE_PIPE_SUPPORT => q.truth(host.pipes),
        CL_DEVICE_MAX_PIPE_ARGS => q.value(with_pipes(16)),
        CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => q.value(with_pipes(1)),
        CL_DEVICE_PIPE_MAX_PACKET_SIZE => q.value(with_pipes(pipe::MAX_PACKET_BYTES)),
        _ => return Ok(None),
    }?))
}

unsafe fn arithmetic(_: &Device, name: u32, q: &Query) -> Answer {
    let ieee =
        CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
    Ok(Some(match name {
        CL_DEVICE_SINGLE_FP_CONFIG => q.value(CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA),
        CL_DEVICE_DOUBLE_FP_CONFIG => q.value(ieee),
        // Lanes are scalar: vectors bring nothing.
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => q.value(1u32),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => q.value(0u32),
        _ => return Ok(None),
    }?))
}

unsafe fn queues_and_sub_groups(device: &Device, name: u32, q: &Query) -> Answer {
    let offered = device.spec.host.device_queues;
    let bits = |value: u64| if offered { value } else { 0 };
    let number = |value: u32| if offered { value } else { 0 };
    Ok(Some(match name {
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
            q.value(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
        }
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => {
            q.value(bits(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE))
        }
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => {
            q.value(bits(CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT))
        }
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => q.value(number(queue::PREFERRED_SIZE)),
        CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => q.value(number(queue::MAX_SIZE)),
        CL_DEVICE_MAX_ON_DEVICE_QUEUES => q.value(number(queue::MAX_ON_DEVICE as u32)),
        CL_DEVICE_MAX_ON_DEVICE_EVENTS => q.value(number(1024)),
        CL_DEVICE_MAX_NUM_SUB_GROUPS => q.value(device.max_sub_groups()),
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => q.truth(false),
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => q.truth(false),
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => q.truth(true),
        _ => return Ok(None),
    }?))
}

unsafe fn versioned(device: &Device, name: u32, q: &Query) -> Answer {
    Ok(Some(match name {
        CL_DEVICE_NUMERIC_VERSION => q.value(version(3, 0, 0)),
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => q.value(version(1, 2, 0)),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => q.slice(&versions(&device.extensions())),
        CL_DEVICE_OPENCL_C_FEATURES => q.slice(&versions(C_FEATURES)),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => q.slice::<NameVersion>(&[]),
        CL_DEVICE_ILS_WITH_VERSION => q.slice(&IL_VERSIONS.map(|(a, b)| NameVersion::new("SPIR-V", version(a, b, 0)))),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => {
            q.slice(&C_VERSIONS.map(|(a, b)| NameVersion::new("OpenCL C", version(a, b, 0))))
        }
        _ => return Ok(None),
    }?))
}

/// Partitioning is not supported: the device cannot be divided in any of the ways.
pub unsafe fn create_sub_devices(
    in_device: Raw,
    properties: *const isize,
    num_devices: u32,
    out_devices: *mut Raw,
    num_devices_ret: *mut u32,
) -> Result {
    resolve(in_device)?;
    let _ = (num_devices, out_devices, num_devices_ret);
    let first = list(properties, 1).first().copied().unwrap_or(0);
    // "if values specified in properties are not valid or if values specified in properties are valid but not supported
    // by the device"
    fail!(CL_INVALID_VALUE, "the device cannot be partitioned (property {first:#x})")
}

pub unsafe fn retain_device(device: Raw) -> Result {
    // A root device has no reference count; only the handle is checked.
    resolve(device).map(|_| ())
}

pub unsafe fn release_device(device: Raw) -> Result {
    resolve(device).map(|_| ())
}

/// Host and device share one clock: the calling thread's virtual one, or the host's.
pub unsafe fn get_device_and_host_timer(device: Raw, device_timestamp: *mut u64, host_timestamp: *mut u64) -> Result {
    let device = resolve(device)?;
    ensure!(!device_timestamp.is_null() && !host_timestamp.is_null(), CL_INVALID_VALUE, "a time stamp is NULL");
    let now = device.clock.read_timer();
    device_timestamp.write(now);
    host_timestamp.write(now);
    Ok(())
}

pub unsafe fn get_host_timer(device: Raw, host_timestamp: *mut u64) -> Result {
    let device = resolve(device)?;
    ensure!(!host_timestamp.is_null(), CL_INVALID_VALUE, "host_timestamp is NULL");
    host_timestamp.write(device.clock.read_timer());
    Ok(())
}
