// Separable Gaussian blur of RGBA bytes: a work-group blurs rows into local memory, then columns.
#define R 3
#define W 16
#define H 16
constant int weights[2 * R + 1] = { 2, 7, 14, 18, 14, 7, 2 };
kernel void gaussian(global const uchar4 *in, global uchar4 *out, int width, int height)
{
    local int4 rows[H + 2 * R][W];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y0 = (int)get_group_id(1) * H;
    for (int r = ly; r < H + 2 * R; r += H) {
        int y = clamp(y0 + r - R, 0, height - 1);
        int4 sum = (int4)(0);
        for (int d = -R; d <= R; ++d)
            sum += convert_int4(in[y * width + clamp(x + d, 0, width - 1)]) * weights[d + R];
        rows[r][lx] = sum >> 6;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int y = y0 + ly;
    if (x >= width || y >= height)
        return;
    int4 sum = (int4)(32);
    for (int d = 0; d <= 2 * R; ++d)
        sum += rows[ly + d][lx] * weights[d];
    out[y * width + x] = convert_uchar4_sat(sum >> 6);
}
