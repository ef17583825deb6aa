//! Stopping a run from outside.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Asked to stop, a run starts no further case and interrupts those that run.
#[derive(Debug, Default)]
pub struct Stop {
    requested: AtomicBool,
    running: Mutex<Vec<Arc<AtomicBool>>>,
}

impl Stop {
    /// Asks the run to stop; may be called from any thread, any number of times.
    pub fn request(&self) {
        self.requested.store(true, Relaxed);
        self.repeat();
    }

    /// Whether it was asked.
    pub fn requested(&self) -> bool {
        self.requested.load(Relaxed)
    }

    /// Passes a request on again: a launch that was just starting has reset its flag.
    pub(super) fn repeat(&self) {
        if self.requested() {
            self.lock().iter().for_each(|flag| flag.store(true, Relaxed));
        }
    }

    /// Registers a machine's flag while `work` runs.
    pub(super) fn watch<T>(&self, flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
        self.lock().push(flag.clone());
        let _guard = Registered { stop: self, flag };
        work()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<AtomicBool>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a flag off the list, also where the work panics.
struct Registered<'a> {
    stop: &'a Stop,
    flag: Arc<AtomicBool>,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.stop.lock().retain(|f| !Arc::ptr_eq(f, &self.flag));
    }
}
