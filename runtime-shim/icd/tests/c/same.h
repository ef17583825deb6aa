// What the programs share that print what a device computes, so that two devices can be compared.
#ifndef SAME_H
#define SAME_H
#include "check.h"

__attribute__((unused)) static cl_mem buffer_of(const void *data, size_t bytes) {
    cl_mem made;
    MADE(made, clCreateBuffer(context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes, (void *)data, &err));
    return made;
}

__attribute__((unused)) static cl_kernel kernel_of(cl_program program, const char *name) {
    cl_kernel made;
    MADE(made, clCreateKernel(program, name, &err));
    return made;
}

// Prints a line of integers.
__attribute__((unused)) static void print_ints(const char *what, const int *values, size_t count) {
    printf("%s:", what);
    for (size_t i = 0; i < count; i++) printf(" %d", values[i]);
    printf("\n");
}

// Prints the integers in a buffer.
__attribute__((unused)) static void print_buffer(const char *what, cl_mem buffer, size_t count) {
    int *values = calloc(count, sizeof *values);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof *values, values, 0, NULL, NULL));
    print_ints(what, values, count);
    free(values);
}
#endif
