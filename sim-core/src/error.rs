//! Why a launch was refused or stopped.
use std::fmt;
use warpscope_exec::exec::Fault;

/// Why a launch was refused or stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// Number of arguments.
    #[error("kernel `{kernel}` has {expected} parameters, but {given} arguments are given")]
    ArgumentCount {
        /// Kernel.
        kernel: String,
        /// Parameters.
        expected: usize,
        /// Arguments.
        given: usize,
    },
    /// Size or kind of an argument.
    #[error("argument {index}{} of kernel `{kernel}`: {why}", in_brackets(name))]
    Argument {
        /// Kernel.
        kernel: String,
        /// Position, from 0.
        index: usize,
        /// Parameter name; empty where the module has none.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// Number of dimensions.
    #[error("a launch has 1, 2 or 3 dimensions, not {0}")]
    Dimensions(u32),
    /// The work-group size is not possible.
    #[error("work-group size {size:?} of kernel `{kernel}`: {why}")]
    GroupSize {
        /// Kernel.
        kernel: String,
        /// Size asked for.
        size: [u32; 3],
        /// What is wrong.
        why: String,
    },
    /// The global size or offset is not possible.
    #[error("global size {global:?} with offset {offset:?}: {why}")]
    Range {
        /// Size.
        global: [u64; 3],
        /// Offset.
        offset: [u64; 3],
        /// What is wrong.
        why: String,
    },
    /// A work-group does not fit on a compute unit.
    #[error("a work-group of kernel `{kernel}` does not fit on a compute unit: {why}")]
    Resources {
        /// Kernel.
        kernel: String,
        /// What there is too little of.
        why: String,
    },
    /// The machine cannot run this program.
    #[error("machine `{machine}` cannot run kernel `{kernel}`: {why}")]
    Machine {
        /// Machine.
        machine: String,
        /// Kernel.
        kernel: String,
        /// Why not.
        why: String,
    },
    /// A fault of a work-item.
    #[error("kernel `{kernel}` stopped: {fault}; {place}")]
    Fault {
        /// Kernel.
        kernel: String,
        /// What happened.
        fault: Fault,
        /// Where.
        place: Box<Place>,
    },
    /// Some warps wait at a barrier that others can no longer reach, or that is another one.
    #[error("kernel `{kernel}` is stuck: {why}; {place}")]
    Deadlock {
        /// Kernel.
        kernel: String,
        /// Which warps wait for what.
        why: String,
        /// Where one of them waits.
        place: Box<Place>,
    },
    /// The instruction limit was reached.
    #[error(
        "kernel `{kernel}` was stopped after {limit} warp instructions (the configured limit); {place}. \
         If it is not an endless loop, raise the limit"
    )]
    Limit {
        /// Kernel.
        kernel: String,
        /// The limit.
        limit: u64,
        /// Where a warp was.
        place: Box<Place>,
    },
    /// The launch was interrupted from outside.
    #[error("kernel `{0}` was interrupted")]
    Interrupted(String),
}

/// A work-item's whereabouts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// Global id, where one work-item is to blame.
    pub global_id: Option<[u64; 3]>,
    /// Work-group id.
    pub group: [u32; 3],
    /// Sub-group in the work-group.
    pub sub_group: u32,
    /// Index of the machine operation, and its mnemonic.
    pub operation: (u32, &'static str),
    /// Source file (empty where unknown) and line (0 where unknown).
    pub file: String,
    /// Line.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.file, self.line) {
            (_, 0) => write!(f, "operation {} ({})", self.operation.0, self.operation.1)?,
            ("", line) => write!(f, "line {line}")?,
            (file, line) => write!(f, "{file}:{line}")?,
        }
        if let Some([x, y, z]) = self.global_id {
            write!(f, ", work-item ({x}, {y}, {z})")?;
        }
        let [x, y, z] = self.group;
        write!(f, ", work-group ({x}, {y}, {z}), sub-group {}", self.sub_group)
    }
}
/// A name as it stands behind what it belongs to; nothing where there is none.
fn in_brackets(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" (`{name}`)") }
}
