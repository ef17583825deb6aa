// Errors that the programs on the areas of the API do not provoke: together they cover the specification's lists.
#include "check.h"

#define OP(length, code) ((length) << 16 | (code))
// kernel void k(global uint *o) { *o = specialization constant 7; }, without any names of arguments.
static const uint32_t constant_module[] = {
    0x07230203, 0x00010000, 0, 20, 0, OP(2, 17), 4, OP(2, 17), 6, OP(2, 17), 5, OP(3, 14), 2, 2,
    OP(4, 15), 6, 1, 'k', OP(4, 71), 2, 1, 7, OP(2, 19), 3, OP(4, 21), 4, 32, 0, OP(4, 50), 4, 2, 5, OP(4, 32), 5, 5, 4,
    OP(4, 33), 6, 3, 5, OP(5, 54), 3, 1, 0, 6, OP(3, 55), 5, 7, OP(2, 248), 8, OP(5, 62), 7, 2, 2, 4, OP(1, 253), OP(1, 56),
};
// kernel void h(read_only image2d_t, write_only image3d_t, sampler_t, queue_t, read_only pipe) {}
static const uint32_t handle_module[] = {
    0x07230203, 0x00010000, 0, 20, 0, OP(2, 17), 4, OP(2, 17), 6, OP(2, 17), 5, OP(2, 17), 13, OP(2, 17), 17, OP(2, 17), 19,
    OP(3, 14), 2, 2, OP(4, 15), 6, 1, 'h', OP(2, 19), 3, OP(10, 25), 4, 3, 1, 0, 0, 0, 0, 0, 0,
    OP(10, 25), 5, 3, 2, 0, 0, 0, 0, 0, 1, OP(2, 26), 6, OP(2, 37), 7, OP(3, 38), 8, 0,
    OP(8, 33), 9, 3, 4, 5, 6, 7, 8, OP(5, 54), 3, 1, 0, 9, OP(3, 55), 4, 10, OP(3, 55), 5, 11, OP(3, 55), 6, 12,
    OP(3, 55), 7, 13, OP(3, 55), 8, 14, OP(2, 248), 15, OP(1, 253), OP(1, 56),
};
static cl_mem mem;
static size_t size;
static cl_uint number;
static cl_ulong stamp;
static char bytes[512];
#define AS(type) ((type)(void *)queue) // A queue is none of the others.
static void CL_CALLBACK notify(const char *e, const void *p, size_t n, void *d) { (void)e, (void)p, (void)n, (void)d; }
static void CL_CALLBACK native(void *args) { (void)args; }

static cl_program from(const char *text) {
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 1, &text, NULL, &err));
    return p;
}

static void platform_and_device(void) {
    cl_device_id d;
    cl_context_properties wrong_platform[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)queue, 0};
    cl_context_properties unknown[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0x7777, 1, 0};
    RETURNS(CL_INVALID_VALUE, clGetPlatformIDs(0, NULL, NULL));
    RETURNS(CL_INVALID_PLATFORM, clGetPlatformInfo(AS(cl_platform_id), CL_PLATFORM_NAME, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetPlatformInfo(platform, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_PLATFORM, clGetDeviceIDs(AS(cl_platform_id), CL_DEVICE_TYPE_ALL, 1, &d, NULL));
    RETURNS(CL_INVALID_DEVICE, clGetDeviceInfo(AS(cl_device_id), CL_DEVICE_NAME, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_NAME, 1, bytes, NULL));
    RETURNS(CL_INVALID_DEVICE, clGetDeviceAndHostTimer(AS(cl_device_id), &stamp, &stamp));
    RETURNS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(device, NULL, &stamp));
    RETURNS(CL_INVALID_DEVICE, clGetHostTimer(AS(cl_device_id), &stamp));
    RETURNS(CL_INVALID_VALUE, clGetHostTimer(device, NULL));
    RETURNS(CL_INVALID_DEVICE, clCreateSubDevices(AS(cl_device_id), unknown, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clCreateSubDevices(device, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_DEVICE, clRetainDevice(AS(cl_device_id)));
    RETURNS(CL_INVALID_DEVICE, clReleaseDevice(AS(cl_device_id)));
    REFUSES(CL_INVALID_PLATFORM, clCreateContext(wrong_platform, 1, &device, NULL, NULL, &err));
    REFUSES(CL_INVALID_PLATFORM, clCreateContextFromType(wrong_platform, CL_DEVICE_TYPE_ALL, NULL, NULL, &err));
    REFUSES(CL_INVALID_PROPERTY, clCreateContextFromType(unknown, CL_DEVICE_TYPE_ALL, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateContextFromType(NULL, CL_DEVICE_TYPE_ALL, NULL, &size, &err));
    REFUSES(CL_INVALID_DEVICE_TYPE, clCreateContextFromType(NULL, 1 << 20, NULL, NULL, &err));
    REFUSES(CL_DEVICE_NOT_FOUND, clCreateContextFromType(NULL, CL_DEVICE_TYPE_CPU, notify, NULL, &err));
    RETURNS(CL_INVALID_CONTEXT, clReleaseContext(AS(cl_context)));
    RETURNS(CL_INVALID_VALUE, clGetContextInfo(context, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_CONTEXT, clSetContextDestructorCallback(AS(cl_context), NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clSetContextDestructorCallback(context, NULL, NULL));
}

static void queues_and_events(void) {
    cl_command_queue no_queue = (cl_command_queue)(void *)context;
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0};
    cl_context other;
    cl_event mine, events[2];
    REFUSES(CL_INVALID_CONTEXT, clCreateCommandQueueWithProperties(AS(cl_context), device, NULL, &err));
    REFUSES(CL_INVALID_DEVICE, clCreateCommandQueueWithProperties(context, AS(cl_device_id), NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list, &err));
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1 << 20, &err));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue(no_queue));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(no_queue));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(no_queue, CL_QUEUE_CONTEXT, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, 0x7777, 0, NULL, &size));
    REFUSES(CL_INVALID_CONTEXT, clCreateUserEvent(AS(cl_context), &err));
    MADE(mine, clCreateUserEvent(context, &err));
    RETURNS(CL_INVALID_EVENT, clSetUserEventStatus(AS(cl_event), CL_COMPLETE));
    RETURNS(CL_INVALID_VALUE, clSetUserEventStatus(mine, CL_RUNNING));
    OK(clSetUserEventStatus(mine, CL_COMPLETE));
    RETURNS(CL_INVALID_OPERATION, clSetUserEventStatus(mine, CL_COMPLETE));
    MADE(other, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    events[0] = mine;
    MADE(events[1], clCreateUserEvent(other, &err));
    OK(clSetUserEventStatus(events[1], CL_COMPLETE));
    RETURNS(CL_INVALID_VALUE, clWaitForEvents(0, events));
    RETURNS(CL_INVALID_CONTEXT, clWaitForEvents(2, events));
    RETURNS(CL_INVALID_EVENT, clGetEventInfo(AS(cl_event), CL_EVENT_CONTEXT, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetEventInfo(mine, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_EVENT, clSetEventCallback(AS(cl_event), CL_COMPLETE, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clSetEventCallback(mine, CL_COMPLETE, NULL, NULL));
    RETURNS(CL_INVALID_EVENT, clReleaseEvent(AS(cl_event)));
    RETURNS(CL_INVALID_EVENT, clGetEventProfilingInfo(AS(cl_event), CL_PROFILING_COMMAND_END, 8, &stamp, NULL));
    RETURNS(CL_PROFILING_INFO_NOT_AVAILABLE, clGetEventProfilingInfo(mine, CL_PROFILING_COMMAND_END, 8, &stamp, NULL));
    OK(clReleaseEvent(mine));
    cl_event done;
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &done));
    OK(clWaitForEvents(1, &done));
    RETURNS(CL_INVALID_VALUE, clGetEventProfilingInfo(done, 0x7777, 8, &stamp, NULL));
    RETURNS(CL_INVALID_VALUE, clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, 4, &stamp, NULL));
    OK(clReleaseEvent(done));
    OK(clReleaseEvent(events[1]));
    OK(clReleaseContext(other));
}

static void memory(void) {
    cl_mem part, read_only;
    cl_ulong most;
    size_t zero[3] = {0}, region[3] = {8, 2, 1}, empty[3] = {8, 0, 1}, shift[3] = {4, 0, 0};
    cl_buffer_region good = {128, 64}, none = {0, 0}, odd = {4, 4}, outside = {128, 4096};
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    REFUSES(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, most + 1, NULL, &err));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 4, bytes, &err));
    REFUSES(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, (cl_mem_properties[]){1, 2, 0}, 0, 4, NULL, &err));
    REFUSES(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(AS(cl_mem), 0, CL_BUFFER_CREATE_TYPE_REGION, &good, &err));
    MADE(part, clCreateSubBuffer(mem, CL_MEM_HOST_NO_ACCESS, CL_BUFFER_CREATE_TYPE_REGION, &good, &err));
    REFUSES(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, 0x7777, &good, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(mem, CL_MEM_USE_HOST_PTR, CL_BUFFER_CREATE_TYPE_REGION, &good, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &err));
    REFUSES(CL_MISALIGNED_SUB_BUFFER_OFFSET, clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &err));
    MADE(read_only, clCreateBuffer(context, CL_MEM_HOST_READ_ONLY, 256, NULL, &err));
    // Every transfer of buffers: no object, out of bounds, NULL, denied to the host.
    cl_mem no = AS(cl_mem);
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, no, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, mem, CL_TRUE, 510, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_OPERATION, clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueWriteBuffer(queue, no, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueWriteBuffer(queue, mem, CL_TRUE, SIZE_MAX, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, read_only, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBufferRect(queue, no, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, mem, CL_TRUE, zero, zero, empty, 0, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, mem, CL_TRUE, zero, zero, region, 4, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_OPERATION, clEnqueueReadBufferRect(queue, part, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueWriteBufferRect(queue, no, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueWriteBufferRect(queue, mem, CL_TRUE, zero, zero, region, 8, 12, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_OPERATION, clEnqueueWriteBufferRect(queue, read_only, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(queue, mem, no, 0, 0, 4, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueCopyBuffer(queue, mem, part, 0, 62, 4, 0, NULL, NULL));
    RETURNS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, mem, part, 126, 0, 4, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBufferRect(queue, no, mem, zero, zero, region, 0, 0, 0, 0, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(queue, mem, mem, zero, shift, region, 16, 32, 32, 64, 0, NULL, NULL));
    RETURNS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(queue, mem, mem, zero, shift, region, 0, 0, 0, 0, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueFillBuffer(queue, no, bytes, 4, 0, 16, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, mem, bytes, 3, 0, 12, 0, NULL, NULL));
    REFUSES(CL_INVALID_MEM_OBJECT, clEnqueueMapBuffer(queue, no, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 0, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_OPERATION, clEnqueueMapBuffer(queue, read_only, CL_TRUE, CL_MAP_WRITE, 0, 4, 0, NULL, NULL, &err));
    void *p = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_WRITE, 0, 8, 0, NULL, NULL, &err);
    REFUSES(CL_INVALID_OPERATION, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_WRITE, 4, 8, 0, NULL, NULL, &err));
    OK(clEnqueueUnmapMemObject(queue, mem, p, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(queue, no, p, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, mem, p, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 0, &mem, 0, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 1, &mem, 1 << 9, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueMigrateMemObjects(queue, 1, &no, 0, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetMemObjectInfo(no, CL_MEM_SIZE, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetMemObjectInfo(mem, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_MEM_OBJECT, clSetMemObjectDestructorCallback(no, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(mem, NULL, NULL));
    // More than there is, by objects that are each allowed.
    cl_mem many[64];
    cl_uint n = 0;
    while (n < 64 && (many[n] = clCreateBuffer(context, 0, most, NULL, &err))) n++;
    REFUSES(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreateBuffer(context, 0, most, NULL, &err));
    cl_bool images, pipes;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_PIPE_SUPPORT, sizeof pipes, &pipes, NULL));
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8192, .image_height = most / 16 / 8192};
    if (images) REFUSES(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreateImage(context, 0, &format, &d, NULL, &err));
    if (pipes) REFUSES(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreatePipe(context, 0, 1024, (cl_uint)(most / 1024), NULL, &err));
    while (n-- > 0) OK(clReleaseMemObject(many[n]));
    if (images) {
        cl_mem image;
        size_t row, one[3] = {1, 1, 1};
        d.image_height = 4;
        MADE(image, clCreateImage(context, CL_MEM_HOST_NO_ACCESS, &format, &d, NULL, &err));
        RETURNS(CL_INVALID_CONTEXT, clGetSupportedImageFormats(AS(cl_context), 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &number));
        RETURNS(CL_INVALID_OPERATION, clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
        RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadImage(queue, no, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
        RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueWriteImage(queue, mem, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
        RETURNS(CL_INVALID_VALUE, clEnqueueWriteImage(queue, image, CL_TRUE, zero, empty, 0, 0, bytes, 0, NULL, NULL));
        RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueCopyImage(queue, image, mem, zero, zero, one, 0, NULL, NULL));
        RETURNS(CL_INVALID_VALUE, clEnqueueCopyImage(queue, image, image, zero, NULL, one, 0, NULL, NULL));
        RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBufferToImage(queue, image, image, 0, zero, one, 0, NULL, NULL));
        RETURNS(CL_INVALID_VALUE, clEnqueueCopyBufferToImage(queue, mem, image, 508, zero, one, 0, NULL, NULL));
        REFUSES(CL_INVALID_MEM_OBJECT, clEnqueueMapImage(queue, mem, CL_TRUE, CL_MAP_READ, zero, one, &row, NULL, 0, NULL, NULL, &err));
        RETURNS(CL_INVALID_VALUE, clGetImageInfo(image, 0x7777, 0, NULL, &size));
        REFUSES(CL_INVALID_CONTEXT, clCreateSamplerWithProperties(AS(cl_context), NULL, &err));
        OK(clReleaseMemObject(image));
    }
    OK(clReleaseMemObject(part));
    OK(clReleaseMemObject(read_only));
}

static void programs(void) {
    cl_program p, il, no = AS(cl_program), objects[2];
    const char *text = "", *name = "x.h";
    const unsigned char *binary = (const unsigned char *)bytes;
    size_t length = 0;
    cl_uint value = 3;
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithSource(AS(cl_context), 1, &text, NULL, &err));
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithIL(AS(cl_context), constant_module, sizeof constant_module, &err));
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithBinary(AS(cl_context), 1, &device, &length, &binary, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 1, &device, &length, &binary, NULL, &err));
    REFUSES(CL_INVALID_DEVICE, clCreateProgramWithBinary(context, 1, (cl_device_id *)&queue, &length, &binary, NULL, &err));
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithBuiltInKernels(AS(cl_context), 1, &device, "k", &err));
    REFUSES(CL_INVALID_DEVICE, clCreateProgramWithBuiltInKernels(context, 1, (cl_device_id *)&queue, "k", &err));
    RETURNS(CL_INVALID_PROGRAM, clRetainProgram(no));
    RETURNS(CL_INVALID_PROGRAM, clReleaseProgram(no));
    RETURNS(CL_INVALID_PROGRAM, clSetProgramReleaseCallback(no, NULL, NULL));
    p = from("kernel void k(global uint *o) { *o = 1; }");
    RETURNS(CL_INVALID_VALUE, clSetProgramReleaseCallback(p, NULL, NULL));
    MADE(il, clCreateProgramWithIL(context, constant_module, sizeof constant_module, &err));
    RETURNS(CL_INVALID_PROGRAM, clSetProgramSpecializationConstant(p, 7, 4, &value));
    RETURNS(CL_INVALID_SPEC_ID, clSetProgramSpecializationConstant(il, 8, 4, &value));
    RETURNS(CL_INVALID_VALUE, clSetProgramSpecializationConstant(il, 7, 8, &value));
    RETURNS(CL_INVALID_VALUE, clSetProgramSpecializationConstant(il, 7, 4, NULL));
    OK(clSetProgramSpecializationConstant(il, 7, 4, &value));
    RETURNS(CL_INVALID_DEVICE, clBuildProgram(p, 1, (cl_device_id *)&queue, NULL, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clBuildProgram(p, 0, NULL, NULL, NULL, &size));
    RETURNS(CL_INVALID_PROGRAM, clCompileProgram(no, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    RETURNS(CL_INVALID_DEVICE, clCompileProgram(p, 1, (cl_device_id *)&queue, NULL, 0, NULL, NULL, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 0, &p, &name, NULL, NULL));
    RETURNS(CL_INVALID_COMPILER_OPTIONS, clCompileProgram(p, 0, NULL, "-what", 0, NULL, NULL, NULL, NULL));
    OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    // A binary has nothing to compile.
    unsigned char *compiled;
    cl_program from_binary;
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL));
    compiled = malloc(length);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof compiled, &compiled, NULL));
    MADE(from_binary, clCreateProgramWithBinary(context, 1, &device, &length, (const unsigned char **)&compiled, NULL, &err));
    RETURNS(CL_INVALID_OPERATION, clCompileProgram(from_binary, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    OK(clReleaseProgram(from_binary));
    free(compiled);
    REFUSES(CL_INVALID_CONTEXT, clLinkProgram(AS(cl_context), 0, NULL, NULL, 1, &p, NULL, NULL, &err));
    REFUSES(CL_INVALID_DEVICE, clLinkProgram(context, 1, (cl_device_id *)&queue, NULL, 1, &p, NULL, NULL, &err));
    REFUSES(CL_INVALID_PROGRAM, clLinkProgram(context, 0, NULL, NULL, 1, &no, NULL, NULL, &err));
    objects[0] = objects[1] = p; // One kernel twice.
    cl_program failed = clLinkProgram(context, 0, NULL, NULL, 2, objects, NULL, NULL, &err);
    TRUE_(err == CL_LINK_PROGRAM_FAILURE);
    if (failed) OK(clReleaseProgram(failed)); // It may be returned for its log.
    provoked("clLinkProgram(", "CL_LINK_PROGRAM_FAILURE");
    RETURNS(CL_INVALID_PROGRAM, clGetProgramInfo(no, CL_PROGRAM_SOURCE, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetProgramInfo(p, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_PROGRAM, clGetProgramBuildInfo(no, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    RETURNS(CL_INVALID_DEVICE, clGetProgramBuildInfo(p, AS(cl_device_id), CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetProgramBuildInfo(p, device, 0x7777, 0, NULL, &size));
    REFUSES(CL_INVALID_PROGRAM, clCreateKernel(no, "k", &err));
    RETURNS(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(il, 0, NULL, &number));
    OK(clBuildProgram(il, 0, NULL, NULL, NULL, NULL));
    REFUSES(CL_INVALID_KERNEL_NAME, clCreateKernel(il, "other", &err));
    REFUSES(CL_INVALID_VALUE, clCreateKernel(il, NULL, &err));
    cl_kernel k;
    RETURNS(CL_INVALID_PROGRAM, clCreateKernelsInProgram(no, 1, &k, NULL));
    RETURNS(CL_INVALID_VALUE, clCreateKernelsInProgram(il, 0, &k, NULL));
    // Without names in the module there is nothing to tell about arguments.
    MADE(k, clCreateKernel(il, "k", &err));
    RETURNS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof bytes, bytes, NULL));
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    OK(clEnqueueTask(queue, k, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    TRUE_(bytes[0] == 3);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(il));
    OK(clReleaseProgram(p));
}

static void kernels(void) {
    cl_program p = build("kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(global uint *o) { *o = 1; }\n"
                         "kernel void k(global uint *o, local uint *l, uint v, constant uint *c) { *o = v; }", NULL);
    cl_kernel k, fixed, no = AS(cl_kernel);
    size_t global = 32, wrong = 16, most[3], group, big[3] = {1, 1, 1}, far = SIZE_MAX, input[3] = {8, 1, 1};
    MADE(k, clCreateKernel(p, "k", &err));
    MADE(fixed, clCreateKernel(p, "fixed", &err));
    RETURNS(CL_INVALID_KERNEL, clRetainKernel(no));
    RETURNS(CL_INVALID_KERNEL, clReleaseKernel(no));
    REFUSES(CL_INVALID_KERNEL, clCloneKernel(no, &err));
    RETURNS(CL_INVALID_ARG_INDEX, clSetKernelArg(k, 4, 4, bytes));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &mem));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 1, 0, NULL));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2, 8, bytes));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 1, 16, bytes));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2, 4, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof queue, &queue));
    RETURNS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(no, 0, bytes));
    RETURNS(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(k, 4, bytes));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 2, bytes));
    cl_bool yes = CL_TRUE;
    RETURNS(CL_INVALID_KERNEL, clSetKernelExecInfo(no, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof mem, &mem));
    RETURNS(CL_INVALID_VALUE, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 3, &mem));
    RETURNS(CL_INVALID_VALUE, clSetKernelExecInfo(k, 0x7777, sizeof mem, &mem));
    RETURNS(CL_INVALID_OPERATION, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes));
    RETURNS(CL_INVALID_KERNEL, clGetKernelInfo(no, CL_KERNEL_NUM_ARGS, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetKernelInfo(k, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_KERNEL, clGetKernelWorkGroupInfo(no, device, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size));
    RETURNS(CL_INVALID_DEVICE, clGetKernelWorkGroupInfo(k, AS(cl_device_id), CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(k, device, CL_KERNEL_GLOBAL_WORK_SIZE, 0, NULL, &size));
    cl_kernel_sub_group_info count = CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    RETURNS(CL_INVALID_KERNEL, clGetKernelSubGroupInfo(no, device, count, sizeof input, input, 0, NULL, &size));
    RETURNS(CL_INVALID_DEVICE, clGetKernelSubGroupInfo(k, AS(cl_device_id), count, sizeof input, input, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(k, device, 0x7777, sizeof input, input, 0, NULL, &size));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof number, &number, NULL));
    if (number) {
        RETURNS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(k, device, count, 5, input, 0, NULL, &size));
        RETURNS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(k, device, count, sizeof input, NULL, 0, NULL, &size));
    }
    RETURNS(CL_INVALID_KERNEL, clGetKernelArgInfo(no, 0, CL_KERNEL_ARG_NAME, 0, NULL, &size));
    RETURNS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(k, 4, CL_KERNEL_ARG_NAME, 0, NULL, &size));
    RETURNS(CL_INVALID_VALUE, clGetKernelArgInfo(k, 0, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(queue, no, 1, NULL, &global, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clSetKernelArg(fixed, 0, sizeof mem, &mem));
    RETURNS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, fixed, 4, NULL, &global, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &global, &wrong, 0, NULL, NULL));
    RETURNS(CL_INVALID_GLOBAL_OFFSET, clEnqueueNDRangeKernel(queue, fixed, 1, &far, &global, NULL, 0, NULL, NULL));
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    OK(clSetKernelArg(k, 1, 16, NULL));
    OK(clSetKernelArg(k, 2, 4, bytes));
    OK(clSetKernelArg(k, 3, sizeof mem, &mem));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof most, most, NULL));
    OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL));
    big[0] = 2 * most[0];
    RETURNS(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(queue, k, 1, NULL, big, big, 0, NULL, NULL));
    big[0] = group, big[1] = 2;
    RETURNS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, k, 2, NULL, big, big, 0, NULL, NULL));
    size_t uneven = 33, eight = 8;
    RETURNS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, k, 1, NULL, &uneven, &eight, 0, NULL, NULL));
    const void *place = bytes;
    RETURNS(CL_INVALID_VALUE, clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueNativeKernel(queue, native, bytes, 0, 0, NULL, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueNativeKernel(queue, native, bytes, 8, 1, NULL, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueNativeKernel(queue, native, bytes, 8, 1, (cl_mem *)&queue, &place, 0, NULL, NULL));
    OK(clReleaseKernel(k));
    OK(clReleaseKernel(fixed));
    OK(clReleaseProgram(p));
}

// Parameters that are handles: images, samplers, queues, pipes.
static void handle_arguments(void) {
    cl_program p;
    cl_kernel k;
    cl_mem plane, pipe;
    cl_sampler sampler;
    cl_command_queue on_device;
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    MADE(p, clCreateProgramWithIL(context, handle_module, sizeof handle_module, &err));
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    MADE(k, clCreateKernel(p, "h", &err));
    cl_kernel_arg_access_qualifier access;
    OK(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    TRUE_(access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2, 4, bytes));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2, 8, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof mem, &mem));
    RETURNS(CL_INVALID_SAMPLER, clSetKernelArg(k, 2, sizeof mem, &mem));
    RETURNS(CL_INVALID_DEVICE_QUEUE, clSetKernelArg(k, 3, sizeof queue, &queue));
    RETURNS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 4, sizeof mem, &mem));
    MADE(plane, clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &d, NULL, &err));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 0, sizeof plane, &plane)); // read_only
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 1, sizeof plane, &plane)); // 3D
    OK(clReleaseMemObject(plane));
    cl_mem volume;
    MADE(plane, clCreateImage(context, CL_MEM_READ_ONLY, &format, &d, NULL, &err));
    d.image_type = CL_MEM_OBJECT_IMAGE3D, d.image_depth = 4;
    MADE(volume, clCreateImage(context, 0, &format, &d, NULL, &err));
    MADE(sampler, clCreateSamplerWithProperties(context, NULL, &err));
    MADE(on_device, clCreateCommandQueueWithProperties(context, device, list, &err));
    MADE(pipe, clCreatePipe(context, 0, 4, 4, NULL, &err));
    OK(clSetKernelArg(k, 0, sizeof plane, &plane));
    OK(clSetKernelArg(k, 1, sizeof volume, &volume));
    OK(clSetKernelArg(k, 2, sizeof sampler, &sampler));
    OK(clSetKernelArg(k, 3, sizeof on_device, &on_device));
    OK(clSetKernelArg(k, 4, sizeof pipe, &pipe));
    size_t one = 1;
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL)); // It only takes them.
    OK(clFinish(queue));
    OK(clReleaseMemObject(volume));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    cl_mem all[] = {plane, pipe};
    for (int i = 0; i < 2; i++) OK(clReleaseMemObject(all[i]));
    OK(clReleaseSampler(sampler));
    OK(clReleaseCommandQueue(on_device));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    // One that looks behind them does not build, and the log says where.
    static char log[1 << 14];
    p = from("kernel void reads(read_only image2d_t i, sampler_t s, global float4 *o) { *o = read_imagef(i, s, (int2)(0, 0)); }");
    RETURNS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    TRUE_(strstr(log, "Image"));
    OK(clReleaseProgram(p));
}

static void without_tools(void) {
    cl_program p = from("kernel void k(void) {}"), objects[2];
    RETURNS(CL_COMPILER_NOT_AVAILABLE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    RETURNS(CL_COMPILER_NOT_AVAILABLE, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        MADE(objects[i], clCreateProgramWithIL(context, constant_module, sizeof constant_module, &err));
        OK(clCompileProgram(objects[i], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    }
    cl_program linked = clLinkProgram(context, 0, NULL, NULL, 2, objects, NULL, NULL, &err);
    TRUE_(err == CL_LINKER_NOT_AVAILABLE);
    if (linked) OK(clReleaseProgram(linked));
    provoked("clLinkProgram(", "CL_LINKER_NOT_AVAILABLE");
    for (int i = 0; i < 2; i++) OK(clReleaseProgram(objects[i]));
    OK(clReleaseProgram(p));
}

int main(void) {
    open_device(CL_QUEUE_PROFILING_ENABLE);
    MADE(mem, clCreateBuffer(context, 0, 512, NULL, &err));
    cl_bool images;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (getenv("WITHOUT_TOOLS")) {
        without_tools();
    } else {
        platform_and_device();
        queues_and_events();
        memory();
        programs();
        kernels();
        if (images) handle_arguments();
    }
    OK(clReleaseMemObject(mem));
    close_device();
    return 0;
}
