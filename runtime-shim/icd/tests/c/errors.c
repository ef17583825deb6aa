// Every enqueue call: wrong queues, wait lists and contexts are refused in the same way, and an error leaves no trace.
#include "check.h"

static cl_mem a, b, foreign_mem;
static cl_event foreign_event;
static cl_command_queue foreign_queue;
static char bytes[256];
static uint32_t *shared;
static void CL_CALLBACK nothing(void *args) { (void)args; }

#define WAIT cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e
static size_t zero[3], region[3] = {8, 2, 1};
static cl_int read_(WAIT) { return clEnqueueReadBuffer(q, a, CL_FALSE, 0, 16, bytes, n, w, e); }
static cl_int write_(WAIT) { return clEnqueueWriteBuffer(q, a, CL_FALSE, 0, 16, bytes, n, w, e); }
static cl_int copy_(WAIT) { return clEnqueueCopyBuffer(q, a, b, 0, 0, 16, n, w, e); }
static cl_int fill_(WAIT) { return clEnqueueFillBuffer(q, a, bytes, 4, 0, 16, n, w, e); }
static cl_int read_rect(WAIT) { return clEnqueueReadBufferRect(q, a, CL_FALSE, zero, zero, region, 0, 0, 0, 0, bytes, n, w, e); }
static cl_int write_rect(WAIT) { return clEnqueueWriteBufferRect(q, a, CL_FALSE, zero, zero, region, 0, 0, 0, 0, bytes, n, w, e); }
static cl_int copy_rect(WAIT) { return clEnqueueCopyBufferRect(q, a, b, zero, zero, region, 0, 0, 0, 0, n, w, e); }
static cl_int migrate(WAIT) { return clEnqueueMigrateMemObjects(q, 1, &a, 0, n, w, e); }
static cl_int native(WAIT) { return clEnqueueNativeKernel(q, nothing, NULL, 0, 0, NULL, NULL, n, w, e); }
static cl_int marker(WAIT) { return clEnqueueMarkerWithWaitList(q, n, w, e); }
static cl_int barrier(WAIT) { return clEnqueueBarrierWithWaitList(q, n, w, e); }
static cl_int map(WAIT) {
    void *p = clEnqueueMapBuffer(q, a, CL_FALSE, CL_MAP_READ, 0, 16, n, w, e, &err);
    if (err == CL_SUCCESS) OK(clEnqueueUnmapMemObject(q, a, p, 0, NULL, NULL));
    return err;
}
static cl_int svm_copy(WAIT) { return clEnqueueSVMMemcpy(q, CL_FALSE, shared, bytes, 16, n, w, e); }
static cl_int svm_fill(WAIT) { return clEnqueueSVMMemFill(q, shared, bytes, 4, 16, n, w, e); }
static cl_int svm_map(WAIT) { return clEnqueueSVMMap(q, CL_FALSE, CL_MAP_READ, shared, 16, n, w, e); }
static cl_int svm_unmap(WAIT) { return clEnqueueSVMUnmap(q, shared, n, w, e); }
static cl_int svm_free(WAIT) { return clEnqueueSVMFree(q, 0, NULL, NULL, NULL, n, w, e); }

static const struct {
    const char *name;
    cl_int (*call)(WAIT);
    cl_command_type type;
    int takes_mem;
} calls[] = {
    {"read", read_, CL_COMMAND_READ_BUFFER, 1}, {"write", write_, CL_COMMAND_WRITE_BUFFER, 1},
    {"copy", copy_, CL_COMMAND_COPY_BUFFER, 1}, {"fill", fill_, CL_COMMAND_FILL_BUFFER, 1},
    {"read rect", read_rect, CL_COMMAND_READ_BUFFER_RECT, 1}, {"write rect", write_rect, CL_COMMAND_WRITE_BUFFER_RECT, 1},
    {"copy rect", copy_rect, CL_COMMAND_COPY_BUFFER_RECT, 1}, {"migrate", migrate, CL_COMMAND_MIGRATE_MEM_OBJECTS, 1},
    {"native", native, CL_COMMAND_NATIVE_KERNEL, 0}, {"marker", marker, CL_COMMAND_MARKER, 0},
    {"barrier", barrier, CL_COMMAND_BARRIER, 0}, {"map", map, CL_COMMAND_MAP_BUFFER, 1},
    {"svm copy", svm_copy, CL_COMMAND_SVM_MEMCPY, 0}, {"svm fill", svm_fill, CL_COMMAND_SVM_MEMFILL, 0},
    {"svm map", svm_map, CL_COMMAND_SVM_MAP, 0}, {"svm unmap", svm_unmap, CL_COMMAND_SVM_UNMAP, 0},
    {"svm free", svm_free, CL_COMMAND_SVM_FREE, 0},
};

static void expect(const char *name, const char *what, cl_int wanted, cl_int got) {
    if (wanted != got) FAIL("%s, %s: %d instead of %d", name, what, got, wanted);
}

int main(void) {
    open_device(0);
    cl_context foreign;
    MADE(foreign, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    MADE(foreign_queue, clCreateCommandQueue(foreign, device, 0, &err));
    MADE(foreign_mem, clCreateBuffer(foreign, 0, 256, NULL, &err));
    MADE(foreign_event, clCreateUserEvent(foreign, &err));
    MADE(a, clCreateBuffer(context, 0, 256, NULL, &err));
    MADE(b, clCreateBuffer(context, 0, 256, NULL, &err));
    shared = clSVMAlloc(context, 0, 256, 0);
    TRUE_(shared);
    cl_event good, event, wrong = (cl_event)a;
    MADE(good, clCreateUserEvent(context, &err));
    OK(clSetUserEventStatus(good, CL_COMPLETE));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *name = calls[i].name;
        expect(name, "wrong queue", CL_INVALID_COMMAND_QUEUE, calls[i].call((cl_command_queue)context, 0, NULL, NULL));
        expect(name, "NULL list", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 1, NULL, NULL));
        expect(name, "empty list", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 0, &good, NULL));
        expect(name, "no event", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 1, &wrong, NULL));
        expect(name, "foreign event", CL_INVALID_CONTEXT, calls[i].call(queue, 1, &foreign_event, NULL));
        if (calls[i].takes_mem) expect(name, "foreign queue", CL_INVALID_CONTEXT, calls[i].call(foreign_queue, 0, NULL, NULL));
        expect(name, "right", CL_SUCCESS, calls[i].call(queue, 1, &good, &event));
        cl_command_type type;
        OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        expect(name, "type", (cl_int)calls[i].type, (cl_int)type);
        OK(clWaitForEvents(1, &event));
        OK(clReleaseEvent(event));
    }
    // Without images, pipes, sub-devices and device queues, their calls refuse as the specification says.
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    REFUSES(CL_INVALID_OPERATION, clCreateImage(context, 0, &format, &desc, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, NULL, &desc, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &format, NULL, NULL, &err));
    REFUSES(CL_INVALID_OPERATION, clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
    REFUSES(CL_INVALID_OPERATION, clCreatePipe(context, 0, 4, 16, NULL, &err));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetImageInfo(a, CL_IMAGE_WIDTH, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(a, CL_PIPE_PACKET_SIZE, 0, NULL, NULL));
    cl_device_partition_property split[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0};
    RETURNS(CL_INVALID_VALUE, clCreateSubDevices(device, split, 0, NULL, NULL));
    // Devices, platforms, contexts.
    cl_uint n;
    RETURNS(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, NULL));
    RETURNS(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
    RETURNS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 1 << 20, 0, NULL, &n));
    RETURNS(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 0, NULL, &n));
    cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, CL_CONTEXT_PLATFORM,
        (cl_context_properties)platform, 0}, unknown[] = {0x7777, 1, 0};
    REFUSES(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &device, NULL, NULL, &err));
    REFUSES(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 0, &device, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 1, &device, NULL, &n, &err));
    OK(clReleaseEvent(good)); OK(clReleaseEvent(foreign_event));
    clSVMFree(context, shared);
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(b)); OK(clReleaseMemObject(foreign_mem));
    OK(clReleaseCommandQueue(foreign_queue)); OK(clReleaseContext(foreign));
    close_device();
    return 0;
}
