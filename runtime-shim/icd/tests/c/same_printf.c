// printf in kernels, in order with the program's own output.
#include "same.h"

static const char *SOURCE =
    "kernel void talk(int x, float y) {\n"
    "  printf(\"%d %5d|%-5d|%05d %x %#o %u %c %%\\n\", x, x, x, x, x, x, x, 'a' + x % 26);\n"
    "  printf(\"%f %.3f %8.2e %g %s\\n\", y, y, y, y, \"text\");\n"
    "  printf(\"%v4hld %v2hlf %ld %hhd\\n\", (int4)(x, 1, 2, 3), (float2)(y, -y), (long)x << 33, (char)x);\n"
    "}\n";

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    open_device(0);
    cl_program program = build(SOURCE, "-cl-std=CL1.2");
    cl_kernel talk = kernel_of(program, "talk");
    for (int i = 1; i < 4; i++) {
        float y = i * 1.375f;
        OK(clSetKernelArg(talk, 0, sizeof i, &i));
        OK(clSetKernelArg(talk, 1, sizeof y, &y));
        printf("before %d\n", i);
        OK(clEnqueueTask(queue, talk, 0, NULL, NULL));
        OK(clFinish(queue));
        printf("after %d\n", i);
    }
    OK(clReleaseKernel(talk));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
