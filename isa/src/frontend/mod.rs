//! SPIR-V front end: a binary module becomes the SSA IR of [`crate::ir`].
//!
//! `words` cuts the binary into instructions (with rspirv's grammar), `module` reads everything at module scope,
//! `body` and its neighbours translate functions, `kernel` makes the entry functions. Vectors, structs and arrays in
//! values are split into scalar leaves as they are met, so shuffles, extracts and inserts cost nothing.

mod arith;
mod atomics;
mod body;
mod builtins;
mod constants;
mod emit;
mod error;
mod geometry;
mod groups;
mod hints;
mod intfn;
mod kernel;
mod mathfn;
mod memory;
mod module;
mod orphans;
mod printf;
mod types;
mod vload;
mod words;

pub use error::FrontendError;
pub use kernel::MAX_PARAMETER_BYTES;

use crate::ir::{Module, verify_module};

/// What a program's owner may choose before decoding.
#[derive(Clone, Debug, Default)]
pub struct DecodeOptions {
    /// Specialisation values: (SpecId, bytes in little-endian order).
    pub specialisation: Vec<(u32, Vec<u8>)>,
}

/// Decodes a SPIR-V binary.
pub fn decode(bytes: &[u8]) -> Result<Module, FrontendError> {
    decode_with(bytes, &DecodeOptions::default())
}

/// Decodes a SPIR-V binary with specialisation values.
pub fn decode_with(bytes: &[u8], options: &DecodeOptions) -> Result<Module, FrontendError> {
    let words = words::to_words(bytes)?;
    let module = module::ModuleReader::read(&words, options)?.finish()?;
    verify_module(&module).map_err(|e| {
        let file = module.files.get(e.loc.file as usize).cloned().unwrap_or_default();
        FrontendError { instruction: String::new(), word: 0, file, line: e.loc.line, why: format!("malformed: {e}") }
    })?;
    Ok(module)
}
