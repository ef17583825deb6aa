//! From a decoded module to a machine program.
use crate::ir::Module;
use crate::lower::{self, LowerError, Options};
use crate::passes::{PassOptions, optimise};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::Program;

/// Compiles kernel number `index` of a module for warps of `width` lanes on `machine`.
///
/// # Panics
/// If the module has no kernel of that number.
pub fn compile(module: &Module, index: usize, machine: &MachineSpec, width: u32) -> Result<Program, LowerError> {
    let kernel = &module.kernels[index];
    let passes = PassOptions { contract: machine.target.contract, ..PassOptions::default() };
    let function = optimise(module, kernel, &passes).map_err(|why| LowerError {
        kernel: kernel.name.clone(),
        file: String::new(),
        line: 0,
        why,
    })?;
    lower::lower(&function, kernel, module, &Options::of(machine, width))
}
