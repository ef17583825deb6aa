// Every entry point that takes a handle, called past the loader with handles that are none: NULL, garbage, a place
// inside another handle, an object of another type, a released object.
#include "check.h"

// Arguments behind the handle are zero; a call takes those that it has.
typedef void *word;
typedef word (*entry)(word, word, word, word, word, word, word, word, word, word, word, word, word, word);

enum kind { PLATFORM, DEVICE, CONTEXT, QUEUE, MEM, SAMPLER, PROGRAM, KERNEL, EVENT };
static const cl_int codes[] = {CL_INVALID_PLATFORM, CL_INVALID_DEVICE, CL_INVALID_CONTEXT, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER, CL_INVALID_PROGRAM, CL_INVALID_KERNEL, CL_INVALID_EVENT};

static const struct {
    const char *name;
    enum kind takes;
    int errcode; // Where a creating call takes its error code, counted from 0; 0: it returns the code.
} entries[] = {
    {"clGetDeviceInfo", DEVICE, 0}, {"clCreateSubDevices", DEVICE, 0}, {"clRetainDevice", DEVICE, 0}, {"clReleaseDevice", DEVICE, 0},
    {"clGetDeviceAndHostTimer", DEVICE, 0}, {"clGetHostTimer", DEVICE, 0},
    {"clRetainContext", CONTEXT, 0}, {"clReleaseContext", CONTEXT, 0}, {"clGetContextInfo", CONTEXT, 0},
    {"clSetContextDestructorCallback", CONTEXT, 0}, {"clCreateCommandQueue", CONTEXT, 3},
    {"clCreateCommandQueueWithProperties", CONTEXT, 3}, {"clSetDefaultDeviceCommandQueue", CONTEXT, 0},
    {"clCreateBuffer", CONTEXT, 4}, {"clCreateBufferWithProperties", CONTEXT, 5}, {"clCreateImage", CONTEXT, 5},
    {"clCreateImageWithProperties", CONTEXT, 6}, {"clCreateImage2D", CONTEXT, 7},
    {"clCreatePipe", CONTEXT, 5},
    {"clGetSupportedImageFormats", CONTEXT, 0}, {"clCreateSampler", CONTEXT, 4}, {"clCreateSamplerWithProperties", CONTEXT, 2},
    {"clCreateProgramWithSource", CONTEXT, 4}, {"clCreateProgramWithIL", CONTEXT, 3}, {"clCreateProgramWithBinary", CONTEXT, 6},
    {"clCreateProgramWithBuiltInKernels", CONTEXT, 4}, {"clLinkProgram", CONTEXT, 8}, {"clCreateUserEvent", CONTEXT, 1},
    {"clRetainCommandQueue", QUEUE, 0}, {"clReleaseCommandQueue", QUEUE, 0}, {"clGetCommandQueueInfo", QUEUE, 0},
    {"clSetCommandQueueProperty", QUEUE, 0}, {"clFlush", QUEUE, 0}, {"clFinish", QUEUE, 0},
    {"clEnqueueReadBuffer", QUEUE, 0}, {"clEnqueueWriteBuffer", QUEUE, 0}, {"clEnqueueCopyBuffer", QUEUE, 0},
    {"clEnqueueFillBuffer", QUEUE, 0}, {"clEnqueueReadBufferRect", QUEUE, 0}, {"clEnqueueWriteBufferRect", QUEUE, 0},
    {"clEnqueueCopyBufferRect", QUEUE, 0}, {"clEnqueueReadImage", QUEUE, 0}, {"clEnqueueWriteImage", QUEUE, 0},
    {"clEnqueueCopyImage", QUEUE, 0}, {"clEnqueueFillImage", QUEUE, 0}, {"clEnqueueCopyImageToBuffer", QUEUE, 0},
    {"clEnqueueCopyBufferToImage", QUEUE, 0}, {"clEnqueueMapBuffer", QUEUE, 9}, {"clEnqueueMapImage", QUEUE, 11},
    {"clEnqueueUnmapMemObject", QUEUE, 0}, {"clEnqueueMigrateMemObjects", QUEUE, 0}, {"clEnqueueNDRangeKernel", QUEUE, 0},
    {"clEnqueueTask", QUEUE, 0}, {"clEnqueueNativeKernel", QUEUE, 0}, {"clEnqueueMarker", QUEUE, 0},
    {"clEnqueueMarkerWithWaitList", QUEUE, 0}, {"clEnqueueBarrier", QUEUE, 0}, {"clEnqueueBarrierWithWaitList", QUEUE, 0},
    {"clEnqueueWaitForEvents", QUEUE, 0}, {"clEnqueueSVMFree", QUEUE, 0}, {"clEnqueueSVMMemcpy", QUEUE, 0},
    {"clEnqueueSVMMemFill", QUEUE, 0}, {"clEnqueueSVMMap", QUEUE, 0}, {"clEnqueueSVMUnmap", QUEUE, 0},
    {"clEnqueueSVMMigrateMem", QUEUE, 0},
    {"clRetainMemObject", MEM, 0}, {"clReleaseMemObject", MEM, 0}, {"clGetMemObjectInfo", MEM, 0}, {"clGetImageInfo", MEM, 0},
    {"clGetPipeInfo", MEM, 0}, {"clCreateSubBuffer", MEM, 4}, {"clSetMemObjectDestructorCallback", MEM, 0},
    {"clRetainSampler", SAMPLER, 0}, {"clReleaseSampler", SAMPLER, 0}, {"clGetSamplerInfo", SAMPLER, 0},
    {"clRetainProgram", PROGRAM, 0}, {"clReleaseProgram", PROGRAM, 0}, {"clBuildProgram", PROGRAM, 0},
    {"clCompileProgram", PROGRAM, 0}, {"clGetProgramInfo", PROGRAM, 0}, {"clGetProgramBuildInfo", PROGRAM, 0},
    {"clSetProgramReleaseCallback", PROGRAM, 0}, {"clSetProgramSpecializationConstant", PROGRAM, 0},
    {"clCreateKernel", PROGRAM, 2}, {"clCreateKernelsInProgram", PROGRAM, 0},
    {"clRetainKernel", KERNEL, 0}, {"clReleaseKernel", KERNEL, 0}, {"clCloneKernel", KERNEL, 1}, {"clSetKernelArg", KERNEL, 0},
    {"clSetKernelArgSVMPointer", KERNEL, 0}, {"clSetKernelExecInfo", KERNEL, 0}, {"clGetKernelInfo", KERNEL, 0},
    {"clGetKernelWorkGroupInfo", KERNEL, 0}, {"clGetKernelSubGroupInfo", KERNEL, 0}, {"clGetKernelArgInfo", KERNEL, 0},
    {"clRetainEvent", EVENT, 0}, {"clReleaseEvent", EVENT, 0}, {"clGetEventInfo", EVENT, 0}, {"clGetEventProfilingInfo", EVENT, 0},
    {"clSetEventCallback", EVENT, 0}, {"clSetUserEventStatus", EVENT, 0},
    {"clUnloadPlatformCompiler", PLATFORM, 0},
};

static void refuses(size_t i, const char *what, word handle) {
    entry call = (entry)clGetExtensionFunctionAddressForPlatform(platform, entries[i].name);
    if (!call) FAIL("%s is not there", entries[i].name);
    word a[14] = {handle};
    cl_int code = 0;
    if (entries[i].errcode) a[entries[i].errcode] = &code;
    word result = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
    if (!entries[i].errcode) code = (cl_int)(intptr_t)result;
    else if (result) FAIL("%s, %s: an object was made", entries[i].name, what);
    if (code != codes[entries[i].takes]) FAIL("%s, %s: %d instead of %d", entries[i].name, what, code, codes[entries[i].takes]);
}

int main(void) {
    open_device(0);
    cl_mem gone;
    cl_event event;
    MADE(gone, clCreateBuffer(context, 0, 64, NULL, &err));
    MADE(event, clCreateUserEvent(context, &err));
    cl_mem released = gone;
    OK(clReleaseMemObject(gone));
    OK(clReleaseEvent(event));
    char place[128] = {0};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        refuses(i, "NULL", NULL);
        refuses(i, "a small number", (word)(uintptr_t)0x1234567);
        refuses(i, "other memory", place + 64);
        refuses(i, "inside a handle", (char *)context + 8);
        refuses(i, "a released buffer", released);
        refuses(i, "a released event", event);
        if (entries[i].takes != CONTEXT) refuses(i, "a context", context);
        if (entries[i].takes != QUEUE) refuses(i, "a queue", queue);
        if (entries[i].takes != DEVICE) refuses(i, "the device", device);
        if (entries[i].takes != PLATFORM) refuses(i, "the platform", platform);
    }
    close_device();
    return 0;
}
