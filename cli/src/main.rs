//! The command line: arguments, progress, exit codes. No simulation logic.
#![forbid(unsafe_code)]

mod arguments;
mod capture;
mod commands;
mod driver;
mod failure;
mod kernel_argument;
mod output;
mod resume;
mod run;
mod signals;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A simulated GPU that presents itself as an OpenCL device.
#[derive(Parser)]
#[command(name = "warpscope", version, about, max_term_width = 110, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 all well, 1 a case or kernel failed, 2 usage or configuration, 3 interrupted.\n\
                          --config, --set, --mode and --out can also be given by WARPSCOPE_CONFIG, WARPSCOPE_SET \
                          (separated by semicolons), WARPSCOPE_MODE and WARPSCOPE_OUT.";

#[derive(Subcommand)]
enum Command {
    /// Run every case of a suite on one or more machines and check the results.
    Suite(commands::suite::Arguments),
    /// Run one kernel with arguments from the command line.
    Kernel(commands::kernel::Arguments),
    /// Compare a suite with measured hardware.
    Validate(commands::validate::Arguments),
    /// Show what each mechanism of the model does to its error.
    Ablation(commands::ablation::Arguments),
    /// Measure a suite on a real OpenCL device: a reference to validate against.
    Measure(commands::measure::Arguments),
    /// List the OpenCL platforms and devices of this computer.
    Platforms,
    /// Print and plot the records of earlier runs.
    Report(commands::report::Arguments),
    /// Show the IR and the machine program of kernels.
    Disasm(commands::disasm::Arguments),
    /// Explain how many warps fit on a compute unit, and what limits them.
    Occupancy(commands::occupancy::Arguments),
    /// Run an OpenCL program on the simulated device and report on what it did.
    Run(commands::run::Arguments),
    /// Where the OpenCL driver is, and making loaders find it.
    Icd(commands::icd::Arguments),
    /// Measure how fast the simulator itself is.
    Bench(commands::bench::Arguments),
    /// List, show and check machine descriptions.
    Config(commands::config::Arguments),
}

fn main() -> ExitCode {
    warpscope_memory::host_heap::arrange();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows where each kind goes.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { failure::USAGE } else { 0 });
        }
    };
    let result = match cli.command {
        Command::Suite(arguments) => commands::suite::run_command(&arguments),
        Command::Kernel(arguments) => commands::kernel::run_command(&arguments),
        Command::Validate(arguments) => commands::validate::run_command(&arguments),
        Command::Ablation(arguments) => commands::ablation::run_command(&arguments),
        Command::Measure(arguments) => commands::measure::run_command(&arguments),
        Command::Platforms => commands::measure::platforms(),
        Command::Report(arguments) => commands::report::run_command(&arguments),
        Command::Disasm(arguments) => commands::disasm::run_command(&arguments),
        Command::Occupancy(arguments) => commands::occupancy::run_command(&arguments),
        Command::Run(arguments) => commands::run::run_command(&arguments),
        Command::Icd(arguments) => commands::icd::run_command(&arguments),
        Command::Bench(arguments) => commands::bench::run_command(&arguments),
        Command::Config(arguments) => commands::config::run_command(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
