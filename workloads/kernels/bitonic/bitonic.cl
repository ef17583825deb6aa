// Sorts each work-group's 2 n keys (n work-items) in local memory with a bitonic network.
kernel void bitonic(global const uint *in, global uint *out, local uint *keys)
{
    uint lid = get_local_id(0), n = get_local_size(0) * 2;
    size_t base = get_group_id(0) * n;
    keys[lid] = in[base + lid];
    keys[lid + n / 2] = in[base + lid + n / 2];
    for (uint size = 2; size <= n; size <<= 1) {
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint a = 2 * lid - (lid & (stride - 1)), b = a + stride;
            bool ascending = (a & size) == 0;
            uint ka = keys[a], kb = keys[b];
            if ((ka > kb) == ascending) {
                keys[a] = kb;
                keys[b] = ka;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + lid] = keys[lid];
    out[base + lid + n / 2] = keys[lid + n / 2];
}
