// What the host side costs: seconds of wall time for commands and for builds out of the cache. Prints figures.
#include "check.h"
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    open_device(0);
    const char *source = "kernel void empty(void) {} kernel void one(global int *x) { x[get_global_id(0)] = 1; }";
    enum { ROUNDS = 20, COMMANDS = 1000 };
    double builds[ROUNDS], markers[ROUNDS], launches[ROUNDS];
    for (int r = -1; r < ROUNDS; r++) {
        double begin = now();
        cl_program program = build(source, "");
        if (r >= 0) builds[r] = now() - begin;
        cl_kernel kernel;
        MADE(kernel, clCreateKernel(program, "empty", &err));
        size_t items = 1;
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL));
        OK(clFinish(queue));
        begin = now();
        for (int i = 0; i < COMMANDS; i++) OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL));
        OK(clFinish(queue));
        if (r >= 0) markers[r] = (now() - begin) / COMMANDS;
        begin = now();
        for (int i = 0; i < COMMANDS; i++) OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL));
        OK(clFinish(queue));
        if (r >= 0) launches[r] = (now() - begin) / COMMANDS;
        OK(clReleaseKernel(kernel));
        OK(clReleaseProgram(program));
    }
    double *all[] = {builds, markers, launches};
    for (int i = 0; i < 3; i++) qsort(all[i], ROUNDS, sizeof(double), by_value);
    printf("build from the cache: median %.2f ms, least %.2f ms\n", 1e3 * builds[ROUNDS / 2], 1e3 * builds[0]);
    printf("marker: median %.2f us, least %.2f us\n", 1e6 * markers[ROUNDS / 2], 1e6 * markers[0]);
    printf("empty kernel: median %.2f us, least %.2f us\n", 1e6 * launches[ROUNDS / 2], 1e6 * launches[0]);
    close_device();
    return 0;
}
