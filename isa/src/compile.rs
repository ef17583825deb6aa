//! From a decoded module to a machine program.
use crate::ir::Module;
use crate::lower::{self, LowerError, Options};
use crate::program::Program;
use warpscope_configs::MachineSpec;

/// Compiles kernel number `index` of a module for warps of `width` lanes on `machine`.
///
/// # Panics
/// If the module has no kernel of that number.
pub fn compile(module: &Module, index: usize, machine: &MachineSpec, width: u32) -> Result<Program, LowerError> {
    let kernel = &module.kernels[index];
    lower::lower(&module.functions[kernel.function], kernel, module, &Options::of(machine, width))
}
