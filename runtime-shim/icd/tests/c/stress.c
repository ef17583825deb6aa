// Many threads with a queue each on one context: kernels, copies, fills, writes and reads with random dependencies, user
// events that succeed or fail, and refused calls between. What must come out is computed alongside on the host.
//
//     stress THREADS COMMANDS [single]
//
// With `single` one host thread plays all parts in turn, so that the order of arrival is the same in every run.
#include "check.h"
#include <pthread.h>

enum { BUFFERS = 4, WORDS = 64, READS = 16 };

// The last command on a buffer, and whether it fails.
typedef struct {
    cl_event event;
    int failed;
} last_t;

typedef struct {
    unsigned seed;
    int number;
    cl_command_queue queue;
    cl_kernel mix;
    cl_mem buffer[BUFFERS];
    uint32_t model[BUFFERS][WORDS];
    last_t last[BUFFERS];
    // A user event that has not been set: it will be in so many turns, to this status.
    cl_event gate;
    int gate_turns, gate_status;
    // Reads under way, and what they must bring.
    uint32_t read[READS][WORDS], expected[READS][WORDS];
    int reads;
    int failures;
} worker_t;

static cl_program program;

static unsigned dice(worker_t *w, unsigned sides) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % sides;
}

static void forget(last_t *last) {
    if (last->event) OK(clReleaseEvent(last->event));
    last->event = NULL;
    last->failed = 0;
}

static void keep(last_t *last, cl_event event, int failed) {
    OK(clRetainEvent(event));
    forget(last);
    last->event = event;
    last->failed = failed;
}

static void open_gate(worker_t *w) {
    if (!w->gate) return;
    OK(clSetUserEventStatus(w->gate, w->gate_status));
    OK(clReleaseEvent(w->gate));
    w->gate = NULL;
}

// Everything enqueued so far has ended; the reads are checked.
static void settle(worker_t *w) {
    open_gate(w);
    clFinish(w->queue);
    for (int b = 0; b < BUFFERS; b++) {
        if (w->last[b].event) {
            cl_int status;
            OK(clGetEventInfo(w->last[b].event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
            if ((status < 0) != w->last[b].failed) FAIL("worker %d: status %d, failure expected: %d", w->number, status, w->last[b].failed);
        }
        forget(&w->last[b]);
    }
    for (int r = 0; r < w->reads; r++) {
        if (memcmp(w->read[r], w->expected[r], sizeof w->read[r])) FAIL("worker %d: a read brought something else", w->number);
    }
    w->reads = 0;
}

static void turn(worker_t *w) {
    if (w->gate && w->gate_turns-- == 0) open_gate(w);
    unsigned a = dice(w, BUFFERS), b = (a + 1 + dice(w, BUFFERS - 1)) % BUFFERS;
    cl_event wait[3], event;
    cl_uint n = 0;
    int failed = w->last[a].failed || w->last[b].failed;
    if (w->last[a].event) wait[n++] = w->last[a].event;
    if (w->last[b].event) wait[n++] = w->last[b].event;
    unsigned what = dice(w, 32);
    if (what == 0 && !w->gate) {
        cl_int e;
        w->gate = clCreateUserEvent(context, &e);
        OK(e);
        w->gate_turns = dice(w, 8);
        w->gate_status = dice(w, 3) ? CL_COMPLETE : -1000 - (int)dice(w, 10);
    }
    if (w->gate && dice(w, 4) == 0) {
        wait[n++] = w->gate;
        failed |= w->gate_status < 0;
    }
    cl_event *list = n ? wait : NULL;
    uint32_t k = w->seed, *x = w->model[a], *y = w->model[b];
    size_t items = WORDS, bytes = WORDS * sizeof(uint32_t);
    if (what < 16) {
        OK(clSetKernelArg(w->mix, 0, sizeof(cl_mem), &w->buffer[a]));
        OK(clSetKernelArg(w->mix, 1, sizeof(cl_mem), &w->buffer[b]));
        OK(clSetKernelArg(w->mix, 2, sizeof k, &k));
        OK(clEnqueueNDRangeKernel(w->queue, w->mix, 1, NULL, &items, NULL, n, list, &event));
        for (int i = 0; !failed && i < WORDS; i++) x[i] = x[i] * 1664525u + y[i] + k;
    } else if (what < 20) {
        OK(clEnqueueCopyBuffer(w->queue, w->buffer[b], w->buffer[a], 0, 0, bytes, n, list, &event));
        if (!failed) memcpy(x, y, bytes);
    } else if (what < 23) {
        OK(clEnqueueFillBuffer(w->queue, w->buffer[a], &k, sizeof k, 0, bytes, n, list, &event));
        for (int i = 0; !failed && i < WORDS; i++) x[i] = k;
    } else if (what < 26 && w->reads < READS) {
        OK(clEnqueueReadBuffer(w->queue, w->buffer[a], CL_FALSE, 0, bytes, w->read[w->reads], n, list, &event));
        if (!failed) memcpy(w->expected[w->reads], x, bytes);
        else memcpy(w->expected[w->reads], w->read[w->reads], bytes);
        w->reads++;
    } else if (what < 28) {
        char byte;
        RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(w->queue, w->buffer[a], CL_FALSE, bytes, 1, &byte, n, list, NULL));
        RETURNS(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(w->queue, (cl_kernel)w->queue, 1, NULL, &items, NULL, n, list, NULL));
        return;
    } else if (what < 31) {
        OK(clEnqueueMarkerWithWaitList(w->queue, n, list, &event));
        // Without a list it waits for all, and fails with none.
        failed = n ? failed : 0;
    } else {
        settle(w);
        return;
    }
    keep(&w->last[a], event, failed);
    keep(&w->last[b], event, failed);
    OK(clReleaseEvent(event));
    w->failures += failed;
    // Failures spread along dependencies: now and then everything starts anew.
    if (failed && dice(w, 4) == 0) settle(w);
}

static void begin(worker_t *w, int number) {
    memset(w, 0, sizeof *w);
    w->number = number;
    w->seed = 12345u + (unsigned)number;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, number & 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, 0};
    cl_int e;
    w->queue = clCreateCommandQueueWithProperties(context, device, properties, &e);
    OK(e);
    w->mix = clCreateKernel(program, "mix32", &e);
    OK(e);
    for (int b = 0; b < BUFFERS; b++) {
        for (int i = 0; i < WORDS; i++) w->model[b][i] = (uint32_t)(number * 1000 + b * 100 + i);
        w->buffer[b] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof w->model[b], w->model[b], &e);
        OK(e);
    }
}

static void end(worker_t *w) {
    settle(w);
    for (int b = 0; b < BUFFERS; b++) {
        uint32_t words[WORDS];
        OK(clEnqueueReadBuffer(w->queue, w->buffer[b], CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
        if (memcmp(words, w->model[b], sizeof words)) FAIL("worker %d: buffer %d is wrong", w->number, b);
        OK(clReleaseMemObject(w->buffer[b]));
    }
    OK(clReleaseKernel(w->mix));
    OK(clReleaseCommandQueue(w->queue));
}

static int commands;

static void *work(void *data) {
    worker_t *w = data;
    for (int i = 0; i < commands; i++) turn(w);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 8;
    commands = argc > 2 ? atoi(argv[2]) : 500;
    open_device(0);
    program = build("kernel void mix32(global uint *x, global const uint *y, uint k) {"
                    " size_t i = get_global_id(0); x[i] = x[i] * 1664525u + y[i] + k; }", "");
    worker_t *workers = malloc(sizeof *workers * (size_t)threads);
    pthread_t *handles = malloc(sizeof *handles * (size_t)threads);
    for (int t = 0; t < threads; t++) begin(&workers[t], t);
    if (argc > 3) {
        for (int i = 0; i < commands; i++) for (int t = 0; t < threads; t++) turn(&workers[t]);
    } else {
        for (int t = 0; t < threads; t++) pthread_create(&handles[t], NULL, work, &workers[t]);
        for (int t = 0; t < threads; t++) pthread_join(handles[t], NULL);
    }
    int failures = 0;
    for (int t = 0; t < threads; t++) {
        end(&workers[t]);
        failures += workers[t].failures;
    }
    printf("%d commands failed as they should\n", failures);
    free(workers);
    free(handles);
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}
