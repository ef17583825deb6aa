// Speckle-reducing anisotropic diffusion: coefficient of every pixel.
kernel void srad(global const float *image, global float *coefficient, int width, int height, float q0)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float c = image[y * width + x];
    float n = image[max(y - 1, 0) * width + x] - c;
    float s = image[min(y + 1, height - 1) * width + x] - c;
    float w = image[y * width + max(x - 1, 0)] - c;
    float e = image[y * width + min(x + 1, width - 1)] - c;
    float g2 = (n * n + s * s + w * w + e * e) / (c * c);
    float l = (n + s + w + e) / c;
    float numerator = 0.5f * g2 - 0.0625f * l * l;
    float denominator = 1.0f + 0.25f * l;
    float q2 = numerator / (denominator * denominator);
    float d = (q2 - q0) / (q0 * (1.0f + q0));
    coefficient[y * width + x] = clamp(1.0f / (1.0f + d), 0.0f, 1.0f);
}
