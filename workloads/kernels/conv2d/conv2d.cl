// Two-dimensional convolution with a 5 x 5 filter in constant memory; pixels outside count as zero.
kernel void conv2d(global const float *image, constant float *filter, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
            int sx = x + dx, sy = y + dy;
            if (sx >= 0 && sy >= 0 && sx < width && sy < height)
                sum += image[sy * width + sx] * filter[(dy + 2) * 5 + dx + 2];
        }
    }
    out[y * width + x] = sum;
}
