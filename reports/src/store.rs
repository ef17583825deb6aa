//! The results folder. Records are appended, each line with one write, so that whatever ends the run (a full disk, an
//! interrupt, a crash) leaves every finished line whole; other files are written beside and renamed.
use crate::Entry;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What could not be read or written.
#[derive(Debug)]
pub struct StoreError {
    /// File or folder.
    pub path: PathBuf,
    /// Line, where one is to blame.
    pub line: Option<usize>,
    /// What was tried and why it failed.
    pub why: String,
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self.line.map(|l| format!(":{l}")).unwrap_or_default();
        write!(f, "{}{line}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for StoreError {}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; what was written before is whole",
        _ => "",
    };
    StoreError { path: path.to_path_buf(), line: None, why: format!("cannot be written: {error}{hint}") }
}

/// A results folder open for writing.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    records: File,
    /// End of the last whole line.
    length: u64,
}

/// Name of the records' file.
const RECORDS: &str = "records.jsonl";

impl Folder {
    /// Makes the folder where it does not exist and starts an empty records file.
    pub fn create(path: &Path) -> Result<Folder, StoreError> {
        std::fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let file = path.join(RECORDS);
        let records = File::create(&file).map_err(|e| unwritable(&file, &e))?;
        Ok(Folder { path: path.to_path_buf(), records, length: 0 })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one record.
    pub fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let file = self.path.join(RECORDS);
        let mut line = serde_json::to_vec(entry).map_err(|e| StoreError {
            path: file.clone(),
            line: None,
            why: format!("a record cannot be written: {e}"),
        })?;
        line.push(b'\n');
        if let Err(error) = self.records.write_all(&line) {
            // Takes back the part of the line that did fit; if even that fails, readers skip it.
            let _ = self.records.set_len(self.length);
            return Err(unwritable(&file, &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Writes a whole file, or leaves the one that was there.
    pub fn write(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let file = self.path.join(name);
        let beside = self.path.join(format!(".{name}.new"));
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &file));
        written.map_err(|e| {
            // The error to tell about is the first one.
            let _ = std::fs::remove_file(&beside);
            unwritable(&file, &e)
        })
    }
}

/// Reads the records of a results folder or file. A last line that was cut off is left out.
pub fn read_entries(path: &Path) -> Result<Vec<Entry>, StoreError> {
    let file = if path.is_dir() { path.join(RECORDS) } else { path.to_path_buf() };
    let text = std::fs::read_to_string(&file).map_err(|e| StoreError {
        path: file.clone(),
        line: None,
        why: format!("cannot be read: {e}"),
    })?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |(i, line): (usize, &str)| {
        serde_json::from_str::<Entry>(line).map_err(|e| StoreError {
            path: file.clone(),
            line: Some(i + 1),
            why: format!("not a record of this program: {e}"),
        })
    };
    whole.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()).map(parse).collect()
}
