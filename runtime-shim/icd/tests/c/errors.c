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

static cl_mem image;
static cl_kernel kernel;
static size_t one[3] = {1, 1, 1}, far[3] = {4, 0, 0};
static cl_int read_image(WAIT) { return clEnqueueReadImage(q, image, CL_FALSE, zero, one, 0, 0, bytes, n, w, e); }
static cl_int write_image(WAIT) { return clEnqueueWriteImage(q, image, CL_FALSE, zero, one, 0, 0, bytes, n, w, e); }
static cl_int copy_image(WAIT) { return clEnqueueCopyImage(q, image, image, zero, far, one, n, w, e); }
static cl_int fill_image(WAIT) { return clEnqueueFillImage(q, image, bytes, zero, one, n, w, e); }
static cl_int image_to_buffer(WAIT) { return clEnqueueCopyImageToBuffer(q, image, a, zero, one, 0, n, w, e); }
static cl_int buffer_to_image(WAIT) { return clEnqueueCopyBufferToImage(q, a, image, 0, zero, one, n, w, e); }
static cl_int map_image(WAIT) {
    size_t row;
    void *p = clEnqueueMapImage(q, image, CL_FALSE, CL_MAP_READ, zero, one, &row, NULL, n, w, e, &err);
    if (err == CL_SUCCESS) OK(clEnqueueUnmapMemObject(queue, image, p, 0, NULL, NULL));
    return err;
}
static cl_int unmap(WAIT) {
    void *p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err);
    cl_int r = clEnqueueUnmapMemObject(q, a, p, n, w, e);
    if (r != CL_SUCCESS) OK(clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL));
    return r;
}
static cl_int svm_migrate(WAIT) { return clEnqueueSVMMigrateMem(q, 1, (const void **)&shared, NULL, 0, n, w, e); }
static cl_int range(WAIT) { return clEnqueueNDRangeKernel(q, kernel, 1, NULL, one, NULL, n, w, e); }
static cl_int task(WAIT) { return clEnqueueTask(q, kernel, n, w, e); }

static const struct {
    const char *name;
    cl_int (*call)(WAIT);
    cl_command_type type;
    int takes_object;
    int takes_image;
} calls[] = {
    {"clEnqueueReadBuffer", read_, CL_COMMAND_READ_BUFFER, 1, 0},
    {"clEnqueueWriteBuffer", write_, CL_COMMAND_WRITE_BUFFER, 1, 0},
    {"clEnqueueCopyBuffer", copy_, CL_COMMAND_COPY_BUFFER, 1, 0},
    {"clEnqueueFillBuffer", fill_, CL_COMMAND_FILL_BUFFER, 1, 0},
    {"clEnqueueReadBufferRect", read_rect, CL_COMMAND_READ_BUFFER_RECT, 1, 0},
    {"clEnqueueWriteBufferRect", write_rect, CL_COMMAND_WRITE_BUFFER_RECT, 1, 0},
    {"clEnqueueCopyBufferRect", copy_rect, CL_COMMAND_COPY_BUFFER_RECT, 1, 0},
    {"clEnqueueMigrateMemObjects", migrate, CL_COMMAND_MIGRATE_MEM_OBJECTS, 1, 0},
    {"clEnqueueNativeKernel", native, CL_COMMAND_NATIVE_KERNEL, 0, 0},
    {"clEnqueueMarkerWithWaitList", marker, CL_COMMAND_MARKER, 0, 0},
    {"clEnqueueBarrierWithWaitList", barrier, CL_COMMAND_BARRIER, 0, 0},
    {"clEnqueueMapBuffer", map, CL_COMMAND_MAP_BUFFER, 1, 0},
    {"clEnqueueUnmapMemObject", unmap, CL_COMMAND_UNMAP_MEM_OBJECT, 1, 0},
    {"clEnqueueSVMMemcpy", svm_copy, CL_COMMAND_SVM_MEMCPY, 0, 0},
    {"clEnqueueSVMMemFill", svm_fill, CL_COMMAND_SVM_MEMFILL, 0, 0},
    {"clEnqueueSVMMap", svm_map, CL_COMMAND_SVM_MAP, 0, 0},
    {"clEnqueueSVMUnmap", svm_unmap, CL_COMMAND_SVM_UNMAP, 0, 0},
    {"clEnqueueSVMFree", svm_free, CL_COMMAND_SVM_FREE, 0, 0},
    {"clEnqueueSVMMigrateMem", svm_migrate, CL_COMMAND_SVM_MIGRATE_MEM, 0, 0},
    {"clEnqueueNDRangeKernel", range, CL_COMMAND_NDRANGE_KERNEL, 1, 0},
    {"clEnqueueTask", task, CL_COMMAND_TASK, 1, 0},
    {"clEnqueueReadImage", read_image, CL_COMMAND_READ_IMAGE, 1, 1},
    {"clEnqueueWriteImage", write_image, CL_COMMAND_WRITE_IMAGE, 1, 1},
    {"clEnqueueCopyImage", copy_image, CL_COMMAND_COPY_IMAGE, 1, 1},
    {"clEnqueueFillImage", fill_image, CL_COMMAND_FILL_IMAGE, 1, 1},
    {"clEnqueueCopyImageToBuffer", image_to_buffer, CL_COMMAND_COPY_IMAGE_TO_BUFFER, 1, 1},
    {"clEnqueueCopyBufferToImage", buffer_to_image, CL_COMMAND_COPY_BUFFER_TO_IMAGE, 1, 1},
    {"clEnqueueMapImage", map_image, CL_COMMAND_MAP_IMAGE, 1, 1},
};

static void expect(const char *name, const char *what, cl_int wanted, cl_int got) {
    if (wanted != got) FAIL("%s, %s: %d instead of %d", name, what, got, wanted);
}
#define EXPECT(name, what, code, call) (expect(name, what, code, call), provoked(name, #code))

// Blocking calls whose wait list has a failed event.
static void after_a_failure(void) {
    cl_event failed;
    size_t row;
    MADE(failed, clCreateUserEvent(context, &err));
    OK(clSetUserEventStatus(failed, -7));
#define FAILS(call) RETURNS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, call)
    FAILS(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 16, bytes, 1, &failed, NULL));
    FAILS(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, 16, bytes, 1, &failed, NULL));
    FAILS(clEnqueueReadBufferRect(queue, a, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 1, &failed, NULL));
    FAILS(clEnqueueWriteBufferRect(queue, a, CL_TRUE, zero, zero, region, 0, 0, 0, 0, bytes, 1, &failed, NULL));
    FAILS(clEnqueueSVMMemcpy(queue, CL_TRUE, shared, bytes, 16, 1, &failed, NULL));
    FAILS(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, shared, 16, 1, &failed, NULL));
    REFUSES(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, 16, 1, &failed, NULL, &err));
    if (image) {
        FAILS(clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 1, &failed, NULL));
        FAILS(clEnqueueWriteImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 1, &failed, NULL));
        REFUSES(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, &row, NULL, 1, &failed, NULL, &err));
    }
    FAILS(clWaitForEvents(1, &failed));
    cl_uint maps;
    OK(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
    TRUE_(maps == 0);
    OK(clReleaseEvent(failed));
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
    cl_bool images;
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4};
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (images) MADE(image, clCreateImage(context, 0, &format, &desc, NULL, &err));
    cl_program program = build("kernel void nothing(void) {}", NULL);
    MADE(kernel, clCreateKernel(program, "nothing", &err));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *name = calls[i].name;
        EXPECT(name, "wrong queue", CL_INVALID_COMMAND_QUEUE, calls[i].call((cl_command_queue)context, 0, NULL, NULL));
        EXPECT(name, "NULL list", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 1, NULL, NULL));
        EXPECT(name, "empty list", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 0, &good, NULL));
        EXPECT(name, "no event", CL_INVALID_EVENT_WAIT_LIST, calls[i].call(queue, 1, &wrong, NULL));
        EXPECT(name, "foreign event", CL_INVALID_CONTEXT, calls[i].call(queue, 1, &foreign_event, NULL));
        if (calls[i].takes_image && !images) continue;
        if (calls[i].takes_object) EXPECT(name, "foreign queue", CL_INVALID_CONTEXT, calls[i].call(foreign_queue, 0, NULL, NULL));
        expect(name, "right", CL_SUCCESS, calls[i].call(queue, 1, &good, &event));
        cl_command_type type;
        OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        expect(name, "type", (cl_int)calls[i].type, (cl_int)type);
        OK(clWaitForEvents(1, &event));
        OK(clReleaseEvent(event));
    }
    after_a_failure();
    if (!images) {
        // Without images, pipes and device queues, their calls refuse as the specification says.
        REFUSES(CL_INVALID_OPERATION, clCreateImage(context, 0, &format, &desc, NULL, &err));
        REFUSES(CL_INVALID_OPERATION, clCreateImage2D(context, 0, &format, 4, 4, 0, NULL, &err));
        REFUSES(CL_INVALID_OPERATION, clCreateImage3D(context, 0, &format, 4, 4, 2, 0, 0, NULL, &err));
        REFUSES(CL_INVALID_OPERATION, clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
        REFUSES(CL_INVALID_OPERATION, clCreateSamplerWithProperties(context, NULL, &err));
        REFUSES(CL_INVALID_OPERATION, clCreatePipe(context, 0, 4, 16, NULL, &err));
        cl_queue_properties on_device[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        REFUSES(CL_INVALID_QUEUE_PROPERTIES, clCreateCommandQueueWithProperties(context, device, on_device, &err));
        RETURNS(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(context, device, queue));
    }
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
    if (image) OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel)); OK(clReleaseProgram(program));
    OK(clReleaseEvent(good)); OK(clReleaseEvent(foreign_event));
    clSVMFree(context, shared);
    OK(clReleaseMemObject(a)); OK(clReleaseMemObject(b)); OK(clReleaseMemObject(foreign_mem));
    OK(clReleaseCommandQueue(foreign_queue)); OK(clReleaseContext(foreign));
    close_device();
    return 0;
}
