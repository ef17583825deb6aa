// Kernels from source: arguments of every kind, results against the host, queries, launches and their errors.
#include "check.h"
#include <math.h>

static const char *source =
    "typedef struct { float scale; int shift; } params;\n"
    "constant float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};\n"
    "kernel void saxpy(global const float *x, global float *y, float a, uint n) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "kernel void by_value(global float *out, params p, float4 v, char c, constant float *k) {\n"
    "    int i = get_global_id(0);\n"
    "    out[i] = p.scale * v.y + v.w + p.shift + c + table[i & 3] + k[1];\n"
    "}\n"
    "kernel void reverse(global int *data, local int *tile) {\n"
    "    int l = get_local_id(0), n = get_local_size(0);\n"
    "    tile[l] = data[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    data[get_global_id(0)] = tile[n - 1 - l];\n"
    "}\n"
    "kernel void ids(global uint *out, uint width) {\n"
    "    size_t at = (get_global_id(1) - get_global_offset(1)) * width + get_global_id(0) - get_global_offset(0);\n"
    "    out[at] = get_global_id(0) | get_global_id(1) << 8 | get_local_size(0) << 16 | get_group_id(0) << 24;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(global uint *out) {\n"
    "    out[get_global_id(0)] = get_local_size(1);\n"
    "}\n"
    "kernel void count(global uint *n) { atomic_inc(n); }\n";

static cl_kernel kernel(cl_program program, const char *name) {
    cl_kernel k;
    MADE(k, clCreateKernel(program, name, &err));
    return k;
}

static void saxpy(cl_program program) {
    enum { N = 1000 };
    static float x[N], y[N], out[N];
    for (int i = 0; i < N; i++) x[i] = (float)i * 0.5f, y[i] = 100.0f - (float)i;
    cl_mem a, b;
    MADE(a, clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof x, x, &err));
    MADE(b, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof y, y, &err));
    cl_kernel k = kernel(program, "saxpy");
    float factor = 3.0f;
    cl_uint n = N;
    size_t global = 1024, local = 64;
    RETURNS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clSetKernelArg(k, 0, sizeof a, &a));
    OK(clSetKernelArg(k, 1, sizeof b, &b));
    OK(clSetKernelArg(k, 2, sizeof factor, &factor));
    OK(clSetKernelArg(k, 3, sizeof n, &n));
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    // Arguments latch at the enqueue.
    factor = 0.0f;
    OK(clSetKernelArg(k, 2, sizeof factor, &factor));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) TRUE_(out[i] == 3.0f * x[i] + y[i]); // exact: small halves
    // The size left to the implementation; a global size that nothing divides.
    factor = 1.0f;
    OK(clSetKernelArg(k, 2, sizeof factor, &factor));
    global = 997;
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL));
    for (int i = 0; i < N; i++) TRUE_(y[i] == (i < 997 ? out[i] + x[i] : out[i]));
    // Zero work-items: nothing runs, and that is no error.
    global = 0;
    cl_event event;
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, &event));
    OK(clWaitForEvents(1, &event));
    OK(clReleaseEvent(event));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void by_value(cl_program program) {
    struct { float scale; int shift; } p = {2.0f, 10};
    cl_float4 v = {{1, 2, 3, 4}};
    cl_char c = -3;
    float constants[2] = {0.5f, 0.25f}, out[64];
    cl_mem result, k_mem;
    MADE(result, clCreateBuffer(context, 0, sizeof out, NULL, &err));
    MADE(k_mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof constants, constants, &err));
    cl_kernel k = kernel(program, "by_value");
    OK(clSetKernelArg(k, 0, sizeof result, &result));
    OK(clSetKernelArg(k, 1, sizeof p, &p));
    OK(clSetKernelArg(k, 2, sizeof v, &v));
    OK(clSetKernelArg(k, 3, 1, &c));
    OK(clSetKernelArg(k, 4, sizeof k_mem, &k_mem));
    size_t global = 64;
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) TRUE_(out[i] == 2.0f * 2 + 4 + 10 - 3 + (float)(1 << (i & 3)) + 0.25f);
    RETURNS(CL_INVALID_ARG_INDEX, clSetKernelArg(k, 5, 4, &p));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 1, 4, &p));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 3, 4, &p));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &result));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 3, 1, NULL));
    void *wrong = queue;
    RETURNS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof wrong, &wrong));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(result));
    OK(clReleaseMemObject(k_mem));
}

static void local_memory(cl_program program) {
    int data[256];
    for (int i = 0; i < 256; i++) data[i] = i;
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &err));
    cl_kernel k = kernel(program, "reverse"), clone;
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    RETURNS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 1, 0, NULL));
    RETURNS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 1, 64, data));
    OK(clSetKernelArg(k, 1, 64 * sizeof(int), NULL));
    MADE(clone, clCloneKernel(k, &err));
    OK(clReleaseKernel(k));
    size_t global = 256, local = 64;
    OK(clEnqueueNDRangeKernel(queue, clone, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    for (int i = 0; i < 256; i++) TRUE_(data[i] == (i / 64) * 64 + 63 - i % 64);
    cl_ulong bytes;
    OK(clGetKernelWorkGroupInfo(clone, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    TRUE_(bytes >= 256);
    OK(clReleaseKernel(clone));
    OK(clReleaseMemObject(mem));
}

static void geometry(cl_program program) {
    enum { W = 20, H = 6 };
    uint32_t out[H][W];
    cl_uint width = W;
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, 0, sizeof out, NULL, &err));
    cl_kernel k = kernel(program, "ids");
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    OK(clSetKernelArg(k, 1, sizeof width, &width));
    size_t offset[2] = {3, 5}, global[2] = {W, H}, local[2] = {8, 4};
    // Remainder groups in both dimensions.
    OK(clEnqueueNDRangeKernel(queue, k, 2, offset, global, local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
            uint32_t size = x < 16 ? 8 : 4;
            TRUE_(out[y][x] == ((x + 3) | (y + 5) << 8 | size << 16 | (x / 8) << 24));
        }
    size_t nothing[2] = {8, 0}, huge[2] = {4096, 1};
    RETURNS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, k, 0, NULL, global, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, k, 4, NULL, global, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, k, 2, NULL, global, nothing, 0, NULL, NULL));
    RETURNS(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(queue, k, 2, NULL, huge, huge, 0, NULL, NULL));
    size_t far[2] = {SIZE_MAX, 0};
    RETURNS(CL_INVALID_GLOBAL_OFFSET, clEnqueueNDRangeKernel(queue, k, 2, far, global, NULL, 0, NULL, NULL));
    OK(clReleaseKernel(k));
    k = kernel(program, "fixed");
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    size_t wrong[2] = {4, 4}, right[2] = {8, 4}, both[2] = {16, 4}, required[3];
    RETURNS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, k, 2, NULL, both, wrong, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, both, right, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, both, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    TRUE_(out[0][15] == 4);
    OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL));
    TRUE_(required[0] == 8 && required[1] == 4 && required[2] == 1);
    char attributes[256];
    OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof attributes, attributes, NULL));
    TRUE_(strstr(attributes, "reqd_work_group_size(8,4,1)"));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(mem));
}

static void queries(cl_program program) {
    cl_kernel k = kernel(program, "by_value");
    cl_uint n, address;
    size_t size, multiple;
    char text[64];
    cl_program of;
    OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
    TRUE_(n == 5);
    OK(clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "by_value"));
    OK(clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof of, &of, NULL));
    TRUE_(of == program);
    OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
    TRUE_(address == CL_KERNEL_ARG_ADDRESS_GLOBAL);
    OK(clGetKernelArgInfo(k, 4, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
    TRUE_(address == CL_KERNEL_ARG_ADDRESS_CONSTANT);
    OK(clGetKernelArgInfo(k, 2, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "float4"));
    OK(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "p"));
    RETURNS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(k, 5, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    OK(clReleaseKernel(k));
    k = kernel(program, "saxpy");
    cl_kernel_arg_type_qualifier qualifier;
    OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    TRUE_(qualifier == CL_KERNEL_ARG_TYPE_CONST);
    OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, NULL));
    OK(clGetKernelWorkGroupInfo(k, NULL, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple, &multiple, NULL));
    TRUE_(size >= 1 && multiple >= 1 && size % multiple == 0);
    // What the query allows can be launched.
    cl_kernel counting = kernel(program, "count");
    uint32_t zero = 0, total;
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &zero, &err));
    OK(clSetKernelArg(counting, 0, sizeof mem, &mem));
    OK(clGetKernelWorkGroupInfo(counting, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, NULL));
    size_t global = size * 3;
    OK(clEnqueueNDRangeKernel(queue, counting, 1, NULL, &global, &size, 0, NULL, NULL));
    OK(clEnqueueTask(queue, counting, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &total, 0, NULL, NULL));
    TRUE_(total == global + 1);
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(counting));
    OK(clReleaseKernel(k));
}

static int told;
static void CL_CALLBACK notify(const char *why, const void *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    if (strstr(why, "wild")) told++;
}

// OpenCL C 1.x knows no remainder groups, and one uniform module makes the whole program so.
static void uniform(void) {
    const char *text = "kernel void k(global int *p) { p[get_global_id(0)] = get_local_size(0); }";
    size_t global = 20, local = 8;
    for (int old = 0; old < 2; old++) {
        cl_program program = build(text, old ? "" : "-cl-std=CL3.0");
        cl_kernel k = kernel(program, "k");
        cl_mem mem;
        MADE(mem, clCreateBuffer(context, 0, 80, NULL, &err));
        OK(clSetKernelArg(k, 0, sizeof mem, &mem));
        RETURNS(old ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS,
                clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
        OK(clFinish(queue));
        OK(clReleaseMemObject(mem)); OK(clReleaseKernel(k)); OK(clReleaseProgram(program));
    }
}

// A fault stops the launch, not the process.
static void fault(void) {
    cl_context own;
    cl_command_queue q;
    MADE(own, clCreateContext(NULL, 1, &device, notify, NULL, &err));
    MADE(q, clCreateCommandQueue(own, device, 0, &err));
    const char *text = "kernel void wild(global int *p) { p[get_global_id(0) << 24] = 1; }";
    cl_program program;
    MADE(program, clCreateProgramWithSource(own, 1, &text, NULL, &err));
    OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    cl_mem mem;
    MADE(mem, clCreateBuffer(own, 0, 64, NULL, &err));
    cl_kernel k = kernel(program, "wild");
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    size_t global = 4;
    cl_event event;
    cl_int status;
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, &event));
    RETURNS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE_(status < 0);
    RETURNS(CL_OUT_OF_RESOURCES, clFinish(q));
    OK(clFinish(q));
    TRUE_(told > 0);
    global = 1;
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clFinish(q));
    OK(clReleaseEvent(event)); OK(clReleaseKernel(k)); OK(clReleaseProgram(program)); OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(q)); OK(clReleaseContext(own));
}

// As many argument bytes as CL_DEVICE_MAX_PARAMETER_SIZE says, and not 8 more (OpenCL 3.0 API, table 5).
static void most_arguments(void) {
    size_t most;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof most, &most, NULL));
    for (size_t count = most / 8 - 1; count <= most / 8; count++) {
        char *source = malloc(64 * (count + 2)), *at = source;
        at += sprintf(at, "kernel void k(");
        for (size_t i = 0; i < count; i++) at += sprintf(at, "long a%zu, ", i);
        at += sprintf(at, "global long *out) { out[0] = a0 + a%zu; }", count - 1);
        cl_program p;
        MADE(p, clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &err));
        free(source);
        err = clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
        TRUE_(err == (count < most / 8 ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE));
        if (!err) {
            cl_kernel k;
            MADE(k, clCreateKernel(p, "k", &err));
            cl_mem out;
            MADE(out, clCreateBuffer(context, CL_MEM_READ_WRITE, 8, NULL, &err));
            for (size_t i = 0; i < count; i++) {
                cl_long value = (cl_long)i + 5;
                OK(clSetKernelArg(k, (cl_uint)i, sizeof value, &value));
            }
            OK(clSetKernelArg(k, (cl_uint)count, sizeof out, &out));
            OK(clEnqueueTask(queue, k, 0, NULL, NULL));
            cl_long result = 0;
            OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 8, &result, 0, NULL, NULL));
            TRUE_(result == 5 + (cl_long)(count - 1) + 5);
            OK(clReleaseMemObject(out));
            OK(clReleaseKernel(k));
        }
        OK(clReleaseProgram(p));
    }
}

int main(void) {
    open_device(0);
    cl_program program = build(source, "-cl-std=CL3.0 -cl-kernel-arg-info");
    cl_kernel all[8];
    cl_uint n;
    OK(clCreateKernelsInProgram(program, 8, all, &n));
    TRUE_(n == 6);
    for (cl_uint i = 0; i < n; i++) OK(clReleaseKernel(all[i]));
    RETURNS(CL_INVALID_VALUE, clCreateKernelsInProgram(program, 2, all, NULL));
    REFUSES(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "no_such", &err));
    REFUSES(CL_INVALID_VALUE, clCreateKernel(program, NULL, &err));
    saxpy(program);
    by_value(program);
    local_memory(program);
    geometry(program);
    queries(program);
    uniform();
    fault();
    OK(clReleaseProgram(program));
    most_arguments();
    close_device();
    return 0;
}
