// Histogram of bytes: counted in local memory with atomics, then added to the result.
kernel void histogram(global const uint *data, global uint *bins, uint words)
{
    local uint counts[256];
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < words; i += get_global_size(0)) {
        uint v = data[i];
        atomic_inc(&counts[v & 255]);
        atomic_inc(&counts[(v >> 8) & 255]);
        atomic_inc(&counts[(v >> 16) & 255]);
        atomic_inc(&counts[v >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        if (counts[b])
            atomic_add(&bins[b], counts[b]);
}
