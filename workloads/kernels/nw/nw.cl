// Needleman-Wunsch alignment of one pair of sequences a work-group, along anti-diagonals in local memory.
#define LEN 64
kernel void nw(global const uchar *first, global const uchar *second, global int *score, int match, int gap)
{
    local int row[3][LEN + 1];
    uint j = get_local_id(0) + 1;
    size_t base = get_group_id(0) * LEN;
    uchar mine = second[base + j - 1];
    for (uint d = 0; d <= 2 * LEN; ++d) {
        local int *now = row[d % 3], *before = row[(d + 2) % 3], *earlier = row[(d + 1) % 3];
        int i = (int)d - (int)j;
        if (j == 1)
            now[0] = -gap * (int)d;
        if (i == 0) {
            now[j] = -gap * (int)j;
        } else if (i > 0 && i <= LEN) {
            int diagonal = earlier[j - 1] + (first[base + i - 1] == mine ? match : -match);
            now[j] = max(diagonal, max(before[j - 1], before[j]) - gap);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (j == LEN)
        score[get_group_id(0)] = row[(2 * LEN) % 3][LEN];
}
