// Shared virtual memory, host side.
#include "check.h"

static int freed;
static void CL_CALLBACK free_func(cl_command_queue q, cl_uint n, void *pointers[], void *data) {
    (void)q;
    for (cl_uint i = 0; i < n; i++) clSVMFree((cl_context)data, pointers[i]);
    freed += (int)n;
}

// Host and kernel talk while the kernel runs: atomics order what plain accesses wrote (OpenCL 3.0 API, 3.3.6).
static void atomics(void) {
    cl_program p = build(
        "kernel void talk(global atomic_int *flag, global volatile int *data) {\n"
        "    data[0] = 41;\n"
        "    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_all_svm_devices);\n"
        "    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_all_svm_devices) != 2);\n"
        "    data[1] = data[0] + 1;\n"
        "}\n", "-cl-std=CL3.0");
    cl_kernel k;
    MADE(k, clCreateKernel(p, "talk", &err));
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    int *flag = clSVMAlloc(context, flags, 64, 0);
    volatile int *data = clSVMAlloc(context, flags, 64, 0);
    TRUE_(flag && data);
    TRUE_(!clSVMAlloc(context, CL_MEM_SVM_ATOMICS, 64, 0)); // Only fine-grained.
    *flag = 0;
    OK(clSetKernelArgSVMPointer(k, 0, flag));
    OK(clSetKernelArgSVMPointer(k, 1, (const void *)data));
    OK(clEnqueueTask(queue, k, 0, NULL, NULL));
    OK(clFlush(queue));
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 1);
    TRUE_(data[0] == 41);
    data[0] = 50;
    __atomic_store_n(flag, 2, __ATOMIC_RELEASE);
    OK(clFinish(queue));
    TRUE_(data[1] == 51);
    clSVMFree(context, flag);
    clSVMFree(context, (void *)data);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

// Pointers in shared memory mean the same to kernels: a list built by the host, summed and changed by the device.
static void chain(void) {
    typedef struct Node { uint32_t value; struct Node *next; } Node;
    cl_program p = build("typedef struct Node { uint value; global struct Node *next; } Node;\n"
                         "kernel void walk(global Node *head) {\n"
                         "    for (; head; head = head->next) head->value *= head->value;\n}\n", "-cl-std=CL3.0");
    cl_kernel k;
    MADE(k, clCreateKernel(p, "walk", &err));
    Node *nodes = clSVMAlloc(context, CL_MEM_READ_WRITE, 10 * sizeof *nodes, 0);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, nodes, 10 * sizeof *nodes, 0, NULL, NULL));
    for (uint32_t i = 0; i < 10; i++) nodes[i] = (Node){i, i == 9 ? NULL : &nodes[i + 1]};
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    OK(clSetKernelArgSVMPointer(k, 0, nodes));
    void *list[] = {nodes};
    OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list));
    OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    RETURNS(CL_INVALID_VALUE, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, NULL));
    OK(clEnqueueTask(queue, k, 0, NULL, NULL));
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nodes, 10 * sizeof *nodes, 0, NULL, NULL));
    for (uint32_t i = 0; i < 10; i++) TRUE_(nodes[i].value == i * i);
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    OK(clFinish(queue));
    clSVMFree(context, nodes);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

int main(void) {
    open_device(0);
    cl_device_svm_capabilities capabilities;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, NULL));
    TRUE_(capabilities == (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS));
    RETURNS(CL_INVALID_VALUE, clEnqueueSVMUnmap(queue, NULL, 0, NULL, NULL));
    atomics();
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
    // Not larger than the allocation, or what is left of it.
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4097, a, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4096, a + 1, &err));
    chain();
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
