// Vectors of every width and element size: swizzles, shuffles, selects, conversions with saturation, vload and vstore.
kernel void vectors(global const uchar *in, global uchar *out)
{
    size_t i = get_global_id(0);
    uchar16 a = vload16(i, in);
    uchar16 mask = (uchar16)(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    uchar16 reversed = shuffle(a, mask);
    short8 wide = convert_short8(a.even) * (short8)(3) - convert_short8(a.odd);
    uchar8 narrow = convert_uchar8_sat(wide);
    int4 pairs = convert_int4(wide.lo) << 4 | convert_int4(wide.hi) & 15;
    ushort3 three = (ushort3)(a.s0, a.s5, a.sf) * (ushort3)(257);
    float2 ratio = convert_float2(a.s37) / 4.0f;
    uchar8 chosen = select(narrow, a.lo, a.hi > (uchar8)(100));
    vstore16(reversed, 0, out + i * 64);
    vstore8(narrow, 2, out + i * 64);
    vstore8(chosen, 3, out + i * 64);
    vstore16(as_uchar16(pairs), 2, out + i * 64);
    vstore3(as_ushort4(three.xyzz).zyx, 0, (global ushort *)(out + i * 64 + 48));
    out[i * 64 + 54] = (uchar)any(wide.lo < (short4)(0));
    out[i * 64 + 55] = (uchar)all(wide.hi >= (short4)(-255));
    vstore2(convert_ushort2_rte(ratio), 0, (global ushort *)(out + i * 64 + 56));
    vstore4(a.s0123 + rotate(a.s4567, (uchar4)(1, 2, 3, 4)), 0, out + i * 64 + 60);
}
