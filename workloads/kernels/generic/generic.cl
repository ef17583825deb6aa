// One function through pointers of the generic address space to global, local and private memory.
int checksum(const int *p, int n, int *largest)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum = sum * 31 + p[i];
        *largest = max(*largest, p[i]);
    }
    return sum;
}
kernel void spaces(global const int *in, global int *out, global int *which)
{
    local int staged[64];
    int own[4], largest = INT_MIN;
    uint lid = get_local_id(0);
    size_t i = get_global_id(0);
    staged[lid] = in[i] * 3;
    for (int k = 0; k < 4; ++k)
        own[k] = in[i] ^ k;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int *chosen = (i % 3 == 0) ? (const int *)(in + (i & ~3)) : (i % 3 == 1) ? (const int *)(staged + (lid & ~3)) : own;
    out[2 * i] = checksum(chosen, 4, &largest);
    out[2 * i + 1] = largest;
    which[i] = (to_global(chosen) != 0) + 2 * (to_local(chosen) != 0) + 4 * (to_private(chosen) != 0);
}
