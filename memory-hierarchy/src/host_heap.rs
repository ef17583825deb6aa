//! The heap of this process, arranged for simulation.
//!
//! A machine's state is some tens of megabytes in many small pieces, visited in no order: large pages save most of the
//! address translation, and keeping freed memory saves asking the system for it again at each launch. That is the
//! program's decision, not a library's, so only the command calls this.

/// Memory to lay out in large pages. It is reserved, not used, until something needs it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RESERVE: usize = 256 << 20;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_PAGE: usize = 2 << 20;

/// Arranges the heap; to be called once, before other threads start. Where the system cannot do it nothing happens.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn arrange() {
    // One heap for all threads: simulation does not allocate in its inner loops, so they do not contend for it.
    let options = [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_THRESHOLD, 1 << 30), (libc::M_TRIM_THRESHOLD, i32::MAX)];
    for (option, value) in options {
        // SAFETY: mallopt takes any option and value; it reports those that it does not know.
        unsafe { libc::mallopt(option, value) };
    }
    // Freed below, the block stays at the heap's end, from which later allocations are cut.
    // SAFETY: any size is allowed; the pointer is checked before it is used and freed once.
    unsafe {
        let block = libc::malloc(RESERVE);
        let from = (block as usize).next_multiple_of(LARGE_PAGE);
        if !block.is_null() {
            let length = (block as usize + RESERVE - from) / LARGE_PAGE * LARGE_PAGE;
            // Advice that the system need not take.
            libc::madvise(block.wrapping_byte_add(from - block as usize), length, libc::MADV_HUGEPAGE);
        }
        libc::free(block);
    }
}

/// Arranges the heap, where the system has a way to do it.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn arrange() {}
