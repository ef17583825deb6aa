//! Locks that ignore poisoning: a panic is caught at the C boundary, and what the locks guard is changed in steps that
//! leave it consistent.
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

/// A condition variable.
#[derive(Default, Debug)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition variable.
    pub const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }
    /// Waits for a notification; wakes up spuriously, too.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        sound(self.0.wait(guard))
    }
    /// Wakes all.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
    /// Wakes one.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}

fn sound<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
