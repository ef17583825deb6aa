//! The program's standard output, as its C library has it.

unsafe extern "C" {
    /// C stdio's `stdout`: what the program's own `printf` writes to.
    static stdout: *mut libc::FILE;
}

/// Writes to the program's standard output, behind what the program has written so far, and flushes it.
pub fn print(text: &[u8]) {
    if text.is_empty() {
        return;
    }
    // SAFETY: `stdout` is the C library's stream or what the program assigned to it; the stream locks itself. Where it
    // cannot be written there is nobody to tell.
    unsafe {
        let stream = stdout;
        if !stream.is_null() {
            libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream);
            libc::fflush(stream);
        }
    }
}
