//! What to run.
use crate::printf::PrintfBuffer;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use warpscope_exec::program::Program;

/// How a launch is simulated.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Results only.
    Functional,
    /// Results and detailed timing.
    #[default]
    Timing,
}

/// Value of a kernel argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// Address in device memory (0: NULL).
    Pointer(u64),
    /// Bytes of a by-value argument.
    Value(Vec<u8>),
    /// Bytes of local memory for a local pointer.
    Local(u32),
}

/// A kernel launch (OpenCL API 5.8, clEnqueueNDRangeKernel).
#[derive(Clone, Debug)]
pub struct Launch {
    /// The lowered kernel.
    pub program: Arc<Program>,
    /// Addresses of the module's variables, by index in `ir::Module::globals` (local ones are 0).
    pub globals: Arc<Vec<u64>>,
    /// 1, 2 or 3.
    pub work_dim: u32,
    /// Global offset.
    pub offset: [u64; 3],
    /// Work-items in each dimension (1 beyond `work_dim`); 0 anywhere: nothing runs.
    pub global: [u64; 3],
    /// Work-group size (1 beyond `work_dim`); where it does not divide `global` the last group is smaller.
    pub local: [u32; 3],
    /// One for each of the program's parameters.
    pub arguments: Vec<Argument>,
    /// Where the module's kernels print to; none where they do not.
    pub printf: Option<PrintfBuffer>,
    /// Mode.
    pub mode: Mode,
}
