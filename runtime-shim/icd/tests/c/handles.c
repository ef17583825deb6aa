// NULL, wrong-type and released handles are refused by every call that takes one.
#include "check.h"
#include <unistd.h>

int main(void) {
    open_device(0);
    cl_mem mem, other;
    cl_event event;
    char byte = 0;
    size_t n;
    MADE(mem, clCreateBuffer(context, 0, 64, NULL, &err));
    MADE(other, clCreateBuffer(context, 0, 64, NULL, &err));
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
    OK(clFinish(queue));

    // Another object's handle.
    RETURNS(CL_INVALID_CONTEXT, clRetainContext((cl_context)queue));
    RETURNS(CL_INVALID_CONTEXT, clGetContextInfo((cl_context)mem, CL_CONTEXT_DEVICES, 0, NULL, &n));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clFlush((cl_command_queue)context));
    RETURNS(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)event));
    RETURNS(CL_INVALID_MEM_OBJECT, clRetainMemObject((cl_mem)queue));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, (cl_mem)context, CL_TRUE, 0, 1, &byte, 0, NULL, NULL));
    RETURNS(CL_INVALID_EVENT, clRetainEvent((cl_event)mem));
    RETURNS(CL_INVALID_EVENT, clWaitForEvents(1, (cl_event *)&mem));
    RETURNS(CL_INVALID_PROGRAM, clBuildProgram((cl_program)queue, 0, NULL, NULL, NULL, NULL));
    RETURNS(CL_INVALID_KERNEL, clSetKernelArg((cl_kernel)mem, 0, 8, NULL));
    RETURNS(CL_INVALID_SAMPLER, clRetainSampler((cl_sampler)mem));
    RETURNS(CL_INVALID_DEVICE, clRetainDevice((cl_device_id)context));
    RETURNS(CL_INVALID_PLATFORM, clUnloadPlatformCompiler((cl_platform_id)context));
    REFUSES(CL_INVALID_DEVICE, clCreateContext(NULL, 1, (cl_device_id *)&platform, NULL, NULL, &err));
    REFUSES(CL_INVALID_CONTEXT, clCreateBuffer((cl_context)mem, 0, 64, NULL, &err));

    // In lists the loader looks at nothing, so that anything may be there.
    cl_event wrong[] = {(cl_event)mem, NULL, (cl_event)&byte, (cl_event)(uintptr_t)0x1234567};
    for (int i = 0; i < 4; i++) {
        RETURNS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &wrong[i], NULL));
        if (i > 0) RETURNS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(queue, 1, &wrong[i], NULL));
    }
    cl_mem wrong_mem[] = {mem, (cl_mem)&byte};
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueMigrateMemObjects(queue, 2, wrong_mem, 0, 0, NULL, NULL));

    // Released ones.
    OK(clReleaseEvent(event));
    RETURNS(CL_INVALID_EVENT, clReleaseEvent(event));
    RETURNS(CL_INVALID_EVENT, clGetEventInfo(event, CL_EVENT_CONTEXT, 0, NULL, &n));
    RETURNS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &event, NULL));
    OK(clReleaseMemObject(mem));
    RETURNS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(mem));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 1, &byte, 0, NULL, NULL));
    // The context lives on while objects refer to it, and its handle with it.
    OK(clReleaseContext(context));
    OK(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, 1, &byte, 0, NULL, NULL));
    OK(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &n));
    OK(clReleaseMemObject(other));
    OK(clReleaseCommandQueue(queue));
    // The worker may hold the last command for a moment.
    cl_int r = CL_SUCCESS;
    for (int i = 0; i < 5000 && r == CL_SUCCESS; i++, usleep(1000)) r = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &n);
    if (r != CL_INVALID_CONTEXT) FAIL("the context outlives its objects: %d", r);
    return 0;
}
