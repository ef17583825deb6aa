// Buffers: transfers, rectangles, fills, copies, sub-buffers, mapping, flags and their errors.
#include "check.h"

static int destroyed[3], order;
static void CL_CALLBACK destructor(cl_mem mem, void *data) { (void)mem; *(int *)data = ++order; }

static void transfers(void) {
    unsigned char in[256], out[256];
    for (int i = 0; i < 256; i++) in[i] = (unsigned char)(i * 7 + 1);
    cl_mem a, b;
    MADE(a, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 256, in, &err));
    MADE(b, clCreateBuffer(context, 0, 256, NULL, &err));
    memset(out, 0, 256);
    OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 16, 240, out + 16, 0, NULL, NULL));
    TRUE_(!memcmp(in + 16, out + 16, 240));
    OK(clEnqueueCopyBuffer(queue, a, b, 8, 0, 128, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 128, out, 0, NULL, NULL));
    TRUE_(!memcmp(in + 8, out, 128));
    RETURNS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, a, 0, 64, 65, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(queue, a, a, 0, 64, 64, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueCopyBuffer(queue, a, b, 200, 0, 57, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 1, 256, out, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, SIZE_MAX, 2, out, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 1, out, 1, NULL, NULL));

    uint32_t pattern = 0xa1b2c3d4, words[64];
    OK(clEnqueueFillBuffer(queue, b, &pattern, 4, 8, 64, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 256, words, 0, NULL, NULL));
    for (int i = 2; i < 18; i++) TRUE_(words[i] == pattern);
    TRUE_(words[1] != pattern && words[18] != pattern);
    RETURNS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, b, &pattern, 3, 0, 3, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, b, &pattern, 4, 2, 4, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, b, NULL, 4, 0, 4, 0, NULL, NULL));

    // A 4 x 3 x 2 box out of a 16 x 4 x 4 buffer, at (3, 1, 1), into the corner of a 4 x 3 x 2 one.
    size_t from[3] = {3, 1, 1}, zero[3] = {0, 0, 0}, region[3] = {4, 3, 2};
    OK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, 256, in, 0, NULL, NULL));
    memset(out, 0, 256);
    OK(clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, region, 16, 64, 0, 0, out, 0, NULL, NULL));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++) TRUE_(!memcmp(out + z * 12 + y * 4, in + (z + 1) * 64 + (y + 1) * 16 + 3, 4));
    OK(clEnqueueCopyBufferRect(queue, a, b, from, zero, region, 16, 64, 8, 32, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 64, out, 0, NULL, NULL));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++) TRUE_(!memcmp(out + z * 32 + y * 8, in + (z + 1) * 64 + (y + 1) * 16 + 3, 4));
    memset(out, 0xee, 256);
    OK(clEnqueueWriteBufferRect(queue, b, CL_TRUE, from, zero, region, 16, 64, 4, 12, in, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 256, out, 0, NULL, NULL));
    TRUE_(!memcmp(out + 64 + 16 + 3, in, 4) && !memcmp(out + 128 + 48 + 3, in + 20, 4));
    size_t empty[3] = {4, 0, 2};
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, empty, 16, 64, 0, 0, out, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, region, 3, 64, 0, 0, out, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, region, 16, 24, 0, 0, out, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, a, CL_TRUE, from, zero, region, 16, 128, 0, 0, out, 0, NULL, NULL));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void sub_buffers(void) {
    cl_mem whole, part, deeper;
    MADE(whole, clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, 4096, NULL, &err));
    cl_buffer_region region = {1024, 512}, past = {3968, 256}, odd = {12, 64}, nothing = {0, 0};
    MADE(part, clCreateSubBuffer(whole, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    size_t offset, size;
    cl_mem parent;
    OK(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    OK(clGetMemObjectInfo(part, CL_MEM_SIZE, sizeof size, &size, NULL));
    OK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    TRUE_(offset == 1024 && size == 512 && parent == whole);
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &past, &err));
    REFUSES(CL_MISALIGNED_SUB_BUFFER_OFFSET, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &nothing, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(whole, 0, 0x1234, &region, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(whole, CL_MEM_ALLOC_HOST_PTR, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(whole, CL_MEM_HOST_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    deeper = part;
    REFUSES(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(deeper, 0, CL_BUFFER_CREATE_TYPE_REGION, &nothing, &err));
    char byte = 1;
    RETURNS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, 1, &byte, 0, NULL, NULL));
    uint32_t word = 5, back = 0;
    OK(clEnqueueFillBuffer(queue, part, &word, 4, 0, 512, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, whole, CL_TRUE, 1532, 4, &back, 0, NULL, NULL));
    TRUE_(back == 5);
    // The buffer lives while its part does.
    OK(clReleaseMemObject(whole));
    OK(clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 4, &back, 0, NULL, NULL));
    TRUE_(back == 5);
    OK(clReleaseMemObject(part));
}

static void mapping(void) {
    cl_mem mem;
    cl_uint count;
    MADE(mem, clCreateBuffer(context, 0, 256, NULL, &err));
    unsigned char *p, *q, out[256];
    MADE(p, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 32, 64, 0, NULL, NULL, &err));
    for (int i = 0; i < 64; i++) p[i] = (unsigned char)(i + 100);
    MADE(q, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 128, 64, 0, NULL, NULL, &err));
    OK(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE_(count == 2);
    OK(clEnqueueUnmapMemObject(queue, mem, p, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, mem, q, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, mem, p, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 256, out, 0, NULL, NULL));
    for (int i = 0; i < 64; i++) TRUE_(out[32 + i] == i + 100);
    REFUSES(CL_INVALID_VALUE, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 255, 2, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 0, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapBuffer(queue, mem, CL_TRUE, 0x100, 0, 1, 0, NULL, NULL, &err));
    OK(clReleaseMemObject(mem));
    // The program's own memory, in place.
    static unsigned char mine[512];
    MADE(mem, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof mine, mine, &err));
    MADE(p, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 8, 8, 0, NULL, NULL, &err));
    TRUE_(p == mine + 8);
    OK(clEnqueueUnmapMemObject(queue, mem, p, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(mem));
}

static void flags(void) {
    char data[64];
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &err));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, SIZE_MAX, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, data, &err));
    REFUSES(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateBuffer(context, 1ull << 40, 64, NULL, &err));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 64, NULL, &err));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 64, data, &err));
    cl_mem_properties unknown[] = {0x1234, 1, 0};
    REFUSES(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, unknown, 0, 64, NULL, &err));
    cl_mem mem;
    MADE(mem, clCreateBuffer(context, CL_MEM_HOST_NO_ACCESS | CL_MEM_ALLOC_HOST_PTR, 64, NULL, &err));
    RETURNS(CL_INVALID_OPERATION, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    REFUSES(CL_INVALID_OPERATION, clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, &err));
    for (int i = 0; i < 3; i++) OK(clSetMemObjectDestructorCallback(mem, destructor, &destroyed[i]));
    RETURNS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(mem, NULL, NULL));
    OK(clReleaseMemObject(mem));
    TRUE_(destroyed[2] == 1 && destroyed[1] == 2 && destroyed[0] == 3); // the reverse order of registration
}

int main(void) {
    open_device(0);
    transfers();
    sub_buffers();
    mapping();
    flags();
    close_device();
    return 0;
}
