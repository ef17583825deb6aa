// Box filter by a running sum: every work-item walks down one column.
kernel void boxfilter(global const uint *in, global uint *out, int width, int height, int radius)
{
    int x = get_global_id(0);
    if (x >= width)
        return;
    uint sum = 0;
    for (int y = 0; y < radius && y < height; ++y)
        sum += in[y * width + x];
    for (int y = 0; y < height; ++y) {
        if (y + radius < height)
            sum += in[(y + radius) * width + x];
        if (y - radius - 1 >= 0)
            sum -= in[(y - radius - 1) * width + x];
        int first = max(y - radius, 0), last = min(y + radius, height - 1);
        out[y * width + x] = sum / (uint)(last - first + 1);
    }
}
