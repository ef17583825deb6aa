//! Standard output that survives a closed pipe and a full disk.
use crate::failure::Failure;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        Err(e) => Err(Failure::Failed(format!("standard output cannot be written: {e}"))),
    }
}

/// Writes a line to standard error; without one there is nobody to tell.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes a whole file, or none: the text goes to a neighbour that is then renamed.
pub fn write_file(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let neighbour = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = std::fs::write(&neighbour, text).and_then(|()| std::fs::rename(&neighbour, path));
    written.map_err(|e| {
        // Best effort: the error to tell about is the first one.
        let _ = std::fs::remove_file(&neighbour);
        Failure::Failed(format!("{} cannot be written: {e}", path.display()))
    })
}
