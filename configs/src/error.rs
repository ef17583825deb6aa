//! What is wrong with a configuration: one line a problem, with its place.
use crate::Origin;
use std::fmt;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub origin: Origin,
    /// Dotted path of the key; empty where there is none.
    pub key: String,
    /// What, and what would be right.
    pub why: String,
}

impl Diagnostic {
    pub(crate) fn new(origin: Origin, key: &str, why: String) -> Diagnostic {
        Diagnostic { origin, key: key.to_string(), why }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            write!(f, "{}: {}", self.origin, self.why)
        } else {
            write!(f, "{}: {}: {}", self.origin, self.key, self.why)
        }
    }
}

/// Why a configuration was refused: every problem found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Diagnostic>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl From<Diagnostic> for ConfigError {
    fn from(problem: Diagnostic) -> ConfigError {
        ConfigError { problems: vec![problem] }
    }
}
