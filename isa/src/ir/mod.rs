//! The SSA IR: scalar values only, block parameters instead of phis, explicit memory.
//!
//! The front end splits vectors, structs and arrays that live in values into scalars; what is addressed in memory
//! stays as bytes behind a pointer. Booleans are `Ty::Bool`. Local and private pointers are 32-bit offsets
//! (`Ty::PtrLocal`, `Ty::PtrPrivate`), the others 64-bit addresses; pointer arithmetic is [`Opcode::PtrAdd`] with a
//! byte offset of the pointer's own width (I32 for local and private, I64 otherwise).

mod cfg;
pub mod eval;
mod function;
#[cfg(test)]
pub mod interpret;
mod opcode;
mod print;
mod signature;
mod verify;

pub use cfg::{Cfg, Visit};
pub use function::*;
pub use opcode::*;
pub use print::{print_function, print_module};
pub use verify::{VerifyError, verify_function, verify_module};
pub use warpscope_exec::ops::{Cond, Conversion, FCond, IntFn, MathFn, Rounding, Ty};

pub use warpscope_exec::ops::fence;
pub use warpscope_exec::program::Global;
use warpscope_exec::program::{Parameter, SourceLine};

/// A decoded module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// All functions; kernels refer to them by index.
    pub functions: Vec<Function>,
    /// Entry points in module order.
    pub kernels: Vec<Kernel>,
    /// Module-scope variables.
    pub globals: Vec<Global>,
    /// Source file names, for [`SourceLine::file`].
    pub files: Vec<String>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Index in [`Module::functions`] of a function without parameters and results: it reads the arguments through
    /// [`Opcode::Parameter`] and [`Opcode::LocalParameter`].
    pub function: usize,
    /// Parameters as the API sees them.
    pub parameters: Vec<Parameter>,
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    /// `reqd_work_group_size`.
    pub required_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`.
    pub group_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint` as OpenCL C text, or empty.
    pub vec_type_hint: String,
    /// `intel_reqd_sub_group_size`.
    pub required_sub_group_size: Option<u32>,
    /// Offsets of the pointers in the parameter block that are `restrict`.
    pub restricted: Vec<u32>,
    /// ContractionOff: a multiply and an add stay apart.
    pub contraction_off: bool,
    /// DenormFlushToZero for single precision.
    pub flush_denormals: bool,
}

/// Position of an instruction in the source.
pub type Loc = SourceLine;
