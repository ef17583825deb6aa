// A forked child cannot use its parent's context, but can make one of its own.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    open_device(0);
    cl_mem mem;
    int value = 5;
    MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &err));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    pid_t child = fork();
    if (child == 0) {
        RETURNS(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
        RETURNS(CL_OUT_OF_RESOURCES, clFinish(queue));
        open_device(0);
        MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &err));
        OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
        close_device();
        _exit(0);
    }
    int status;
    TRUE_(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    OK(clReleaseMemObject(mem));
    close_device();
    return 0;
}
