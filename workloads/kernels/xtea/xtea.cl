// XTEA block cipher in counter mode over 64-bit blocks.
kernel void xtea(global const uint2 *plain, global uint2 *cipher, uint4 key, uint nonce)
{
    uint k[4] = { key.x, key.y, key.z, key.w };
    uint a = nonce, b = get_global_id(0), sum = 0;
    for (int round = 0; round < 32; ++round) {
        a += (((b << 4) ^ (b >> 5)) + b) ^ (sum + k[sum & 3]);
        sum += 0x9E3779B9u;
        b += (((a << 4) ^ (a >> 5)) + a) ^ (sum + k[(sum >> 11) & 3]);
    }
    cipher[get_global_id(0)] = plain[get_global_id(0)] ^ (uint2)(a, b);
}
