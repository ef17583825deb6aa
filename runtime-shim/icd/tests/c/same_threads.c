// Threads: each with its own queue and kernel object, one context; the results add up.
#include "same.h"
#include <pthread.h>

static const char *SOURCE = "kernel void stir(global uint *x, uint by) { int i = get_global_id(0); for (int k = 0; k < 9; k++) x[i] = rotate(x[i] * 2654435761u + by, 7u); }\n";

enum { THREADS = 6, TURNS = 20, N = 32 };
static cl_program program;
static int results[THREADS][N];

static void *work(void *number) {
    size_t me = (size_t)number, size = N;
    cl_int code;
    cl_command_queue own = clCreateCommandQueue(context, device, 0, &code);
    TRUE_(code == CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(program, "stir", &code);
    TRUE_(code == CL_SUCCESS);
    int start[N];
    for (int i = 0; i < N; i++) start[i] = (int)me * 1000 + i;
    cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof start, start, &code);
    TRUE_(code == CL_SUCCESS);
    for (cl_uint turn = 0; turn < TURNS; turn++) {
        cl_uint by = turn * 31 + (cl_uint)me;
        OK(clSetKernelArg(kernel, 0, sizeof x, &x));
        OK(clSetKernelArg(kernel, 1, sizeof by, &by));
        OK(clEnqueueNDRangeKernel(own, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    }
    OK(clEnqueueReadBuffer(own, x, CL_TRUE, 0, sizeof start, results[me], 0, NULL, NULL));
    OK(clReleaseMemObject(x));
    OK(clReleaseKernel(kernel));
    OK(clReleaseCommandQueue(own));
    return NULL;
}

int main(void) {
    open_device(0);
    program = build(SOURCE, "");
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) TRUE_(!pthread_create(&threads[i], NULL, work, (void *)i));
    for (size_t i = 0; i < THREADS; i++) TRUE_(!pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof name, "thread %d", i);
        print_ints(name, results[i], N);
    }
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
