// What the programs begin with: the first device, a queue, and a program built for it.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { cl_int r_ = (call); if (r_) { fprintf(stderr, "%d: %s: %d\n", __LINE__, #call, r_); exit(1); } } while (0)

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void begin(const char *source) {
    cl_platform_id platform;
    cl_int e;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    OK(e);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &e);
    OK(e);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
    OK(e);
    OK(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL));
}
