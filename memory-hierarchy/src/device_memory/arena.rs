//! The address range that allocations are cut from: reserved at once, committed as it is used.
use super::GUARD;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Preferred start. Far from where the system places anything, also under valgrind and sanitizers.
const PREFERRED: usize = 0x2000_0000_0000;
/// The arena is made accessible in steps of this many bytes.
const COMMIT_STEP: u64 = 4 << 20;
/// Never reserve less than this.
const SMALLEST: u64 = 64 << 20;
/// Granularity of blocks; at most the page size.
const PAGE: u64 = 4096;

#[derive(Debug)]
pub(super) struct Arena {
    base: u64,
    size: u64,
    state: Mutex<Free>,
}

#[derive(Debug)]
struct Free {
    /// Free ranges by offset; never adjacent.
    ranges: BTreeMap<u64, u64>,
    /// Bytes from the start that are accessible.
    committed: u64,
}

/// A range of the arena in use; goes back when dropped.
#[derive(Debug)]
pub(super) struct Block {
    arena: Arc<Arena>,
    /// Offset and length of what was taken, guard included.
    start: u64,
    len: u64,
}

impl Arena {
    /// Reserves room for `capacity` bytes of allocations, their guards and fragmentation; less where the host has less.
    pub(super) fn reserve(capacity: u64) -> Result<Arc<Arena>, String> {
        let mut size = capacity.saturating_mul(2).clamp(SMALLEST, 1 << 45).next_multiple_of(COMMIT_STEP);
        loop {
            match map(size) {
                Ok(base) => {
                    let free = Free { ranges: BTreeMap::from([(0, size)]), committed: 0 };
                    return Ok(Arc::new(Arena { base, size, state: Mutex::new(free) }));
                }
                Err(e) if size <= SMALLEST => return Err(format!("reserving address space: {e}")),
                Err(_) => size = (size / 2).max(SMALLEST).next_multiple_of(COMMIT_STEP),
            }
        }
    }

    /// Takes `size` zeroed bytes at a multiple of `align`, first fit.
    pub(super) fn take(self: &Arc<Arena>, size: u64, align: u64) -> Result<Block, String> {
        let need = size.checked_add(GUARD).ok_or("the size overflows")?.next_multiple_of(GUARD);
        let mut free = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let aligned = |at: u64| (self.base + at).checked_next_multiple_of(align).map(|a| a - self.base);
        let found = free.ranges.iter().find_map(|(&at, &len)| {
            let start = aligned(at)?;
            (start.checked_add(need)? <= at + len).then_some((at, len, start))
        });
        let (at, len, start) = found.ok_or_else(|| format!("the {}-byte arena has no room", self.size))?;
        let end = start + need;
        if end > free.committed {
            let upto = end.next_multiple_of(COMMIT_STEP).min(self.size);
            self.commit(free.committed, upto).map_err(|e| e.to_string())?;
            free.committed = upto;
        }
        free.ranges.remove(&at);
        if start > at {
            free.ranges.insert(at, start - at);
        }
        if at + len > end {
            free.ranges.insert(end, at + len - end);
        }
        Ok(Block { arena: self.clone(), start, len: need })
    }

    fn commit(&self, from: u64, to: u64) -> io::Result<()> {
        // SAFETY: the range lies in this arena's own mapping, and nothing refers to its uncommitted part.
        let rc = unsafe {
            libc::mprotect((self.base + from) as *mut _, (to - from) as usize, libc::PROT_READ | libc::PROT_WRITE)
        };
        if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Zeroes a range: whole pages go back to the system, the edges are overwritten.
    fn clear(&self, start: u64, len: u64) {
        let (lo, hi) = (self.base + start, self.base + start + len);
        let (page_lo, page_hi) = (lo.next_multiple_of(PAGE), hi / PAGE * PAGE);
        let zero = |from: u64, to: u64| {
            // SAFETY: inside a committed block that no allocation and no view refers to any more.
            unsafe { std::ptr::write_bytes(from as *mut u8, 0, (to - from) as usize) }
        };
        if page_lo >= page_hi {
            return zero(lo, hi);
        }
        zero(lo, page_lo);
        zero(page_hi, hi);
        // SAFETY: as above; whole pages of this arena's private anonymous mapping.
        let rc = unsafe { libc::madvise(page_lo as *mut _, (page_hi - page_lo) as usize, libc::MADV_DONTNEED) };
        if rc != 0 {
            zero(page_lo, page_hi);
        }
    }
}

impl Block {
    pub(super) fn address(&self) -> u64 {
        self.arena.base + self.start
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.arena.clear(self.start, self.len);
        let mut free = self.arena.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut start, mut len) = (self.start, self.len);
        if let Some((&before, &n)) = free.ranges.range(..start).next_back()
            && before + n == start
        {
            free.ranges.remove(&before);
            (start, len) = (before, len + n);
        }
        if let Some(n) = free.ranges.remove(&(start + len)) {
            len += n;
        }
        free.ranges.insert(start, len);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is this arena's own, and every block holds the arena alive.
        unsafe { libc::munmap(self.base as *mut _, self.size as usize) };
    }
}

/// Reserves `size` bytes, at the preferred address where that is free.
fn map(size: u64) -> io::Result<u64> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    for (hint, extra) in [(PREFERRED, libc::MAP_FIXED_NOREPLACE), (0, 0)] {
        // SAFETY: a new mapping; MAP_FIXED_NOREPLACE never replaces an existing one.
        let at = unsafe { libc::mmap(hint as *mut _, size as usize, libc::PROT_NONE, flags | extra, -1, 0) };
        if at == libc::MAP_FAILED {
            continue;
        }
        return Ok(at as u64);
    }
    Err(io::Error::last_os_error())
}
