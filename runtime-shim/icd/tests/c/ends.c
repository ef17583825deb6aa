// Programs that end, or go on, in ways that the device must survive; the first argument says how.
#include "check.h"
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_kernel kernel;
static cl_mem mem;

static void set_up(void) {
    open_device(0);
    cl_program program = build("kernel void add(global uint *x, uint n) { uint i = get_global_id(0); uint v = x[i];"
                               " for (uint k = 0; k < n; k++) v = v * 1664525u + 1013904223u; x[i] = v; }", "");
    MADE(kernel, clCreateKernel(program, "add", &err));
    MADE(mem, clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &err));
    cl_uint n = 1;
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clSetKernelArg(kernel, 1, sizeof n, &n));
}

static void launch(cl_uint rounds, cl_event *event) {
    size_t items = 1024;
    OK(clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, event));
}

static void CL_CALLBACK die(cl_event event, cl_int status, void *data) {
    (void)event, (void)status, (void)data;
    abort();
}

static volatile sig_atomic_t caught_by_simulator;

static int is_simulator_thread(void) {
    char name[64] = "";
    FILE *f = fopen("/proc/thread-self/comm", "r");
    if (f) {
        if (!fgets(name, sizeof name, f)) name[0] = 0;
        fclose(f);
    }
    return !strncmp(name, "warpscope", 9);
}

static void on_signal(int number) {
    (void)number;
    caught_by_simulator |= is_simulator_thread();
}

// Every thread but the program's own blocks every signal that can be blocked.
static void threads_block_signals(void) {
    DIR *tasks = opendir("/proc/self/task");
    int others = 0;
    for (struct dirent *d; (d = readdir(tasks));) {
        int id = atoi(d->d_name);
        if (id == 0 || id == getpid()) continue;
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        unsigned long long blocked = 0;
        while (fgets(line, sizeof line, f)) sscanf(line, "SigBlk: %llx", &blocked);
        fclose(f);
        others++;
        for (int s = 1; s < 32; s++) {
            if (s != SIGKILL && s != SIGSTOP && !(blocked >> (s - 1) & 1)) FAIL("thread %d does not block signal %d", id, s);
        }
    }
    closedir(tasks);
    TRUE_(others > 0);
}

static void signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    cl_event event;
    launch(200000, &event);
    for (int i = 0; i < 100; i++) {
        kill(getpid(), SIGUSR1);
        threads_block_signals();
    }
    OK(clWaitForEvents(1, &event));
    TRUE_(!caught_by_simulator);
    close_device();
}

// The child has the handles of a context whose thread is not there: whatever it calls ends, and says so.
static void forked(void) {
    cl_event running, user;
    MADE(user, clCreateUserEvent(context, &err));
    launch(20000, &running);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        char byte;
        RETURNS(CL_OUT_OF_RESOURCES, clWaitForEvents(1, &running));
        RETURNS(CL_OUT_OF_RESOURCES, clFinish(queue));
        RETURNS(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 1, &byte, 0, NULL, NULL));
        REFUSES(CL_OUT_OF_RESOURCES, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, &err));
        REFUSES(CL_OUT_OF_RESOURCES, clCreateBuffer(context, 0, 16, NULL, &err));
        RETURNS(CL_OUT_OF_RESOURCES, clEnqueueMarkerWithWaitList(queue, 1, &user, NULL));
        cl_event own;
        size_t items = 1;
        RETURNS(CL_OUT_OF_RESOURCES, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &own));
        // A context of its own works.
        set_up();
        launch(1, NULL);
        close_device();
        _exit(0);
    }
    int status;
    TRUE_(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) FAIL("the child ended with %#x", status);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &running));
    close_device();
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    set_up();
    for (int i = 0; i < 3; i++) launch(1, NULL);
    OK(clFinish(queue));
    if (!strcmp(how, "kill")) {
        launch(1000000, NULL);
        usleep(100000);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "abort")) {
        cl_event event;
        launch(1, &event);
        OK(clSetEventCallback(event, CL_COMPLETE, die, NULL));
        clFinish(queue);
        pause();
    } else if (!strcmp(how, "exec")) {
        execl(argv[0], argv[0], "plainly", NULL);
    } else if (!strcmp(how, "signals")) {
        signals();
    } else if (!strcmp(how, "fork")) {
        forked();
    } else {
        close_device();
    }
    return 0;
}
