//! The table of entry points.
#![allow(non_snake_case, reason = "the names are the API's")]
#![allow(clippy::too_many_arguments, reason = "the signatures are the API's")]
use super::{Slot, give, guard, log_error, unsupported};
use crate::api::call::Call;
use crate::api::info::Query;
use crate::api::*;
use crate::cl::*;
use std::ffi::{c_char, c_void};

entries! {
    status clGetPlatformIDs = platform::get_platform_ids,
        (num_entries: u32, platforms: *mut Raw, num_platforms: *mut u32);
    query clGetPlatformInfo = platform::get_platform_info,
        (platform: Raw, param_name: u32);
    status clGetDeviceIDs = device::get_device_ids,
        (platform: Raw, device_type: u64, num_entries: u32, devices: *mut Raw, num_devices: *mut u32);
    query clGetDeviceInfo = device::get_device_info,
        (device: Raw, param_name: u32);
    create clCreateContext = context::create_context,
        (properties: *const isize, num_devices: u32, devices: *const Raw, pfn_notify: Option<ContextNotify>,
        user_data: *mut c_void);
    create clCreateContextFromType = context::create_context_from_type,
        (properties: *const isize, device_type: u64, pfn_notify: Option<ContextNotify>, user_data: *mut c_void);
    status clRetainContext = context::retain_context, (context: Raw);
    status clReleaseContext = context::release_context, (context: Raw);
    query clGetContextInfo = context::get_context_info,
        (context: Raw, param_name: u32);
    create clCreateCommandQueue = queue::create_command_queue, (context: Raw, device: Raw, properties: u64);
    status clRetainCommandQueue = queue::retain_command_queue, (command_queue: Raw);
    status clReleaseCommandQueue = queue::release_command_queue, (command_queue: Raw);
    query clGetCommandQueueInfo = queue::get_command_queue_info,
        (command_queue: Raw, param_name: u32);
    status clSetCommandQueueProperty = queue::set_command_queue_property,
        (command_queue: Raw, properties: u64, enable: u32, old_properties: *mut u64);
    create clCreateBuffer = buffer::create_buffer, (context: Raw, flags: u64, size: usize, host_ptr: *mut c_void);
    create clCreateImage2D = image::create_image2d,
        (context: Raw, flags: u64, image_format: *const ImageFormat, image_width: usize, image_height: usize,
        image_row_pitch: usize, host_ptr: *mut c_void);
    create clCreateImage3D = image::create_image3d,
        (context: Raw, flags: u64, image_format: *const ImageFormat, image_width: usize, image_height: usize,
        image_depth: usize, image_row_pitch: usize, image_slice_pitch: usize, host_ptr: *mut c_void);
    status clRetainMemObject = buffer::retain_mem_object, (memobj: Raw);
    status clReleaseMemObject = buffer::release_mem_object, (memobj: Raw);
    status clGetSupportedImageFormats = image::get_supported_image_formats,
        (context: Raw, flags: u64, image_type: u32, num_entries: u32, image_formats: *mut ImageFormat,
        num_image_formats: *mut u32);
    query clGetMemObjectInfo = buffer::get_mem_object_info,
        (memobj: Raw, param_name: u32);
    query clGetImageInfo = image::get_image_info,
        (image: Raw, param_name: u32);
    create clCreateSampler = sampler::create_sampler,
        (context: Raw, normalized_coords: u32, addressing_mode: u32, filter_mode: u32);
    status clRetainSampler = sampler::retain_sampler, (sampler: Raw);
    status clReleaseSampler = sampler::release_sampler, (sampler: Raw);
    query clGetSamplerInfo = sampler::get_sampler_info,
        (sampler: Raw, param_name: u32);
    create clCreateProgramWithSource = program::create_program_with_source,
        (context: Raw, count: u32, strings: *const *const c_char, lengths: *const usize);
    create clCreateProgramWithBinary = program::create_program_with_binary,
        (context: Raw, num_devices: u32, device_list: *const Raw, lengths: *const usize, binaries: *const *const u8,
        binary_status: *mut i32);
    status clRetainProgram = program::retain_program, (program: Raw);
    status clReleaseProgram = program::release_program, (program: Raw);
    status clBuildProgram = build::build_program,
        (program: Raw, num_devices: u32, device_list: *const Raw, options: *const c_char,
        pfn_notify: Option<ObjectCallback>, user_data: *mut c_void);
    status clUnloadCompiler = platform::unload_compiler, ();
    query clGetProgramInfo = program_info::get_program_info,
        (program: Raw, param_name: u32);
    query clGetProgramBuildInfo = program_info::get_program_build_info,
        (program: Raw, device: Raw, param_name: u32);
    create clCreateKernel = kernel::create_kernel, (program: Raw, kernel_name: *const c_char);
    status clCreateKernelsInProgram = kernel::create_kernels_in_program,
        (program: Raw, num_kernels: u32, kernels: *mut Raw, num_kernels_ret: *mut u32);
    status clRetainKernel = kernel::retain_kernel, (kernel: Raw);
    status clReleaseKernel = kernel::release_kernel, (kernel: Raw);
    status clSetKernelArg = kernel::set_kernel_arg,
        (kernel: Raw, arg_index: u32, arg_size: usize, arg_value: *const c_void);
    query clGetKernelInfo = kernel_info::get_kernel_info,
        (kernel: Raw, param_name: u32);
    query clGetKernelWorkGroupInfo = kernel_info::get_kernel_work_group_info,
        (kernel: Raw, device: Raw, param_name: u32);
    status clWaitForEvents = event::wait_for_events, (num_events: u32, event_list: *const Raw);
    query clGetEventInfo = event::get_event_info,
        (event: Raw, param_name: u32);
    status clRetainEvent = event::retain_event, (event: Raw);
    status clReleaseEvent = event::release_event, (event: Raw);
    query clGetEventProfilingInfo = event::get_event_profiling_info,
        (event: Raw, param_name: u32);
    status clFlush = queue::flush, (command_queue: Raw);
    status clFinish = queue::finish, (command_queue: Raw);
    enqueue clEnqueueReadBuffer = transfer::enqueue_read_buffer,
        (buffer: Raw, blocking_read: u32, offset: usize, size: usize, ptr: *mut c_void);
    enqueue clEnqueueWriteBuffer = transfer::enqueue_write_buffer,
        (buffer: Raw, blocking_write: u32, offset: usize, size: usize, ptr: *const c_void);
    enqueue clEnqueueCopyBuffer = transfer::enqueue_copy_buffer,
        (src_buffer: Raw, dst_buffer: Raw, src_offset: usize, dst_offset: usize, size: usize);
    enqueue clEnqueueReadImage = image_transfer::enqueue_read_image,
        (image: Raw, blocking_read: u32, origin: *const usize, region: *const usize,
        row_pitch: usize, slice_pitch: usize, ptr: *mut c_void);
    enqueue clEnqueueWriteImage = image_transfer::enqueue_write_image,
        (image: Raw, blocking_write: u32, origin: *const usize, region: *const usize,
        input_row_pitch: usize, input_slice_pitch: usize, ptr: *const c_void);
    enqueue clEnqueueCopyImage = image_transfer::enqueue_copy_image,
        (src_image: Raw, dst_image: Raw, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize);
    enqueue clEnqueueCopyImageToBuffer = image_transfer::enqueue_copy_image_to_buffer,
        (src_image: Raw, dst_buffer: Raw, src_origin: *const usize, region: *const usize,
        dst_offset: usize);
    enqueue clEnqueueCopyBufferToImage = image_transfer::enqueue_copy_buffer_to_image,
        (src_buffer: Raw, dst_image: Raw, src_offset: usize, dst_origin: *const usize,
        region: *const usize);
    map clEnqueueMapBuffer = map::enqueue_map_buffer,
        (buffer: Raw, blocking_map: u32, map_flags: u64, offset: usize, size: usize);
    map clEnqueueMapImage = map::enqueue_map_image,
        (image: Raw, blocking_map: u32, map_flags: u64, origin: *const usize,
        region: *const usize, image_row_pitch: *mut usize, image_slice_pitch: *mut usize);
    enqueue clEnqueueUnmapMemObject = map::enqueue_unmap_mem_object,
        (memobj: Raw, mapped_ptr: *mut c_void);
    status clEnqueueNDRangeKernel = launch::enqueue_nd_range_kernel,
        (command_queue: Raw, kernel: Raw, work_dim: u32, global_work_offset: *const usize,
        global_work_size: *const usize, local_work_size: *const usize, num_events_in_wait_list: u32,
        event_wait_list: *const Raw, event: *mut Raw);
    status clEnqueueTask = launch::enqueue_task,
        (command_queue: Raw, kernel: Raw, num_events_in_wait_list: u32, event_wait_list: *const Raw, event: *mut Raw);
    status clEnqueueNativeKernel = launch::enqueue_native_kernel,
        (command_queue: Raw, user_func: Option<NativeKernel>, args: *mut c_void, cb_args: usize,
        num_mem_objects: u32, mem_list: *const Raw, args_mem_loc: *const *const c_void, num_events_in_wait_list: u32,
        event_wait_list: *const Raw, event: *mut Raw);
    status clEnqueueMarker = sync::enqueue_marker, (command_queue: Raw, event: *mut Raw);
    status clEnqueueWaitForEvents = sync::enqueue_wait_for_events,
        (command_queue: Raw, num_events: u32, event_list: *const Raw);
    status clEnqueueBarrier = sync::enqueue_barrier, (command_queue: Raw);
    pointer clGetExtensionFunctionAddress = extension::get_extension_function_address, (func_name: *const c_char);
    no_object clCreateFromGLBuffer;
    no_object clCreateFromGLTexture2D;
    no_object clCreateFromGLTexture3D;
    no_object clCreateFromGLRenderbuffer;
    absent clGetGLObjectInfo;
    absent clGetGLTextureInfo;
    absent clEnqueueAcquireGLObjects;
    absent clEnqueueReleaseGLObjects;
    absent clGetGLContextInfoKHR;
    absent clGetDeviceIDsFromD3D10KHR;
    no_object clCreateFromD3D10BufferKHR;
    no_object clCreateFromD3D10Texture2DKHR;
    no_object clCreateFromD3D10Texture3DKHR;
    absent clEnqueueAcquireD3D10ObjectsKHR;
    absent clEnqueueReleaseD3D10ObjectsKHR;
    status clSetEventCallback = event::set_event_callback,
        (event: Raw, command_exec_callback_type: i32, pfn_notify: Option<EventCallback>, user_data: *mut c_void);
    create clCreateSubBuffer = buffer::create_sub_buffer,
        (buffer: Raw, flags: u64, buffer_create_type: u32, buffer_create_info: *const c_void);
    status clSetMemObjectDestructorCallback = buffer::set_mem_object_destructor_callback,
        (memobj: Raw, pfn_notify: Option<ObjectCallback>, user_data: *mut c_void);
    create clCreateUserEvent = event::create_user_event, (context: Raw);
    status clSetUserEventStatus = event::set_user_event_status, (event: Raw, execution_status: i32);
    enqueue clEnqueueReadBufferRect = rect::enqueue_read_buffer_rect,
        (buffer: Raw, blocking_read: u32, buffer_origin: *const usize, host_origin: *const usize,
        region: *const usize, buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize,
        host_slice_pitch: usize, ptr: *mut c_void);
    enqueue clEnqueueWriteBufferRect = rect::enqueue_write_buffer_rect,
        (buffer: Raw, blocking_write: u32, buffer_origin: *const usize,
        host_origin: *const usize, region: *const usize, buffer_row_pitch: usize, buffer_slice_pitch: usize,
        host_row_pitch: usize, host_slice_pitch: usize, ptr: *const c_void);
    enqueue clEnqueueCopyBufferRect = rect::enqueue_copy_buffer_rect,
        (src_buffer: Raw, dst_buffer: Raw, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize,
        dst_slice_pitch: usize);
    no_object clCreateSubDevicesEXT;
    absent clRetainDeviceEXT;
    absent clReleaseDeviceEXT;
    no_object clCreateEventFromGLsyncKHR;
    status clCreateSubDevices = device::create_sub_devices,
        (in_device: Raw, properties: *const isize, num_devices: u32, out_devices: *mut Raw, num_devices_ret: *mut u32);
    status clRetainDevice = device::retain_device, (device: Raw);
    status clReleaseDevice = device::release_device, (device: Raw);
    create clCreateImage = image::create_image,
        (context: Raw, flags: u64, image_format: *const ImageFormat, image_desc: *const ImageDesc,
        host_ptr: *mut c_void);
    create clCreateProgramWithBuiltInKernels = program::create_program_with_built_in_kernels,
        (context: Raw, num_devices: u32, device_list: *const Raw, kernel_names: *const c_char);
    status clCompileProgram = build::compile_program,
        (program: Raw, num_devices: u32, device_list: *const Raw, options: *const c_char, num_input_headers: u32,
        input_headers: *const Raw, header_include_names: *const *const c_char, pfn_notify: Option<ObjectCallback>,
        user_data: *mut c_void);
    create_with_status clLinkProgram = build::link_program,
        (context: Raw, num_devices: u32, device_list: *const Raw, options: *const c_char, num_input_programs: u32,
        input_programs: *const Raw, pfn_notify: Option<ObjectCallback>, user_data: *mut c_void);
    status clUnloadPlatformCompiler = platform::unload_platform_compiler, (platform: Raw);
    query clGetKernelArgInfo = kernel_info::get_kernel_arg_info,
        (kernel: Raw, arg_indx: u32, param_name: u32);
    enqueue clEnqueueFillBuffer = transfer::enqueue_fill_buffer,
        (buffer: Raw, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize);
    enqueue clEnqueueFillImage = image_transfer::enqueue_fill_image,
        (image: Raw, fill_color: *const c_void, origin: *const usize, region: *const usize);
    enqueue clEnqueueMigrateMemObjects = transfer::enqueue_migrate_mem_objects,
        (num_mem_objects: u32, mem_objects: *const Raw, flags: u64);
    status clEnqueueMarkerWithWaitList = sync::enqueue_marker_with_wait_list,
        (command_queue: Raw, num_events_in_wait_list: u32, event_wait_list: *const Raw, event: *mut Raw);
    status clEnqueueBarrierWithWaitList = sync::enqueue_barrier_with_wait_list,
        (command_queue: Raw, num_events_in_wait_list: u32, event_wait_list: *const Raw, event: *mut Raw);
    pointer clGetExtensionFunctionAddressForPlatform = extension::get_extension_function_address_for_platform,
        (platform: Raw, func_name: *const c_char);
    no_object clCreateFromGLTexture;
    absent clGetDeviceIDsFromD3D11KHR;
    no_object clCreateFromD3D11BufferKHR;
    no_object clCreateFromD3D11Texture2DKHR;
    no_object clCreateFromD3D11Texture3DKHR;
    no_object clCreateFromDX9MediaSurfaceKHR;
    absent clEnqueueAcquireD3D11ObjectsKHR;
    absent clEnqueueReleaseD3D11ObjectsKHR;
    absent clGetDeviceIDsFromDX9MediaAdapterKHR;
    absent clEnqueueAcquireDX9MediaSurfacesKHR;
    absent clEnqueueReleaseDX9MediaSurfacesKHR;
    no_object clCreateFromEGLImageKHR;
    absent clEnqueueAcquireEGLObjectsKHR;
    absent clEnqueueReleaseEGLObjectsKHR;
    no_object clCreateEventFromEGLSyncKHR;
    create clCreateCommandQueueWithProperties = queue::create_command_queue_with_properties,
        (context: Raw, device: Raw, properties: *const u64);
    create clCreatePipe = pipe::create_pipe,
        (context: Raw, flags: u64, pipe_packet_size: u32, pipe_max_packets: u32, properties: *const isize);
    query clGetPipeInfo = pipe::get_pipe_info,
        (pipe: Raw, param_name: u32);
    pointer clSVMAlloc = svm::svm_alloc, (context: Raw, flags: u64, size: usize, alignment: u32);
    nothing clSVMFree = svm::svm_free, (context: Raw, svm_pointer: *mut c_void);
    enqueue clEnqueueSVMFree = svm::enqueue_svm_free,
        (num_svm_pointers: u32, svm_pointers: *mut *mut c_void, pfn_free_func: Option<SvmFree>,
        user_data: *mut c_void);
    enqueue clEnqueueSVMMemcpy = svm::enqueue_svm_memcpy,
        (blocking_copy: u32, dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize);
    enqueue clEnqueueSVMMemFill = svm::enqueue_svm_mem_fill,
        (svm_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize);
    enqueue clEnqueueSVMMap = svm::enqueue_svm_map,
        (blocking_map: u32, flags: u64, svm_ptr: *mut c_void, size: usize);
    enqueue clEnqueueSVMUnmap = svm::enqueue_svm_unmap,
        (svm_ptr: *mut c_void);
    create clCreateSamplerWithProperties = sampler::create_sampler_with_properties,
        (context: Raw, sampler_properties: *const u64);
    status clSetKernelArgSVMPointer = kernel::set_kernel_arg_svm_pointer,
        (kernel: Raw, arg_index: u32, arg_value: *const c_void);
    status clSetKernelExecInfo = kernel::set_kernel_exec_info,
        (kernel: Raw, param_name: u32, param_value_size: usize, param_value: *const c_void);
    query clGetKernelSubGroupInfoKHR = kernel_info::get_kernel_sub_group_info,
        (kernel: Raw, device: Raw, param_name: u32, input_value_size: usize, input_value: *const c_void);
    create clCloneKernel = kernel::clone_kernel, (source_kernel: Raw);
    create clCreateProgramWithIL = program::create_program_with_il, (context: Raw, il: *const c_void, length: usize);
    enqueue clEnqueueSVMMigrateMem = svm::enqueue_svm_migrate_mem,
        (num_svm_pointers: u32, svm_pointers: *const *const c_void, sizes: *const usize,
        flags: u64);
    status clGetDeviceAndHostTimer = device::get_device_and_host_timer,
        (device: Raw, device_timestamp: *mut u64, host_timestamp: *mut u64);
    status clGetHostTimer = device::get_host_timer, (device: Raw, host_timestamp: *mut u64);
    query clGetKernelSubGroupInfo = kernel_info::get_kernel_sub_group_info,
        (kernel: Raw, device: Raw, param_name: u32, input_value_size: usize, input_value: *const c_void);
    status clSetDefaultDeviceCommandQueue = queue::set_default_device_command_queue,
        (context: Raw, device: Raw, command_queue: Raw);
    status clSetProgramReleaseCallback = program::set_program_release_callback,
        (program: Raw, pfn_notify: Option<ObjectCallback>, user_data: *mut c_void);
    status clSetProgramSpecializationConstant = program::set_program_specialization_constant,
        (program: Raw, spec_id: u32, spec_size: usize, spec_value: *const c_void);
    create clCreateBufferWithProperties = buffer::create_buffer_with_properties,
        (context: Raw, properties: *const u64, flags: u64, size: usize, host_ptr: *mut c_void);
    create clCreateImageWithProperties = image::create_image_with_properties,
        (context: Raw, properties: *const u64, flags: u64, image_format: *const ImageFormat,
        image_desc: *const ImageDesc, host_ptr: *mut c_void);
    status clSetContextDestructorCallback = context::set_context_destructor_callback,
        (context: Raw, pfn_notify: Option<ObjectCallback>, user_data: *mut c_void);
}

/// Address of a function by name.
pub(super) fn find(name: &[u8]) -> Option<*const ()> {
    let slot = &NAMES.iter().find(|(n, _)| n.as_bytes() == name)?.1;
    (!slot.0.is_null()).then_some(slot.0)
}
