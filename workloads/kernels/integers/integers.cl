// Integer built-ins and 64-bit arithmetic.
kernel void integers(global const long *a, global const long *b, global long *out)
{
    size_t i = get_global_id(0);
    long x = a[i], y = b[i];
    int u = (int)x, v = (int)y;
    global long *p = out + i * 16;
    p[0] = x * y + (x >> (y & 63));
    p[1] = x / (y | 1);
    p[2] = x % (y | 1);
    p[3] = (ulong)x / ((ulong)y | 1ul);
    p[4] = mul_hi(x, y);
    p[5] = mul_hi((uint)u, (uint)v) + ((long)mul_hi(u, v) << 32);
    p[6] = clz(x) | popcount(y) << 8 | clz(u) << 16 | popcount((uchar)v) << 24;
    p[7] = rotate(x, y & 63) ^ rotate((ulong)y, 13ul);
    p[8] = add_sat(x, y) ^ sub_sat(x, y);
    p[9] = add_sat(u, v) + ((long)sub_sat((uint)u, (uint)v) << 32);
    p[10] = abs_diff(u, v) + ((long)abs(u) << 32);
    p[11] = hadd(u, v) + ((long)rhadd(u, v) << 32);
    p[12] = mad_hi(u, v, 7) + ((long)mad_sat(u, 3, v) << 32);
    p[13] = upsample((short)u, (ushort)v) + ((long)mad24(u & 0x7fffff, 5, v) << 32);
    p[14] = max(min(x, y), -5000000000l) + clamp((char)u, (char)-20, (char)20);
    p[15] = (u / (v | 1)) + ((long)(u % (v | 1)) << 32) + ((ulong)u >> 33) + bitselect(x, y, (long)0xff00ff00ff00ff00ul);
}
