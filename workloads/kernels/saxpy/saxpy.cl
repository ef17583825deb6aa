// y = a x + y with a loop whose stride is the whole range.
kernel void saxpy(global const float *x, global float *y, float a, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = a * x[i] + y[i];
}
