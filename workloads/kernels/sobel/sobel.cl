// Sobel edge strength of a grey image; the border is set to zero.
kernel void sobel(global const uchar *in, global uchar *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int strength = 0;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        global const uchar *p = in + y * width + x;
        int nw = p[-width - 1], n = p[-width], ne = p[-width + 1], w = p[-1];
        int e = p[1], sw = p[width - 1], s = p[width], se = p[width + 1];
        int gx = ne + 2 * e + se - nw - 2 * w - sw;
        int gy = sw + 2 * s + se - nw - 2 * n - ne;
        strength = min((int)(abs(gx) + abs(gy)), 255);
    }
    out[y * width + x] = (uchar)strength;
}
