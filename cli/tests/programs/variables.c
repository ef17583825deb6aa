// A small OpenCL program whose kernels keep something in variables of the program.
#include "begin.h"

static const char *SOURCE =
    "global int table[4] = {1, 2, 3, 4};\n"
    "global int total;\n"
    "global int *global where = &table[1];\n"
    "kernel void add(int n) { atomic_add(&total, n); if (get_global_id(0) == 0) *where += n; }\n"
    "kernel void give(global int *out) { out[0] = total; out[1] = table[1]; out[2] = table[0]; }\n";

int main(void) {
    cl_int e;
    begin(SOURCE);
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
