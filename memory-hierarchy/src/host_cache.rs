//! Hints to the host's caches: a simulated machine's state is larger than they are.

/// Asks for the host's cache lines that hold `part`; does nothing where the host has no such instruction.
#[inline(always)]
pub fn prefetch<T>(part: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(part)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing as far as the program can tell, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(part.as_ptr().cast::<i8>().wrapping_add(at)) };
    }
}
