// Math built-ins: one column of the output a function.
kernel void mathfns(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    int e;
    float whole, other;
    out[0 * n + i] = sin(x);
    out[1 * n + i] = cos(x);
    out[2 * n + i] = tan(x);
    out[3 * n + i] = exp(y);
    out[4 * n + i] = log(fabs(x) + 0.001f);
    out[5 * n + i] = pow(fabs(x) + 0.1f, y);
    out[6 * n + i] = sqrt(fabs(x));
    out[7 * n + i] = atan2(x, y);
    out[8 * n + i] = asin(y * 0.25f) + acos(y * 0.25f) * 2.0f + atan(x);
    out[9 * n + i] = sinh(y) + cosh(y);
    out[10 * n + i] = tanh(y);
    out[11 * n + i] = exp2(y) + exp10(y * 0.5f);
    out[12 * n + i] = log2(fabs(x) + 1.0f) + log10(fabs(x) + 1.0f);
    out[13 * n + i] = cbrt(x) + hypot(x, y);
    out[14 * n + i] = fmod(x, 3.0f) + remainder(x, 3.0f);
    out[15 * n + i] = floor(x) + ceil(y) * 2.0f + trunc(x) * 4.0f + rint(y) * 8.0f + round(x) * 16.0f;
    out[16 * n + i] = frexp(x, &e) + (float)e * 4.0f;
    out[17 * n + i] = modf(x, &whole) + whole * 0.5f + ldexp(y, 3) + fract(x, &other) + other;
    out[18 * n + i] = fmax(x, y) - fmin(x, y) + fdim(x, y) + copysign(y, x) + mix(x, y, 0.25f);
    out[19 * n + i] = smoothstep(-2.0f, 2.0f, y) + step(0.5f, y) + sign(x) + degrees(y) + radians(x);
    out[20 * n + i] = dot((float3)(x, y, 1.0f), (float3)(y, 2.0f, x)) + length((float2)(x, y)) + distance((float4)(x), (float4)(y));
    out[21 * n + i] = erf(y) + tgamma(fabs(y) + 1.0f);
    out[22 * n + i] = rsqrt(fabs(x) + 0.5f) + native_recip(y + 10.0f) + half_exp(y);
    out[23 * n + i] = nextafter(x, y) + (float)ilogb(x) + logb(y) + maxmag(x, y) + minmag(x, y);
}
