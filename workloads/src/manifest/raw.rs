//! The manifest as it is written; every key is declared here, and no other is accepted.
use crate::data::expr::Number;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub suite: Option<Suite>,
    #[serde(default, rename = "case")]
    pub cases: Vec<Spanned<Case>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    pub name: Option<String>,
    pub digests: Option<String>,
    #[serde(default)]
    pub include: Vec<Spanned<Include>>,
}

/// `"file.toml"`, or the file with a choice of cases.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Include {
    Whole(String),
    Some(IncludeCases),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IncludeCases {
    pub file: String,
    #[serde(default)]
    pub cases: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub name: String,
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub class: String,
    #[serde(default)]
    pub size: String,
    pub source: String,
    pub kernel: String,
    #[serde(default)]
    pub options: String,
    pub global: Vec<Value>,
    #[serde(default)]
    pub local: Vec<Value>,
    #[serde(default)]
    pub offset: Vec<Value>,
    #[serde(default = "one")]
    pub launches: u32,
    #[serde(default)]
    pub args: Vec<Spanned<Arg>>,
    #[serde(default)]
    pub globals: Vec<Spanned<Global>>,
    pub reference: Option<String>,
    #[serde(default)]
    pub variables: BTreeMap<String, Number>,
    #[serde(default)]
    pub sizes: BTreeMap<String, BTreeMap<String, Number>>,
}

fn one() -> u32 {
    1
}

/// A number, or an expression over the case's variables.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(Number),
    Expression(String),
}

/// One value or one for each component of a vector.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Values {
    One(Value),
    Many(Vec<Value>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Global {
    pub name: String,
    pub file: Option<String>,
    pub expected: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arg {
    pub buffer: Option<String>,
    pub scalar: Option<String>,
    pub local: Option<String>,
    #[serde(rename = "struct")]
    pub members: Option<Vec<String>>,
    pub bytes: Option<String>,
    pub same: Option<usize>,
    pub at: Option<Value>,
    pub expected: Option<String>,
    pub count: Option<Value>,
    pub init: Option<String>,
    pub file: Option<String>,
    pub role: Option<super::Role>,
    pub value: Option<Values>,
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
    pub mismatch: Option<f64>,
    pub order: Option<super::Order>,
}
