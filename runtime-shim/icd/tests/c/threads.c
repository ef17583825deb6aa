// Eight threads with queues of their own on one context, random dependencies, user events and errors between.
#include "check.h"
#include <pthread.h>

enum { THREADS = 8, COMMANDS = 2000, SLOTS = 64 };
static cl_mem counters;

static void CL_CALLBACK native_add(void *args) {
    // No two commands run at once, so that a plain addition is enough.
    (**(uint32_t **)args)++;
}

static void *work(void *data) {
    unsigned seed = (unsigned)(uintptr_t)data;
    cl_command_queue q;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, seed & 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, 0};
    cl_int e;
    q = clCreateCommandQueueWithProperties(context, device, properties, &e);
    OK(e);
    cl_event last[8] = {0};
    int done = 0;
    for (int i = 0; done < COMMANDS; i++) {
        unsigned dice = rand_r(&seed) % 16;
        cl_event wait[2], event;
        cl_uint n = 0;
        for (int k = 0; k < 2; k++) {
            cl_event candidate = last[rand_r(&seed) % 8];
            if (candidate) wait[n++] = candidate;
        }
        if (dice == 0) { // an error, which must leave no trace
            char byte;
            RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(q, counters, CL_FALSE, 1 << 20, 1, &byte, n, n ? wait : NULL, NULL));
            continue;
        }
        if (dice == 1) {
            event = clCreateUserEvent(context, &e);
            OK(e);
            OK(clEnqueueMarkerWithWaitList(q, 1, &event, NULL));
            OK(clSetUserEventStatus(event, CL_COMPLETE));
        } else {
            void *args[1] = {NULL};
            const void *place = &args[0];
            OK(clEnqueueNativeKernel(q, native_add, args, sizeof args, 1, &counters, &place, n, n ? wait : NULL, &event));
            done++;
        }
        cl_event *slot = &last[i % 8];
        if (*slot) OK(clReleaseEvent(*slot));
        *slot = event;
    }
    OK(clFinish(q));
    for (int k = 0; k < 8; k++) if (last[k]) OK(clReleaseEvent(last[k]));
    OK(clReleaseCommandQueue(q));
    return NULL;
}

int main(void) {
    open_device(0);
    uint32_t zero[SLOTS] = {0}, total;
    MADE(counters, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof zero, zero, &err));
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(clEnqueueReadBuffer(queue, counters, CL_TRUE, 0, 4, &total, 0, NULL, NULL));
    if (total != THREADS * COMMANDS) FAIL("%u commands of %u", total, THREADS * COMMANDS);
    OK(clReleaseMemObject(counters));
    close_device();
    return 0;
}
