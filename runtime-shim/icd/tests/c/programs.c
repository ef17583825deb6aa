// Programs: building, options, logs, compiling and linking, SPIR-V, binaries, errors.
#include "check.h"
#include <unistd.h>

static int built;
static void CL_CALLBACK release_called(cl_program p, void *data) { (void)p; (void)data; }
static void CL_CALLBACK build_called(cl_program p, void *data) { (void)p; __atomic_store_n((int *)data, 1, __ATOMIC_SEQ_CST); }

static cl_program from_source(const char *text) {
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 1, &text, NULL, &err));
    return p;
}

static cl_build_status status_of(cl_program p) {
    cl_build_status s;
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_STATUS, sizeof s, &s, NULL));
    return s;
}

// Runs the kernel `answer` of a program; it writes one number.
static uint32_t answer(cl_program p) {
    uint32_t value = 0;
    cl_kernel k;
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &value, &err));
    MADE(k, clCreateKernel(p, "answer", &err));
    OK(clSetKernelArg(k, 0, sizeof mem, &mem));
    OK(clEnqueueTask(queue, k, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(mem));
    return value;
}

static void building(void) {
    // Several strings, with and without lengths.
    const char *parts[] = {"kernel void answer(global uint *o) {", "*o = N;XXXX", "}"};
    size_t lengths[] = {0, 7, 0};
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 3, parts, lengths, &err));
    TRUE_(status_of(p) == CL_BUILD_NONE);
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(p, "answer", &err));
    RETURNS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(p, 0, NULL, "-fplugin=evil.so", NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clBuildProgram(p, 1, NULL, "", NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clBuildProgram(p, 0, &device, "", NULL, NULL));
    OK(clBuildProgram(p, 1, &device, "-D N=42 -cl-std=CL1.2", NULL, NULL));
    TRUE_(status_of(p) == CL_BUILD_SUCCESS && answer(p) == 42);
    char text[256];
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "-D N=42 -cl-std=CL1.2"));
    OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "answer"));
    OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    TRUE_(!strcmp(text, "kernel void answer(global uint *o) {*o = N;}"));
    // Built again, unless kernels are attached; with a callback, later.
    cl_kernel k;
    MADE(k, clCreateKernel(p, "answer", &err));
    RETURNS(CL_INVALID_OPERATION, clBuildProgram(p, 0, NULL, "-DN=1", NULL, NULL));
    OK(clReleaseKernel(k));
    OK(clBuildProgram(p, 0, NULL, "-DN=43", build_called, &built));
    for (int i = 0; i < 10000 && !__atomic_load_n(&built, __ATOMIC_SEQ_CST); i++) usleep(1000);
    TRUE_(built && status_of(p) == CL_BUILD_SUCCESS && answer(p) == 43);
    // There are no destructors of program-scope variables whose end it could tell.
    RETURNS(CL_INVALID_OPERATION, clSetProgramReleaseCallback(p, release_called, NULL));
    OK(clReleaseProgram(p));
}

static void failing(void) {
    cl_program p = from_source("kernel void answer(global uint *o) {\n    *o = undeclared;\n}\n");
    RETURNS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    TRUE_(status_of(p) == CL_BUILD_ERROR);
    static char log[1 << 16];
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    TRUE_(strstr(log, ":2:") && strstr(log, "undeclared"));
    size_t n;
    RETURNS(CL_INVALID_PROGRAM_EXECUTABLE, clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof n, &n, NULL));
    OK(clReleaseProgram(p));
    p = from_source("kernel void answer(global uint *o) { int unused; *o = 1 }");
    RETURNS(CL_COMPILE_PROGRAM_FAILURE, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    OK(clReleaseProgram(p));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, NULL, NULL, &err));
    const char *null = NULL;
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(context, 1, &null, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(context, "no SPIR-V at all, but a text", 28, &err));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(context, NULL, 0, &err));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &device, "none", &err));
    const unsigned char foreign[] = "\x7f" "ELF foreign binary";
    const unsigned char *binaries[] = {foreign};
    size_t length = sizeof foreign;
    cl_int status = 0;
    REFUSES(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &device, &length, binaries, &status, &err));
    TRUE_(status == CL_INVALID_BINARY);
}

static void linking(void) {
    cl_program header = from_source("uint twice(uint x);\n");
    cl_program library = from_source("uint twice(uint x) { return 2 * x; }\n");
    cl_program user = from_source("#include \"lib/twice.h\"\nkernel void answer(global uint *o) { *o = twice(21); }\n");
    const char *name = "lib/twice.h";
    OK(clCompileProgram(library, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    RETURNS(CL_COMPILE_PROGRAM_FAILURE, clCompileProgram(user, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    OK(clCompileProgram(user, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
    cl_program_binary_type type;
    OK(clGetProgramBuildInfo(user, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    TRUE_(type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    cl_program inputs[] = {user, library}, linked;
    MADE(linked, clLinkProgram(context, 0, NULL, "", 2, inputs, NULL, NULL, &err));
    OK(clGetProgramBuildInfo(linked, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    TRUE_(type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE && answer(linked) == 42);
    REFUSES(CL_INVALID_OPERATION, clLinkProgram(context, 0, NULL, "", 1, &linked, NULL, NULL, &err));
    REFUSES(CL_INVALID_LINKER_OPTIONS, clLinkProgram(context, 0, NULL, "-what", 2, inputs, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, "", 0, NULL, NULL, NULL, &err));
    // A failed link still gives a program, which has the log.
    cl_program bad = from_source("uint twice(uint x);\nkernel void answer(global uint *o) { *o = twice(21); }\n");
    OK(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    cl_program failed = clLinkProgram(context, 0, NULL, "", 1, &bad, NULL, NULL, &err);
    TRUE_(err == CL_LINK_PROGRAM_FAILURE && failed && status_of(failed) == CL_BUILD_ERROR);
    static char log[1 << 16];
    OK(clGetProgramBuildInfo(failed, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    TRUE_(strstr(log, "twice"));
    // Two definitions of one function.
    cl_program other = from_source("uint twice(uint x) { return x + x; }\n"), both[] = {library, other};
    OK(clCompileProgram(other, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    cl_program clash = clLinkProgram(context, 0, NULL, "", 2, both, NULL, NULL, &err);
    TRUE_(err == CL_LINK_PROGRAM_FAILURE && clash && status_of(clash) == CL_BUILD_ERROR);
    OK(clGetProgramBuildInfo(clash, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    TRUE_(strstr(log, "twice"));
    OK(clReleaseProgram(clash));
    OK(clReleaseProgram(other));
    OK(clReleaseProgram(failed));
    OK(clReleaseProgram(bad));
    cl_program made;
    MADE(made, clLinkProgram(context, 0, NULL, "-create-library", 1, &library, NULL, NULL, &err));
    OK(clGetProgramBuildInfo(made, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    TRUE_(type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program all[] = {header, library, user, linked, made};
    for (int i = 0; i < 5; i++) OK(clReleaseProgram(all[i]));
}

// OpenCL C 3.0, 6.2.1: a feature's macro is defined where clGetDeviceInfo tells of the feature, and only there.
static void features(void) {
    static const char *all[] = {"__opencl_c_3d_image_writes", "__opencl_c_atomic_order_acq_rel",
        "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_all_devices", "__opencl_c_atomic_scope_device",
        "__opencl_c_device_enqueue", "__opencl_c_fp64", "__opencl_c_generic_address_space", "__opencl_c_images",
        "__opencl_c_int64", "__opencl_c_pipes", "__opencl_c_program_scope_global_variables",
        "__opencl_c_read_write_images", "__opencl_c_subgroups", "__opencl_c_work_group_collective_functions"};
    enum { COUNT = sizeof all / sizeof *all };
    static cl_name_version offered[64];
    static char source[8192];
    size_t size;
    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof offered, offered, &size));
    uint32_t expected = 0;
    strcpy(source, "kernel void answer(global uint *o) {\n *o = 0;\n");
    for (int i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < size / sizeof *offered; k++) expected |= (uint32_t)!strcmp(offered[k].name, all[i]) << i;
        sprintf(source + strlen(source), "#ifdef %s\n *o |= 1u << %d;\n#endif\n", all[i], i);
    }
    strcat(source, "}\n");
    cl_program p = build(source, "-cl-std=CL3.0");
    TRUE_(answer(p) == expected);
    OK(clReleaseProgram(p));
}

static void binaries(void) {
    cl_program p = build("kernel void answer(global uint *o) { *o = 77; }", "-cl-std=CL3.0"), again;
    size_t size;
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *bytes = malloc(size);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    cl_int status;
    MADE(again, clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, &status, &err));
    TRUE_(status == CL_SUCCESS);
    OK(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
    TRUE_(answer(again) == 77);
    bytes[size / 2] ^= 1;
    REFUSES(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, &status, &err));
    free(bytes);
    OK(clReleaseProgram(p));
    OK(clReleaseProgram(again));
}

int main(void) {
    open_device(0);
    building();
    failing();
    linking();
    features();
    binaries();
    close_device();
    return 0;
}
