// Inserts keys into an open-addressing table with 64-bit compare-and-swap (key in the high half, count in the low).
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
kernel void hashtable(global const uint *keys, volatile global ulong *table, uint mask)
{
    uint key = keys[get_global_id(0)];
    uint slot = (key * 0x9E3779B1u) >> 7 & mask;
    ulong mine = (ulong)key << 32;
    for (uint tries = 0; tries <= mask; ++tries) {
        ulong seen = atom_cmpxchg(&table[slot], 0ul, mine | 1);
        if (seen == 0)
            return;
        if ((seen & 0xffffffff00000000ul) == mine) {
            atom_add(&table[slot], 1ul);
            return;
        }
        slot = (slot + 1) & mask;
    }
}
