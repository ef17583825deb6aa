//! Threads of the simulator: signals stay with the program's own threads.
use std::thread::{Builder, JoinHandle};

/// Starts a thread that blocks every signal.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    // SAFETY: both sets are initialised before they are read; the old mask is restored.
    unsafe {
        let mut all = std::mem::zeroed();
        let mut old = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let thread = Builder::new().name(name.into()).stack_size(16 << 20).spawn(run);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
        thread
    }
}
