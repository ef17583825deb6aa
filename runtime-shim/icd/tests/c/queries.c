// Every info query of every object, with the size protocol (value, size, both, too small).
#include "check.h"

typedef cl_int (*query)(void *object, cl_uint name, size_t size, void *value, size_t *size_ret);
static char buffer[1 << 16];

static void protocol(const char *what, query get, void *object, cl_uint name) {
    size_t size = 0, again = 0;
    cl_int r = get(object, name, 0, NULL, &size);
    if (r != CL_SUCCESS) FAIL("%s %#x: %d", what, name, r);
    if (size == 0) return; // An empty list has no value to ask for.
    if (get(object, name, sizeof buffer, buffer, NULL)) FAIL("%s %#x: value", what, name);
    if (get(object, name, size, buffer, &again) || again != size) FAIL("%s %#x: exact size", what, name);
    if (get(object, name, size - 1, buffer, NULL) != CL_INVALID_VALUE) FAIL("%s %#x: size too small", what, name);
}

static cl_int of_platform(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetPlatformInfo(o, n, s, v, r); }
static cl_int of_device(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetDeviceInfo(o, n, s, v, r); }
static cl_int of_context(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetContextInfo(o, n, s, v, r); }
static cl_int of_queue(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetCommandQueueInfo(o, n, s, v, r); }
static cl_int of_mem(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetMemObjectInfo(o, n, s, v, r); }
static cl_int of_event(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetEventInfo(o, n, s, v, r); }
static cl_int of_profile(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetEventProfilingInfo(o, n, s, v, r); }

static cl_int of_image(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetImageInfo(o, n, s, v, r); }
static cl_int of_sampler(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetSamplerInfo(o, n, s, v, r); }
static cl_int of_pipe(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetPipeInfo(o, n, s, v, r); }
static cl_int of_program(void *o, cl_uint n, size_t s, void *v, size_t *r) {
    static unsigned char binary[1 << 16];
    // The answer holds places for the binaries, which the program provides.
    if (n == CL_PROGRAM_BINARIES && v) *(unsigned char **)v = binary;
    return clGetProgramInfo(o, n, s, v, r);
}
static cl_int of_build(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetProgramBuildInfo(o, device, n, s, v, r); }
static cl_int of_kernel(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetKernelInfo(o, n, s, v, r); }
static cl_int of_group(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetKernelWorkGroupInfo(o, device, n, s, v, r); }
static cl_int of_argument(void *o, cl_uint n, size_t s, void *v, size_t *r) { return clGetKernelArgInfo(o, 0, n, s, v, r); }
static cl_int of_sub_group(void *o, cl_uint n, size_t s, void *v, size_t *r) {
    size_t local[2] = {16, 4};
    return clGetKernelSubGroupInfo(o, device, n, n == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT ? sizeof *local : sizeof local, local, s, v, r);
}

#define ALL(what, get, object, ...) do { \
    static const cl_uint names_[] = {__VA_ARGS__}; \
    for (size_t i_ = 0; i_ < sizeof names_ / sizeof *names_; i_++) protocol(what, get, object, names_[i_]); \
    RETURNS(CL_INVALID_VALUE, get(object, 0xdead, sizeof buffer, buffer, NULL)); } while (0)

static void programs_and_kernels(void) {
    cl_program program = build("kernel void k(global const float *restrict x, local int *l, int n) { l[0] = n; }", "-cl-kernel-arg-info");
    cl_kernel kernel;
    MADE(kernel, clCreateKernel(program, "k", &err));
    ALL("program", of_program, program, CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_CONTEXT, CL_PROGRAM_NUM_DEVICES,
        CL_PROGRAM_DEVICES, CL_PROGRAM_SOURCE, CL_PROGRAM_IL, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARIES,
        CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT,
        CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT);
    ALL("build", of_build, program, CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_LOG,
        CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE);
    ALL("kernel", of_kernel, kernel, CL_KERNEL_FUNCTION_NAME, CL_KERNEL_NUM_ARGS, CL_KERNEL_REFERENCE_COUNT,
        CL_KERNEL_CONTEXT, CL_KERNEL_PROGRAM, CL_KERNEL_ATTRIBUTES);
    ALL("work-group", of_group, kernel, CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
        CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE);
    cl_uint sub_groups;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof sub_groups, &sub_groups, NULL));
    if (!sub_groups) RETURNS(CL_INVALID_OPERATION, of_sub_group(kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, NULL));
    else ALL("sub-group", of_sub_group, kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
        CL_KERNEL_MAX_NUM_SUB_GROUPS, CL_KERNEL_COMPILE_NUM_SUB_GROUPS);
    ALL("argument", of_argument, kernel, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_QUALIFIER,
        CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_NAME);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

// What the device offers only where its keys say so.
static void optional(void) {
    cl_bool images, pipes;
    cl_device_device_enqueue_capabilities queues;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_PIPE_SUPPORT, sizeof pipes, &pipes, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof queues, &queues, NULL));
    // The limits go with it.
    static const struct { cl_uint name, least; int with; } limits[] = {
        {CL_DEVICE_MAX_READ_IMAGE_ARGS, 128, 0}, {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 64, 0}, {CL_DEVICE_MAX_SAMPLERS, 16, 0},
        {CL_DEVICE_IMAGE2D_MAX_WIDTH, 16384, 0}, {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 16384, 0}, {CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048, 0},
        {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048, 0}, {CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048, 0}, {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536, 0},
        {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048, 0}, {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 1, 0},
        {CL_DEVICE_MAX_PIPE_ARGS, 16, 1}, {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 1, 1}, {CL_DEVICE_PIPE_MAX_PACKET_SIZE, 1024, 1},
        {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 16384, 2}, {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 262144, 2},
        {CL_DEVICE_MAX_ON_DEVICE_QUEUES, 1, 2}, {CL_DEVICE_MAX_ON_DEVICE_EVENTS, 1024, 2},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        size_t value = 0; // Little-endian: also where the answer has four bytes.
        OK(clGetDeviceInfo(device, limits[i].name, sizeof value, &value, NULL));
        int offered = limits[i].with == 0 ? images : limits[i].with == 1 ? pipes : queues != 0;
        if (offered ? value < limits[i].least : value != 0) FAIL("limit %#x is %zu", limits[i].name, value);
    }
    if (images) {
        cl_image_format format = {CL_RGBA, CL_FLOAT};
        cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 4, .image_height = 4, .image_array_size = 2};
        cl_mem image;
        cl_sampler sampler;
        MADE(image, clCreateImage(context, 0, &format, &desc, NULL, &err));
        for (cl_uint name = CL_IMAGE_FORMAT; name <= CL_IMAGE_NUM_SAMPLES; name++) protocol("image", of_image, image, name);
        for (cl_uint name = CL_MEM_TYPE; name <= CL_MEM_PROPERTIES; name++) protocol("image as memory", of_mem, image, name);
        MADE(sampler, clCreateSamplerWithProperties(context, NULL, &err));
        ALL("sampler", of_sampler, sampler, CL_SAMPLER_REFERENCE_COUNT, CL_SAMPLER_CONTEXT, CL_SAMPLER_NORMALIZED_COORDS,
            CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_PROPERTIES);
        OK(clReleaseSampler(sampler));
        OK(clReleaseMemObject(image));
    }
    if (pipes) {
        cl_mem pipe;
        MADE(pipe, clCreatePipe(context, 0, 8, 8, NULL, &err));
        ALL("pipe", of_pipe, pipe, CL_PIPE_PACKET_SIZE, CL_PIPE_MAX_PACKETS, CL_PIPE_PROPERTIES);
        OK(clReleaseMemObject(pipe));
    }
    if (queues) {
        cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        cl_command_queue on_device;
        MADE(on_device, clCreateCommandQueueWithProperties(context, device, list, &err));
        ALL("device queue", of_queue, on_device, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_REFERENCE_COUNT,
            CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE, CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_PROPERTIES_ARRAY);
        OK(clReleaseCommandQueue(on_device));
    }
}

int main(void) {
    open_device(CL_QUEUE_PROFILING_ENABLE);
    ALL("platform", of_platform, platform, CL_PLATFORM_PROFILE, CL_PLATFORM_VERSION, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
        CL_PLATFORM_EXTENSIONS, CL_PLATFORM_HOST_TIMER_RESOLUTION, CL_PLATFORM_NUMERIC_VERSION,
        CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_ICD_SUFFIX_KHR);
    for (cl_uint name = CL_DEVICE_TYPE; name <= CL_DEVICE_PLATFORM; name++)
        protocol("device", of_device, device, name);
    // Between the core queries lie those of cl_khr_device_uuid (0x106a to 0x106e), which is not offered.
    for (cl_uint name = CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF; name <= CL_DEVICE_PIPE_SUPPORT; name++)
        if (name < 0x106a || name > 0x106e) protocol("device", of_device, device, name);
    ALL("device", of_device, device, CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED);
    ALL("context", of_context, context, CL_CONTEXT_REFERENCE_COUNT, CL_CONTEXT_DEVICES, CL_CONTEXT_PROPERTIES,
        CL_CONTEXT_NUM_DEVICES);
    ALL("queue", of_queue, queue, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_PROPERTIES,
        CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_PROPERTIES_ARRAY);
    RETURNS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof buffer, buffer, NULL));
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_READ_ONLY, 1024, NULL, &err));
    ALL("mem", of_mem, mem, CL_MEM_TYPE, CL_MEM_FLAGS, CL_MEM_SIZE, CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT,
        CL_MEM_REFERENCE_COUNT, CL_MEM_CONTEXT, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_OFFSET, CL_MEM_USES_SVM_POINTER,
        CL_MEM_PROPERTIES);
    cl_event event;
    int value = 7;
    OK(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, &event));
    ALL("event", of_event, event, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE, CL_EVENT_REFERENCE_COUNT,
        CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_CONTEXT);
    ALL("profile", of_profile, event, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
        CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE);

    // Values that other values determine.
    cl_context of;
    cl_uint count;

    OK(clGetMemObjectInfo(mem, CL_MEM_CONTEXT, sizeof of, &of, NULL));
    TRUE_(of == context);
    OK(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof of, &of, NULL));
    TRUE_(of == context);
    OK(clRetainMemObject(mem));
    OK(clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
    TRUE_(count == 2);
    OK(clReleaseMemObject(mem));
    cl_uint bits;
    OK(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    TRUE_(bits >= 1024); // long16 (trap: it is in bits)

    cl_ulong global, most;
    OK(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    TRUE_(most >= global / 4 || most >= 128 << 20);
    TRUE_(most <= global);
    OK(clReleaseEvent(event));
    OK(clReleaseMemObject(mem));
    programs_and_kernels();
    optional();
    close_device();
    return 0;
}
