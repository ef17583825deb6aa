// Transposes a matrix through a padded tile, so that reads and writes are both coalesced and no bank conflicts.
#define TILE 32
#define ROWS 8
kernel void transpose(global const float *in, global float *out, uint width, uint height)
{
    local float tile[TILE][TILE + 1];
    uint x = get_group_id(0) * TILE + get_local_id(0);
    uint y = get_group_id(1) * TILE + get_local_id(1);
    for (uint j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + get_local_id(0);
    y = get_group_id(0) * TILE + get_local_id(1);
    for (uint j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[get_local_id(0)][get_local_id(1) + j];
}
