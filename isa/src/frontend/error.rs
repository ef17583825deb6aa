//! Why a module is refused.
use std::fmt;

/// A module is malformed or uses what is not supported.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontendError {
    /// The instruction, as `OpName`; empty where no single one is to blame.
    pub instruction: String,
    /// Its word offset in the module.
    pub word: usize,
    /// Source file, or empty.
    pub file: String,
    /// Source line, or 0.
    pub line: u32,
    /// What is wrong and, where something can be done, what to do.
    pub why: String,
}

impl fmt::Display for FrontendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.instruction.is_empty() {
            write!(f, "SPIR-V module")?;
        } else {
            write!(f, "{} at word {}", self.instruction, self.word)?;
        }
        if self.line != 0 {
            write!(f, " ({}:{})", self.file, self.line)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for FrontendError {}

/// A reason, before it is known at which instruction.
pub(super) type Res<T> = Result<T, String>;
