//! Results kept on disk. An entry is written whole under another name and renamed, and carries its own checksum:
//! one that is damaged is compiled again. A cache that cannot be written is no error.
use crate::{Compiled, Tools};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// First bytes of an entry; changed whenever the pipe or the layout does.
const MAGIC: &[u8; 8] = b"WSCC\x00\x00\x00\x03";
/// Bytes that the cache may take; the entries used least recently go first.
const LIMIT: u64 = 256 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
}

impl Cache {
    pub(crate) fn new(directory: PathBuf) -> Cache {
        Cache { directory }
    }

    pub(crate) fn from_environment() -> Option<Cache> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let directory = match set("WARPSCOPE_CACHE") {
            Some(v) if v == "off" => return None,
            Some(v) => PathBuf::from(v),
            None => match set("XDG_CACHE_HOME") {
                Some(v) => PathBuf::from(v).join("warpscope"),
                None => PathBuf::from(set("HOME")?).join(".cache").join("warpscope"),
            },
        };
        Some(Cache::new(directory))
    }

    /// Digest of everything that decides the result. The tools count by path, size and time of change.
    pub(crate) fn key(&self, tools: &Tools, arguments: &[String], text: &str, included: &str) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(MAGIC);
        for tool in [&tools.clang, &tools.opt, &tools.llvm_spirv] {
            add(tool.as_os_str().as_encoded_bytes());
            if let Ok(meta) = tool.metadata() {
                let changed = meta.modified().ok().and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
                add(&meta.len().to_le_bytes());
                add(&changed.map_or(0, |t| t.as_nanos()).to_le_bytes());
            }
        }
        for argument in arguments {
            add(argument.as_bytes());
        }
        add(text.as_bytes());
        add(included.as_bytes());
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.bin"))
    }

    pub(crate) fn load(&self, key: &str) -> Option<Compiled> {
        let path = self.path(key);
        let bytes = std::fs::read(&path).ok()?;
        let body = bytes.strip_prefix(MAGIC)?;
        let (checksum, body) = body.split_at_checked(32)?;
        if Sha256::digest(body).as_slice() != checksum {
            return None;
        }
        let (length, body) = body.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (log, spirv) = body.split_at_checked(length)?;
        if let Ok(file) = std::fs::File::options().append(true).open(&path) {
            // Marks the entry as used; where that fails it only goes earlier.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(Compiled { spirv: spirv.to_vec(), log: String::from_utf8(log.to_vec()).ok()?, cached: true })
    }

    pub(crate) fn store(&self, key: &str, compiled: &Compiled) {
        // The cache only saves time: whatever fails here, the caller has its result.
        if self.write(key, compiled).is_ok() {
            let _ = prune(&self.directory);
        }
    }

    fn write(&self, key: &str, compiled: &Compiled) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.directory)?;
        let mut body = (compiled.log.len() as u64).to_le_bytes().to_vec();
        body.extend(compiled.log.as_bytes());
        body.extend(&compiled.spirv);
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(&body))?;
        file.write_all(&body)?;
        file.persist(self.path(key)).map_err(|e| e.error)?;
        Ok(())
    }
}

fn prune(directory: &Path) -> std::io::Result<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        if meta.is_file() {
            entries.push((meta.modified()?, meta.len(), entry.path()));
        }
    }
    let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
    entries.sort();
    for (_, size, path) in entries {
        if total <= LIMIT {
            break;
        }
        std::fs::remove_file(path)?;
        total -= size;
    }
    Ok(())
}
