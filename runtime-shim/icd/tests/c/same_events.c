// Events: a graph of dependencies in an out-of-order queue, user events, markers, barriers, callbacks.
#include "same.h"

static const char *SOURCE =
    "kernel void advance(global int *x, int factor, int term) { int i = get_global_id(0); x[i] = x[i] * factor + term; }\n"
    "kernel void combine(global int *x, global const int *y) { int i = get_global_id(0); x[i] = 3 * x[i] - y[i]; }\n";

static void CL_CALLBACK done(cl_event event, cl_int status, void *user) {
    (void)event;
    __atomic_store_n((int *)user, status == CL_COMPLETE ? 1 : status, __ATOMIC_SEQ_CST);
}

static cl_event step(cl_kernel kernel, cl_mem x, int factor, int term, cl_uint count, const cl_event *wait) {
    size_t size = 16;
    cl_event event;
    OK(clSetKernelArg(kernel, 0, sizeof x, &x));
    OK(clSetKernelArg(kernel, 1, sizeof factor, &factor));
    OK(clSetKernelArg(kernel, 2, sizeof term, &term));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, count, wait, &event));
    return event;
}

int main(void) {
    open_device(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_program program = build(SOURCE, "");
    cl_kernel stepping = kernel_of(program, "advance"), join = kernel_of(program, "combine");
    int start[16];
    for (int i = 0; i < 16; i++) start[i] = i - 3;
    cl_mem x = buffer_of(start, sizeof start), y = buffer_of(start, sizeof start);
    cl_event gate, events[8];
    MADE(gate, clCreateUserEvent(context, &err));
    events[0] = step(stepping, x, 2, 1, 1, &gate);
    events[1] = step(stepping, y, -1, 4, 1, &gate);
    events[2] = step(stepping, x, 3, -2, 1, &events[0]);
    events[3] = step(stepping, y, 5, 0, 1, &events[1]);
    size_t size = 16;
    OK(clSetKernelArg(join, 0, sizeof x, &x));
    OK(clSetKernelArg(join, 1, sizeof y, &y));
    OK(clEnqueueNDRangeKernel(queue, join, 1, NULL, &size, NULL, 2, &events[2], &events[4]));
    OK(clEnqueueBarrierWithWaitList(queue, 0, NULL, &events[5]));
    events[6] = step(stepping, x, 7, 7, 0, NULL);
    OK(clEnqueueMarkerWithWaitList(queue, 1, &events[6], &events[7]));
    int called = 0;
    OK(clSetEventCallback(events[7], CL_COMPLETE, done, &called));
    cl_int state;
    OK(clGetEventInfo(events[7], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
    printf("held by the gate: %d\n", state > CL_COMPLETE);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &events[7]));
    print_buffer("joined", x, 16);
    print_buffer("the other branch", y, 16);
    while (!__atomic_load_n(&called, __ATOMIC_SEQ_CST)) {}
    printf("callback: %d\n", called);
    for (int i = 0; i < 8; i++) {
        cl_command_type type;
        OK(clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        OK(clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
        printf("event %d: type %x state %d\n", i, type, state);
        OK(clReleaseEvent(events[i]));
    }
    OK(clReleaseEvent(gate));
    OK(clReleaseKernel(stepping));
    OK(clReleaseKernel(join));
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(y));
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
