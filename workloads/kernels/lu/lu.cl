// LU decomposition without pivoting of A + 16 I for one 16 x 16 matrix A a work-group (one work-item a row) in local memory.
#define N 16
kernel void lu(global float *matrices)
{
    local float m[N][N];
    uint row = get_local_id(0);
    global float *a = matrices + get_group_id(0) * N * N;
    for (uint c = 0; c < N; ++c)
        m[c][row] = a[c * N + row] + (c == row ? 16.0f : 0.0f);
    for (uint k = 0; k < N - 1; ++k) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row > k) {
            float f = m[row][k] / m[k][k];
            m[row][k] = f;
            for (uint c = k + 1; c < N; ++c)
                m[row][c] -= f * m[k][c];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = 0; c < N; ++c)
        a[c * N + row] = m[c][row];
}
