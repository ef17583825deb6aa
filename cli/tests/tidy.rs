//! The repository's own rules: size of files, module documentation, directions of dependencies, generated documents.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longest source file.
const MAX_LINES: usize = 600;

/// What each crate may depend on within the workspace; the direction is part of the design (ARCHITECTURE.md).
const MAY_USE: &[(&str, &[&str])] = &[
    ("configs", &[]),
    ("compiler", &[]),
    ("exec", &[]),
    ("isa", &["configs", "exec"]),
    ("memory-hierarchy", &["configs"]),
    ("sim-core", &["configs", "exec", "memory-hierarchy"]),
    ("reports", &["configs", "sim-core"]),
    ("workloads", &["compiler", "configs", "exec", "isa", "sim-core"]),
    ("runtime-shim", &["compiler", "configs", "exec", "isa", "memory-hierarchy", "sim-core"]),
    ("runtime-shim/icd", &["runtime-shim"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Source files of all crates, as paths relative to the repository.
fn sources() -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                out.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
            }
        }
    }
    out.sort();
    out
}

/// Collects complaints so that all are shown at once.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > MAX_LINES {
            complaints.push(format!("{}: {lines} lines; the limit is {MAX_LINES}", path.display()));
        }
        if !text.starts_with("//!") {
            complaints.push(format!("{}: the first line must be module documentation (//!)", path.display()));
        }
        for word in ["todo!(", "unimplemented!(", "dbg!("] {
            if text.contains(word) && !path.ends_with("cli/tests/tidy.rs") {
                complaints.push(format!("{}: {word}) must not stay", path.display()));
            }
        }
    }
    none(complaints);
}

#[test]
fn unsafe_code_says_why_it_is_safe() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            let opens = code.contains("unsafe {") || code.contains("unsafe impl");
            let explained = lines[i.saturating_sub(6)..=i].iter().any(|l| l.contains("SAFETY:"));
            if opens && !explained && !path.ends_with("cli/tests/tidy.rs") {
                complaints.push(format!("{}:{}: unsafe without a SAFETY: comment", path.display(), i + 1));
            }
        }
    }
    none(complaints);
}

#[test]
fn crates_depend_in_one_direction() {
    let packages: BTreeMap<String, &str> =
        MAY_USE.iter().map(|(folder, _)| (package(&root().join(folder)), *folder)).collect();
    let mut complaints = Vec::new();
    for (folder, allowed) in MAY_USE {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let table: toml::Table = manifest.parse().unwrap();
        let Some(dependencies) = table.get("dependencies").and_then(|d| d.as_table()) else { continue };
        for name in dependencies.keys() {
            if let Some(used) = packages.get(name)
                && !allowed.contains(used)
            {
                complaints.push(format!("{folder} must not depend on {used}"));
            }
        }
    }
    none(complaints);
}

/// Dependencies that macros of another crate name.
const NAMED_BY_MACROS: &[(&str, &str)] = &[("memory-hierarchy", "serde")];

#[test]
fn every_dependency_is_used() {
    let mut complaints = Vec::new();
    for folder in MAY_USE.iter().map(|(folder, _)| *folder).chain(["cli", "xtask"]) {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let table: toml::Table = manifest.parse().unwrap();
        let own = Path::new(folder).join("src");
        let text: String = sources().into_iter().filter(|(path, _)| path.starts_with(&own)).map(|s| s.1).collect();
        for name in table.get("dependencies").and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys()) {
            if !text.contains(&name.replace('-', "_")) && !NAMED_BY_MACROS.contains(&(folder, name.as_str())) {
                complaints.push(format!("{folder} does not use its dependency {name}"));
            }
        }
    }
    none(complaints);
}

fn package(folder: &Path) -> String {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let table: toml::Table = manifest.parse().unwrap();
    table["package"]["name"].as_str().unwrap().to_string()
}

/// A key that nothing reads would be changed in vain.
#[test]
fn every_key_of_a_machine_is_used() {
    let text: String = sources().into_iter().filter(|(path, _)| !path.starts_with("configs")).map(|s| s.1).collect();
    let used = |key: &str| {
        let field = format!(".{}", key.rsplit('.').next().unwrap_or(key));
        text.match_indices(&field).any(|(at, _)| !text[at + field.len()..].starts_with(is_word))
    };
    // The description is for readers of the file.
    let keys = warpscope_configs::machine_keys().keys.into_iter().filter(|key| key.path != "chip.description");
    none(keys.filter(|key| !used(&key.path)).map(|key| format!("{} is read nowhere", key.path)).collect());
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Compares a generated part of a document with what is there; `BLESS=1` writes it.
fn generated(document: &str, text: &str) {
    let path = root().join(document);
    let old = std::fs::read_to_string(&path).unwrap();
    let mark = "<!-- generated from here on -->\n";
    let (head, tail) = old.split_once(mark).unwrap_or_else(|| panic!("{document} lacks its mark"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, format!("{head}{mark}{text}")).unwrap();
    } else {
        assert!(tail == text, "{document} is out of date: BLESS=1 cargo test -p warpscope --test tidy writes it");
    }
}

#[test]
fn documents_list_every_key_and_counter() {
    generated("docs/configuration.md", &warpscope_configs::key_reference());
    generated("docs/counters.md", &warpscope_reports::render::counter_reference());
    generated("docs/reference.md", &warpscope_reports::compare::quantity_reference());
}
