//! Suite manifests: which kernels to run, with what arguments, and how to check them (`docs/manifest.md`).
mod parse;
mod raw;

use crate::data::element::Element;
use crate::data::expr::Variables;
use crate::data::files;
use crate::data::pattern::Pattern;
use serde::Deserialize;
use std::path::PathBuf;

pub use parse::ManifestError;

/// A suite: cases in the order in which they are reported.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The suite's name: `[suite] name`, else the file's stem.
    pub name: String,
    /// The file it was read from.
    pub path: PathBuf,
    /// Cases, sizes expanded.
    pub cases: Vec<Case>,
}

/// One kernel with fixed arguments.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique in its suite; a case with sizes gets `_SIZE` appended.
    pub name: String,
    /// Free text by which cases are chosen.
    pub group: String,
    /// Free text: what the case is bound by.
    pub class: String,
    /// Size's name, may be empty.
    pub size: String,
    /// OpenCL C source or SPIR-V module.
    pub source: PathBuf,
    /// Kernel's name.
    pub kernel: String,
    /// Build options.
    pub options: String,
    /// Work-items in 1 to 3 dimensions.
    pub global: Vec<u64>,
    /// Work-group size, or empty: the runtime chooses.
    pub local: Vec<u32>,
    /// Global offset, or empty: zero.
    pub offset: Vec<u64>,
    /// How many times the kernel is launched on the same buffers.
    pub launches: u32,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Program-scope variables whose contents the case gives or checks.
    pub globals: Vec<GlobalContents>,
    /// Name of the CPU reference (see [`crate::references`]).
    pub reference: Option<String>,
    /// File of recorded outputs.
    pub digests: Option<PathBuf>,
    /// Variables that expressions could use.
    pub variables: Variables,
}

/// What a program-scope variable holds.
#[derive(Clone, Debug)]
pub struct GlobalContents {
    /// The variable's name in the module.
    pub name: String,
    /// File with the bytes before the launches; none: as the program initialises it.
    pub file: Option<PathBuf>,
    /// File with the bytes that it must hold afterwards; none: as before.
    pub expected: Option<PathBuf>,
}

/// One kernel argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A buffer in global or constant memory.
    Buffer(Buffer),
    /// A value.
    Scalar {
        /// Type.
        element: Element,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A structure passed by value.
    Struct {
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Local memory.
    Local {
        /// Bytes.
        bytes: u32,
    },
    /// An address in the buffer of an earlier argument.
    Same {
        /// That argument's position.
        argument: usize,
        /// Offset in the buffer in bytes.
        at: u64,
    },
}

/// A buffer argument.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Type of an element.
    pub element: Element,
    /// Elements.
    pub count: usize,
    /// Where the contents come from.
    pub source: BufferSource,
    /// Which way data goes.
    pub role: Role,
    /// Offset in bytes of the address that the kernel gets.
    pub at: u64,
    /// File with the contents that an output must have.
    pub expected: Option<PathBuf>,
    /// How the output is checked.
    pub check: CheckRule,
}

/// Contents of a buffer before the launch.
#[derive(Clone, Debug)]
pub enum BufferSource {
    /// A generated pattern.
    Pattern(Pattern),
    /// A file.
    File(PathBuf),
}

/// Which way a buffer's data goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Role {
    In,
    Out,
    InOut,
}

/// Order of an output's elements.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Compared position by position.
    #[default]
    Same,
    /// Compared as a multiset.
    Any,
}

/// How an output is compared: `|x - ref| <= atol + rtol * |ref|` for floats, equality for integers.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct CheckRule {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Fraction of the elements that may fail.
    pub mismatch: f64,
    /// Whether order matters.
    pub order: Order,
}

impl Default for CheckRule {
    fn default() -> Self {
        CheckRule { rtol: 1e-5, atol: 1e-6, mismatch: 0.0, order: Order::Same }
    }
}

impl Arg {
    /// What the argument holds before the launch: the contents of a buffer, the bytes of a value.
    pub fn contents(&self) -> Result<Vec<u8>, String> {
        match self {
            Arg::Buffer(buffer) => buffer.contents(),
            Arg::Scalar { bytes, .. } | Arg::Struct { bytes } => Ok(bytes.clone()),
            Arg::Local { .. } | Arg::Same { .. } => Ok(Vec::new()),
        }
    }
}

impl Buffer {
    /// The bytes before the launch.
    pub fn contents(&self) -> Result<Vec<u8>, String> {
        let scalars = self.count * self.element.stored_lanes();
        match &self.source {
            BufferSource::Pattern(p) => p.fill(self.element.scalar, scalars),
            BufferSource::File(path) => {
                let data = files::read(path, self.element)?;
                let expected = scalars * self.element.scalar.bytes();
                if data.len() == expected {
                    Ok(data)
                } else {
                    Err(format!("{}: {} bytes, but the buffer has {expected}", path.display(), data.len()))
                }
            }
        }
    }

    /// Bytes of the buffer.
    pub fn bytes(&self) -> usize {
        self.count * self.element.bytes()
    }
}

impl Role {
    /// Whether the kernel's result is in the buffer.
    pub fn is_output(self) -> bool {
        self != Role::In
    }
}
