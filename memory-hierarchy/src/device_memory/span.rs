//! The range of one allocation, and typed access to its bytes.
use super::{Access, Allocation};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The address range of an allocation: 32 bytes to keep at hand, so that the next access needs no look-up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Span {
    base: u64,
    size: u64,
    /// Simulated minus host address, wrapping.
    delta: u64,
    read_only: bool,
}

impl Span {
    /// Holds nothing; a start value for a cached span.
    pub const EMPTY: Span = Span { base: u64::MAX, size: 0, delta: 0, read_only: true };

    pub(super) fn new(facts: &Allocation) -> Span {
        Span {
            base: facts.address,
            size: facts.size,
            delta: facts.simulated.wrapping_sub(facts.address),
            read_only: facts.access == Access::ReadOnly,
        }
    }

    /// First host address.
    pub fn base(&self) -> u64 {
        self.base
    }
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
    /// Whether kernels may only read it.
    pub fn read_only(&self) -> bool {
        self.read_only
    }

    /// Whether `bytes` bytes at `address` lie inside.
    #[inline(always)]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size && bytes <= self.size - offset
    }

    /// Whether every lane in `mask` has its `bytes` bytes inside.
    #[inline(always)]
    pub fn covers<const W: usize>(&self, addresses: &[u64; W], mask: u64, bytes: u64) -> bool {
        let Some(last) = self.size.checked_sub(bytes) else { return false };
        let mut outside = false;
        if mask == full_mask(W) {
            for &address in addresses {
                outside |= address.wrapping_sub(self.base) > last;
            }
        } else {
            for (lane, &address) in addresses.iter().enumerate() {
                outside |= (address.wrapping_sub(self.base) > last) & (mask >> lane & 1 != 0);
            }
        }
        !outside
    }

    /// The simulated address of a host address inside.
    #[inline(always)]
    pub fn simulated(&self, address: u64) -> u64 {
        address.wrapping_add(self.delta)
    }

    /// Reads an element.
    ///
    /// # Safety
    /// [`Span::contains`] or [`Span::covers`] holds for it, it is aligned to its size, and the view that this span
    /// came from is alive.
    #[inline(always)]
    pub unsafe fn load<T: Word>(&self, address: u64) -> T {
        debug_assert!(self.contains(address, size_of::<T>() as u64) && address.is_multiple_of(size_of::<T>() as u64));
        // SAFETY: as the caller promises.
        unsafe { T::load(std::ptr::with_exposed_provenance_mut(address as usize)) }
    }

    /// Writes an element.
    ///
    /// # Safety
    /// As for [`Span::load`], and the span is not read-only.
    #[inline(always)]
    pub unsafe fn store<T: Word>(&self, address: u64, value: T) {
        debug_assert!(self.contains(address, size_of::<T>() as u64) && address.is_multiple_of(size_of::<T>() as u64));
        debug_assert!(!self.read_only);
        // SAFETY: as the caller promises.
        unsafe { T::store(std::ptr::with_exposed_provenance_mut(address as usize), value) }
    }

    /// Replaces an element by `change` of it, atomically also against other host threads; returns the old value.
    /// `change` may be called more than once.
    ///
    /// # Safety
    /// As for [`Span::store`].
    #[inline(always)]
    pub unsafe fn update<T: Word>(&self, address: u64, change: impl FnMut(T) -> T) -> T {
        debug_assert!(self.contains(address, size_of::<T>() as u64) && address.is_multiple_of(size_of::<T>() as u64));
        debug_assert!(!self.read_only);
        // SAFETY: as the caller promises.
        unsafe { T::update(std::ptr::with_exposed_provenance_mut(address as usize), change) }
    }
}

/// All lanes of a warp of `width`.
#[inline(always)]
pub(crate) const fn full_mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// An element of memory. Plain accesses are relaxed atomics of the host: the same instructions as ordinary moves, and
/// no data race where work-groups run in parallel or the host program touches shared virtual memory meanwhile.
pub trait Word: Copy + sealed::Sealed {
    /// Reads.
    ///
    /// # Safety
    /// `at` is aligned and valid for reads.
    unsafe fn load(at: *mut Self) -> Self;
    /// Writes.
    ///
    /// # Safety
    /// `at` is aligned and valid for writes.
    unsafe fn store(at: *mut Self, value: Self);
    /// Atomically replaces and returns the old value.
    ///
    /// # Safety
    /// `at` is aligned and valid for reads and writes.
    unsafe fn update(at: *mut Self, change: impl FnMut(Self) -> Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! word {
    ($($ty:ty: $atomic:ty),*) => {$(
        impl sealed::Sealed for $ty {}
        impl Word for $ty {
            #[inline(always)]
            unsafe fn load(at: *mut $ty) -> $ty {
                // SAFETY: aligned and valid, as the caller promises; all concurrent accesses are atomic.
                unsafe { <$atomic>::from_ptr(at) }.load(Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut $ty, value: $ty) {
                // SAFETY: as for `load`.
                unsafe { <$atomic>::from_ptr(at) }.store(value, Relaxed)
            }
            #[inline(always)]
            unsafe fn update(at: *mut $ty, mut change: impl FnMut($ty) -> $ty) -> $ty {
                // SAFETY: as for `load`.
                let cell = unsafe { <$atomic>::from_ptr(at) };
                let mut old = cell.load(Relaxed);
                loop {
                    // Acquire-release: an atomic's fence semantics are the kernel's, the host's must not be weaker.
                    use std::sync::atomic::Ordering::AcqRel;
                    match cell.compare_exchange_weak(old, change(old), AcqRel, Relaxed) {
                        Ok(_) => return old,
                        Err(seen) => old = seen,
                    }
                }
            }
        }
    )*};
}
word!(u8: AtomicU8, u16: AtomicU16, u32: AtomicU32, u64: AtomicU64);
