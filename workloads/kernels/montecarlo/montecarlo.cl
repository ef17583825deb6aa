// Estimates pi: every work-item draws points with its own generator; hits are counted atomically.
uint next(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}
kernel void montecarlo(global uint *hits, uint draws)
{
    uint state = (uint)get_global_id(0) * 2654435761u + 12345u;
    uint inside = 0;
    for (uint i = 0; i < draws; ++i) {
        uint x = next(&state) >> 17, y = next(&state) >> 17;
        inside += x * x + y * y < 1u << 30;
    }
    atomic_add(hits, inside);
}
