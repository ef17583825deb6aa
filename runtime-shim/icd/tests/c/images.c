// Images, host side (OpenCL 3.0 API, 5.3): every kind and format goes there and back; copies, fills, maps, views.
#include "check.h"

enum { W = 7, H = 5, D = 3 };
static const struct kind {
    cl_mem_object_type type;
    size_t extent[3]; // elements along the axes of an origin
} kinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, {W, 1, 1}}, {CL_MEM_OBJECT_IMAGE1D_ARRAY, {W, D, 1}}, {CL_MEM_OBJECT_IMAGE1D_BUFFER, {W, 1, 1}},
    {CL_MEM_OBJECT_IMAGE2D, {W, H, 1}}, {CL_MEM_OBJECT_IMAGE2D_ARRAY, {W, H, D}}, {CL_MEM_OBJECT_IMAGE3D, {W, H, D}},
};
static const cl_image_format rgba8 = {CL_RGBA, CL_UNSIGNED_INT8}, r32 = {CL_R, CL_UNSIGNED_INT32};
static const size_t zero[3];

static size_t channels(cl_channel_order order) {
    switch (order) {
        case CL_RG: return 2;
        case CL_RGBA: case CL_BGRA: case CL_sRGBA: return 4;
        default: return 1;
    }
}
static size_t channel_size(cl_channel_type type) {
    switch (type) {
        case CL_UNORM_INT8: case CL_SNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: return 1;
        case CL_FLOAT: case CL_SIGNED_INT32: case CL_UNSIGNED_INT32: return 4;
        default: return 2;
    }
}
static cl_image_desc describe(cl_mem_object_type type) {
    cl_image_desc d = {.image_type = type, .image_width = W};
    if (type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D) d.image_height = H;
    if (type == CL_MEM_OBJECT_IMAGE3D) d.image_depth = D;
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY) d.image_array_size = D;
    return d;
}
static size_t query(cl_mem image, cl_image_info what) {
    size_t value = 77;
    OK(clGetImageInfo(image, what, sizeof value, &value, NULL));
    return value;
}
static cl_mem make(const struct kind *k, const cl_image_format *format, cl_mem *buffer) {
    cl_image_desc d = describe(k->type);
    cl_mem image;
    *buffer = NULL;
    if (k->type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        MADE(*buffer, clCreateBuffer(context, 0, 4096, NULL, &err));
        d.buffer = *buffer;
    }
    MADE(image, clCreateImage(context, 0, format, &d, NULL, &err));
    return image;
}
static void drop(cl_mem image, cl_mem buffer) {
    OK(clReleaseMemObject(image));
    if (buffer) OK(clReleaseMemObject(buffer));
}

static void round_trip(const struct kind *k, const cl_image_format *format) {
    cl_mem buffer, image = make(k, format, &buffer);
    size_t element = channels(format->image_channel_order) * channel_size(format->image_channel_data_type);
    TRUE_(query(image, CL_IMAGE_ELEMENT_SIZE) == element);
    size_t count = k->extent[0] * k->extent[1] * k->extent[2], bytes = count * element;
    unsigned char in[4096], out[4096];
    for (size_t i = 0; i < bytes; i++) in[i] = (unsigned char)(i * 7 + 3);
    memset(out, 0, sizeof out);
    OK(clEnqueueWriteImage(queue, image, CL_FALSE, zero, k->extent, 0, 0, in, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, k->extent, 0, 0, out, 0, NULL, NULL));
    TRUE_(!memcmp(in, out, bytes));
    // One element in the far corner, and a row pitch.
    size_t corner[3] = {k->extent[0] - 1, k->extent[1] - 1, k->extent[2] - 1}, one[3] = {1, 1, 1};
    OK(clEnqueueReadImage(queue, image, CL_TRUE, corner, one, 2 * element, 0, out, 0, NULL, NULL));
    TRUE_(!memcmp(in + bytes - element, out, element));
    drop(image, buffer);
}

static void every_format(void) {
    cl_image_format formats[64];
    cl_uint n, again;
    int total = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        OK(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, kinds[k].type, 64, formats, &n));
        OK(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, kinds[k].type, 0, NULL, &again));
        TRUE_(n == again && n >= 38);
        for (cl_uint i = 0; i < n; i++, total++) round_trip(&kinds[k], &formats[i]);
        OK(clGetSupportedImageFormats(context, CL_MEM_KERNEL_READ_AND_WRITE, kinds[k].type, 0, NULL, &n));
        TRUE_(n >= 18);
    }
    TRUE_(total == 4 * 38 + 2 * 40);
    RETURNS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &n));
    RETURNS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, formats, &n));
    RETURNS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, 1 << 20, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
}

static void geometry(void) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        cl_mem buffer, image = make(k, &rgba8, &buffer), of;
        cl_image_desc d = describe(k->type);
        TRUE_(query(image, CL_IMAGE_WIDTH) == d.image_width && query(image, CL_IMAGE_HEIGHT) == d.image_height);
        TRUE_(query(image, CL_IMAGE_DEPTH) == d.image_depth && query(image, CL_IMAGE_ARRAY_SIZE) == d.image_array_size);
        size_t row = query(image, CL_IMAGE_ROW_PITCH), slice = query(image, CL_IMAGE_SLICE_PITCH);
        TRUE_(row >= 4 * W);
        if (d.image_depth || d.image_array_size) TRUE_(slice >= row * (d.image_height ? d.image_height : 1));
        else TRUE_(slice == 0);
        cl_mem_object_type type;
        OK(clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, NULL));
        TRUE_(type == k->type);
        OK(clGetMemObjectInfo(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL));
        TRUE_(of == buffer);
        OK(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof of, &of, NULL));
        TRUE_(of == buffer);
        size_t size;
        OK(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof size, &size, NULL));
        TRUE_(size >= 4 * k->extent[0] * k->extent[1] * k->extent[2]);
        drop(image, buffer);
    }
}

// Memory of the program, with gaps, in place and copied.
static void host_memory(void) {
    for (int copied = 0; copied < 2; copied++) {
        uint32_t memory[D][H + 1][W + 2];
        for (uint32_t *p = &memory[0][0][0], i = 0; i < sizeof memory / 4; i++) p[i] = i;
        cl_image_desc d = describe(CL_MEM_OBJECT_IMAGE3D);
        d.image_row_pitch = sizeof memory[0][0];
        d.image_slice_pitch = sizeof memory[0];
        cl_mem image;
        MADE(image, clCreateImage(context, copied ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR, &r32, &d, memory, &err));
        uint32_t out[D][H][W];
        size_t all[3] = {W, H, D}, origin[3] = {2, 1, 1}, part[3] = {3, 2, 2};
        OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
        for (int z = 0; z < D; z++) for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) TRUE_(out[z][y][x] == memory[z][y][x]);
        size_t row, slice;
        cl_event event;
        uint32_t *map = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, part, &row, &slice, 0, NULL, &event, &err);
        TRUE_(err == CL_SUCCESS && map[0] == memory[1][1][2]);
        TRUE_(copied || (map == &memory[1][1][2] && row == sizeof memory[0][0] && slice == sizeof memory[0]));
        TRUE_(map[row / 4 + slice / 4 + 2] == memory[2][2][4]);
        map[1] = 4711;
        cl_uint maps;
        OK(clGetMemObjectInfo(image, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
        TRUE_(maps == 1);
        OK(clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL));
        RETURNS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL));
        OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
        TRUE_(out[1][1][3] == 4711 && (memory[1][1][3] == 4711) == !copied);
        OK(clReleaseEvent(event));
        OK(clReleaseMemObject(image));
    }
}

static void copies_and_fills(void) {
    cl_mem buffer, none, plane = make(&kinds[3], &r32, &none), volume = make(&kinds[5], &r32, &none), layers = make(&kinds[1], &r32, &none);
    uint32_t in[H][W], out[D][H][W], got[W * H];
    for (int i = 0; i < W * H; i++) in[i / W][i % W] = 1000 + i;
    size_t area[3] = {W, H, 1}, all[3] = {W, H, D}, second[3] = {0, 0, 1}, part[3] = {4, 3, 1}, at[3] = {1, 2, 0};
    OK(clEnqueueWriteImage(queue, plane, CL_FALSE, zero, area, 0, 0, in, 0, NULL, NULL));
    cl_uint color[4] = {0xabcd0123, 1, 2, 3};
    OK(clEnqueueFillImage(queue, volume, color, zero, all, 0, NULL, NULL));
    // A 2D image as a slice of a 3D image, a part of it as layers of a 1D array.
    OK(clEnqueueCopyImage(queue, plane, volume, zero, second, area, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, volume, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
    for (int z = 0; z < D; z++) for (int y = 0; y < H; y++) for (int x = 0; x < W; x++)
        TRUE_(out[z][y][x] == (z == 1 ? in[y][x] : color[0]));
    size_t layer[3] = {2, 0, 0}, strip[3] = {4, 3, 1};
    OK(clEnqueueCopyImage(queue, plane, layers, at, layer, strip, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, layers, CL_TRUE, layer, strip, 0, 0, got, 0, NULL, NULL));
    for (int i = 0; i < 12; i++) TRUE_(got[i] == in[2 + i / 4][1 + i % 4]);
    // The layers of a 1D array are a slice pitch apart in the program's memory.
    OK(clEnqueueReadImage(queue, layers, CL_TRUE, layer, strip, 16, 32, got, 0, NULL, NULL));
    for (int i = 0; i < 12; i++) TRUE_(got[i / 4 * 8 + i % 4] == in[2 + i / 4][1 + i % 4]);
    // To and from buffers, without gaps there.
    MADE(buffer, clCreateBuffer(context, 0, 256, NULL, &err));
    OK(clEnqueueCopyImageToBuffer(queue, plane, buffer, at, part, 64, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 64, 48, got, 0, NULL, NULL));
    for (int i = 0; i < 12; i++) TRUE_(got[i] == in[2 + i / 4][1 + i % 4]);
    OK(clEnqueueCopyBufferToImage(queue, buffer, volume, 64, second, part, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, volume, CL_TRUE, second, part, 0, 0, got, 0, NULL, NULL));
    for (int i = 0; i < 12; i++) TRUE_(got[i] == in[2 + i / 4][1 + i % 4]);
    size_t corner[3] = {3, 2, 0};
    RETURNS(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(queue, plane, plane, zero, corner, part, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueCopyImageToBuffer(queue, plane, buffer, zero, area, 128, 0, NULL, NULL));
    drop(plane, buffer);
    drop(volume, layers);
}

// Images that show other objects' elements.
static void views(void) {
    uint32_t in[16 * 8], out[16 * 8];
    for (int i = 0; i < 16 * 8; i++) in[i] = i * i;
    cl_mem buffer, sub, image, srgb;
    MADE(buffer, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &err));
    cl_buffer_region region = {256, 256};
    MADE(sub, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    for (int of_sub = 0; of_sub < 2; of_sub++) {
        cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 5, .image_height = 4, .image_row_pitch = 64, .buffer = of_sub ? sub : buffer};
        MADE(image, clCreateImage(context, 0, &r32, &d, NULL, &err));
        TRUE_(query(image, CL_IMAGE_ROW_PITCH) == 64);
        size_t all[3] = {5, 4, 1}, at[3] = {1, 1, 0}, one[3] = {1, 1, 1};
        OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
        for (int i = 0; i < 20; i++) TRUE_(out[i] == in[of_sub * 64 + i / 5 * 16 + i % 5]);
        cl_uint color[4] = {5};
        OK(clEnqueueFillImage(queue, image, color, at, one, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, of_sub * 256 + 68, 4, out, 0, NULL, NULL));
        TRUE_(out[0] == 5);
        OK(clReleaseMemObject(image));
        d.image_row_pitch = 62;
        REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &r32, &d, NULL, &err));
        d.image_row_pitch = 256, d.image_height = 5;
        REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &r32, &d, NULL, &err));
    }
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(buffer));
    // The same elements as sRGB.
    cl_image_format unorm = {CL_RGBA, CL_UNORM_INT8}, s = {CL_sRGBA, CL_UNORM_INT8}, wrong = {CL_BGRA, CL_UNORM_INT8};
    cl_image_desc d = describe(CL_MEM_OBJECT_IMAGE2D);
    MADE(image, clCreateImage(context, CL_MEM_READ_ONLY, &unorm, &d, NULL, &err));
    d.mem_object = image;
    REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &wrong, &d, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateImage(context, CL_MEM_READ_WRITE, &s, &d, NULL, &err));
    MADE(srgb, clCreateImage(context, 0, &s, &d, NULL, &err));
    d.image_width++;
    REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &s, &d, NULL, &err));
    OK(clReleaseMemObject(image)); // The view keeps the elements.
    float half[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    size_t one[3] = {1, 1, 1};
    OK(clEnqueueFillImage(queue, srgb, half, zero, one, 0, NULL, NULL));
    unsigned char texel[4];
    OK(clEnqueueReadImage(queue, srgb, CL_TRUE, zero, one, 0, 0, texel, 0, NULL, NULL));
    TRUE_(texel[0] == 188 && texel[2] == 188 && texel[3] == 128); // IEC 61966-2-1
    OK(clReleaseMemObject(srgb));
}

static void refusals(void) {
    cl_mem image, none = NULL, buffer;
    cl_image_desc d = describe(CL_MEM_OBJECT_IMAGE2D), e;
    unsigned char bytes[4096];
    REFUSES(CL_INVALID_CONTEXT, clCreateImage((cl_context)queue, 0, &r32, &d, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateImage(context, 1 << 20, &r32, &d, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, NULL, &d, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &(cl_image_format){CL_BGRA, CL_FLOAT}, &d, NULL, &err));
    REFUSES(CL_IMAGE_FORMAT_NOT_SUPPORTED, clCreateImage(context, 0, &(cl_image_format){CL_RGB, CL_UNORM_SHORT_565}, &d, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, NULL, NULL, &err));
    REFUSES(CL_INVALID_HOST_PTR, clCreateImage(context, 0, &r32, &d, bytes, &err));
    REFUSES(CL_INVALID_HOST_PTR, clCreateImage(context, CL_MEM_USE_HOST_PTR, &r32, &d, NULL, &err));
    REFUSES(CL_INVALID_PROPERTY, clCreateImageWithProperties(context, (cl_mem_properties[]){1, 2, 0}, 0, &r32, &d, NULL, &err));
    e = d, e.image_type = CL_MEM_OBJECT_BUFFER;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = d, e.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = d, e.num_samples = 2;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = d, e.image_row_pitch = 64;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e.image_row_pitch = 26;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &r32, &e, bytes, &err));
    e = d, e.image_height = 0;
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = d, e.image_width = 1 << 30;
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = d, e.mem_object = (cl_mem)context;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    MADE(buffer, clCreateBuffer(context, CL_MEM_HOST_READ_ONLY, 4096, NULL, &err));
    e = describe(CL_MEM_OBJECT_IMAGE3D), e.mem_object = buffer;
    REFUSES(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER), e.mem_object = buffer;
    REFUSES(CL_INVALID_VALUE, clCreateImage(context, CL_MEM_HOST_WRITE_ONLY, &r32, &e, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clCreateImage(context, CL_MEM_ALLOC_HOST_PTR, &r32, &e, NULL, &err));
    e.image_width = 1025;
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &r32, &e, NULL, &err));
    e.image_width = 16;
    MADE(image, clCreateImage(context, 0, &r32, &e, NULL, &err));
    size_t one[3] = {1, 1, 1}, far[3] = {16, 0, 0}, deep[3] = {0, 1, 0}, empty[3] = {1, 0, 1}, row, slice;
    RETURNS(CL_INVALID_OPERATION, clEnqueueWriteImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueCopyImageToBuffer(queue, image, buffer, zero, one, 64, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, far, one, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, deep, one, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, zero, empty, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, NULL, one, 0, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, NULL, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 3, 0, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_VALUE, clEnqueueFillImage(queue, image, NULL, zero, one, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueFillImage(queue, buffer, bytes, zero, one, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, image, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    RETURNS(CL_INVALID_MEM_OBJECT, clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, NULL));
    REFUSES(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(image, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, 4}, &err));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, NULL, NULL, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, 1 << 9, zero, one, &row, NULL, 0, NULL, NULL, &err));
    REFUSES(CL_INVALID_OPERATION, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, zero, one, &row, NULL, 0, NULL, NULL, &err));
    drop(image, buffer);
    // 3D images and arrays need a place for the slice pitch; a place may be mapped for writing once.
    image = make(&kinds[5], &r32, &none);
    cl_mem other = make(&kinds[5], &rgba8, &none);
    RETURNS(CL_IMAGE_FORMAT_MISMATCH, clEnqueueCopyImage(queue, image, other, zero, zero, one, 0, NULL, NULL));
    REFUSES(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, &row, NULL, 0, NULL, NULL, &err));
    size_t column[3] = {1, H, D}, next[3] = {1, 0, 0};
    void *first = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, zero, column, &row, &slice, 0, NULL, NULL, &err);
    TRUE_(first && err == CL_SUCCESS);
    REFUSES(CL_INVALID_OPERATION, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, zero, one, &row, &slice, 0, NULL, NULL, &err));
    void *second = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, next, column, &row, &slice, 0, NULL, NULL, &err);
    TRUE_(second && err == CL_SUCCESS);
    OK(clEnqueueUnmapMemObject(queue, image, first, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, image, second, 0, NULL, NULL));
    drop(image, other);
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, 0, &r32, 0, 4, 0, NULL, &err));
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, CL_MEM_COPY_HOST_PTR, &r32, 4, 4, 13, bytes, &err));
    REFUSES(CL_INVALID_IMAGE_SIZE, clCreateImage3D(context, 0, &r32, 4, 4, 1, 0, 0, NULL, &err));
    MADE(image, clCreateImage2D(context, CL_MEM_COPY_HOST_PTR, &r32, 4, 4, 32, bytes, &err));
    OK(clReleaseMemObject(image));
    MADE(image, clCreateImage3D(context, 0, &r32, 4, 4, 2, 0, 0, NULL, &err));
    OK(clReleaseMemObject(image));
}

// Transfers take the time of the link: a megabyte in, and twice that.
static void simulated_time(void) {
    cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 512, .image_height = 1024};
    cl_mem image;
    MADE(image, clCreateImage(context, 0, &r32, &d, NULL, &err));
    void *bytes = calloc(1, 2 << 20);
    cl_ulong took[2], start, end;
    for (int i = 0; i < 2; i++) {
        size_t region[3] = {512, 512 << i, 1};
        cl_event event;
        OK(clEnqueueWriteImage(queue, image, CL_TRUE, zero, region, 0, 0, bytes, 0, NULL, &event));
        OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
        OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        took[i] = end - start;
        OK(clReleaseEvent(event));
    }
    // Latency and bandwidth: 5 us and 25 GB/s in every machine that comes with the program.
    TRUE_(took[0] >= 46000 && took[0] <= 48000 && took[1] >= 88000 && took[1] <= 90000);
    free(bytes);
    OK(clReleaseMemObject(image));
}

int main(void) {
    open_device(CL_QUEUE_PROFILING_ENABLE);
    cl_bool images;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    TRUE_(images);
    every_format();
    geometry();
    host_memory();
    copies_and_fills();
    views();
    refusals();
    simulated_time();
    close_device();
    return 0;
}
