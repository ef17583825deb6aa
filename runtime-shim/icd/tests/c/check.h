// What the test programs share: one context and queue, and checks that name their line.
#ifndef CHECK_H
#define CHECK_H
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define TRUE_(condition) do { if (!(condition)) FAIL("not true: %s", #condition); } while (0)
// Says which error of which function was provoked; a test compares that with the specification's lists.
static void provoked(const char *call, const char *code) {
    size_t length = strcspn(call, "(");
    if (!strncmp(call, "cl", 2) && strcmp(code, "CL_SUCCESS")) printf("%.*s %s\n", (int)length, call, code);
}
// The call must return this code.
#define RETURNS(code, call) do { cl_int r_ = (call); if (r_ != (code)) FAIL("%s: %d instead of %s", #call, r_, #code); provoked(#call, #code); } while (0)
#define OK(call) RETURNS(CL_SUCCESS, call)
// A creating call, with `&err` as its last argument, must fail with this code and return NULL.
#define REFUSES(code, call) do { err = 1; void *p_ = (void *)(call); if (err != (code) || p_) FAIL("%s: %d instead of %s", #call, err, #code); provoked(#call, #code); } while (0)
#define MADE(variable, call) do { err = 1; variable = (call); if (err != CL_SUCCESS) FAIL("%s: %d", #call, err); } while (0)

static cl_int err;
static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void open_device(cl_command_queue_properties properties) {
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    MADE(queue, clCreateCommandQueue(context, device, properties, &err));
}

__attribute__((unused)) static void close_device(void) {
    OK(clFinish(queue));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
}

__attribute__((unused)) static cl_program build(const char *source, const char *options) {
    cl_program program;
    MADE(program, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    cl_int built = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (built != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        FAIL("build: %d\n%s", built, log);
    }
    return program;
}
#endif
