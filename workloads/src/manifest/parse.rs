//! From the manifest's text to checked cases.
use super::{Arg, Buffer, BufferSource, Case, CheckRule, GlobalContents, Manifest, Role, raw};
use crate::data::element::Element;
use crate::data::expr::{Number, Variables, evaluate};
use crate::data::files;
use crate::data::pattern::Pattern;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest buffer of a case, so that a slip in a manifest does not take the machine's memory.
const MAX_BUFFER_BYTES: u64 = 1 << 36;

/// A manifest that cannot be used: file, line where known, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {why}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct ManifestError {
    /// The manifest.
    pub path: PathBuf,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub why: String,
}

/// One file while it is read.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn error(&self, span: Option<Range<usize>>, why: impl Into<String>) -> ManifestError {
        let line = span.map(|s| 1 + self.text.as_bytes().iter().take(s.start).filter(|&&b| b == b'\n').count());
        ManifestError { path: self.path.to_path_buf(), line, why: why.into() }
    }

    /// `name` relative to the manifest's folder.
    fn relative(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }
}

impl Manifest {
    /// Reads a manifest and those that it includes.
    pub fn read(path: &Path) -> Result<Manifest, ManifestError> {
        let mut open = Vec::new();
        let manifest = read_nested(path, &mut open)?;
        let mut names = BTreeSet::new();
        for case in &manifest.cases {
            if !names.insert(case.name.as_str()) {
                let why = format!("two cases are named `{}`: names must be unique in a suite", case.name);
                return Err(ManifestError { path: path.to_path_buf(), line: None, why });
            }
        }
        Ok(manifest)
    }
}

fn read_nested(path: &Path, open: &mut Vec<PathBuf>) -> Result<Manifest, ManifestError> {
    let unreadable = |why: String| ManifestError { path: path.to_path_buf(), line: None, why };
    let identity = path.canonicalize().map_err(|e| unreadable(e.to_string()))?;
    if open.contains(&identity) {
        return Err(unreadable("the manifest includes itself".into()));
    }
    open.push(identity);
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
    let source = Source { path, text: &text };
    let file: raw::File =
        toml::from_str(&text).map_err(|e| source.error(e.span(), e.message().trim().replace('\n', " ")))?;
    let suite = file.suite.unwrap_or(raw::Suite { name: None, digests: None, include: Vec::new() });
    let digests = suite.digests.as_deref().map(|d| source.relative(d));
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("suite").to_string();
    let mut cases = Vec::new();
    for include in &suite.include {
        cases.extend(included(&source, include, open)?);
    }
    for spanned in &file.cases {
        let case_cases = expand(&source, spanned.get_ref(), spanned.span(), digests.as_deref())?;
        cases.extend(case_cases);
    }
    if cases.is_empty() {
        return Err(unreadable("no cases: a manifest has [[case]] tables or `[suite] include`".into()));
    }
    open.pop();
    Ok(Manifest { name: suite.name.unwrap_or(stem), path: path.to_path_buf(), cases })
}

fn included(
    source: &Source,
    include: &toml::Spanned<raw::Include>,
    open: &mut Vec<PathBuf>,
) -> Result<Vec<Case>, ManifestError> {
    let (file, wanted) = match include.get_ref() {
        raw::Include::Whole(file) => (file, &[][..]),
        raw::Include::Some(some) => (&some.file, &some.cases[..]),
    };
    let nested = source.relative(file);
    if !nested.is_file() {
        return Err(source.error(Some(include.span()), format!("no such file: {}", nested.display())));
    }
    let all = read_nested(&nested, open)?.cases;
    if wanted.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in wanted {
        match all.iter().find(|c| &c.name == name) {
            Some(case) => chosen.push(case.clone()),
            None => {
                let known: Vec<&str> = all.iter().map(|c| c.name.as_str()).take(40).collect();
                let why = format!("{} has no case `{name}`; it has {}", nested.display(), known.join(", "));
                return Err(source.error(Some(include.span()), why));
            }
        }
    }
    Ok(chosen)
}

/// One case for each size, or the one case where there are no sizes.
fn expand(
    source: &Source,
    case: &raw::Case,
    span: Range<usize>,
    digests: Option<&Path>,
) -> Result<Vec<Case>, ManifestError> {
    if case.sizes.is_empty() {
        return Ok(vec![build(source, case, span, digests, case.name.clone(), &case.size, case.variables.clone())?]);
    }
    if !case.size.is_empty() {
        return Err(source.error(Some(span), format!("case `{}`: give `size` or `sizes`, not both", case.name)));
    }
    let mut cases = Vec::new();
    for (size, own) in sorted_sizes(&case.sizes) {
        let mut variables = case.variables.clone();
        variables.extend(own.clone());
        let name = format!("{}_{size}", case.name);
        cases.push(build(source, case, span.clone(), digests, name, size, variables)?);
    }
    Ok(cases)
}

/// The usual names in their order (`s`, `m`, `l`), then all others by name.
fn sorted_sizes(sizes: &BTreeMap<String, Variables>) -> Vec<(&String, &Variables)> {
    let rank = |name: &str| ["xs", "s", "m", "l", "xl"].iter().position(|&n| n == name).unwrap_or(9);
    let mut all: Vec<_> = sizes.iter().collect();
    all.sort_by_key(|(name, _)| (rank(name), (*name).clone()));
    all
}

/// The case being built, for messages.
struct Context<'a> {
    source: &'a Source<'a>,
    name: String,
    variables: Variables,
}

impl Context<'_> {
    fn error(&self, span: Range<usize>, why: impl std::fmt::Display) -> ManifestError {
        self.source.error(Some(span), format!("case `{}`: {why}", self.name))
    }

    fn number(&self, value: &raw::Value) -> Result<Number, String> {
        match value {
            raw::Value::Number(v) => Ok(*v),
            raw::Value::Expression(text) => evaluate(text, &self.variables),
        }
    }

    fn whole(&self, value: &raw::Value, what: &str) -> Result<u64, String> {
        match self.number(value)? {
            Number::Int(v) if v >= 0 => Ok(v as u64),
            v => Err(format!("{what} must be a whole number from 0 on, not {}", v.as_f64())),
        }
    }

    fn dimensions(&self, values: &[raw::Value], what: &str) -> Result<Vec<u64>, String> {
        if values.len() > 3 {
            return Err(format!("`{what}` has {} dimensions: 1 to 3 are possible", values.len()));
        }
        values.iter().map(|v| self.whole(v, what)).collect()
    }
}

fn build(
    source: &Source,
    case: &raw::Case,
    span: Range<usize>,
    digests: Option<&Path>,
    name: String,
    size: &str,
    variables: Variables,
) -> Result<Case, ManifestError> {
    let context = Context { source, name, variables };
    let at = |why: String| context.error(span.clone(), why);
    if !is_name(&context.name) {
        return Err(at("names are made of letters, digits and _ - . +".into()));
    }
    if case.launches == 0 || case.launches > 1_000_000 {
        return Err(at(format!("`launches` is {}: 1 to 1000000 are possible", case.launches)));
    }
    if case.global.is_empty() {
        return Err(at("`global` needs 1 to 3 dimensions".into()));
    }
    let global = context.dimensions(&case.global, "global").map_err(at)?;
    if global.contains(&0) {
        return Err(at(format!("`global` is {global:?}: nothing would run")));
    }
    let local = context.dimensions(&case.local, "local").map_err(at)?;
    let offset = context.dimensions(&case.offset, "offset").map_err(at)?;
    for (dimensions, what) in [(local.len(), "local"), (offset.len(), "offset")] {
        if dimensions != 0 && dimensions != global.len() {
            return Err(at(format!("`{what}` has {dimensions} dimensions, but `global` has {}", global.len())));
        }
    }
    let local = local
        .into_iter()
        .map(|v| u32::try_from(v).ok().filter(|&v| v > 0).ok_or(v))
        .collect::<Result<Vec<u32>, u64>>()
        .map_err(|v| at(format!("a work-group size of {v} is not possible")))?;
    let mut args = Vec::new();
    for (index, arg) in case.args.iter().enumerate() {
        let built = build_arg(&context, arg.get_ref());
        args.push(built.map_err(|why| context.error(arg.span(), format!("argument {index}: {why}")))?);
    }
    check_same(&args)
        .map_err(|(index, why)| context.error(case.args[index].span(), format!("argument {index}: {why}")))?;
    let mut globals: Vec<GlobalContents> = Vec::new();
    for global in &case.globals {
        let raw::Global { name, file, expected } = global.get_ref();
        if globals.iter().any(|g| &g.name == name) {
            return Err(context.error(global.span(), format!("`globals` has `{name}` twice")));
        }
        let path = |file: &Option<String>| file.as_ref().map(|f| source.relative(f));
        globals.push(GlobalContents { name: name.clone(), file: path(file), expected: path(expected) });
    }
    Ok(Case {
        group: case.group.clone(),
        class: case.class.clone(),
        size: size.to_string(),
        source: source.relative(&case.source),
        kernel: case.kernel.clone(),
        options: case.options.clone(),
        global,
        local,
        offset,
        launches: case.launches,
        args,
        globals,
        reference: case.reference.clone(),
        digests: digests.map(Path::to_path_buf),
        name: context.name,
        variables: context.variables,
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
}

fn build_arg(context: &Context, arg: &raw::Arg) -> Result<Arg, String> {
    match (&arg.buffer, &arg.scalar, &arg.local, &arg.members, &arg.bytes, arg.same) {
        (Some(element), None, None, None, None, None) => build_buffer(context, arg, element.parse()?).map(Arg::Buffer),
        (None, Some(element), None, None, None, None) => {
            refuse(arg, "a scalar", &["value"])?;
            let element: Element = element.parse()?;
            let values = arg.value.as_ref().ok_or("a scalar needs `value`")?;
            Ok(Arg::Scalar { element, bytes: scalar_bytes(context, element, values)? })
        }
        (None, None, Some(element), None, None, None) => {
            refuse(arg, "local memory", &["count"])?;
            let element: Element = element.parse()?;
            let count = context.whole(arg.count.as_ref().ok_or("local memory needs `count`")?, "count")?;
            let bytes = count.checked_mul(element.bytes() as u64).and_then(|b| u32::try_from(b).ok());
            let bytes = bytes.ok_or_else(|| format!("{count} elements of local memory are too many"))?;
            Ok(Arg::Local { bytes })
        }
        (None, None, None, Some(members), None, None) => {
            refuse(arg, "a structure", &["value"])?;
            let values = arg.value.as_ref().ok_or("a structure needs `value`")?;
            structure(context, members, values)
        }
        (None, None, None, None, Some(digits), None) => {
            refuse(arg, "bytes", &[])?;
            Ok(Arg::Struct { bytes: hexadecimal(digits)? })
        }
        (None, None, None, None, None, Some(argument)) => {
            refuse(arg, "an address in another argument's buffer", &["at"])?;
            let at = arg.at.as_ref().map_or(Ok(0), |at| context.whole(at, "at"))?;
            Ok(Arg::Same { argument, at })
        }
        _ => Err("give exactly one of `buffer`, `scalar`, `local`, `struct`, `bytes` and `same`".into()),
    }
}

/// Keys that mean nothing for this kind of argument are mistakes.
fn refuse(arg: &raw::Arg, kind: &str, allowed: &[&str]) -> Result<(), String> {
    let given = [
        ("count", arg.count.is_some()),
        ("init", arg.init.is_some()),
        ("file", arg.file.is_some()),
        ("role", arg.role.is_some()),
        ("value", arg.value.is_some()),
        ("rtol", arg.rtol.is_some()),
        ("atol", arg.atol.is_some()),
        ("mismatch", arg.mismatch.is_some()),
        ("order", arg.order.is_some()),
        ("at", arg.at.is_some()),
        ("expected", arg.expected.is_some()),
    ];
    match given.iter().find(|(key, given)| *given && !allowed.contains(key)) {
        Some((key, _)) => Err(format!("`{key}` has no meaning for {kind}")),
        None => Ok(()),
    }
}

fn list(values: &raw::Values) -> &[raw::Value] {
    match values {
        raw::Values::One(v) => std::slice::from_ref(v),
        raw::Values::Many(list) => list,
    }
}

fn scalar_bytes(context: &Context, element: Element, values: &raw::Values) -> Result<Vec<u8>, String> {
    let list = list(values);
    if list.len() != element.lanes as usize {
        return Err(format!("{element} takes {} values, not {}", element.lanes, list.len()));
    }
    let mut bytes = Vec::new();
    list.iter().try_for_each(|v| push_value(context, element, v, &mut bytes))?;
    bytes.resize(element.bytes(), 0);
    Ok(bytes)
}

/// Members one after the other, each at a multiple of its own size, as OpenCL C lays them out.
fn structure(context: &Context, members: &[String], values: &raw::Values) -> Result<Arg, String> {
    let mut values = list(values).iter();
    let (mut bytes, mut alignment) = (Vec::new(), 1);
    for member in members {
        let element: Element = member.parse()?;
        alignment = alignment.max(element.bytes());
        bytes.resize(bytes.len().next_multiple_of(element.bytes()), 0);
        let end = bytes.len() + element.bytes();
        for _ in 0..element.lanes {
            let value = values.next().ok_or("`value` has fewer numbers than the structure has members")?;
            push_value(context, element, value, &mut bytes)?;
        }
        bytes.resize(end, 0);
    }
    if values.next().is_some() {
        return Err("`value` has more numbers than the structure has members".into());
    }
    if bytes.is_empty() {
        return Err("a structure needs members".into());
    }
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
    Ok(Arg::Struct { bytes })
}

/// Appends one value of a scalar or of a vector's component; it must fit the type.
fn push_value(context: &Context, element: Element, value: &raw::Value, bytes: &mut Vec<u8>) -> Result<(), String> {
    let (number, scalar) = (context.number(value)?, element.scalar);
    let start = bytes.len();
    number.push(scalar, bytes);
    match number {
        Number::Int(v) if !scalar.is_float() && scalar.read_int(&bytes[start..]) != v as i128 => {
            Err(format!("{v} does not fit {}", scalar.name()))
        }
        Number::Float(v) if !scalar.is_float() => {
            Err(format!("{v} is not a whole number, but the type is {}", scalar.name()))
        }
        _ => Ok(()),
    }
}

fn build_buffer(context: &Context, arg: &raw::Arg, element: Element) -> Result<Buffer, String> {
    let keys = ["count", "init", "file", "role", "rtol", "atol", "mismatch", "order", "at", "expected"];
    refuse(arg, "a buffer", &keys)?;
    let count = arg.count.as_ref().map(|c| context.whole(c, "count")).transpose()?;
    let (source, count) = match (&arg.init, &arg.file) {
        (Some(init), None) => {
            let pattern = Pattern::parse(init, &context.variables)?;
            (BufferSource::Pattern(pattern), count.ok_or("a buffer with `init` needs `count`")?)
        }
        (None, Some(file)) => {
            let path = context.source.relative(file);
            let count = match count {
                Some(count) => count,
                None => (files::read(&path, element)?.len() / element.bytes()) as u64,
            };
            (BufferSource::File(path), count)
        }
        _ => return Err("a buffer needs either `init` or `file`".into()),
    };
    if count.checked_mul(element.bytes() as u64).is_none_or(|b| b > MAX_BUFFER_BYTES) {
        return Err(format!("{count} elements of {element} are more than {} GiB", MAX_BUFFER_BYTES >> 30));
    }
    let rule = CheckRule::default();
    let check = CheckRule {
        rtol: tolerance("rtol", arg.rtol, rule.rtol)?,
        atol: tolerance("atol", arg.atol, rule.atol)?,
        mismatch: tolerance("mismatch", arg.mismatch, rule.mismatch)?,
        order: arg.order.unwrap_or_default(),
    };
    let role = arg.role.unwrap_or(Role::In);
    let at = arg.at.as_ref().map_or(Ok(0), |at| context.whole(at, "at"))?;
    if at > count * element.bytes() as u64 {
        return Err(format!("`at` is {at}, but the buffer has {} bytes", count * element.bytes() as u64));
    }
    let expected = arg.expected.as_ref().map(|file| context.source.relative(file));
    if expected.is_some() && !role.is_output() {
        return Err("`expected` is for outputs: give `role`".into());
    }
    Ok(Buffer { element, count: count as usize, source, role, at, expected, check })
}

/// Pairs of hexadecimal digits.
fn hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`bytes` is \"{digits}\": it takes pairs of hexadecimal digits");
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) || digits.is_empty() {
        return Err(wrong());
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).map_err(|_| wrong())).collect()
}

/// An address must lie in the buffer of an earlier argument.
fn check_same(args: &[Arg]) -> Result<(), (usize, String)> {
    for (index, arg) in args.iter().enumerate() {
        let Arg::Same { argument, at } = arg else { continue };
        match args[..index].get(*argument) {
            Some(Arg::Buffer(buffer)) if *at <= buffer.bytes() as u64 => {}
            Some(Arg::Buffer(buffer)) => {
                return Err((index, format!("`at` is {at}, but the buffer has {} bytes", buffer.bytes())));
            }
            _ => return Err((index, format!("`same = {argument}` names no buffer among the arguments before it"))),
        }
    }
    Ok(())
}

fn tolerance(key: &str, given: Option<f64>, default: f64) -> Result<f64, String> {
    let value = given.unwrap_or(default);
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err(format!("`{key}` is {value}: it must be 0 or more")) }
}
