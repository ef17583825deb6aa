// Fast Fourier transform of 256 points a work-group: bit reversal, then radix-2 stages in local memory.
#define POINTS 256
kernel void fft(global const float2 *in, global float2 *out)
{
    local float2 x[POINTS];
    uint lid = get_local_id(0);
    size_t base = get_group_id(0) * POINTS;
    for (uint i = lid; i < POINTS; i += POINTS / 2) {
        uint r = 0;
        for (uint b = 0; b < 8; ++b)
            r |= ((i >> b) & 1) << (7 - b);
        x[r] = in[base + i];
    }
    for (uint half_size = 1; half_size < POINTS; half_size *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k = lid & (half_size - 1);
        uint a = 2 * lid - k, b = a + half_size;
        float c, s = sincos(-M_PI_F * (float)k / (float)half_size, &c);
        float2 u = x[a], v = x[b];
        float2 t = (float2)(v.x * c - v.y * s, v.x * s + v.y * c);
        x[a] = u + t;
        x[b] = u - t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + lid] = x[lid];
    out[base + lid + POINTS / 2] = x[lid + POINTS / 2];
}
