// Double-precision matrix product: each work-item computes a 4 x 2 block of C held in registers.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void dgemm(global const double *a, global const double *b, global double *c, int n, double alpha, double beta)
{
    int col = get_global_id(0) * 2, row = get_global_id(1) * 4;
    double acc[4][2] = { { 0 } };
    for (int k = 0; k < n; ++k) {
        double b0 = b[k * n + col], b1 = b[k * n + col + 1];
        #pragma unroll
        for (int r = 0; r < 4; ++r) {
            double v = a[(row + r) * n + k];
            acc[r][0] += v * b0;
            acc[r][1] += v * b1;
        }
    }
    for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 2; ++s) {
            int i = (row + r) * n + col + s;
            c[i] = alpha * acc[r][s] + beta * c[i];
        }
}
