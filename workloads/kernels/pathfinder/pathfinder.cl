// Cheapest way through a grid, five rows a launch: a work-group keeps its columns and a halo in local memory.
#define STEPS 5
kernel void pathfinder(global const int *wall, global const int *cost, global int *result, local int *buffer,
                       int columns, int first_row)
{
    int n = get_local_size(0), lid = get_local_id(0);
    int width = n - 2 * STEPS;
    int x = (int)get_group_id(0) * width + lid - STEPS;
    local int *now = buffer, *next = buffer + n;
    now[lid] = cost[clamp(x, 0, columns - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < STEPS; ++s) {
        int left = lid > 0 ? now[lid - 1] : INT_MAX, right = lid < n - 1 ? now[lid + 1] : INT_MAX;
        if (x <= 0)
            left = INT_MAX;
        if (x >= columns - 1)
            right = INT_MAX;
        int best = min(now[lid], min(left, right));
        next[lid] = best + wall[(first_row + s) * columns + clamp(x, 0, columns - 1)];
        barrier(CLK_LOCAL_MEM_FENCE);
        local int *t = now;
        now = next;
        next = t;
    }
    if (lid >= STEPS && lid < n - STEPS && x < columns)
        result[x] = now[lid];
}
