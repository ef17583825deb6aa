// Floating-point operations that every device rounds alike: OpenCL C 3.0, 7.4 (0 ulp or correctly rounded).
#include "same.h"

static const char *SOURCE =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel void floats(global const float *a, global const float *b, global int *out) {\n"
    "  int i = get_global_id(0), n = get_global_size(0); float x = a[i], y = b[i]; int k = 0;\n"
    "#define PUT(e) out[(k++) * n + i] = (e)\n"
    "#define BITS(e) PUT(isnan(e) ? 0x7fc00000 : as_int(e))\n"
    "  BITS(x + y); BITS(x - y); BITS(x * y); BITS(fma(x, y, 1.25f)); BITS(fabs(x)); BITS(copysign(x, y)); BITS(floor(x)); BITS(ceil(x));\n"
    "  BITS(trunc(y)); BITS(rint(x)); BITS(round(y)); BITS(fmin(x, y)); BITS(fmax(x, y)); BITS(fmod(x, y)); BITS(remainder(x, y));\n"
    "  BITS(nextafter(x, y)); BITS(ldexp(x, 3)); PUT(ilogb(x)); BITS(fdim(x, y)); int e; BITS(frexp(x, &e)); PUT(isfinite(x) ? e : 0);\n"
    "  BITS(fract(fabs(x), &y)); BITS(y); PUT(isgreater(x, 1.0f) + 2 * isnormal(x) + 4 * isinf(x) + 8 * signbit(x)); PUT(convert_int_sat_rtn(x));\n"
    "  PUT(convert_uchar_sat_rte(x)); BITS(mix(x, 2.0f, 0.5f)); BITS(step(x, 0.5f)); BITS(sign(x)); BITS(logb(x));\n"
    "}\n"
    "kernel void doubles(global const double *a, global const double *b, global long *out) {\n"
    "  int i = get_global_id(0), n = get_global_size(0); double x = a[i], y = b[i]; int k = 0;\n"
    "#define LONG(e) out[(k++) * n + i] = isnan(e) ? 0x7ff8000000000000L : as_long(e)\n"
    "  LONG(x + y); LONG(x * y); LONG(x / y); LONG(sqrt(fabs(x))); LONG(fma(x, y, 1.0)); LONG(rint(x)); LONG((double)(float)x); LONG((double)(long)clamp(x, -1e15, 1e15));\n"
    "}\n";

enum { N = 16, ROWS = 30, WIDE = 8 };

int main(void) {
    open_device(0);
    cl_program program = build(SOURCE, "");
    float a[N] = {0.0f, -0.0f, 1.5f, -2.5f, 3.4e38f, -0.75f, 8388609.0f, 123.456f, -1e-3f, 2.5f, 0.3f, -7.0f, 1e10f, 65504.0f, 0.5f, -1.0f};
    float b[N] = {1.0f, -1.0f, 0.5f, 2.5f, 3.4e38f, 3.0f, -0.125f, -4.5f, 1e3f, 0.7f, 0.1f, 2.0f, 3e-5f, 1.0f, -0.5f, 1.0f};
    double wide[2][N];
    for (int i = 0; i < N; i++) wide[0][i] = a[i] * 1.1, wide[1][i] = b[i] / 3.0;
    cl_mem x = buffer_of(a, sizeof a), y = buffer_of(b, sizeof b), out = buffer_of(NULL, N * ROWS * 8);
    cl_mem p = buffer_of(wide[0], sizeof wide[0]), q = buffer_of(wide[1], sizeof wide[1]);
    cl_kernel floats = kernel_of(program, "floats"), doubles = kernel_of(program, "doubles");
    size_t size = N;
    OK(clSetKernelArg(floats, 0, sizeof x, &x));
    OK(clSetKernelArg(floats, 1, sizeof y, &y));
    OK(clSetKernelArg(floats, 2, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, floats, 1, NULL, &size, NULL, 0, NULL, NULL));
    int bits[ROWS][N];
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof bits, bits, 0, NULL, NULL));
    for (int row = 0; row < ROWS; row++) {
        printf("float %d:", row);
        for (int i = 0; i < N; i++) printf(" %08x", bits[row][i]);
        printf("\n");
    }
    OK(clSetKernelArg(doubles, 0, sizeof p, &p));
    OK(clSetKernelArg(doubles, 1, sizeof q, &q));
    OK(clSetKernelArg(doubles, 2, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, doubles, 1, NULL, &size, NULL, 0, NULL, NULL));
    cl_ulong words[WIDE][N];
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    for (int row = 0; row < WIDE; row++) {
        printf("double %d:", row);
        for (int i = 0; i < N; i++) printf(" %016llx", (unsigned long long)words[row][i]);
        printf("\n");
    }
    cl_mem buffers[] = {x, y, out, p, q};
    for (int i = 0; i < 5; i++) OK(clReleaseMemObject(buffers[i]));
    OK(clReleaseKernel(floats));
    OK(clReleaseKernel(doubles));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
