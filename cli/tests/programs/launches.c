// A small OpenCL program: three kernels, a sub-buffer, a structure by value, local memory, an offset.
#include "begin.h"

enum { N = 4096 };

static const char *SOURCE =
    "typedef struct { float factor; int shift; } how;\n"
    "kernel void scale(global const float *in, global float *out, how h) {\n"
    "  size_t i = get_global_id(0); out[i] = in[i] * h.factor + h.shift; }\n"
    "kernel void sum(global const float *in, global float *sums, local float *t) {\n"
    "  size_t l = get_local_id(0); t[l] = in[get_global_id(0)];\n"
    "  for (size_t s = get_local_size(0) / 2; s; s /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); if (l < s) t[l] += t[l + s]; }\n"
    "  if (l == 0) sums[get_group_id(0)] = t[0]; }\n"
    "kernel void scatter(global float *all, global float *part, uchar step) {\n"
    "  size_t i = get_global_id(0); part[i] = all[i * step] + 1; }\n";

int main(void) {
    cl_int e;
    begin(SOURCE);
    static float data[N];
    for (int i = 0; i < N; i++) data[i] = (float)i;
    cl_mem in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &e);
    OK(e);
    cl_mem out = clCreateBuffer(context, 0, sizeof data, NULL, &e);
    OK(e);
    cl_mem sums = clCreateBuffer(context, 0, N / 64 * sizeof(float), NULL, &e);
    OK(e);
    cl_buffer_region region = {N * sizeof(float) / 2, N * sizeof(float) / 4};
    cl_mem part = clCreateSubBuffer(out, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e);
    OK(e);
    struct { cl_float factor; cl_int shift; } how = {2.5f, 3};
    cl_kernel scale = clCreateKernel(program, "scale", &e);
    OK(e);
    OK(clSetKernelArg(scale, 0, sizeof in, &in));
    OK(clSetKernelArg(scale, 1, sizeof out, &out));
    OK(clSetKernelArg(scale, 2, sizeof how, &how));
    size_t items = N, group = 64;
    OK(clEnqueueNDRangeKernel(queue, scale, 1, NULL, &items, &group, 0, NULL, NULL));
    cl_kernel sum = clCreateKernel(program, "sum", &e);
    OK(e);
    OK(clSetKernelArg(sum, 0, sizeof out, &out));
    OK(clSetKernelArg(sum, 1, sizeof sums, &sums));
    OK(clSetKernelArg(sum, 2, group * sizeof(float), NULL));
    OK(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &items, &group, 0, NULL, NULL));
    cl_uchar step = 2;
    cl_kernel scatter = clCreateKernel(program, "scatter", &e);
    OK(e);
    OK(clSetKernelArg(scatter, 0, sizeof out, &out));
    OK(clSetKernelArg(scatter, 1, sizeof part, &part));
    OK(clSetKernelArg(scatter, 2, sizeof step, &step));
    size_t offset = 16, some = 100;
    OK(clEnqueueNDRangeKernel(queue, scatter, 1, &offset, &some, NULL, 0, NULL, NULL));
    OK(clSetKernelArg(scale, 0, sizeof out, &out));
    OK(clSetKernelArg(scale, 1, sizeof in, &in));
    OK(clEnqueueNDRangeKernel(queue, scale, 1, NULL, &items, &group, 0, NULL, NULL));
    float result;
    OK(clEnqueueReadBuffer(queue, in, CL_TRUE, 4 * (N / 2 + 20), sizeof result, &result, 0, NULL, NULL));
    // out[2 * 20] is 2.5 * 40 + 3; one more in the part; then scaled again.
    printf("%g\n", result);
    OK(clReleaseMemObject(part));
    OK(clReleaseMemObject(sums));
    OK(clReleaseMemObject(out));
    OK(clReleaseMemObject(in));
    OK(clReleaseKernel(scale));
    OK(clReleaseKernel(sum));
    OK(clReleaseKernel(scatter));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
    return 0;
}
