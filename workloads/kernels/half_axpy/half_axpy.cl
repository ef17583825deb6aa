// y = a x + y in half precision, and the same with storage in half and arithmetic in single precision.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_axpy(global const half *x, global half *y, global half *z, half a)
{
    size_t i = get_global_id(0);
    half p = a * x[i];
    y[i] = p + y[i];
    vstore_half(vload_half(i, x) * 3.0f, i, z);
}
