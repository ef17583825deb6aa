// Potential of particles in boxes: every particle of a box against those of the neighbouring boxes (in a ring).
typedef struct {
    float x, y, z, charge;
} Particle;
typedef struct {
    int boxes;
    int reach;
    float alpha;
} Setup;
#define PER_BOX 32
float4 interact(Particle a, Particle b, float alpha)
{
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    float r2 = dx * dx + dy * dy + dz * dz;
    float v = b.charge * exp(-alpha * r2);
    float f = 2.0f * alpha * v;
    return (float4)(f * dx, f * dy, f * dz, v);
}
kernel void lavamd(global const Particle *particles, global float4 *result, Setup setup)
{
    local Particle other[PER_BOX];
    int box = get_group_id(0), lid = get_local_id(0);
    Particle me = particles[box * PER_BOX + lid];
    float4 sum = (float4)(0.0f);
    for (int d = -setup.reach; d <= setup.reach; ++d) {
        int neighbour = (box + d + setup.boxes) % setup.boxes;
        barrier(CLK_LOCAL_MEM_FENCE);
        other[lid] = particles[neighbour * PER_BOX + lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < PER_BOX; ++j)
            sum += interact(me, other[j], setup.alpha);
    }
    result[box * PER_BOX + lid] = sum;
}
