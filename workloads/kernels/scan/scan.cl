// Inclusive prefix sum within each work-group (Hillis and Steele), double buffered in local memory.
kernel void scan(global const uint *in, global uint *out, global uint *totals, local uint *scratch)
{
    uint lid = get_local_id(0), n = get_local_size(0);
    local uint *from = scratch, *to = scratch + n;
    from[lid] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d <<= 1) {
        to[lid] = lid >= d ? from[lid] + from[lid - d] : from[lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *t = from;
        from = to;
        to = t;
    }
    out[get_global_id(0)] = from[lid];
    if (lid == n - 1)
        totals[get_group_id(0)] = from[lid];
}
