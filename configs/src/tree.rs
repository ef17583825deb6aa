//! TOML as a tree whose every entry knows where it was written, and the merging of layers.
use crate::schema::Schema;
use crate::{ConfigError, Diagnostic, join};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// File name, or what else the value was given by (`--set`, `WARPSCOPE_SET`).
    pub source: Arc<str>,
    /// Line and column from 1; `None` where the source has no lines.
    pub place: Option<(usize, usize)>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// An entry of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) origin: Origin,
    pub(crate) node: Node,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Table(BTreeMap<String, Entry>),
    Leaf(toml::Value),
}

/// One file or override.
pub(crate) type Layer = BTreeMap<String, Entry>;

/// Parses a TOML document.
pub(crate) fn parse(text: &str, source: &str, lines: bool) -> Result<Layer, ConfigError> {
    let source: Arc<str> = source.into();
    let origin = |offset: usize| Origin { source: source.clone(), place: lines.then(|| line_column(text, offset)) };
    let document = DeTable::parse(text).map_err(|e| {
        let offset = e.span().map_or(0, |s| s.start);
        Diagnostic::new(origin(offset), "", format!("not valid TOML: {}", e.message()))
    })?;
    table(document.get_ref(), text, &origin)
}

fn table(table: &DeTable<'_>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Result<Layer, ConfigError> {
    let mut out = Layer::new();
    for (key, value) in table {
        let at = origin(key.span().start);
        let node = match value.get_ref() {
            DeValue::Table(inner) => Node::Table(self::table(inner, text, origin)?),
            _ => Node::Leaf(text.get(value.span()).unwrap_or_default().parse().map_err(|e: toml::de::Error| {
                Diagnostic::new(origin(value.span().start), key.get_ref(), e.message().to_string())
            })?),
        };
        out.insert(key.get_ref().to_string(), Entry { origin: at, node });
    }
    Ok(out)
}

fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Puts `over` on top of `under`: sections are merged, a key's value is replaced whole.
pub(crate) fn merge(under: &mut Layer, over: Layer, schema: &Schema) {
    for (key, entry) in over {
        let child = schema.child(&key);
        let is_section = child.is_some_and(|c| !c.is_key());
        match (under.get_mut(&key), entry) {
            (Some(Entry { node: Node::Table(old), .. }), Entry { node: Node::Table(new), .. }) if is_section => {
                // `is_section` says that there is a child.
                if let Some(child) = child {
                    merge(old, new, child);
                }
            }
            (_, entry) => {
                under.insert(key, entry);
            }
        }
    }
}

/// The plain value of a tree.
pub(crate) fn to_value(layer: &Layer) -> toml::Value {
    let entries = layer.iter().map(|(key, entry)| {
        let value = match &entry.node {
            Node::Table(inner) => to_value(inner),
            Node::Leaf(value) => value.clone(),
        };
        (key.clone(), value)
    });
    toml::Value::Table(entries.collect())
}

/// Appends the place of every key under `schema`, by dotted path.
pub(crate) fn origins(layer: &Layer, schema: &Schema, prefix: &str, out: &mut BTreeMap<String, Origin>) {
    for (key, entry) in layer {
        let path = join(prefix, key);
        if let (Node::Table(inner), Some(child)) = (&entry.node, schema.child(key))
            && !child.is_key()
        {
            origins(inner, child, &path, out);
        }
        out.insert(path, entry.origin.clone());
    }
}
