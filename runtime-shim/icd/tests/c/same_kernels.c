// Kernels: argument kinds, offsets, three dimensions, local memory, barriers, argument information.
#include "same.h"

static const char *SOURCE =
    "typedef struct { char a; short b; int c; float4 d; } mixed;\n"
    "kernel void ids(global int *x, int width) {\n"
    "  size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
    "  i -= (get_global_offset(2) * get_global_size(1) + get_global_offset(1)) * get_global_size(0) + get_global_offset(0);\n"
    "  x[i] = width * (int)get_group_id(0) + 10 * (int)get_local_id(1) + (int)get_local_size(0) + 1000 * (int)get_global_id(2);\n"
    "}\n"
    "kernel void sum(global const int *x, local int *part, global int *out) {\n"
    "  int l = get_local_id(0);\n"
    "  part[l] = x[get_global_id(0)];\n"
    "  for (int step = get_local_size(0) / 2; step; step /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < step) part[l] += part[l + step];\n"
    "  }\n"
    "  if (l == 0) out[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void values(mixed m, uchar u, long2 n, constant int *table, global int *out) {\n"
    "  out[0] = m.a; out[1] = m.b; out[2] = m.c; out[3] = (int)(m.d.x + 2 * m.d.w); out[4] = u; out[5] = (int)(n.x >> 33);\n"
    "  out[6] = (int)n.y; out[7] = table[u & 3];\n"
    "}\n"
    "typedef struct __attribute__((packed)) { char a; int b; long c; float2 d; short e; double f; } packed;\n"
    "kernel void pack(global packed *x, global int *out) {\n"
    "  int l = get_local_id(0); local packed part[4]; packed mine = x[l];\n"
    "  part[l].a = mine.a + 1; part[l].b = mine.b * 3; part[l].c = mine.c << 3; part[l].d = mine.d.yx; part[l].e = -mine.e; part[l].f = mine.f * 0.5;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  packed other = part[l ^ 1]; packed list[2]; list[l & 1] = other; list[~l & 1] = mine;\n"
    "  out[l * 8] = other.a; out[l * 8 + 1] = other.b; out[l * 8 + 2] = (int)(other.c >> 30); out[l * 8 + 3] = (int)(other.d.x * 4 + other.d.y);\n"
    "  out[l * 8 + 4] = other.e; out[l * 8 + 5] = (int)other.f; out[l * 8 + 6] = list[0].b; out[l * 8 + 7] = (int)list[1].c;\n"
    "  x[l].f = other.f; x[l].c = other.c; x[l].d.y = 2.5f;\n"
    "}\n"
    "__attribute__((noinline)) int spend(packed p, int by) { p.b -= by; p.c += p.b; p.a++; return (int)p.c + p.a + p.b; }\n"
    "__attribute__((noinline)) packed changed(packed p, int by) { p.b = by; p.e = 7; return p; }\n"
    "kernel void by_value(packed x, global int *out) {\n"
    "  int i = get_global_id(0); packed mine = x; mine.c = i; int sum = 0;\n"
    "  for (int k = 0; k < 3; k++) sum += spend(mine, i + k);\n"
    "  packed next = changed(mine, i * 9);\n"
    "  out[i * 4] = sum; out[i * 4 + 1] = mine.b + mine.a + (int)mine.c; out[i * 4 + 2] = next.b + next.e; out[i * 4 + 3] = mine.e + x.b;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(global int *out) { out[get_global_id(0)] = get_local_id(0) + get_num_groups(0); }\n";

typedef struct { char a; short b; int c; float d[4] __attribute__((aligned(16))); } mixed;

struct packed { char a; int b; long c; float d[2]; short e; double f; } __attribute__((packed));

// Members of packed structures lie at any address.
static void packed(cl_kernel pack) {
    struct packed start[4];
    for (int i = 0; i < 4; i++)
        start[i] = (struct packed){(char)(3 * i - 5), 1000003 * (i - 2), 0x123456789abcdefL * (i + 1), {i * 1.5f, i - 7.25f}, (short)(i * 7 - 9), i * 1e6 + 3};
    cl_mem x = buffer_of(start, sizeof start), out = buffer_of(NULL, 4 * 8 * sizeof(int));
    size_t four = 4;
    OK(clSetKernelArg(pack, 0, sizeof x, &x));
    OK(clSetKernelArg(pack, 1, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, pack, 1, NULL, &four, &four, 0, NULL, NULL));
    print_buffer("packed", out, 32);
    OK(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof start, start, 0, NULL, NULL));
    for (int i = 0; i < 4; i++)
        printf("%d %d %lx %g %g %d %g\n", start[i].a, start[i].b, start[i].c, start[i].d[0], start[i].d[1], start[i].e, start[i].f);
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(out));
}

// What a function does with a structure that it takes by value, its caller does not see.
static void by_value(const char *options) {
    cl_program program = build(SOURCE, options);
    cl_kernel kernel = kernel_of(program, "by_value");
    struct packed x = {4, 100, 5, {0, 0}, -3, 0};
    cl_mem out = buffer_of(NULL, 4 * 4 * sizeof(int));
    size_t four = 4;
    OK(clSetKernelArg(kernel, 0, sizeof x, &x));
    OK(clSetKernelArg(kernel, 1, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &four, NULL, 0, NULL, NULL));
    print_buffer(options, out, 16);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void) {
    open_device(0);
    cl_program program = build(SOURCE, "-cl-std=CL2.0 -cl-kernel-arg-info");
    cl_kernel ids = kernel_of(program, "ids"), sum = kernel_of(program, "sum"), values = kernel_of(program, "values"), fixed = kernel_of(program, "fixed");
    int start[64], width = 100;
    for (int i = 0; i < 64; i++) start[i] = i * 37 % 23 - 5;
    cl_mem x = buffer_of(start, sizeof start), out = buffer_of(NULL, sizeof start), table = buffer_of(start, 16);

    // 6 x 4 x 2 work-items in groups of 2 x 2 x 1.
    size_t offset[3] = {0, 0, 4}, global[3] = {6, 4, 2}, local[3] = {2, 2, 1};
    OK(clSetKernelArg(ids, 0, sizeof out, &out));
    OK(clSetKernelArg(ids, 1, sizeof width, &width));
    OK(clEnqueueNDRangeKernel(queue, ids, 3, offset, global, local, 0, NULL, NULL));
    print_buffer("ids", out, 48);

    size_t items = 64, group = 16;
    OK(clSetKernelArg(sum, 0, sizeof x, &x));
    OK(clSetKernelArg(sum, 1, 16 * sizeof(int), NULL));
    OK(clSetKernelArg(sum, 2, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &items, &group, 0, NULL, NULL));
    print_buffer("sums of groups", out, 4);

    mixed m = {-3, -300, 70000, {1.5f, 0, 0, 4}};
    cl_uchar u = 250;
    cl_long n[2] = {-(7LL << 33), 12};
    OK(clSetKernelArg(values, 0, sizeof m, &m));
    OK(clSetKernelArg(values, 1, sizeof u, &u));
    OK(clSetKernelArg(values, 2, sizeof n, n));
    OK(clSetKernelArg(values, 3, sizeof table, &table));
    OK(clSetKernelArg(values, 4, sizeof out, &out));
    OK(clEnqueueTask(queue, values, 0, NULL, NULL));
    print_buffer("arguments by value", out, 8);

    items = 12, group = 4;
    OK(clSetKernelArg(fixed, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &items, &group, 0, NULL, NULL));
    print_buffer("required size", out, 12);
    size_t required[3];
    OK(clGetKernelWorkGroupInfo(fixed, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL));
    printf("required: %zu %zu %zu\n", required[0], required[1], required[2]);

    cl_kernel pack = kernel_of(program, "pack");
    packed(pack);
    by_value("-cl-std=CL2.0");
    by_value("-cl-opt-disable");
    OK(clReleaseKernel(pack));
    for (cl_uint i = 0; i < 5; i++) {
        char name[64], type[64];
        cl_kernel_arg_address_qualifier space;
        OK(clGetKernelArgInfo(values, i, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
        OK(clGetKernelArgInfo(values, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
        OK(clGetKernelArgInfo(values, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
        printf("argument %u: %s %s, space %x\n", i, type, name, space);
    }
    cl_kernel kernels[] = {ids, sum, values, fixed};
    for (int i = 0; i < 4; i++) OK(clReleaseKernel(kernels[i]));
    cl_mem buffers[] = {x, out, table};
    for (int i = 0; i < 3; i++) OK(clReleaseMemObject(buffers[i]));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
