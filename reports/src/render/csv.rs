//! CSV (RFC 4180): the summary's columns, then every counter by its path.
use crate::{COLUMNS, Entry};

/// A field, quoted where it must be.
pub fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

/// One row a launch, shares as fractions; units are in the definitions of the columns and counters.
pub fn csv(entries: &[Entry]) -> String {
    let counters = entries.iter().find_map(|e| e.record.as_ref()).map(|r| r.counters()).unwrap_or_default();
    let mut header: Vec<String> =
        ["suite", "configuration", "group", "class", "size", "kernel"].map(String::from).to_vec();
    header.extend(COLUMNS.iter().map(|c| c.key.to_string()));
    header.extend(counters.iter().map(|(info, _)| info.path.clone()));
    let mut out = header.join(",") + "\n";
    for entry in entries {
        let kernel = entry.record.as_ref().map_or("", |r| r.kernel.as_str());
        let fixed = [&entry.suite, &entry.configuration, &entry.group, &entry.class, &entry.size, kernel];
        let mut row: Vec<String> = fixed.iter().map(|f| csv_field(f)).collect();
        row.extend(COLUMNS.iter().map(|c| csv_field(&(c.value)(entry).plain())));
        match &entry.record {
            Some(record) => row.extend(record.counters().iter().map(|(_, v)| v.to_string())),
            None => row.extend(counters.iter().map(|_| String::new())),
        }
        out += &row.join(",");
        out.push('\n');
    }
    out
}
