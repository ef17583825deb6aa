// Position of every key in a sorted table (the first element that is not smaller).
kernel void binsearch(global const int *table, global const int *keys, global uint *position, uint n)
{
    int key = keys[get_global_id(0)];
    uint lo = 0, hi = n;
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (table[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    position[get_global_id(0)] = lo;
}
