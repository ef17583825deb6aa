// Integer and relational built-in functions, conversions and vectors: results are exact on every device.
#include "same.h"

static const char *SOURCE =
    "kernel void integers(global const int *a, global const int *b, global int *out) {\n"
    "  int i = get_global_id(0), n = get_global_size(0); int x = a[i], y = b[i]; uint u = x, v = y; int k = 0;\n"
    "#define PUT(e) out[(k++) * n + i] = (int)(e)\n"
    "  PUT(abs_diff(x, y)); PUT(add_sat(x, y)); PUT(sub_sat(u, v)); PUT(hadd(x, y)); PUT(rhadd(u, v)); PUT(clz(x)); PUT(popcount(x));\n"
    "  PUT(mul_hi(x, y)); PUT(mul_hi(u, v)); PUT(mad_hi(x, y, 17)); PUT(mad_sat(x, y, 5)); PUT(rotate(x, y)); PUT(mul24(x >> 8, y >> 8));\n"
    "  PUT(upsample((short)x, (ushort)y)); PUT(min(x, y)); PUT(max(u, v)); PUT(clamp(x, -100, 100)); PUT(bitselect(x, y, 0x0ff00ff0));\n"
    "  PUT(x / (y | 1)); PUT(x % (y | 1)); PUT(u / (v | 1)); PUT(u % (v | 1)); PUT(x >> (y & 31)); PUT(u >> (v & 31)); PUT(x << (y & 31));\n"
    "  long p = ((long)x << 32) ^ y, q = ((long)y << 20) ^ x; ulong w = p;\n"
    "  PUT((p * q) >> 32); PUT(p / (q | 1)); PUT(p % (q | 1)); PUT(w / ((ulong)q | 1)); PUT(mul_hi(p, q)); PUT(clz(p)); PUT(rotate(p, (long)y) >> 7);\n"
    "  PUT(convert_char_sat(x)); PUT(convert_ushort_sat(x)); PUT(convert_uchar(y)); PUT(convert_int_sat_rtz((float)x)); PUT(convert_long_sat((float)y));\n"
    "  PUT(as_int((float)x)); PUT(as_int((float)(p >> 5))); PUT(as_int(convert_float_rtp(x))); PUT(as_int(convert_float_rtn(u)));\n"
    "  PUT(as_int(convert_float_rte(x)));\n"
    "  char4 c = as_char4(x), d = as_char4(y); PUT(as_int(c * d + (char4)(1, 2, 3, 4))); PUT(as_int(c > d)); PUT(as_int(select(c, d, as_char4(u * 3u))));\n"
    "  PUT(any(c) + 2 * all(c)); PUT(as_int(shuffle2(c, d, (uchar4)(7, 0, 5, 2)))); PUT(as_int(c.wzyx)); PUT(as_int(max(as_uchar4(x), as_uchar4(y))));\n"
    "  short8 s = (short8)(as_short2(x), as_short2(y), (short2)i, (short2)(7, -7)); PUT(s.s0 + s.s3 * s.s5 - s.s7); PUT(as_int(s.lo.odd)); PUT(as_int(s.hi.even));\n"
    "}\n";

int main(void) {
    open_device(0);
    cl_program program = build(SOURCE, "");
    cl_kernel kernel = kernel_of(program, "integers");
    enum { N = 24, ROWS = 55 };
    int a[N] = {0, 1, -1, 2147483647, -2147483647 - 1, 16777217, -16777219, 255}, b[N] = {0, -1, -1, 1, 5, 3, 33, 256};
    unsigned seed = 12345;
    for (int i = 8; i < N; i++) {
        a[i] = (int)(seed = seed * 1664525u + 1013904223u);
        b[i] = (int)(seed = seed * 1664525u + 1013904223u) >> (i % 5 * 6);
    }
    cl_mem x = buffer_of(a, sizeof a), y = buffer_of(b, sizeof b), out = buffer_of(NULL, N * ROWS * sizeof(int));
    int zero = 0;
    OK(clEnqueueFillBuffer(queue, out, &zero, sizeof zero, 0, N * ROWS * sizeof(int), 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof x, &x));
    OK(clSetKernelArg(kernel, 1, sizeof y, &y));
    OK(clSetKernelArg(kernel, 2, sizeof out, &out));
    size_t size = N;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    int results[ROWS][N];
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL));
    for (int row = 0; row < ROWS; row++) {
        char name[16];
        snprintf(name, sizeof name, "row %d", row);
        print_ints(name, results[row], N);
    }
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(y));
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
