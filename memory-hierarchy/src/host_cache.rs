//! Hints to the host's caches: a simulated machine's state is larger than they are.

/// Asks for the host's cache lines that hold `part`; does nothing where the host has no such instruction.
#[inline(always)]
pub fn prefetch<T>(part: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let first = part.as_ptr().cast::<i8>();
        // A number of rounds that the compiler knows where it knows the length.
        let mut line = 0;
        while line < size_of_val(part).div_ceil(64) {
            // SAFETY: a prefetch reads nothing as far as the program can tell, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add(64 * line)) };
            line += 1;
        }
    }
}
