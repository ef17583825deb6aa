//! From a decoded module to a machine program.
use crate::ir::{Function, Module};
use crate::lower::{self, LowerError, Options};
use crate::passes::{PassOptions, optimise};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::Program;

/// The function of kernel number `index` after all passes, as it is lowered for `machine` and warps of `width` lanes.
///
/// # Panics
/// If the module has no kernel of that number.
pub fn optimised(module: &Module, index: usize, machine: &MachineSpec, width: u32) -> Result<Function, LowerError> {
    let kernel = &module.kernels[index];
    let passes = PassOptions {
        contract: machine.target.contract,
        aggregate: machine.target.aggregate_atomics.then_some(width),
        ..PassOptions::default()
    };
    optimise(module, kernel, &passes).map_err(|why| LowerError {
        kernel: kernel.name.clone(),
        file: String::new(),
        line: 0,
        why,
    })
}

/// Compiles kernel number `index` of a module for warps of `width` lanes on `machine`.
///
/// # Panics
/// If the module has no kernel of that number.
pub fn compile(module: &Module, index: usize, machine: &MachineSpec, width: u32) -> Result<Program, LowerError> {
    let function = optimised(module, index, machine, width)?;
    lower::lower(&function, &module.kernels[index], module, &Options::of(machine, width))
}
