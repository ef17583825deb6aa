// Buffers: sub-buffers, copies, rectangles, fills, maps.
#include "same.h"

int main(void) {
    open_device(0);
    int start[64];
    for (int i = 0; i < 64; i++) start[i] = i * i - 7 * i;
    cl_mem a = buffer_of(start, sizeof start), b = buffer_of(NULL, sizeof start);
    int pattern[2] = {-5, 9};
    OK(clEnqueueFillBuffer(queue, b, pattern, sizeof pattern, 0, sizeof start, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(queue, a, b, 40, 80, 60, 0, NULL, NULL));
    print_buffer("filled and copied", b, 64);

    // 8 rows of 8: a rectangle of 3 x 4 goes elsewhere.
    size_t from[3] = {4, 1, 0}, to[3] = {16, 3, 0}, region[3] = {12, 4, 1};
    OK(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 32, 0, 32, 0, 0, NULL, NULL));
    print_buffer("a rectangle copied", b, 64);
    int part[3 * 4] = {0};
    size_t zero[3] = {0};
    OK(clEnqueueReadBufferRect(queue, b, CL_TRUE, to, zero, region, 32, 0, 12, 0, part, 0, NULL, NULL));
    print_ints("a rectangle read", part, 12);
    for (int i = 0; i < 12; i++) part[i] = 1000 + i;
    size_t corner[3] = {20, 4, 0};
    OK(clEnqueueWriteBufferRect(queue, b, CL_TRUE, corner, zero, region, 32, 0, 12, 0, part, 0, NULL, NULL));

    cl_uint bits;
    OK(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    size_t align = bits / 8, bytes = align * 2 + 64;
    cl_mem whole = buffer_of(NULL, bytes);
    int zeros = 0;
    OK(clEnqueueFillBuffer(queue, whole, &zeros, sizeof zeros, 0, bytes, 0, NULL, NULL));
    cl_buffer_region window = {align, 64};
    cl_mem sub;
    MADE(sub, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &window, &err));
    OK(clEnqueueCopyBuffer(queue, b, sub, 128, 0, 64, 0, NULL, NULL));
    int *mapped;
    MADE(mapped, clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, align, 64, 0, NULL, NULL, &err));
    print_ints("through a sub-buffer", mapped, 16);
    for (int i = 0; i < 16; i += 3) mapped[i] = -i;
    OK(clEnqueueUnmapMemObject(queue, whole, mapped, 0, NULL, NULL));
    print_buffer("after the map", sub, 16);
    cl_mem all[] = {a, b, sub, whole};
    for (int i = 0; i < 4; i++) OK(clReleaseMemObject(all[i]));
    close_device();
    return 0;
}
