// Every work-item function: ids, sizes, offset, and the smaller groups at the edge of a range that does not divide.
kernel void ndrange(global uint *out, uint width, uint height)
{
    size_t x = get_global_id(0) - get_global_offset(0);
    size_t y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    global uint *p = out + ((z * height + y) * width + x) * 8;
    p[0] = get_global_id(0) | get_global_id(1) << 10 | get_global_id(2) << 20;
    p[1] = get_local_id(0) | get_local_id(1) << 10 | get_local_id(2) << 20;
    p[2] = get_group_id(0) | get_group_id(1) << 10 | get_group_id(2) << 20;
    p[3] = get_local_size(0) | get_local_size(1) << 10 | get_local_size(2) << 20;
    p[4] = get_enqueued_local_size(0) | get_enqueued_local_size(1) << 10 | get_enqueued_local_size(2) << 20;
    p[5] = get_num_groups(0) | get_num_groups(1) << 10 | get_num_groups(2) << 20;
    p[6] = get_global_linear_id();
    p[7] = get_local_linear_id() | get_work_dim() << 16;
}
