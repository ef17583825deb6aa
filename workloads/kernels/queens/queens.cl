// Counts solutions of the n queens problem: each work-item fixes the first two rows and searches the rest.
kernel void queens(global uint *solutions, int n)
{
    int first = get_global_id(0) % n, second = get_global_id(0) / n;
    uint columns[16], left[16], right[16], open[16];
    uint all = (1u << n) - 1, found = 0;
    if (second < n && abs(first - second) > 1) {
        uint a = 1u << first, b = 1u << second;
        int depth = 2;
        columns[2] = a | b;
        left[2] = ((a << 1) | b) << 1;
        right[2] = ((a >> 1) | b) >> 1;
        open[2] = all & ~(columns[2] | left[2] | right[2]);
        while (depth >= 2) {
            uint choices = open[depth];
            if (!choices) {
                --depth;
                continue;
            }
            uint q = choices & -choices;
            open[depth] = choices ^ q;
            if (depth == n - 1) {
                ++found;
                continue;
            }
            columns[depth + 1] = columns[depth] | q;
            left[depth + 1] = (left[depth] | q) << 1;
            right[depth + 1] = (right[depth] | q) >> 1;
            ++depth;
            open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
        }
    }
    solutions[get_global_id(0)] = found;
}
