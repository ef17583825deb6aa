// Shared virtual memory: a list that kernels walk by its pointers, fills, copies, maps.
#include "same.h"

static const char *SOURCE =
    "typedef struct node { global struct node *next; int value, seen; } node;\n"
    "kernel void walk(global node *head, global int *out) {\n"
    "  int n = 0, sum = 0;\n"
    "  for (global node *p = head; p; p = p->next) { p->seen = ++n; sum = sum * 3 + p->value; }\n"
    "  out[0] = n; out[1] = sum;\n"
    "}\n";

struct node { struct node *next; int value, seen; };

int main(void) {
    open_device(0);
    cl_program program = build(SOURCE, "-cl-std=CL2.0");
    cl_kernel walk = kernel_of(program, "walk");
    enum { N = 12 };
    struct node *nodes = clSVMAlloc(context, CL_MEM_READ_WRITE, N * sizeof *nodes, 0);
    int *out = clSVMAlloc(context, CL_MEM_READ_WRITE, 16 * sizeof *out, 0);
    TRUE_(nodes && out);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, nodes, N * sizeof *nodes, 0, NULL, NULL));
    for (int i = 0; i < N; i++) nodes[i] = (struct node){i == 9 ? NULL : &nodes[(i + 5) % N], i - 4, 0};
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    int pattern[2] = {7, -7};
    OK(clEnqueueSVMMemFill(queue, out, pattern, sizeof pattern, 16 * sizeof *out, 0, NULL, NULL));
    OK(clSetKernelArgSVMPointer(walk, 0, nodes + 2));
    OK(clSetKernelArgSVMPointer(walk, 1, out + 3));
    OK(clEnqueueTask(queue, walk, 0, NULL, NULL));
    int copy[16];
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, copy, out, sizeof copy, 0, NULL, NULL));
    print_ints("walked", copy, 16);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nodes, N * sizeof *nodes, 0, NULL, NULL));
    for (int i = 0; i < N; i++) printf("node %d: value %d seen %d\n", i, nodes[i].value, nodes[i].seen);
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    OK(clFinish(queue));
    clSVMFree(context, nodes);
    clSVMFree(context, out);
    OK(clReleaseKernel(walk));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
