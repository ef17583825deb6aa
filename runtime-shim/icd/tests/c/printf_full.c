// A call of printf that finds no room returns -1 and prints nothing; later launches have all of the room again.
#include "check.h"

int main(void) {
    open_device(0);
    size_t room;
    OK(clGetDeviceInfo(device, CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof room, &room, NULL));
    TRUE_(room == 4096);
    const char *source = "kernel void f(global int *result) { int i = get_global_id(0); result[i] = printf(\"%d\\n\", i); }";
    cl_program program = build(source, "");
    cl_kernel kernel;
    MADE(kernel, clCreateKernel(program, "f", &err));
    size_t items = 1024;
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof(cl_int), NULL, &err));
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    for (int launch = 0; launch < 2; launch++) {
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
        cl_int result[1024];
        OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
        int printed = 0;
        for (size_t i = 0; i < items; i++) {
            TRUE_(result[i] == 0 || result[i] == -1);
            printed += result[i] == 0;
        }
        // A record of one int takes 32 bytes: three words and the value, in whole words.
        TRUE_(printed == 4096 / 32);
        printf("printed %d\n", printed);
    }
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
