//! A machine as commented TOML: every key with its documentation, unit, range, value and origin.
use crate::load::{flatten, machine_keys};
use crate::{Config, KeyInfo, PRESETS, schema};
use std::fmt::Write;

impl Config {
    /// The whole machine as TOML that can be saved and loaded again; `filter` keeps the keys whose path contains it.
    pub fn show(&self, filter: &str) -> String {
        let keys = machine_keys();
        let mut out = format!("# {} (digest {})\n", self.label(), self.digest);
        // A specification that came from TOML can be written as TOML.
        let value = toml::Value::try_from(&self.spec).unwrap_or(toml::Value::Boolean(false));
        self.section(&value, "", "", &keys, filter, &mut out);
        out
    }

    fn section(
        &self,
        value: &toml::Value,
        path: &str,
        pattern: &str,
        keys: &crate::Keys,
        filter: &str,
        out: &mut String,
    ) {
        let Some(table) = value.as_table() else { return };
        let mut heading = Some(heading(path, pattern, keys));
        let mut nested = Vec::new();
        // Keys in the order of their declaration, then the sections.
        let names: Vec<&String> = declared_order(table, pattern, keys);
        for name in names {
            let value = &table[name];
            let here = crate::join(path, name);
            let by_name = crate::join(pattern, name);
            let any = crate::join(pattern, "*");
            let find = |p: &str| keys.keys.iter().find(|k| k.path == p);
            match find(&by_name).or_else(|| find(&any)) {
                Some(key) if here.contains(filter) => {
                    out.push_str(&heading.take().unwrap_or_default());
                    self.key(key, &here, name, value, out);
                }
                Some(_) => {}
                None => {
                    let declared = keys.sections.iter().any(|s| s.path == by_name);
                    nested.push((here, if declared { by_name } else { any }, value));
                }
            }
        }
        for (here, pattern, value) in nested {
            self.section(value, &here, &pattern, keys, filter, out);
        }
    }

    fn key(&self, key: &KeyInfo, path: &str, name: &str, value: &toml::Value, out: &mut String) {
        let unit = if key.unit.is_empty() { String::new() } else { format!(" {}", key.unit) };
        let range = if key.range.is_empty() { String::new() } else { format!(", {}", schema::range(key.range)) };
        let ty = key.ty.replace(' ', "");
        let origin = self.origin(path).map(|o| o.to_string()).unwrap_or_default();
        let doc = key.doc.trim();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# {doc} ({ty}{unit}{range})");
        let _ = writeln!(out, "{} = {value}  # {origin}", quoted(name));
    }

    /// `key = value` lines that differ between two machines.
    pub fn differences(&self, other: &Config) -> Vec<(String, String)> {
        let lines = |m: &Config| {
            let mut out = Vec::new();
            // As in `show`.
            if let Ok(value) = toml::Value::try_from(&m.spec) {
                flatten(&value, "", &mut out);
            }
            out
        };
        let (mine, theirs) = (lines(self), lines(other));
        let key = |line: &String| line.split(" = ").next().unwrap_or("").to_string();
        let mut out = Vec::new();
        for line in mine.iter().filter(|l| !theirs.contains(l)) {
            let other = theirs.iter().find(|t| key(t) == key(line)).cloned().unwrap_or_default();
            out.push((line.clone(), other));
        }
        let only = theirs.iter().filter(|t| !mine.iter().any(|m| key(m) == key(t)));
        out.extend(only.map(|t| (String::new(), t.clone())));
        out
    }
}

fn declared_order<'a>(table: &'a toml::Table, pattern: &str, keys: &crate::Keys) -> Vec<&'a String> {
    let position = |name: &String| {
        let path = crate::join(pattern, name);
        let key = keys.keys.iter().position(|k| k.path == path);
        let section = || keys.sections.iter().position(|s| s.path == path).map(|p| p + keys.keys.len());
        key.or_else(section).unwrap_or(usize::MAX)
    };
    let mut names: Vec<&String> = table.keys().collect();
    names.sort_by_key(|n| (position(n), (*n).clone()));
    names
}

fn heading(path: &str, pattern: &str, keys: &crate::Keys) -> String {
    if path.is_empty() {
        return String::new();
    }
    let doc = keys.sections.iter().find(|s| s.path == pattern).map_or("", |s| s.doc.trim());
    let header: Vec<String> = path.split('.').map(quoted).collect();
    let doc = if doc.is_empty() { String::new() } else { format!("# {doc}\n") };
    format!("\n{doc}[{}]\n", header.join("."))
}

fn quoted(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { toml::Value::String(name.to_string()).to_string() }
}

/// The reference of all keys as Markdown, for the documentation.
pub fn key_reference() -> String {
    let keys = machine_keys();
    let mut out = String::new();
    for section in
        keys.sections.iter().filter(|s| !s.path.contains('.') || keys.keys.iter().any(|k| parent(&k.path) == s.path))
    {
        let here: Vec<&KeyInfo> = keys.keys.iter().filter(|k| parent(&k.path) == section.path).collect();
        let named = section.path.strip_suffix(".*").and_then(|p| keys.sections.iter().find(|s| s.path == p));
        let doc = named.map_or(section.doc, |s| s.doc).trim();
        let path = section.path.replace(".*", ".NAME");
        let _ = write!(out, "\n### `[{path}]`\n\n{doc}\n");
        if here.is_empty() {
            continue;
        }
        out += "\n| key | type | unit | range | meaning |\n| --- | --- | --- | --- | --- |\n";
        for key in here {
            let name = key.path.rsplit('.').next().unwrap_or("");
            let ty = key.ty.replace(' ', "");
            let range = schema::range(key.range);
            let doc = key.doc.trim().replace('|', "\\|");
            let _ = writeln!(out, "| `{name}` | `{ty}` | {} | {range} | {doc} |", key.unit);
        }
    }
    out
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(p, _)| p)
}

/// One line a preset: name, and what it says of itself.
pub fn preset_list() -> String {
    let mut out = String::new();
    for preset in PRESETS.iter().filter(|p| !p.hidden) {
        let described = crate::load(preset.name, &[]).map(|m| m.spec.chip.description).unwrap_or_default();
        let _ = writeln!(out, "{:<14} {described}", preset.name);
    }
    out
}
