// Assignment step of k-means: the nearest of k centres for every point, and the size of each cluster.
// Coordinates are whole numbers, so that distances are exact and ties are decided alike everywhere.
kernel void kmeans(global const int *points, constant int *centres, global int *cluster, global int *sizes,
                   int n, int k, int dims)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int best = 0, best_distance = INT_MAX;
    for (int c = 0; c < k; ++c) {
        int distance = 0;
        for (int d = 0; d < dims; ++d) {
            int diff = points[d * n + i] - centres[c * dims + d];
            distance += diff * diff;
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    cluster[i] = best;
    atomic_inc(&sizes[best]);
}
