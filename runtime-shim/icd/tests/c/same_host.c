// What the host owns: buffers over its memory, native kernels, migration, reference counts, destructor callbacks.
#include "same.h"

static void CL_CALLBACK gone(cl_mem object, void *user) {
    (void)object;
    __atomic_fetch_add((int *)user, 1, __ATOMIC_SEQ_CST);
}

struct native { int *at; int factor; };

static void CL_CALLBACK native(void *packed) {
    struct native n;
    memcpy(&n, packed, sizeof n);
    for (int i = 0; i < 8; i++) n.at[i] *= n.factor;
}

static cl_uint references(cl_mem object) {
    cl_uint count;
    OK(clGetMemObjectInfo(object, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
    return count;
}

int main(void) {
    open_device(0);
    cl_program program = build("kernel void bump(global int *x) { x[get_global_id(0)] += 100; }\n", "");
    cl_kernel bump = kernel_of(program, "bump");
    static int mine[8] __attribute__((aligned(4096)));
    for (int i = 0; i < 8; i++) mine[i] = i;
    cl_mem x;
    MADE(x, clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof mine, mine, &err));
    int calls = 0;
    OK(clSetMemObjectDestructorCallback(x, gone, &calls));
    OK(clSetMemObjectDestructorCallback(x, gone, &calls));
    size_t size = 8;
    OK(clSetKernelArg(bump, 0, sizeof x, &x));
    OK(clEnqueueNDRangeKernel(queue, bump, 1, NULL, &size, NULL, 0, NULL, NULL));
    int *mapped;
    MADE(mapped, clEnqueueMapBuffer(queue, x, CL_TRUE, CL_MAP_READ, 0, sizeof mine, 0, NULL, NULL, &err));
    printf("mapped where it lies: %d\n", mapped == mine);
    print_ints("its own memory", mine, 8);
    OK(clEnqueueUnmapMemObject(queue, x, mapped, 0, NULL, NULL));
    cl_device_exec_capabilities can;
    OK(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
    if (can & CL_EXEC_NATIVE_KERNEL) {
        int list[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        struct native n = {list, -3};
        OK(clEnqueueNativeKernel(queue, native, &n, sizeof n, 0, NULL, NULL, 0, NULL, NULL));
        OK(clFinish(queue));
        print_ints("a native kernel", list, 8);
    }
    OK(clEnqueueMigrateMemObjects(queue, 1, &x, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, bump, 1, NULL, &size, NULL, 0, NULL, NULL));
    print_buffer("after migration", x, 8);
    OK(clFinish(queue));
    cl_mem_flags flags;
    size_t bytes;
    OK(clGetMemObjectInfo(x, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    OK(clGetMemObjectInfo(x, CL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    printf("flags %lx, %zu bytes\n", (unsigned long)flags, bytes);
    OK(clReleaseKernel(bump));
    cl_uint before = references(x);
    OK(clRetainMemObject(x));
    printf("references: %u\n", references(x) - before);
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(x));
    OK(clFinish(queue));
    printf("callbacks: %d\n", calls);
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
