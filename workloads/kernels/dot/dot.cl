// Dot product in double precision; the work-group's partial products are added pairwise in local memory.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void dot_product(global const double *a, global const double *b, global double *partial, uint n)
{
    local double scratch[128];
    uint lid = get_local_id(0);
    double sum = 0.0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum = fma(a[i], b[i], sum);
    scratch[lid] = sum;
    for (uint s = 64; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < s)
            scratch[lid] += scratch[lid + s];
    }
    if (lid == 0)
        partial[get_group_id(0)] = scratch[0];
}
