// Programs: compiling with a header, linking, options, binaries, names of kernels, build states.
#include "same.h"

static void run(const char *what, cl_program program) {
    cl_kernel kernel = kernel_of(program, "entry");
    cl_mem out = buffer_of(NULL, 8 * sizeof(int));
    size_t size = 8;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    print_buffer(what, out, 8);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
}

static cl_program source(const char *text) {
    cl_program made;
    MADE(made, clCreateProgramWithSource(context, 1, &text, NULL, &err));
    return made;
}

int main(void) {
    open_device(0);
    cl_program header = source("int twice(int x);\n#define OFFSET 100\n");
    cl_program library = source("#include \"twice.h\"\nint twice(int x) { return 2 * x + OFFSET; }\n");
    cl_program entry = source("#include \"twice.h\"\nkernel void entry(global int *x) { x[get_global_id(0)] = twice(get_global_id(0)) * SCALE; }\n");
    const char *name = "twice.h";
    OK(clCompileProgram(library, 1, &device, "", 1, &header, &name, NULL, NULL));
    OK(clCompileProgram(entry, 1, &device, "-DSCALE=3", 1, &header, &name, NULL, NULL));
    cl_program parts[] = {entry, library}, linked;
    MADE(linked, clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &err));
    run("linked", linked);

    size_t bytes = 0;
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    unsigned char *binary = malloc(bytes);
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    cl_int status;
    cl_program again;
    MADE(again, clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char **)&binary, &status, &err));
    OK(clBuildProgram(again, 1, &device, "", NULL, NULL));
    printf("binary accepted: %d\n", status == CL_SUCCESS);
    run("from its binary", again);
    free(binary);

    cl_program two = build("kernel void b(global int *x) { x[0] = V; }\nkernel void a(global int *x) { x[0] = -V; }\n", "-D V=4 -cl-std=CL1.2 -w");
    size_t count;
    OK(clGetProgramInfo(two, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    printf("%zu kernels\n", count);
    cl_program wrong = source("kernel void broken(global int *x) { x[0] = undeclared; }\n");
    RETURNS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(wrong, 1, &device, "", NULL, NULL));
    cl_build_status state;
    OK(clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_STATUS, sizeof state, &state, NULL));
    char log[4096] = "";
    OK(clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    printf("state %d, the log names what is wrong: %d\n", state, strstr(log, "undeclared") != NULL);
    cl_program all[] = {header, library, entry, linked, again, two, wrong};
    for (int i = 0; i < 7; i++) OK(clReleaseProgram(all[i]));
    close_device();
    return 0;
}
