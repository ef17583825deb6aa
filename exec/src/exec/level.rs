//! What the host's vector extensions offer. Every level yields the same bits.

/// Levels in rising order, for tests that compare them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum HostLevel {
    /// The architecture's baseline.
    Base,
    /// AVX2, FMA and bit manipulation.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ, VL and CD on top.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl HostLevel {
    /// Those that this host has.
    pub fn available() -> Vec<HostLevel> {
        #[allow(unused_mut)]
        let mut levels = vec![HostLevel::Base];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
            if avx2 {
                levels.push(HostLevel::Avx2);
            }
            if avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("avx512cd") {
                levels.push(HostLevel::Avx512);
            }
        }
        levels
    }

    /// The highest that this host has.
    pub fn best() -> HostLevel {
        static LEVEL: std::sync::OnceLock<HostLevel> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(|| HostLevel::available().last().copied().unwrap_or(HostLevel::Base))
    }
}

/// A level of vector extensions: operations that the compiler cannot derive from plain loops.
pub(super) trait Level: Copy {
    /// a * b + c, one rounding.
    fn fma32(a: f32, b: f32, c: f32) -> f32;
    /// a * b + c, one rounding.
    fn fma64(a: f64, b: f64, c: f64) -> f64;
    /// Bit `i` is the top bit of `rows[i]`.
    fn top_bits<const W: usize>(rows: &[u32; W]) -> u64;
    /// The words that begin at these bytes of `memory`.
    ///
    /// # Safety
    /// Each offset is less than 2^31, and the 4 bytes from there on may be read.
    unsafe fn gather<const W: usize>(memory: *const u8, offsets: &[u32; W]) -> [u32; W];
}

/// What every host has.
#[derive(Copy, Clone)]
pub(super) struct Base;

impl Level for Base {
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        libm::fmaf(a, b, c)
    }
    #[inline(always)]
    fn fma64(a: f64, b: f64, c: f64) -> f64 {
        libm::fma(a, b, c)
    }
    #[inline(always)]
    fn top_bits<const W: usize>(rows: &[u32; W]) -> u64 {
        let mut bits = 0;
        for (i, &r) in rows.iter().enumerate() {
            bits |= ((r >> 31) as u64) << i;
        }
        bits
    }
    #[inline(always)]
    unsafe fn gather<const W: usize>(memory: *const u8, offsets: &[u32; W]) -> [u32; W] {
        let mut words = [0; W];
        for i in 0..W {
            // SAFETY: the caller's.
            words[i] = unsafe { memory.add(offsets[i] as usize).cast::<u32>().read_unaligned() };
        }
        words
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Level;
    use std::arch::x86_64::*;

    /// AVX2 with FMA; only inside functions that enable them.
    #[derive(Copy, Clone)]
    pub struct Avx2;

    /// AVX-512 F, BW, DQ, VL; only inside functions that enable them.
    #[derive(Copy, Clone)]
    pub struct Avx512;

    impl Level for Avx2 {
        #[inline(always)]
        fn fma32(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn fma64(a: f64, b: f64, c: f64) -> f64 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn top_bits<const W: usize>(rows: &[u32; W]) -> u64 {
            let mut bits = 0;
            for (i, part) in rows.as_chunks::<8>().0.iter().enumerate() {
                // SAFETY: this level is only used where AVX2 is enabled; the chunk has 32 bytes.
                let m = unsafe { _mm256_movemask_ps(_mm256_loadu_ps(part.as_ptr().cast())) };
                bits |= (m as u32 as u64) << (8 * i);
            }
            bits
        }
        #[inline(always)]
        unsafe fn gather<const W: usize>(memory: *const u8, offsets: &[u32; W]) -> [u32; W] {
            let mut words = [0; W];
            for (to, of) in words.as_chunks_mut::<8>().0.iter_mut().zip(offsets.as_chunks::<8>().0) {
                // SAFETY: this level is only used where AVX2 is enabled; both chunks have 32 bytes, and the caller
                // vouches for what lies at the offsets.
                unsafe {
                    let of = _mm256_loadu_si256(of.as_ptr().cast());
                    _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_i32gather_epi32::<1>(memory.cast(), of));
                }
            }
            words
        }
    }

    impl Level for Avx512 {
        #[inline(always)]
        fn fma32(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn fma64(a: f64, b: f64, c: f64) -> f64 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn top_bits<const W: usize>(rows: &[u32; W]) -> u64 {
            if W < 16 {
                return Avx2::top_bits(rows);
            }
            let mut bits = 0;
            for (i, part) in rows.as_chunks::<16>().0.iter().enumerate() {
                // SAFETY: this level is only used where AVX-512 is enabled; the chunk has 64 bytes.
                let m = unsafe { _mm512_movepi32_mask(_mm512_loadu_si512(part.as_ptr().cast())) };
                bits |= (m as u64) << (16 * i);
            }
            bits
        }
        #[inline(always)]
        unsafe fn gather<const W: usize>(memory: *const u8, offsets: &[u32; W]) -> [u32; W] {
            // SAFETY: the caller's, and this level has all of the other.
            unsafe { Avx2::gather(memory, offsets) }
        }
    }
}
