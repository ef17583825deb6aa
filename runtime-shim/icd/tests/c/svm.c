// Shared virtual memory, host side.
#include "check.h"

static int freed;
static void CL_CALLBACK free_func(cl_command_queue q, cl_uint n, void *pointers[], void *data) {
    (void)q;
    for (cl_uint i = 0; i < n; i++) clSVMFree((cl_context)data, pointers[i]);
    freed += (int)n;
}

int main(void) {
    open_device(0);
    cl_device_svm_capabilities capabilities;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, NULL));
    TRUE_(capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    uint32_t *a = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    uint32_t *b = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 4096, 64);
    TRUE_(a && b && (uintptr_t)b % 64 == 0 && (uintptr_t)a % 128 == 0);
    TRUE_(!clSVMAlloc(context, 0, 0, 0));
    TRUE_(!clSVMAlloc(context, 0, 64, 3));
    TRUE_(!clSVMAlloc(context, 0, 64, 4096));
    TRUE_(!clSVMAlloc(context, CL_MEM_USE_HOST_PTR, 64, 0));
    uint32_t pattern[2] = {0x01020304, 0xa0b0c0d0}, host[4];
    OK(clEnqueueSVMMemFill(queue, a, pattern, 8, 4096, 0, NULL, NULL));
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, a, 4096, 0, NULL, NULL));
    for (int i = 0; i < 1024; i++) TRUE_(a[i] == pattern[i & 1]);
    OK(clEnqueueSVMUnmap(queue, a, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, b + 8, a, 64, 0, NULL, NULL));
    TRUE_(b[9] == pattern[1]);
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, host, b + 8, sizeof host, 0, NULL, NULL));
    TRUE_(host[2] == pattern[0]);
    RETURNS(CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(queue, CL_TRUE, a, a + 1, 64, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, a, 64, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, a, pattern, 8, 12, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, (char *)a + 4, pattern, 8, 16, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, a, 0, 0, NULL, NULL));
    const void *list[] = {a, b};
    size_t sizes[] = {4096, 0};
    OK(clEnqueueSVMMigrateMem(queue, 2, list, sizes, 0, 0, NULL, NULL));
    const void *mine[] = {host};
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, mine, NULL, 0, 0, NULL, NULL));
    // A buffer over shared memory.
    cl_mem mem;
    cl_bool uses;
    MADE(mem, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 1024, a, &err));
    OK(clGetMemObjectInfo(mem, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
    TRUE_(uses);
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 4, 4, host, 0, NULL, NULL));
    TRUE_(host[0] == pattern[1]);
    OK(clReleaseMemObject(mem));
    void *pointers[] = {a};
    OK(clEnqueueSVMFree(queue, 1, pointers, free_func, context, 0, NULL, NULL));
    OK(clFinish(queue));
    TRUE_(freed == 1);
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 0, pointers, NULL, NULL, 0, NULL, NULL));
    clSVMFree(context, b);
    clSVMFree(context, NULL);
    close_device();
    return 0;
}
