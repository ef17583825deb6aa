// Arithmetic latency (lat_*) and throughput (thr_*) kernels.
// lat_X : one dependent chain per work-item, 16 steps of S_X per loop iteration.
// thr_X : four independent chains per work-item, 4 steps each per loop iteration
//         (16 steps per iteration in all).
// The number of primitive operations in one step is given in README.md.
// The outer loop is not to be unrolled further.
#ifdef __NV_CL_C_VERSION
#define NOUNROLL _Pragma("unroll 1")
#else
#define NOUNROLL _Pragma("nounroll")
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define REP4(S) S S S S
#define REP16(S) REP4(REP4(S))

#define LAT(NAME, T)                                                          \
__kernel void lat_##NAME(__global const T *in, __global T *out,               \
                         T a, T b, T c, T d, int iters)                       \
{                                                                             \
    int g = (int)get_global_id(0);                                            \
    T x = in[g];                                                              \
    NOUNROLL \
    for (int i = 0; i < iters; i++) { REP16(S_##NAME(x)) }                    \
    out[g] = x;                                                               \
}

#define THR(NAME, T)                                                          \
__kernel void thr_##NAME(__global const T *in, __global T *out,               \
                         T a, T b, T c, T d, int iters)                       \
{                                                                             \
    int g = (int)get_global_id(0);                                            \
    T x0 = in[g & 1023];                                                      \
    T x1 = in[(g + 1) & 1023];                                                \
    T x2 = in[(g + 2) & 1023];                                                \
    T x3 = in[(g + 3) & 1023];                                                \
    NOUNROLL \
    for (int i = 0; i < iters; i++) {                                         \
        REP4(S_##NAME(x0) S_##NAME(x1) S_##NAME(x2) S_##NAME(x3))             \
    }                                                                         \
    out[g] = (x0 + x1) + (x2 + x3);                                           \
}

#define BOTH(NAME, T) LAT(NAME, T) THR(NAME, T)

// ---- float ----
#define S_fadd(x) x = x + a;
#define S_fmul(x) x = x * a;
#define S_ffma(x) x = fma(x, a, b);
#define S_fdiv(x) x = a / x;
#define S_fsqrt(x) x = sqrt(x);
#define S_frsqrt(x) x = rsqrt(x);
#define S_nrecip(x) x = native_recip(x);
#define S_nsin(x) x = native_sin(x);
#define S_nexp2(x) x = native_exp2(-x);
#define S_fminmax(x) x = fmax(x, a); x = fmin(x, b); x = fmax(x, c); x = fmin(x, d);
#define S_f2i2f(x) x = (float)((int)x) + a;
#define S_fsel(x) x = (x < a) ? b : x; x = (x > c) ? d : x;
BOTH(fadd, float)
BOTH(fmul, float)
BOTH(ffma, float)
BOTH(fdiv, float)
BOTH(fsqrt, float)
BOTH(frsqrt, float)
BOTH(nrecip, float)
BOTH(nsin, float)
BOTH(nexp2, float)
BOTH(fminmax, float)
BOTH(f2i2f, float)
BOTH(fsel, float)

// ---- 32-bit integer ----
#define S_iadd(x) x = (x + a) ^ b;
#define S_imul(x) x = (x * a) ^ b;
#define S_imad(x) x = x * a + b;
#define S_imulhi(x) x = mul_hi(x, a) ^ b;
#define S_ilogic(x) x = (x & a) ^ b; x = (x | c) ^ d;
#define S_ishift(x) x = x << a; x = x >> b;
#define S_iminmax(x) x = max(x, a); x = min(x, b); x = max(x, c); x = min(x, d);
#define S_udiv(x) x = a / x + b;
#define S_umod(x) x = a % x + b;
#define S_popc(x) x = popcount(x ^ a);
#define S_iclz(x) x = clz(x ^ a);
#define S_isel(x) x = (x < a) ? b : x; x = (x > c) ? d : x;
BOTH(iadd, uint)
BOTH(imul, uint)
BOTH(imad, uint)
BOTH(imulhi, uint)
BOTH(ilogic, uint)
BOTH(ishift, uint)
BOTH(iminmax, int)
BOTH(udiv, uint)
BOTH(umod, uint)
BOTH(popc, uint)
BOTH(iclz, uint)
BOTH(isel, int)

// ---- 64-bit integer ----
#define S_i64add(x) x = (x + a) ^ b;
#define S_i64mad(x) x = x * a + b;
BOTH(i64add, ulong)
BOTH(i64mad, ulong)

// ---- double ----
#define S_dadd(x) x = x + a;
#define S_dmul(x) x = x * a;
#define S_dfma(x) x = fma(x, a, b);
BOTH(dadd, double)
BOTH(dmul, double)
BOTH(dfma, double)

// ---- mixes (throughput only): independent operations for different units ----
// each step: 1 float fma + 1 other operation, on separate chains
#define MIX(NAME, STEP)                                                       \
__kernel void mix_##NAME(__global const float *in, __global float *out,       \
                         __global uint *iout, float a, float b, uint p,       \
                         uint q, int iters)                                   \
{                                                                             \
    int g = (int)get_global_id(0);                                            \
    float x0 = in[g & 1023];                                                  \
    float x1 = in[(g + 1) & 1023];                                            \
    float x2 = in[(g + 2) & 1023];                                            \
    float x3 = in[(g + 3) & 1023];                                            \
    uint y0 = (uint)g, y1 = y0 ^ q, y2 = y0 * p, y3 = y0 + q;                 \
    NOUNROLL \
    for (int i = 0; i < iters; i++) {                                         \
        REP4(STEP(x0, y0) STEP(x1, y1) STEP(x2, y2) STEP(x3, y3))             \
    }                                                                         \
    out[g] = (x0 + x1) + (x2 + x3);                                           \
    iout[g] = (y0 + y1) + (y2 + y3);                                          \
}
#define M_ffma_logic(x, y) x = fma(x, a, b); y = ((y & p) ^ q) + (y >> 3);
#define M_ffma_imad(x, y) x = fma(x, a, b); y = y * p + q;
#define M_ffma_sfu(x, y) x = fma(x, a, b); x = fma(x, a, b); x = fma(x, a, b); x = native_recip(x);
MIX(ffma_logic, M_ffma_logic)
MIX(ffma_imad, M_ffma_imad)
MIX(ffma_sfu, M_ffma_sfu)
