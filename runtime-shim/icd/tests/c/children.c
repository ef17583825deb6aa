// Programs are built by child processes, whatever the program does with children, signals and preloaded libraries.
#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void reap(int number) {
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

static void log_of(cl_program program, char *log, size_t size) {
    log[0] = 0;
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL));
}

// Two programs that link, and one that does not compile; `n` makes the sources new to every cache.
static void builds(int n) {
    char text[2][200], log[4096];
    snprintf(text[0], sizeof text[0], "int f(int x) { return x + %d; }", n);
    snprintf(text[1], sizeof text[1], "int f(int); kernel void k%d(global int *x) { x[0] = f(x[1]); }", n);
    cl_program parts[2], linked, wrong;
    for (int i = 0; i < 2; i++) {
        const char *source = text[i];
        MADE(parts[i], clCreateProgramWithSource(context, 1, &source, NULL, &err));
        OK(clCompileProgram(parts[i], 1, &device, "", 0, NULL, NULL, NULL, NULL));
        log_of(parts[i], log, sizeof log);
        if (log[0]) FAIL("the log is not empty: %s", log);
    }
    MADE(linked, clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &err));
    char bad[200];
    snprintf(bad, sizeof bad, "kernel void k(global int *x) { x[0] = missing%d; }", n);
    const char *source = bad;
    MADE(wrong, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    RETURNS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(wrong, 1, &device, "", NULL, NULL));
    log_of(wrong, log, sizeof log);
    if (!strstr(log, "undeclared identifier")) FAIL("the log is %s", log);
    OK(clReleaseProgram(parts[0]));
    OK(clReleaseProgram(parts[1]));
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(wrong));
}

// A compiler that ends before it has read its input.
static void compiler_ends_early(void) {
    enum { SIZE = 4 << 20 };
    char *text = malloc(SIZE);
    memset(text, ' ', SIZE);
    text[SIZE - 1] = 0;
    memcpy(text, "kernel void k() {}", 18);
    const char *source = text;
    cl_program program;
    MADE(program, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    TRUE_(clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS);
    OK(clReleaseProgram(program));
    free(text);
}

int main(void) {
    open_device(0);
    if (getenv("ENDS_EARLY")) {
        compiler_ends_early();
    } else {
        builds(getpid() * 10);
        signal(SIGCHLD, SIG_IGN);
        builds(getpid() * 10 + 1);
        signal(SIGCHLD, reap);
        builds(getpid() * 10 + 2);
        setenv("LD_PRELOAD", "/nowhere/preloaded.so", 1);
        builds(getpid() * 10 + 3);
    }
    close_device();
    return 0;
}
