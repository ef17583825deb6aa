//! The results folder. Records are appended, each line with one write, so that whatever ends the run (a full disk, an
//! interrupt, a crash) leaves every finished line whole; other files are written beside and renamed.
use crate::{Check, Entry};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
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
    /// The file of finished cases, where they are written down, and what each one was made from.
    finished: Option<(File, Fingerprints)>,
}

/// Name of the records' file.
const RECORDS: &str = "records.jsonl";
/// Name of the file that lists what is finished: fingerprint, case and configuration, separated by tabs.
const FINISHED: &str = "finished.tsv";

/// What a case on a machine is made from, in a word, by case and configuration: equal where the result must be.
pub type Fingerprints = BTreeMap<(String, String), String>;

impl Folder {
    /// Makes the folder where it does not exist and starts an empty records file.
    pub fn create(path: &Path) -> Result<Folder, StoreError> {
        std::fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let file = path.join(RECORDS);
        let records = File::create(&file).map_err(|e| unwritable(&file, &e))?;
        // Another run's list would claim what is not there any more.
        let _ = std::fs::remove_file(path.join(FINISHED));
        Ok(Folder { path: path.to_path_buf(), records, length: 0, finished: None })
    }

    /// Opens a folder for a run whose cases have these fingerprints, and gives the launches of those that an earlier run
    /// finished, if `resume`; anything else that is there is dropped. A case that failed is not finished.
    pub fn open(path: &Path, fingerprints: Fingerprints, resume: bool) -> Result<(Folder, Vec<Entry>), StoreError> {
        let kept = if resume { finished_entries(path, &fingerprints)? } else { Vec::new() };
        let mut folder = Folder::create_with(path, &kept)?;
        let file = path.join(FINISHED);
        let list = File::create(&file).map_err(|e| unwritable(&file, &e))?;
        folder.finished = Some((list, fingerprints));
        let mut names: Vec<(&str, &str)> = kept.iter().map(|e| (e.case.as_str(), e.configuration.as_str())).collect();
        names.dedup();
        names.into_iter().try_for_each(|(case, configuration)| folder.finished(case, configuration))?;
        Ok((folder, kept))
    }

    /// Starts a records file that holds `entries`; what was there stays until that is whole.
    fn create_with(path: &Path, entries: &[Entry]) -> Result<Folder, StoreError> {
        std::fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let (file, beside) = (path.join(RECORDS), path.join(format!(".{RECORDS}.new")));
        let mut text = Vec::new();
        entries.iter().try_for_each(|e| line(&file, e).map(|l| text.extend(l)))?;
        let written = std::fs::write(&beside, &text).and_then(|()| std::fs::rename(&beside, &file));
        let records = written.and_then(|()| OpenOptions::new().append(true).open(&file));
        let records = records.map_err(|e| unwritable(&file, &e))?;
        Ok(Folder { path: path.to_path_buf(), records, length: text.len() as u64, finished: None })
    }

    /// Writes down that every launch of a case is there.
    pub fn finished(&mut self, case: &str, configuration: &str) -> Result<(), StoreError> {
        let Some((list, fingerprints)) = &mut self.finished else { return Ok(()) };
        let key = (case.to_string(), configuration.to_string());
        let Some(fingerprint) = fingerprints.get(&key) else { return Ok(()) };
        let text = format!("{fingerprint}\t{case}\t{configuration}\n");
        list.write_all(text.as_bytes()).map_err(|e| unwritable(&self.path.join(FINISHED), &e))
    }

    /// Writes all records again, in this order.
    pub fn rewrite(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        let Folder { records, length, .. } = Folder::create_with(&self.path, entries)?;
        (self.records, self.length) = (records, length);
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one record.
    pub fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let file = self.path.join(RECORDS);
        let line = line(&file, entry)?;
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

/// A record as a line of the records file.
fn line(file: &Path, entry: &Entry) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(entry).map_err(|e| StoreError {
        path: file.to_path_buf(),
        line: None,
        why: format!("a record cannot be written: {e}"),
    })?;
    line.push(b'\n');
    Ok(line)
}

/// The launches in a folder whose case was finished and would be made from the same today.
fn finished_entries(path: &Path, fingerprints: &Fingerprints) -> Result<Vec<Entry>, StoreError> {
    if !path.join(RECORDS).exists() {
        return Ok(Vec::new());
    }
    let list = std::fs::read_to_string(path.join(FINISHED)).unwrap_or_default();
    let whole = list.rfind('\n').map_or("", |end| &list[..end]);
    let finished: Fingerprints = whole
        .lines()
        .filter_map(|l| l.split_once('\t'))
        .filter_map(|(f, rest)| rest.split_once('\t').map(|(c, m)| ((c.to_string(), m.to_string()), f.to_string())))
        .collect();
    let mut entries = read_entries(path)?;
    entries.retain(|e| {
        let key = (e.case.clone(), e.configuration.clone());
        let now = fingerprints.get(&key);
        now.is_some() && finished.get(&key) == now && !matches!(e.check, Check::Failed(_))
    });
    Ok(entries)
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
