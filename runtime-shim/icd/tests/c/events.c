// Queues and events: order, dependencies, user events, callbacks, failure, markers, barriers, profiling.
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static cl_mem mem;
static uint32_t values[4];

static int calls[4];
static cl_int statuses[4];
static void CL_CALLBACK called(cl_event event, cl_int status, void *data) {
    (void)event;
    int i = (int)(intptr_t)data;
    statuses[i] = status;
    __atomic_add_fetch(&calls[i], 1, __ATOMIC_SEQ_CST);
}

static void await_call(int i) {
    for (int n = 0; n < 5000 && !__atomic_load_n(&calls[i], __ATOMIC_SEQ_CST); n++) usleep(1000);
    TRUE_(calls[i] == 1);
}

static cl_int status_of(cl_event event) {
    cl_int status;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static void write_value(cl_command_queue q, uint32_t *value, cl_uint n, const cl_event *wait, cl_event *event) {
    OK(clEnqueueWriteBuffer(q, mem, CL_FALSE, 0, 4, value, n, wait, event));
}

static uint32_t read_value(void) {
    uint32_t v;
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &v, 0, NULL, NULL));
    return v;
}

static void user_events(cl_command_queue q) {
    cl_event gate, first, second, marker;
    uint32_t one = 1, two = 2;
    MADE(gate, clCreateUserEvent(context, &err));
    TRUE_(status_of(gate) == CL_SUBMITTED);
    write_value(q, &one, 1, &gate, &first);
    write_value(q, &two, 1, &first, &second);
    OK(clSetEventCallback(second, CL_COMPLETE, called, (void *)0));
    OK(clSetEventCallback(first, CL_SUBMITTED, called, (void *)1));
    OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &marker));
    OK(clFlush(q));
    usleep(2000);
    TRUE_(status_of(first) >= CL_SUBMITTED && status_of(second) >= CL_SUBMITTED && status_of(marker) > CL_COMPLETE);
    RETURNS(CL_INVALID_VALUE, clSetUserEventStatus(gate, CL_RUNNING));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    RETURNS(CL_INVALID_OPERATION, clSetUserEventStatus(gate, CL_COMPLETE));
    RETURNS(CL_INVALID_EVENT, clSetUserEventStatus(first, CL_COMPLETE));
    OK(clWaitForEvents(1, &marker));
    TRUE_(status_of(second) == CL_COMPLETE);
    await_call(0);
    await_call(1);
    TRUE_(statuses[0] == CL_COMPLETE && statuses[1] == CL_SUBMITTED);
    TRUE_(read_value() == 2);
    cl_ulong t;
    RETURNS(CL_PROFILING_INFO_NOT_AVAILABLE, clGetEventProfilingInfo(gate, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL));
    OK(clReleaseEvent(gate)); OK(clReleaseEvent(first)); OK(clReleaseEvent(second)); OK(clReleaseEvent(marker));
    memset(calls, 0, sizeof calls);
}

static void failure(cl_command_queue q) {
    cl_event gate, first, second, late;
    uint32_t nine = 9, one = 1;
    write_value(q, &one, 0, NULL, NULL);
    OK(clFinish(q));
    MADE(gate, clCreateUserEvent(context, &err));
    write_value(q, &nine, 1, &gate, &first);
    write_value(q, &nine, 1, &first, &second);
    OK(clSetEventCallback(second, CL_COMPLETE, called, (void *)2));
    OK(clSetUserEventStatus(gate, -7));
    RETURNS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &second));
    TRUE_(status_of(first) < 0 && status_of(second) < 0);
    await_call(2);
    TRUE_(statuses[2] < 0);
    // Blocking calls say so, and the queue stays usable.
    uint32_t v;
    RETURNS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            clEnqueueReadBuffer(q, mem, CL_TRUE, 0, 4, &v, 1, &second, NULL));
    OK(clFinish(q));
    OK(clSetEventCallback(second, CL_RUNNING, called, (void *)3)); // after the fact
    await_call(3);
    TRUE_(read_value() != 9);
    write_value(q, &nine, 0, NULL, &late);
    OK(clWaitForEvents(1, &late));
    TRUE_(read_value() == 9);
    OK(clReleaseEvent(gate)); OK(clReleaseEvent(first)); OK(clReleaseEvent(second)); OK(clReleaseEvent(late));
    memset(calls, 0, sizeof calls);
}

// In an out-of-order queue only the barrier holds later commands back.
static void barriers(cl_command_queue ooo) {
    cl_event gate, held, barrier, after, free_one, marker;
    uint32_t a = 11, b = 12, c = 13;
    MADE(gate, clCreateUserEvent(context, &err));
    write_value(ooo, &a, 1, &gate, &held);
    OK(clEnqueueMarkerWithWaitList(ooo, 1, &gate, &marker));
    write_value(ooo, &b, 0, NULL, &free_one);
    OK(clWaitForEvents(1, &free_one));
    TRUE_(read_value() == 12 && status_of(held) > CL_COMPLETE && status_of(marker) > CL_COMPLETE);
    OK(clEnqueueBarrierWithWaitList(ooo, 0, NULL, &barrier));
    write_value(ooo, &c, 0, NULL, &after);
    usleep(2000);
    TRUE_(status_of(barrier) > CL_COMPLETE && status_of(after) > CL_COMPLETE);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(ooo));
    TRUE_(read_value() == 13 && status_of(held) == CL_COMPLETE);
    cl_event all[] = {gate, held, barrier, after, free_one, marker};
    for (int i = 0; i < 6; i++) OK(clReleaseEvent(all[i]));
}

static void profiling(cl_command_queue q) {
    cl_event events[3];
    uint32_t v = 3;
    cl_ulong t[5], last = 0, device_time, host_time;
    static char big[1 << 20];
    cl_mem large;
    MADE(large, clCreateBuffer(context, 0, sizeof big, NULL, &err));
    write_value(q, &v, 0, NULL, &events[0]);
    OK(clEnqueueWriteBuffer(q, large, CL_FALSE, 0, sizeof big, big, 0, NULL, &events[1]));
    OK(clEnqueueReadBuffer(q, large, CL_TRUE, 0, sizeof big, big, 0, NULL, &events[2]));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 5; k++)
            OK(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_QUEUED + (cl_uint)k, 8, &t[k], NULL));
        for (int k = 1; k < 5; k++) TRUE_(t[k] >= t[k - 1]);
        TRUE_(t[2] >= last); // in order
        last = t[3];
        // A megabyte takes longer than four bytes: the simulated link has a bandwidth.
        if (i > 0) TRUE_(t[3] - t[2] > 1000);
        OK(clReleaseEvent(events[i]));
    }
    OK(clGetDeviceAndHostTimer(device, &device_time, &host_time));
    TRUE_(device_time > last); // the same base: the read was waited for
    // Reading a timer takes time, so that waiting for it ends.
    cl_ulong until = host_time + 2000;
    for (int reads = 0; host_time < until; reads++) {
        OK(clGetHostTimer(device, &host_time));
        TRUE_(reads < 10000000);
    }
    OK(clReleaseMemObject(large));
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[0]));
    OK(clWaitForEvents(1, events));
    RETURNS(CL_PROFILING_INFO_NOT_AVAILABLE, clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_END, 8, t, NULL));
    OK(clReleaseEvent(events[0]));
}

// A kernel takes time in every mode, and more for more work, so that programs which measure themselves end.
static void kernels_take_time(cl_command_queue q) {
    cl_program program = build("kernel void turn(global uint *x, uint n) { uint v = *x; for (uint i = 0; i < n; i++) v = v * 17 ^ i; *x = v; }", "");
    cl_kernel kernel;
    MADE(kernel, clCreateKernel(program, "turn", &err));
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    cl_ulong took[3], start, end;
    for (cl_uint i = 0, turns[] = {100, 10000, 10000}; i < 3; i++) {
        cl_event event;
        OK(clSetKernelArg(kernel, 1, sizeof turns[i], &turns[i]));
        OK(clEnqueueTask(q, kernel, 0, NULL, &event));
        OK(clWaitForEvents(1, &event));
        OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
        OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        took[i] = end - start;
        OK(clReleaseEvent(event));
    }
    TRUE_(took[0] > 0 && took[1] > 2 * took[0] && took[2] > 2 * took[0]);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

// Blocking calls in callbacks are undefined (OpenCL 3.0, 5.11.5): they are refused where they would never return.
static cl_int refused[3];
static volatile int refused_all;

static void CL_CALLBACK blocks(cl_event event, cl_int status, void *data) {
    (void)event, (void)status, (void)data;
    cl_event marker;
    cl_uint word;
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker));
    refused[0] = clFinish(queue);
    refused[1] = clWaitForEvents(1, &marker);
    refused[2] = clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL);
    OK(clReleaseEvent(marker));
    refused_all = 1;
}

static void callbacks_do_not_block(void) {
    cl_event user, marker;
    MADE(user, clCreateUserEvent(context, &err));
    OK(clEnqueueMarkerWithWaitList(queue, 1, &user, &marker));
    OK(clSetEventCallback(marker, CL_COMPLETE, blocks, NULL));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &marker));
    while (!refused_all) {}
    for (int i = 0; i < 3; i++) TRUE_(refused[i] == CL_INVALID_OPERATION);
    OK(clFinish(queue));
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(marker));
}

// Many markers behind many commands that wait: each needs to look at what came since the last one only.
static void many_markers(cl_command_queue q) {
    cl_event user, last;
    MADE(user, clCreateUserEvent(context, &err));
    for (int i = 0; i < 5000; i++) OK(clEnqueueMarkerWithWaitList(q, 1, &user, NULL));
    for (int i = 0; i < 5000; i++) OK(clEnqueueMarkerWithWaitList(q, 0, NULL, i == 4999 ? &last : NULL));
    cl_int status;
    OK(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE_(status > CL_COMPLETE);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &last));
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(last));
}

int main(void) {
    open_device(0);
    MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &err));
    cl_command_queue ooo, timed;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    MADE(ooo, clCreateCommandQueueWithProperties(context, device, properties, &err));
    MADE(timed, clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &err));
    cl_queue_properties bad[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0}, on_device[] = {CL_QUEUE_PROPERTIES,
        CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0}, half[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0};
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, bad, &err));
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, half, &err));
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, clCreateCommandQueueWithProperties(context, device, on_device, &err));
    user_events(queue);
    user_events(ooo);
    failure(queue);
    failure(ooo);
    barriers(ooo);
    profiling(timed);
    kernels_take_time(timed);
    callbacks_do_not_block();
    many_markers(ooo);
    cl_event event;
    OK(clEnqueueMarker(queue, &event));
    RETURNS(CL_INVALID_VALUE, clSetEventCallback(event, CL_QUEUED, called, NULL));
    RETURNS(CL_INVALID_VALUE, clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
    OK(clEnqueueWaitForEvents(queue, 1, &event));
    OK(clEnqueueBarrier(queue));
    OK(clReleaseEvent(event));
    RETURNS(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
    OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(ooo));
    OK(clReleaseCommandQueue(timed));
    close_device();
    return 0;
}
