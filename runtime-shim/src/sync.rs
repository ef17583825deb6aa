//! Locks that ignore poisoning: a panic is caught at the C boundary, and what the locks guard is changed in steps that
//! leave it consistent.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LockResult, MutexGuard, PoisonError};

/// A mutual exclusion lock.
#[derive(Default, Debug)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }
    /// Locks.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        sound(self.0.lock())
    }
}

/// A condition variable. Where nobody waits a notification is no system call. Who notifies must have changed the
/// condition under the mutex that waiters wait with.
#[derive(Default, Debug)]
pub struct Condvar {
    inner: std::sync::Condvar,
    /// Threads that wait; changed under the mutex only.
    waiters: AtomicU32,
}

impl Condvar {
    /// A condition variable.
    pub const fn new() -> Condvar {
        Condvar { inner: std::sync::Condvar::new(), waiters: AtomicU32::new(0) }
    }
    /// Waits for a notification; wakes up spuriously, too.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let guard = sound(self.inner.wait(guard));
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        guard
    }
    /// Wakes all.
    pub fn notify_all(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.inner.notify_all();
        }
    }
    /// Wakes one.
    pub fn notify_one(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.inner.notify_one();
        }
    }
}

fn sound<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
