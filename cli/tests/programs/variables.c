// A small OpenCL program whose kernels keep something in variables of the program.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { cl_int r_ = (call); if (r_) { fprintf(stderr, "%d: %s: %d\n", __LINE__, #call, r_); exit(1); } } while (0)

static const char *SOURCE =
    "global int table[4] = {1, 2, 3, 4};\n"
    "global int total;\n"
    "global int *global where = &table[1];\n"
    "kernel void add(int n) { atomic_add(&total, n); if (get_global_id(0) == 0) *where += n; }\n"
    "kernel void give(global int *out) { out[0] = total; out[1] = table[1]; out[2] = table[0]; }\n";

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    OK(e);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &e);
    OK(e);
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &e);
    OK(e);
    OK(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL));
    cl_kernel add = clCreateKernel(program, "add", &e);
    OK(e);
    cl_kernel give = clCreateKernel(program, "give", &e);
    OK(e);
    cl_mem out = clCreateBuffer(context, 0, 3 * sizeof(int), NULL, &e);
    OK(e);
    size_t items = 64, one = 1;
    for (int n = 1; n <= 2; n++) {
        OK(clSetKernelArg(add, 0, sizeof n, &n));
        OK(clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, &items, 0, NULL, NULL));
    }
    OK(clSetKernelArg(give, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, give, 1, NULL, &one, &one, 0, NULL, NULL));
    int result[3];
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
    printf("%d %d %d\n", result[0], result[1], result[2]);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(add));
    OK(clReleaseKernel(give));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
    return 0;
}
