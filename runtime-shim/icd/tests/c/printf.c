// Kernel printf (OpenCL C 3.0, 6.15.14). Its standard output is compared with another implementation's.
#include "check.h"

// A statement a line: each is a kernel of its own, so that a failure shows where it is.
static const char *const STATEMENTS[] = {
    "printf(\"%d %i %u\\n\", -5, 7, 4000000000u)",
    "printf(\"[%5d] [%-5d] [%05d] [%+d] [% d] [%+5d] [%-+5d]\\n\", 1, 2, 3, 4, 5, 6, 7)",
    "printf(\"[%.3d] [%8.3d] [%-8.3d] [%.0d]\\n\", 1, 2, 3, 4)",
    "printf(\"%x %X %#x %#X %o %#o\\n\", 255, 255, 255, 255, 8, 8)",
    "printf(\"%hhd %hhu %hd %hu\\n\", 0x1ff, 0x1ff, 0x18000, 0x18000)",
    "printf(\"%ld %lu %lx\\n\", -1099511627776L, 18446744073709551615UL, 0x123456789abcdefUL)",
    "printf(\"%f %F %.3f %10.2f %-10.2f| %010.2f %+f\\n\", 1.5f, 2.5f, 3.14159f, 4.0f, 5.0f, 6.0f, 7.0f)",
    "printf(\"%e %E %.2e %#.0f\\n\", 0.25f, 1234.5f, 1e-10f, 3.0f)",
    "printf(\"%g %G %.3g %#g\\n\", 100000.0f, 1e-10f, 123456.0f, 1.0f)",
    "printf(\"%a %A %.2a\\n\", 1.0f, 10.5f, 1.5f)",
    "printf(\"%f %e %g\\n\", (float)INFINITY, -(float)INFINITY, (float)INFINITY)",
    "printf(\"%.15f %.17g\\n\", 3.140625, 0.1328125)",
    "printf(\"[%c] [%3c] [%-3c]\\n\", 'A', 'B', 'C')",
    "printf(\"[%s] [%8s] [%-8s] [%.2s]\\n\", \"one\", \"two\", \"three\", \"four\")",
    "printf(\"100%% plain\\n\")",
    "printf(\"%v4hld %v2hlu\\n\", (int4)(1, -2, 3, -4), (uint2)(5, 4000000000u))",
    "printf(\"%v4hhd %v4hhu\\n\", (char4)(1, -2, 3, -4), (uchar4)(250, 251, 252, 253))",
    "printf(\"%#v4hhx\\n\", (uchar4)(0xfa, 0xfb, 0xfc, 0xfd))",
    "printf(\"%v3hd %v8hx\\n\", (short3)(1, -2, 3), (ushort8)(1, 2, 3, 4, 5, 6, 7, 65535))",
    "printf(\"%v2ld %v2lx\\n\", (long2)(-1099511627776L, 5), (ulong2)(1, 0xffffffffffUL))",
    "printf(\"%v4hlf\\n\", (float4)(1.0f, 2.0f, 3.0f, 4.0f))",
    "printf(\"%2.2v4hlf [%8.1v2hlf] [%-8.1v2hle]\\n\", (float4)(1, 2, 3, 4), (float2)(5, 6), (float2)(7, 8))",
    "printf(\"%v2lf %v3lg\\n\", (double2)(1.25, 2.5), (double3)(1e10, 1e-10, 0.5))",
    "printf(\"%v16hld\\n\", (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))",
    "printf(\"%d %v2hlf %s %c %ld\\n\", 1, (float2)(2, 3), \"four\", '5', 6L)",
};

static void run(const char *body, size_t items) {
    static char source[1 << 12];
    snprintf(source, sizeof source, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void f(global int *result) { size_t i = get_global_id(0); result[i] = %s; }", body);
    cl_program program = build(source, "-cl-std=CL1.2");
    cl_kernel kernel;
    MADE(kernel, clCreateKernel(program, "f", &err));
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof(cl_int), NULL, &err));
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    cl_int result[64];
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, items * sizeof(cl_int), result, 0, NULL, NULL));
    for (size_t i = 0; i < items; i++) {
        TRUE_(result[i] == 0);
    }
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(int argc, char **argv) {
    int unbuffered = argc > 1 && !strcmp(argv[1], "unbuffered");
    // Another implementation may write past C stdio.
    setvbuf(stdout, NULL, unbuffered ? _IONBF : _IOFBF, BUFSIZ);
    open_device(0);
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++) {
        // The program's own output stands between the kernels', in order.
        printf("%zu: ", i);
        run(STATEMENTS[i], 1);
    }
    // One work-group prints in the order of its work-items where each has its turn alone.
    run("(i & 1) ? printf(\"odd %d\\n\", (int)i) : printf(\"even %d %s\\n\", (int)i, i == 2 ? \"two\" : \"other\")", 1);
    close_device();
    return 0;
}
