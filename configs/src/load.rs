//! From preset names, files and overrides to a checked machine.
use crate::schema::{self, Schema};
use crate::tree::{self, Layer, Node, Origin};
use crate::{ConfigError, Diagnostic, Keys, MachineSpec, Problem, Section, check, presets};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The machine used where nobody names one.
pub const DEFAULT_MACHINE: &str = "nvidia-h200";
/// Longest chain of `base` keys.
const MAX_BASES: usize = 8;

/// A machine that passed all checks.
#[derive(Clone, Debug)]
pub struct Config {
    /// Preset name or path, as it was asked for.
    pub source: String,
    /// The parameters.
    pub spec: MachineSpec,
    /// Digest of the effective parameters: equal exactly where every parameter is.
    pub digest: String,
    /// The overrides, as given.
    pub overrides: Vec<String>,
    origins: BTreeMap<String, Origin>,
}

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `--config`: a preset's name or a path.
    pub config: Option<String>,
    /// `--set`: `a.b.c=value` each.
    pub set: Vec<String>,
}

impl Selection {
    /// A preset or file as it is.
    pub fn named(config: &str) -> Selection {
        Selection { config: Some(config.to_string()), set: Vec::new() }
    }

    /// Loads with `WARPSCOPE_CONFIG` (where `config` is not given) and `WARPSCOPE_SET` (overrides, separated by
    /// semicolons, that `set` overrides in turn).
    pub fn load_with_environment(&self) -> Result<Config, ConfigError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let config = self.config.clone().or_else(|| variable("WARPSCOPE_CONFIG"));
        let from_variable = variable("WARPSCOPE_SET").unwrap_or_default();
        let parts = from_variable.split(';').map(str::trim).filter(|s| !s.is_empty());
        let mut sets: Vec<(&str, &str)> = parts.map(|s| ("WARPSCOPE_SET", s)).collect();
        sets.extend(self.set.iter().map(|s| ("--set", s.as_str())));
        load_layers(config.as_deref().unwrap_or(DEFAULT_MACHINE), &sets)
    }

    /// Loads without looking at the environment.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let sets: Vec<(&str, &str)> = self.set.iter().map(|s| ("--set", s.as_str())).collect();
        load_layers(self.config.as_deref().unwrap_or(DEFAULT_MACHINE), &sets)
    }
}

/// Loads a preset or a file with overrides of the form `a.b.c=value`.
pub fn load(config: &str, set: &[&str]) -> Result<Config, ConfigError> {
    let set = set.iter().map(|s| s.to_string()).collect();
    Selection { config: Some(config.to_string()), set }.load()
}

/// All keys and sections of a machine.
pub fn machine_keys() -> Keys {
    let mut keys = Keys::default();
    MachineSpec::keys("", &mut keys);
    keys
}

fn load_layers(config: &str, sets: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let schema = Schema::new(&machine_keys());
    let file = Origin { source: config.into(), place: None };
    let mut merged = Layer::new();
    for layer in read_chain(config, None, &mut Vec::new())? {
        refuse_unknown(&schema, &layer)?;
        tree::merge(&mut merged, layer, &schema);
    }
    for (source, text) in sets {
        let layer = parse_override(source, text, &schema)?;
        refuse_unknown(&schema, &layer)?;
        tree::merge(&mut merged, layer, &schema);
    }
    let mut problems = Vec::new();
    schema.missing(&merged, "", &file, &mut problems);
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let mut origins = BTreeMap::new();
    tree::origins(&merged, &schema, "", &mut origins);
    let spec: MachineSpec = serde_path_to_error::deserialize(tree::to_value(&merged)).map_err(|e| {
        let path = e.path().to_string();
        let message = e.inner().message().trim().to_string();
        let hint = schema.find(&path).map(|k| format!(" (wanted: {})", schema::shape(k))).unwrap_or_default();
        Diagnostic::new(place(&origins, &path, &file), &path, format!("{message}{hint}"))
    })?;
    let mut found = Vec::new();
    spec.check("", &mut found);
    check::cross(&spec, &mut found);
    if !found.is_empty() {
        let locate = |p: Problem| Diagnostic::new(place(&origins, &p.path, &file), &p.path, p.why);
        return Err(ConfigError { problems: found.into_iter().map(locate).collect() });
    }
    let digest = digest(&spec);
    let overrides = sets.iter().map(|(_, s)| s.to_string()).collect();
    Ok(Config { source: config.to_string(), spec, digest, overrides, origins })
}

/// Where `path`, or the nearest thing that holds it, was written.
fn place(origins: &BTreeMap<String, Origin>, path: &str, file: &Origin) -> Origin {
    let mut path = path;
    loop {
        // Paths into a list come with an index.
        let plain = path.split('[').next().unwrap_or(path);
        if let Some(origin) = origins.get(plain) {
            return origin.clone();
        }
        match path.rsplit_once('.') {
            Some((parent, _)) => path = parent,
            None => return file.clone(),
        }
    }
}

fn refuse_unknown(schema: &Schema, layer: &Layer) -> Result<(), ConfigError> {
    let mut problems = Vec::new();
    schema.unknown(layer, "", &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
}

/// The layers of a machine, its farthest base first.
fn read_chain(name: &str, beside: Option<&Path>, seen: &mut Vec<String>) -> Result<Vec<Layer>, ConfigError> {
    let (text, label, path) = read(name, beside)?;
    let at = Origin { source: label.as_str().into(), place: None };
    if seen.contains(&label) || seen.len() >= MAX_BASES {
        let why = format!("the chain of bases does not end: {} -> {label}", seen.join(" -> "));
        return Err(Diagnostic::new(at, "", why).into());
    }
    seen.push(label.clone());
    let mut layer = tree::parse(&text, &label, true)?;
    let mut layers = match layer.remove("base") {
        None => Vec::new(),
        Some(entry) => match entry.node {
            Node::Leaf(toml::Value::String(base)) => {
                let parent = path.as_deref().and_then(Path::parent);
                read_chain(&base, parent, seen).map_err(|mut e| {
                    // An unreadable base is best shown where it is named.
                    if let [only] = e.problems.as_mut_slice()
                        && only.origin.place.is_none()
                    {
                        only.why = format!("{}: {}", only.origin.source, only.why);
                        only.key = "base".to_string();
                        only.origin = entry.origin.clone();
                    }
                    e
                })?
            }
            _ => {
                let why = "must be the name of a preset or a path, as text".to_string();
                return Err(Diagnostic::new(entry.origin, "base", why).into());
            }
        },
    };
    layers.push(layer);
    Ok(layers)
}

/// Text, label and path of a preset or a file.
fn read(name: &str, beside: Option<&Path>) -> Result<(String, String, Option<PathBuf>), ConfigError> {
    if let Some(preset) = presets::find(name) {
        return Ok((preset.text.to_string(), preset.file(), None));
    }
    let at = Origin { source: name.into(), place: None };
    let path = match beside {
        Some(directory) => directory.join(name),
        None => PathBuf::from(name),
    };
    let looks_like_path = name.contains(['/', '\\']) || name.ends_with(".toml");
    if !looks_like_path && !path.is_file() {
        let names: Vec<&str> = presets::PRESETS.iter().map(|p| p.name).collect();
        let near = schema::nearest(name, names.iter().copied());
        let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        let why =
            format!("no such machine{hint} (presets: {}; anything else is the path of a .toml file)", names.join(", "));
        return Err(Diagnostic::new(at, "", why).into());
    }
    let label = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((text, label, Some(path))),
        Err(e) => {
            let at = Origin { source: label.as_str().into(), place: None };
            Err(Diagnostic::new(at, "", format!("cannot be read: {e}")).into())
        }
    }
}

/// `a.b.c=value` as a layer; a value that is no TOML is taken as text.
fn parse_override(source: &str, text: &str, schema: &Schema) -> Result<Layer, ConfigError> {
    let label = format!("{source} {text}");
    let at = Origin { source: label.as_str().into(), place: None };
    let refuse = |why: &str| ConfigError::from(Diagnostic::new(at.clone(), "", why.to_string()));
    let (key, value) = text.split_once('=').ok_or_else(|| refuse("an override has the form key=value"))?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || text.contains(['\n', '\r']) || key.starts_with(['[', '#']) {
        return Err(refuse("an override has the form key=value, on one line"));
    }
    let wants_text = schema.find(key).is_some_and(|k| k.ty == "String");
    let quoted = format!("{key} = {}", toml::Value::String(value.to_string()));
    if wants_text && !value.starts_with(['"', '\'']) {
        return tree::parse(&quoted, &label, false);
    }
    tree::parse(&format!("{key} = {value}"), &label, false).or_else(|_| tree::parse(&quoted, &label, false))
}

/// Digest of every parameter: equal exactly where every parameter is.
pub fn digest(spec: &MachineSpec) -> String {
    let mut lines = Vec::new();
    // A specification that came from TOML can be written as TOML.
    if let Ok(value) = toml::Value::try_from(spec) {
        flatten(&value, "", &mut lines);
    }
    lines.sort();
    let hash = Sha256::digest(lines.join("\n"));
    hash.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn flatten(value: &toml::Value, path: &str, out: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                flatten(value, &crate::join(path, key), out);
            }
        }
        leaf => out.push(format!("{path} = {leaf}")),
    }
}

impl Config {
    /// Where the value of the key at `path` was written.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        self.origins.get(path)
    }

    /// Short name for tables: the preset or file name, with the number of overrides.
    pub fn label(&self) -> String {
        let stem =
            Path::new(&self.source).file_stem().map_or(self.source.clone(), |s| s.to_string_lossy().into_owned());
        if self.overrides.is_empty() { stem } else { format!("{stem} [{}]", self.overrides.join(" ")) }
    }
}

/// Deserialises one section from TOML text; for tests of a part of the machine.
pub fn section_from_str<T: for<'a> Deserialize<'a> + Section>(text: &str) -> Result<T, ConfigError> {
    let origin = Origin { source: "text".into(), place: None };
    let section: T = toml::from_str(text).map_err(|e| Diagnostic::new(origin.clone(), "", e.message().to_string()))?;
    let mut found = Vec::new();
    section.check("", &mut found);
    match found.pop() {
        Some(p) => Err(Diagnostic::new(origin, &p.path, p.why).into()),
        None => Ok(section),
    }
}
