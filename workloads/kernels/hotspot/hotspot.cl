// One time step of heat flow on a chip; the edge reflects.
kernel void hotspot(global const float *temperature, global const float *power, global float *out,
                    int width, int height, float rx, float ry, float rz, float step, float ambient)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    float t = temperature[i];
    float west = temperature[x > 0 ? i - 1 : i], east = temperature[x < width - 1 ? i + 1 : i];
    float north = temperature[y > 0 ? i - width : i], south = temperature[y < height - 1 ? i + width : i];
    float flow = power[i] + (north + south - 2.0f * t) * ry + (west + east - 2.0f * t) * rx + (ambient - t) * rz;
    out[i] = t + step * flow;
}
