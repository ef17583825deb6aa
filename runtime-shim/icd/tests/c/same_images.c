// Images on the host side: writes and reads of regions, copies between images and buffers, fills, maps, queries.
#include "same.h"

int main(void) {
    open_device(0);
    cl_image_format bytes = {CL_RGBA, CL_UNSIGNED_INT8}, floats = {CL_RGBA, CL_FLOAT};
    cl_image_desc plane = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 7, .image_height = 5};
    cl_image_desc solid = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2};
    int texels[35];
    for (int i = 0; i < 35; i++) texels[i] = i * 0x01020304;
    cl_mem a, b, c;
    MADE(a, clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &bytes, &plane, texels, &err));
    MADE(b, clCreateImage(context, CL_MEM_READ_WRITE, &bytes, &plane, NULL, &err));
    MADE(c, clCreateImage(context, CL_MEM_READ_WRITE, &floats, &solid, NULL, &err));
    size_t origin[3] = {0}, whole[3] = {7, 5, 1}, from[3] = {2, 1, 0}, to[3] = {3, 2, 0}, part[3] = {4, 3, 1};
    cl_uint shade[4] = {1, 2, 300, 255};
    OK(clEnqueueFillImage(queue, b, shade, origin, whole, 0, NULL, NULL));
    OK(clEnqueueCopyImage(queue, a, b, from, to, part, 0, NULL, NULL));
    int seen[35];
    OK(clEnqueueReadImage(queue, b, CL_TRUE, origin, whole, 0, 0, seen, 0, NULL, NULL));
    print_ints("filled and copied", seen, 35);

    cl_mem buffer = buffer_of(texels, sizeof texels);
    OK(clEnqueueCopyImageToBuffer(queue, b, buffer, to, part, 8, 0, NULL, NULL));
    print_buffer("into a buffer", buffer, 35);
    size_t corner[3] = {0, 2, 0}, row[3] = {7, 1, 1};
    OK(clEnqueueCopyBufferToImage(queue, buffer, a, 4, corner, row, 0, NULL, NULL));
    size_t pitch;
    int *mapped;
    MADE(mapped, clEnqueueMapImage(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, from, part, &pitch, NULL, 0, NULL, NULL, &err));
    for (int y = 0; y < 3; y++) print_ints("a row of the map", (int *)((char *)mapped + y * pitch), 4);
    mapped[1] = -1;
    OK(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, a, CL_TRUE, origin, whole, 0, 0, seen, 0, NULL, NULL));
    print_ints("after the map", seen, 35);

    float colour[4] = {0.5f, -1, 2, 1e6f}, values[4 * 3 * 2 * 4], one[4] = {9, 8, 7, 6};
    size_t all[3] = {4, 3, 2}, place[3] = {3, 0, 1}, single[3] = {1, 1, 1};
    OK(clEnqueueFillImage(queue, c, colour, origin, all, 0, NULL, NULL));
    OK(clEnqueueWriteImage(queue, c, CL_TRUE, place, single, 0, 0, one, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, c, CL_TRUE, origin, all, 0, 0, values, 0, NULL, NULL));
    for (int i = 0; i < 4 * 3 * 2 * 4; i++) printf("%g%c", values[i], i % 16 == 15 ? '\n' : ' ');
    size_t sizes[4];
    OK(clGetImageInfo(c, CL_IMAGE_WIDTH, sizeof *sizes, &sizes[0], NULL));
    OK(clGetImageInfo(c, CL_IMAGE_HEIGHT, sizeof *sizes, &sizes[1], NULL));
    OK(clGetImageInfo(c, CL_IMAGE_DEPTH, sizeof *sizes, &sizes[2], NULL));
    OK(clGetImageInfo(c, CL_IMAGE_ELEMENT_SIZE, sizeof *sizes, &sizes[3], NULL));
    printf("%zu x %zu x %zu texels of %zu bytes\n", sizes[0], sizes[1], sizes[2], sizes[3]);
    cl_mem objects[] = {a, b, c, buffer};
    for (int i = 0; i < 4; i++) OK(clReleaseMemObject(objects[i]));
    close_device();
    return 0;
}
