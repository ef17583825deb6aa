//! The declared keys as a tree: which names may stand where, and what is missing.
use crate::tree::{Layer, Node};
use crate::{Diagnostic, KeyInfo, Keys, Origin, join};
use std::collections::BTreeMap;

/// One level of the tree of declared keys.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    children: BTreeMap<String, Schema>,
    any: Option<Box<Schema>>,
    key: Option<KeyInfo>,
    optional: bool,
}

impl Schema {
    pub(crate) fn new(keys: &Keys) -> Schema {
        let mut root = Schema::default();
        for section in &keys.sections {
            root.at(&section.path).optional = section.optional;
        }
        for key in &keys.keys {
            let node = root.at(&key.path);
            node.optional = key.is_optional();
            node.key = Some(key.clone());
        }
        root
    }

    fn at(&mut self, path: &str) -> &mut Schema {
        path.split('.').fold(self, |node, part| match part {
            "*" => node.any.get_or_insert_default(),
            _ => node.children.entry(part.to_string()).or_default(),
        })
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Schema> {
        self.children.get(name).or(self.any.as_deref())
    }

    pub(crate) fn is_key(&self) -> bool {
        self.key.is_some()
    }

    /// Reports every name in `layer` that is not declared, and sections and keys in each other's place.
    pub(crate) fn unknown(&self, layer: &Layer, prefix: &str, out: &mut Vec<Diagnostic>) {
        for (name, entry) in layer {
            let path = join(prefix, name);
            match (self.child(name), &entry.node) {
                (None, _) => {
                    let names: Vec<&str> = self.children.keys().map(String::as_str).collect();
                    out.push(Diagnostic::new(entry.origin.clone(), &path, unknown_name(name, &names, prefix)));
                }
                (Some(child), Node::Table(inner)) if !child.is_key() => child.unknown(inner, &path, out),
                (Some(child), Node::Leaf(_)) if !child.is_key() => {
                    let why = "is a section, not a key: it holds keys of its own".to_string();
                    out.push(Diagnostic::new(entry.origin.clone(), &path, why));
                }
                _ => {}
            }
        }
    }

    /// Reports every declared key that `layer` lacks.
    pub(crate) fn missing(&self, layer: &Layer, prefix: &str, file: &Origin, out: &mut Vec<Diagnostic>) {
        for (name, child) in &self.children {
            let path = join(prefix, name);
            match (layer.get(name), &child.key) {
                (None, _) if child.optional => {}
                (None, Some(key)) => {
                    out.push(Diagnostic::new(
                        file.clone(),
                        &path,
                        format!("is missing ({}); {}", shape(key), key.doc.trim()),
                    ));
                }
                (None, None) => child.missing(&Layer::new(), &path, file, out),
                (Some(entry), None) => child.missing_in(&entry.node, &path, file, out),
                (Some(_), Some(_)) => {}
            }
        }
        if let Some(any) = &self.any {
            for (name, entry) in layer.iter().filter(|(name, _)| !self.children.contains_key(*name)) {
                any.missing_in(&entry.node, &join(prefix, name), file, out);
            }
        }
    }

    fn missing_in(&self, node: &Node, path: &str, file: &Origin, out: &mut Vec<Diagnostic>) {
        if let Node::Table(inner) = node {
            self.missing(inner, path, file, out);
        }
    }

    /// Declaration of the key at `path`.
    pub(crate) fn find(&self, path: &str) -> Option<&KeyInfo> {
        path.split('.').try_fold(self, |node, part| node.child(part))?.key.as_ref()
    }
}

/// Type, unit and range in a few words.
pub(crate) fn shape(key: &KeyInfo) -> String {
    let mut out = key.ty.replace(' ', "");
    if !key.unit.is_empty() {
        out += &format!(", {}", key.unit);
    }
    if !key.range.is_empty() {
        out += &format!(", {}", range(key.range));
    }
    out
}

/// `1..=16` as `1 to 16`.
pub(crate) fn range(text: &str) -> String {
    text.replace(' ', "").replace("..=", " to ")
}

fn unknown_name(name: &str, names: &[&str], prefix: &str) -> String {
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("unknown key; did you mean `{}`?", join(prefix, near)),
        None if names.is_empty() => "unknown key".to_string(),
        None => format!("unknown key; known here are {}", names.join(", ")),
    }
}

/// The candidate nearest to `name`, where one is near enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.chars().count() / 4;
    candidates.into_iter().map(|c| (distance(name, c), c)).filter(|(d, _)| *d <= limit).min().map(|(_, c)| c)
}

/// Edits (insert, delete, replace, swap of neighbours) from one word to another.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_the_textbooks() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(nearest("sub_cors", ["sub_cores", "scheduler"]), Some("sub_cores"));
        assert_eq!(nearest("xyz", ["sub_cores"]), None);
    }
}
