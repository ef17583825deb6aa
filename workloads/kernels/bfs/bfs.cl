// One level of a breadth-first search: every vertex of the frontier marks its unvisited neighbours.
kernel void bfs(global const int *rows, global const int *edges, global int *depth, global int *more, int level, int n)
{
    int v = get_global_id(0);
    if (v >= n || depth[v] != level)
        return;
    for (int e = rows[v]; e < rows[v + 1]; ++e) {
        int to = edges[e];
        if (atomic_cmpxchg(&depth[to], -1, level + 1) == -1)
            *more = 1;
    }
}
