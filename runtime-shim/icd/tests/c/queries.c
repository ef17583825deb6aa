// Every info query of the objects that need no compiler, with the size protocol (value, size, both, too small).
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

#define ALL(what, get, object, ...) do { \
    static const cl_uint names_[] = {__VA_ARGS__}; \
    for (size_t i_ = 0; i_ < sizeof names_ / sizeof *names_; i_++) protocol(what, get, object, names_[i_]); \
    RETURNS(CL_INVALID_VALUE, get(object, 0xdead, sizeof buffer, buffer, NULL)); } while (0)

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
    close_device();
    return 0;
}
