// C = A B for square matrices in tiles of 16 x 16 held in local memory.
#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(global const float *a, global const float *b, global float *c, uint n)
{
    local float ta[TILE][TILE], tb[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint col = get_global_id(0), row = get_global_id(1);
    float acc = 0.0f;
    for (uint t = 0; t < n; t += TILE) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; ++k)
            acc += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = acc;
}
