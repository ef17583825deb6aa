//! OpenCL C to SPIR-V with the tools of the system: clang, opt and llvm-spirv, found at run time.
//!
//! The three run as one pipe, without a shell and without temporary files; the options of a program are parsed
//! against a list ([`BuildOptions`]), never handed on as they are. Results are kept in a cache on disk. A program
//! that arrives as SPIR-V needs none of this.
#![forbid(unsafe_code)]

mod cache;
mod flush;
mod hints;
mod options;
mod pipeline;
mod thaw;
mod tools;
mod words;

use std::path::PathBuf;
use std::time::Duration;

pub use options::{BuildOptions, OptionsError, Standard};
pub use tools::{ToolError, Tools};

/// A source to compile.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// OpenCL C source text.
    pub source: &'a str,
    /// File name that diagnostics and debug information show.
    pub name: &'a str,
    /// Parsed build options.
    pub options: &'a BuildOptions,
    /// Headers given as text: (name as the source includes it, text).
    pub headers: &'a [(String, String)],
    /// Directories searched for included files, before those of `options`.
    pub include: &'a [PathBuf],
    /// Extensions and features to offer, as clang's `-cl-ext` takes them (`-all,+cl_khr_fp64`); empty: all.
    pub extensions: &'a str,
    /// Text put before the source (macros to define or to take away); does not shift line numbers.
    pub prelude: &'a str,
    /// Mark multiply and add across statements as contractible (where no pragma forbids it).
    pub contract: bool,
}

impl<'a> Request<'a> {
    /// A request with nothing but a source and options.
    pub fn new(source: &'a str, name: &'a str, options: &'a BuildOptions) -> Request<'a> {
        Request { source, name, options, headers: &[], include: &[], extensions: "", prelude: "", contract: false }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The module.
    pub spirv: Vec<u8>,
    /// Warnings, as the compiler wrote them.
    pub log: String,
    /// Whether it came from the cache.
    pub cached: bool,
}

/// Why there is no module.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A tool is missing.
    #[error(transparent)]
    Tools(#[from] ToolError),
    /// The source has errors; the log is the compiler's.
    #[error("{name} does not compile:\n{log}")]
    Source {
        /// File name shown.
        name: String,
        /// Diagnostics.
        log: String,
    },
    /// A tool failed on something that the compiler accepted.
    #[error("{tool} failed on {name} ({status}): {log}")]
    Tool {
        /// Which one.
        tool: String,
        /// File name shown.
        name: String,
        /// How it ended.
        status: String,
        /// What it wrote.
        log: String,
    },
    /// Took too long.
    #[error(
        "compiling {name} took longer than {} s and was stopped; WARPSCOPE_COMPILE_TIMEOUT sets the limit in seconds",
        .limit.as_secs()
    )]
    Timeout {
        /// File name shown.
        name: String,
        /// The limit.
        limit: Duration,
    },
    /// A header's name is absolute or climbs out of its directory.
    #[error("header name {0:?} is not a plain relative path")]
    HeaderName(String),
    /// Files or processes could not be handled.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        error: std::io::Error,
    },
}

/// The external compiler and its cache.
#[derive(Clone, Debug)]
pub struct Compiler {
    tools: Tools,
    cache: Option<cache::Cache>,
    timeout: Duration,
}

impl Compiler {
    /// Finds the tools (`WARPSCOPE_CLANG`, `WARPSCOPE_OPT` and `WARPSCOPE_LLVM_SPIRV` name others) and the cache
    /// (`WARPSCOPE_CACHE`: a directory, or `off`; otherwise the user's cache directory).
    pub fn find() -> Result<Compiler, ToolError> {
        let seconds = std::env::var("WARPSCOPE_COMPILE_TIMEOUT").ok().and_then(|v| v.parse().ok()).unwrap_or(300);
        Ok(Compiler {
            tools: Tools::find()?,
            cache: cache::Cache::from_environment(),
            timeout: Duration::from_secs(seconds),
        })
    }

    /// The same without the cache.
    pub fn without_cache(mut self) -> Compiler {
        self.cache = None;
        self
    }

    /// The same with the cache in `directory`.
    pub fn with_cache(mut self, directory: PathBuf) -> Compiler {
        self.cache = Some(cache::Cache::new(directory));
        self
    }

    /// The tools in use.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Compiles, or takes the result from the cache.
    pub fn compile(&self, request: &Request<'_>) -> Result<Compiled, CompileError> {
        let headers = pipeline::write_headers(request.headers)?;
        let arguments = pipeline::clang_arguments(request, headers.as_ref().map(|d| d.path()));
        let text = pipeline::full_source(request);
        let Some(cache) = &self.cache else {
            return pipeline::run(&self.tools, request.name, &arguments, &text, self.timeout);
        };
        // Only what the preprocessor read decides: a source without `include` is its own key.
        let included = if request.source.contains("include") || request.prelude.contains("include") {
            pipeline::preprocess(&self.tools, request.name, &arguments, &text, self.timeout)?
        } else {
            String::new()
        };
        let shown = pipeline::clang_arguments(request, None);
        let key = cache.key(&self.tools, &shown, &text, &included);
        if let Some(found) = cache.load(&key) {
            return Ok(found);
        }
        let compiled = pipeline::run(&self.tools, request.name, &arguments, &text, self.timeout)?;
        cache.store(&key, &compiled);
        Ok(compiled)
    }
}
