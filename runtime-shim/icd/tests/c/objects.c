// Samplers, pipes and queues on the device, as objects.
#include "check.h"

static void samplers(void) {
    cl_sampler s;
    cl_uint n;
    cl_bool yes;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    size_t size;
    MADE(s, clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &err));
    OK(clGetSamplerInfo(s, CL_SAMPLER_NORMALIZED_COORDS, sizeof yes, &yes, NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_ADDRESSING_MODE, sizeof addressing, &addressing, NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL));
    TRUE_(!yes && addressing == CL_ADDRESS_CLAMP_TO_EDGE && filter == CL_FILTER_LINEAR);
    OK(clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, 0, NULL, &size));
    TRUE_(size == 0);
    RETURNS(CL_INVALID_VALUE, clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, 1, &filter, NULL));
    RETURNS(CL_INVALID_VALUE, clGetSamplerInfo(s, 0x7777, 0, NULL, &size));
    OK(clRetainSampler(s));
    OK(clGetSamplerInfo(s, CL_SAMPLER_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE_(n == 2);
    OK(clReleaseSampler(s));
    OK(clReleaseSampler(s));
    RETURNS(CL_INVALID_SAMPLER, clReleaseSampler(s));
    RETURNS(CL_INVALID_SAMPLER, clGetSamplerInfo(s, CL_SAMPLER_CONTEXT, 0, NULL, &size));
    RETURNS(CL_INVALID_SAMPLER, clRetainSampler((cl_sampler)queue));
    // Every mode, by both calls; what is left out is normalised, clamped, nearest.
    cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS, 0, CL_SAMPLER_ADDRESSING_MODE, 0, CL_SAMPLER_FILTER_MODE, 0, 0};
    for (cl_uint mode = CL_ADDRESS_NONE; mode <= CL_ADDRESS_MIRRORED_REPEAT; mode++)
        for (cl_uint by = CL_FILTER_NEAREST; by <= CL_FILTER_LINEAR; by++)
            for (cl_uint normal = 0; normal < 2; normal++) {
                MADE(s, clCreateSampler(context, normal, mode, by, &err));
                OK(clReleaseSampler(s));
                list[1] = normal, list[3] = mode, list[5] = by;
                MADE(s, clCreateSamplerWithProperties(context, list, &err));
                cl_sampler_properties again[7];
                OK(clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, sizeof again, again, &size));
                TRUE_(size == sizeof list && !memcmp(list, again, size));
                OK(clReleaseSampler(s));
            }
    MADE(s, clCreateSamplerWithProperties(context, NULL, &err));
    OK(clGetSamplerInfo(s, CL_SAMPLER_NORMALIZED_COORDS, sizeof yes, &yes, NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_ADDRESSING_MODE, sizeof addressing, &addressing, NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL));
    TRUE_(yes && addressing == CL_ADDRESS_CLAMP && filter == CL_FILTER_NEAREST);
    OK(clReleaseSampler(s));
    REFUSES(CL_INVALID_CONTEXT, clCreateSampler((cl_context)queue, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSampler(context, 2, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSampler(context, 0, CL_FILTER_NEAREST, CL_FILTER_NEAREST, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSampler(context, 0, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP, &err));
    list[2] = CL_SAMPLER_NORMALIZED_COORDS, list[3] = 0;
    REFUSES(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, list, &err));
    list[2] = 0x7777;
    REFUSES(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, list, &err));
}

static void pipes(void) {
    cl_mem pipe;
    cl_uint n, most;
    size_t size;
    cl_mem_flags flags;
    cl_mem_object_type type;
    OK(clGetDeviceInfo(device, CL_DEVICE_PIPE_MAX_PACKET_SIZE, sizeof most, &most, NULL));
    TRUE_(most >= 1024);
    MADE(pipe, clCreatePipe(context, 0, 24, 100, NULL, &err));
    OK(clGetPipeInfo(pipe, CL_PIPE_PACKET_SIZE, sizeof n, &n, NULL));
    TRUE_(n == 24);
    OK(clGetPipeInfo(pipe, CL_PIPE_MAX_PACKETS, sizeof n, &n, NULL));
    TRUE_(n == 100);
    OK(clGetPipeInfo(pipe, CL_PIPE_PROPERTIES, 0, NULL, &size));
    TRUE_(size == 0);
    OK(clGetMemObjectInfo(pipe, CL_MEM_TYPE, sizeof type, &type, NULL));
    OK(clGetMemObjectInfo(pipe, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    TRUE_(type == CL_MEM_OBJECT_PIPE && flags == (CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS));
    RETURNS(CL_INVALID_VALUE, clGetPipeInfo(pipe, CL_PIPE_PACKET_SIZE, 2, &n, NULL));
    RETURNS(CL_INVALID_VALUE, clGetPipeInfo(pipe, 0x7777, 0, NULL, &size));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetImageInfo(pipe, CL_IMAGE_WIDTH, 0, NULL, &size));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, pipe, CL_TRUE, 0, 4, &n, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(queue, pipe, &n, 0, NULL, NULL));
    OK(clEnqueueMigrateMemObjects(queue, 1, &pipe, 0, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(pipe));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(pipe, CL_PIPE_PACKET_SIZE, 0, NULL, &size));
    REFUSES(CL_INVALID_CONTEXT, clCreatePipe((cl_context)queue, 0, 4, 4, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreatePipe(context, CL_MEM_READ_ONLY, 4, 4, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreatePipe(context, 0, 4, 4, (cl_pipe_properties[]){0}, &err));
    REFUSES(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, 0, 4, NULL, &err));
    REFUSES(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, most + 1, 4, NULL, &err));
    REFUSES(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, 4, 0, NULL, &err));
}

#define DEVICE (CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)

static void device_queues(void) {
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_SIZE, 20000, 0};
    cl_command_queue q, again, other, current, many[64];
    cl_uint n, most;
    MADE(q, clCreateCommandQueueWithProperties(context, device, list, &err));
    OK(clGetCommandQueueInfo(q, CL_QUEUE_SIZE, sizeof n, &n, NULL));
    TRUE_(n >= 20000);
    // There is one default queue: asking again gives the same with one reference more.
    MADE(again, clCreateCommandQueueWithProperties(context, device, list, &err));
    OK(clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE_(again == q && n == 2);
    OK(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE_DEFAULT, sizeof current, &current, NULL));
    TRUE_(current == q);
    cl_queue_properties plain[] = {CL_QUEUE_PROPERTIES, DEVICE | CL_QUEUE_PROFILING_ENABLE, 0};
    MADE(other, clCreateCommandQueueWithProperties(context, device, plain, &err));
    OK(clSetDefaultDeviceCommandQueue(context, device, other));
    OK(clGetCommandQueueInfo(q, CL_QUEUE_DEVICE_DEFAULT, sizeof current, &current, NULL));
    TRUE_(current == other);
    RETURNS(CL_INVALID_COMMAND_QUEUE, clSetDefaultDeviceCommandQueue(context, device, queue));
    RETURNS(CL_INVALID_CONTEXT, clSetDefaultDeviceCommandQueue((cl_context)q, device, other));
    RETURNS(CL_INVALID_DEVICE, clSetDefaultDeviceCommandQueue(context, (cl_device_id)q, other));
    // The host enqueues nothing there.
    RETURNS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(q, 0, NULL, NULL));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clFinish(q));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clFlush(q));
    list[1] = CL_QUEUE_ON_DEVICE;
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list, &err));
    list[1] = CL_QUEUE_ON_DEVICE_DEFAULT;
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list, &err));
    list[1] = 0;
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list, &err));
    list[1] = DEVICE, list[3] = 1u << 30;
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, clCreateCommandQueueWithProperties(context, device, list, &err));
    // As many as the device says.
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_ON_DEVICE_QUEUES, sizeof most, &most, NULL));
    TRUE_(most >= 1 && most < 64);
    for (n = 0; n < most - 2; n++) MADE(many[n], clCreateCommandQueueWithProperties(context, device, plain, &err));
    REFUSES(CL_OUT_OF_RESOURCES, clCreateCommandQueueWithProperties(context, device, plain, &err));
    while (n-- > 0) OK(clReleaseCommandQueue(many[n]));
    OK(clReleaseCommandQueue(other));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseCommandQueue(again));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(q));
    OK(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE_DEFAULT, sizeof current, &current, NULL));
    TRUE_(current == NULL);
}

int main(void) {
    open_device(0);
    samplers();
    pipes();
    device_queues();
    close_device();
    return 0;
}
