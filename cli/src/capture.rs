//! The suite that capturing a program leaves: one manifest a process while it runs, one for all afterwards.
use crate::failure::Failure;
use crate::output;
use std::path::{Path, PathBuf};

/// The manifest that is left.
const SUITE: &str = "suite.toml";
/// How each case begins.
const NAME: &str = "name = \"";

/// Makes the directory, which must not hold an earlier capture: its cases would be mixed with the new ones.
pub fn prepare(directory: &Path) -> Result<PathBuf, Failure> {
    let failed = |e| Failure::Usage(format!("{}: {e}", directory.display()));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let absolute = directory.canonicalize().map_err(failed)?;
    let occupied = absolute.join(SUITE).exists() || !manifests(&absolute).map_err(failed)?.is_empty();
    if occupied {
        return Err(Failure::Usage(format!(
            "{} holds an earlier capture; name another directory",
            directory.display()
        )));
    }
    Ok(absolute)
}

/// The processes' manifests by process id.
fn manifests(directory: &Path) -> std::io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let id = path.file_stem().and_then(|s| s.to_str()).and_then(|s| s.parse().ok());
        if let (Some(id), Some("toml")) = (id, path.extension().and_then(|e| e.to_str())) {
            found.push((id, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Makes one suite of all processes' cases; gives a sentence about it. Where there are several processes, the names of
/// their cases begin with `p1_`, `p2_` and so on.
pub fn merge(directory: &Path) -> Result<String, Failure> {
    let failed = |e: std::io::Error| Failure::Failed(format!("{}: {e}", directory.display()));
    let found = manifests(directory).map_err(failed)?;
    let mut text = String::from("# Launches captured from a program, in the order in which they ran.\n\n");
    let (mut cases, mut left_out) = (0, 0);
    for (number, (_, path)) in found.iter().enumerate() {
        let own = std::fs::read_to_string(path).map_err(failed)?;
        // A process that was killed may leave half a case.
        let whole = own.rfind("\n\n").map_or("", |end| &own[..end + 2]);
        for line in whole.lines() {
            match line.strip_prefix(NAME) {
                Some(rest) if found.len() > 1 => text += &format!("{NAME}p{}_{rest}\n", number + 1),
                _ => text += &format!("{line}\n"),
            }
            cases += usize::from(line.starts_with(NAME));
            left_out += usize::from(line.starts_with('#'));
        }
    }
    let suite = directory.join(SUITE);
    output::write_file(&suite, text.as_bytes())?;
    for (_, path) in &found {
        std::fs::remove_file(path).map_err(failed)?;
    }
    let without =
        if left_out > 0 { format!("; {left_out} could not be, {} says why", suite.display()) } else { String::new() };
    Ok(format!("warpscope: {cases} launches were captured: warpscope suite {}{without}", suite.display()))
}
