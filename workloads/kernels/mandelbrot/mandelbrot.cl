// Escape times of the Mandelbrot set; operations must not be contracted, so that every machine counts the same.
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global uint *out, uint width, uint limit, float x0, float y0, float step)
{
    float cx = x0 + step * (float)get_global_id(0);
    float cy = y0 + step * (float)get_global_id(1);
    float x = 0.0f, y = 0.0f;
    uint n = 0;
    while (n < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        ++n;
    }
    out[get_global_id(1) * width + get_global_id(0)] = n;
}
