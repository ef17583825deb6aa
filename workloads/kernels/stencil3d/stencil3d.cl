// Seven-point stencil on a box; the border stays as it is.
kernel void stencil3d(global const float *in, global float *out, int nx, int ny, int nz, float c0, float c1)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    int i = (z * ny + y) * nx + x;
    out[i] = c0 * in[i]
           + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]);
}
