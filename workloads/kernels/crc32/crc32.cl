// CRC-32 (IEEE) of one block a work-item, with a table in program-scope constant memory, four bits at a time.
constant uint table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};
kernel void crc32(global const uchar *data, global uint *out, uint length)
{
    global const uchar *block = data + get_global_id(0) * length;
    uint crc = ~0u;
    for (uint i = 0; i < length; ++i) {
        crc ^= block[i];
        crc = table[crc & 15] ^ (crc >> 4);
        crc = table[crc & 15] ^ (crc >> 4);
    }
    out[get_global_id(0)] = ~crc;
}
