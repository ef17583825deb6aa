// Moves particles kept as an array of structures; those that leave the unit box bounce.
typedef struct {
    float4 position;
    float4 velocity;
    int bounces;
    uchar alive[4];
    ushort spare[4];
} Particle;
void bounce(Particle *p, int axis)
{
    float *x = (float *)&p->position + axis, *v = (float *)&p->velocity + axis;
    if (*x < 0.0f || *x > 1.0f) {
        *x = clamp(*x, 0.0f, 1.0f);
        *v = -*v;
        p->bounces++;
    }
}
kernel void particles(global Particle *all, float step, int steps)
{
    Particle p = all[get_global_id(0)];
    for (int s = 0; s < steps; ++s) {
        p.velocity.y -= 0.5f * step;
        p.position.xyz += p.velocity.xyz * step;
        for (int axis = 0; axis < 3; ++axis)
            bounce(&p, axis);
    }
    p.alive[0] = (uchar)(p.bounces & 1);
    all[get_global_id(0)] = p;
}
