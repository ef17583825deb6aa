//! How a command ends when it does not end well.
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use warpscope_configs::ConfigError;

/// A case or kernel failed.
pub const FAILED: u8 = 1;
/// The command line, a configuration or an input file cannot be used.
pub const USAGE: u8 = 2;
/// Interrupted.
pub const INTERRUPTED: u8 = 3;

/// Why a command ended early, with its exit code.
#[derive(Debug)]
pub enum Failure {
    /// A case or kernel failed; the sentence may be empty where everything has been said.
    Failed(String),
    /// The command line, a configuration or an input file cannot be used.
    Usage(String),
    /// Interrupted by the user; what had been finished is kept.
    Interrupted(String),
    /// The reader of standard output went away.
    OutputClosed,
    /// A program that was run ended with this code, or could not be run and the sentence says why.
    Program(u8, String),
}

impl Failure {
    /// A usage failure from anything that prints itself as a sentence.
    pub fn usage(error: impl Display) -> Failure {
        Failure::Usage(error.to_string())
    }

    /// A failed case or kernel.
    pub fn failed(error: impl Display) -> Failure {
        Failure::Failed(error.to_string())
    }

    /// Prints the sentence and gives the exit code.
    pub fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Failure::Failed(text) => (text.as_str(), FAILED),
            Failure::Usage(text) => (text.as_str(), USAGE),
            Failure::Interrupted(text) => (text.as_str(), INTERRUPTED),
            Failure::OutputClosed => ("", 0),
            Failure::Program(code, text) => (text.as_str(), *code),
        };
        if !text.is_empty() {
            // Without standard error there is nobody to tell; the code still says it.
            let _ = writeln!(std::io::stderr(), "error: {text}");
        }
        ExitCode::from(code)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::usage(error)
    }
}
