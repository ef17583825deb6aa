// Sparse matrix (compressed rows) times vector: eight work-items a row, partial sums added in local memory.
#define LANES 8
kernel void spmv(global const int *rows, global const int *columns, global const float *values,
                 global const float *x, global float *y, int n)
{
    local float partial[128];
    int lid = get_local_id(0), lane = lid % LANES;
    int row = get_global_id(0) / LANES;
    float sum = 0.0f;
    if (row < n)
        for (int j = rows[row] + lane; j < rows[row + 1]; j += LANES)
            sum += values[j] * x[columns[j]];
    partial[lid] = sum;
    for (int d = LANES / 2; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d)
            partial[lid] += partial[lid + d];
    }
    if (lane == 0 && row < n)
        y[row] = partial[lid];
}
