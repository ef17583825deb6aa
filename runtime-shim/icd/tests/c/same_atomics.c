// Atomics and local memory: a histogram, a list filled through a counter, a scan of groups.
#include "same.h"

static const char *SOURCE =
    "kernel void histogram(global const uchar *data, global int *bins) {\n"
    "  local int part[16]; int l = get_local_id(0);\n"
    "  if (l < 16) part[l] = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  atomic_inc(&part[data[get_global_id(0)] & 15]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (l < 16) atomic_add(&bins[l], part[l]);\n"
    "}\n"
    "kernel void choose(global const uchar *data, global int *chosen, global int *count, global int *extremes) {\n"
    "  int i = get_global_id(0);\n"
    "  if (data[i] % 7 == 3) chosen[atomic_inc(count)] = i;\n"
    "  atomic_min(&extremes[0], data[i] * 3 - i); atomic_max(&extremes[1], data[i] * 3 - i);\n"
    "  atomic_xor((global uint *)&extremes[2], (uint)(data[i] * 2654435761u)); atomic_and(&extremes[3], ~(1 << (data[i] & 7)) | i);\n"
    "  for (int old = extremes[4], seen; ; old = seen) { seen = atomic_cmpxchg(&extremes[4], old, old + data[i]); if (seen == old) break; }\n"
    "}\n"
    "kernel void scan(global int *x) {\n"
    "  local int buffer[2][64]; int l = get_local_id(0), from = 0;\n"
    "  buffer[0][l] = x[get_global_id(0)];\n"
    "  for (int step = 1; step < 64; step *= 2, from ^= 1) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    buffer[from ^ 1][l] = buffer[from][l] + (l >= step ? buffer[from][l - step] : 0);\n"
    "  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  x[get_global_id(0)] = buffer[from][l];\n"
    "}\n";

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    open_device(0);
    cl_program program = build(SOURCE, "");
    cl_kernel histogram = kernel_of(program, "histogram"), choose = kernel_of(program, "choose"), scan = kernel_of(program, "scan");
    enum { N = 4096 };
    unsigned char data[N];
    unsigned seed = 7;
    for (int i = 0; i < N; i++) data[i] = (seed = seed * 1664525u + 1013904223u) >> 23;
    int zeros[16] = {0}, extremes[5] = {1 << 30, -(1 << 30), 0, -1, 0};
    cl_mem x = buffer_of(data, sizeof data), bins = buffer_of(zeros, sizeof zeros), count = buffer_of(zeros, 4);
    cl_mem chosen = buffer_of(NULL, N * sizeof(int)), most = buffer_of(extremes, sizeof extremes);
    size_t size = N, group = 64;
    OK(clSetKernelArg(histogram, 0, sizeof x, &x));
    OK(clSetKernelArg(histogram, 1, sizeof bins, &bins));
    OK(clEnqueueNDRangeKernel(queue, histogram, 1, NULL, &size, &group, 0, NULL, NULL));
    print_buffer("histogram", bins, 16);
    cl_mem arguments[] = {x, chosen, count, most};
    for (cl_uint i = 0; i < 4; i++) OK(clSetKernelArg(choose, i, sizeof(cl_mem), &arguments[i]));
    OK(clEnqueueNDRangeKernel(queue, choose, 1, NULL, &size, &group, 0, NULL, NULL));
    int found = 0, *list = calloc(N, sizeof *list);
    OK(clEnqueueReadBuffer(queue, count, CL_TRUE, 0, sizeof found, &found, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, chosen, CL_TRUE, 0, N * sizeof *list, list, 0, NULL, NULL));
    // Which work-item comes first is not said.
    qsort(list, found, sizeof *list, ascending);
    print_ints("chosen", list, found);
    print_buffer("extremes", most, 5);
    free(list);
    int start[128];
    for (int i = 0; i < 128; i++) start[i] = data[i];
    cl_mem sums = buffer_of(start, sizeof start);
    size = 128;
    OK(clSetKernelArg(scan, 0, sizeof sums, &sums));
    OK(clEnqueueNDRangeKernel(queue, scan, 1, NULL, &size, &group, 0, NULL, NULL));
    print_buffer("scans", sums, 128);
    cl_mem buffers[] = {x, bins, count, chosen, most, sums};
    for (int i = 0; i < 6; i++) OK(clReleaseMemObject(buffers[i]));
    cl_kernel kernels[] = {histogram, choose, scan};
    for (int i = 0; i < 3; i++) OK(clReleaseKernel(kernels[i]));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
