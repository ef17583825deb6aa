// Gravitational acceleration of every body by all others, bodies staged in local memory.
kernel void nbody(global const float4 *body, global float4 *acceleration, local float4 *tile, uint n, float softening)
{
    float4 me = body[get_global_id(0)];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint base = 0; base < n; base += get_local_size(0)) {
        tile[get_local_id(0)] = body[base + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < get_local_size(0); ++j) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + softening;
            float inv = native_rsqrt(r2);
            float s = other.w * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acceleration[get_global_id(0)] = (float4)(ax, ay, az, 0.0f);
}
