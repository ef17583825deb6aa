// Sum of a vector: each work-group sums its part in local memory and writes one partial sum.
kernel void reduce(global const float *in, global float *partial, local float *scratch, uint n)
{
    uint lid = get_local_id(0);
    float sum = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    scratch[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        partial[get_group_id(0)] = scratch[0];
}
