// One pass of a radix sort within each work-group: keys are placed by a four-bit digit, stably.
kernel void radix(global const uint *in, global uint *out, global uint *counts, uint shift)
{
    local uint flags[16][64];
    local uint starts[16];
    uint lid = get_local_id(0);
    uint key = in[get_global_id(0)];
    uint digit = (key >> shift) & 15;
    for (uint d = 0; d < 16; ++d)
        flags[d][lid] = d == digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 16) {
        uint sum = 0;
        for (uint j = 0; j < 64; ++j) {
            uint f = flags[lid][j];
            flags[lid][j] = sum;
            sum += f;
        }
        starts[lid] = sum;
        counts[get_group_id(0) * 16 + lid] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        uint sum = 0;
        for (uint d = 0; d < 16; ++d) {
            uint c = starts[d];
            starts[d] = sum;
            sum += c;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_group_id(0) * 64 + starts[digit] + flags[digit][lid]] = key;
}
