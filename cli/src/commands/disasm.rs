//! `warpscope disasm`: the IR and the machine program of each kernel.
use crate::arguments::{KernelArguments, MachineArguments};
use crate::failure::Failure;
use crate::output::print;
use clap::{Args, ValueEnum};
use warpscope_isa::ir::print_function;
use warpscope_isa::lower::disassemble;
use warpscope_isa::optimised;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    kernel: KernelArguments,
    /// What to show.
    #[arg(long, value_enum, default_value = "all")]
    show: Show,
    /// Lanes of a warp; where it is missing the kernel's required size or the machine's usual one.
    #[arg(long, value_name = "LANES")]
    width: Option<u32>,
    #[command(flatten)]
    machine: MachineArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
    /// The IR as decoded and after the passes, and the machine program.
    All,
    /// The IR as decoded only.
    Ir,
    /// The IR after the passes only.
    Optimised,
    /// The machine program only.
    Machine,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine.load()?;
    let module = arguments.kernel.module()?;
    if module.kernels.is_empty() {
        return Err(Failure::Usage(format!("{} has no kernel", arguments.kernel.file.display())));
    }
    let chosen = arguments.kernel.kernel.as_deref();
    if let Some(name) = chosen {
        arguments.kernel.find(&module, name)?;
    }
    for (index, kernel) in module.kernels.iter().enumerate().filter(|(_, k)| chosen.is_none_or(|c| c == k.name)) {
        if matches!(arguments.show, Show::All | Show::Ir) {
            let function = &module.functions[kernel.function];
            print(&format!("// IR of kernel {}\n{}\n", kernel.name, print_function(function)))?;
        }
        if matches!(arguments.show, Show::All | Show::Optimised) {
            let width = arguments.width.unwrap_or(machine.spec.chip.sub_group_size);
            let function = optimised(&module, index, &machine.spec, width).map_err(Failure::usage)?;
            print(&format!("// IR of kernel {} after the passes\n{}\n", kernel.name, print_function(&function)))?;
        }
        if matches!(arguments.show, Show::All | Show::Machine) {
            let program = arguments.kernel.compile(&module, index, &machine.spec, arguments.width)?;
            print(&format!("{}\n", disassemble(&program)))?;
        }
    }
    Ok(())
}
