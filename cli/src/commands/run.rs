//! `warpscope run`: a program with the simulated device as its only OpenCL platform.
use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::{capture, driver, output, signals};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpscope_reports::program::{program_page, program_report, read_processes};

/// As `env` does: this command failed, the program cannot be executed, the program is not found.
const OURS: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// Results only.
    Functional,
    /// Results and detailed timing.
    Timing,
}

/// Arguments of `warpscope run`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// How kernels are simulated.
    #[arg(long, value_enum, env = "WARPSCOPE_MODE", default_value = "timing")]
    mode: Mode,
    /// Keep the log of commands in this directory, with the report as report.txt and report.html.
    #[arg(long, value_name = "DIR", env = "WARPSCOPE_OUT")]
    out: Option<PathBuf>,
    /// Save each timed launch in this directory, as a suite that `warpscope suite` and `warpscope kernel` run again.
    #[arg(long, value_name = "DIR", env = "WARPSCOPE_CAPTURE")]
    capture: Option<PathBuf>,
    #[command(flatten)]
    launches: Launches,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Which launches are timed (and captured); the others run functionally.
#[derive(Args)]
struct Launches {
    /// Time only the first N launches of each context.
    #[arg(long, value_name = "N", env = "WARPSCOPE_FUNCTIONAL_AFTER")]
    functional_after: Option<u64>,
    /// Time only kernels of these names; `*` stands for any text, commas separate names.
    #[arg(long, value_name = "NAMES", env = "WARPSCOPE_KERNELS")]
    kernels: Option<String>,
    /// Do not time kernels of these names.
    #[arg(long, value_name = "NAMES", env = "WARPSCOPE_EXCLUDE")]
    exclude: Option<String>,
    /// Of the kernels to be timed, pass over the first N launches of each context.
    #[arg(long, value_name = "N", env = "WARPSCOPE_SKIP")]
    skip: Option<u64>,
    /// Time at most N launches of each context.
    #[arg(long, value_name = "N", env = "WARPSCOPE_LIMIT")]
    limit: Option<u64>,
    /// Time at most N launches of each kernel at each size in each context; later ones take the time of the last timed
    /// one, by instructions executed.
    #[arg(long, value_name = "N", env = "WARPSCOPE_PER_KERNEL")]
    per_kernel: Option<u64>,
}

impl Launches {
    fn pass_on(&self, command: &mut Command) {
        let number = |n: Option<u64>| n.map(|n| n.to_string());
        let variables = [
            ("WARPSCOPE_FUNCTIONAL_AFTER", number(self.functional_after)),
            ("WARPSCOPE_KERNELS", self.kernels.clone()),
            ("WARPSCOPE_EXCLUDE", self.exclude.clone()),
            ("WARPSCOPE_SKIP", number(self.skip)),
            ("WARPSCOPE_LIMIT", number(self.limit)),
            ("WARPSCOPE_PER_KERNEL", number(self.per_kernel)),
        ];
        for (name, value) in variables {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
    }
}

/// Runs the program; the report goes to standard error, and the exit code is the program's.
pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine.load()?;
    let library = driver::find()?;
    let ours = |e: std::io::Error| Failure::Program(OURS, format!("warpscope run: {e}"));
    let private = tempfile::tempdir().map_err(ours)?;
    let vendors = private.path().join("vendors");
    std::fs::create_dir(&vendors).map_err(ours)?;
    std::fs::write(vendors.join("warpscope.icd"), format!("{}\n", library.display())).map_err(ours)?;
    let out = match &arguments.out {
        Some(directory) => kept(directory)?,
        None => private.path().to_path_buf(),
    };

    let mut command = Command::new(&arguments.program[0]);
    command.args(&arguments.program[1..]);
    command.env("OCL_ICD_VENDORS", &vendors).env_remove("OCL_ICD_FILENAMES");
    command.env("WARPSCOPE_OUT", &out);
    arguments.launches.pass_on(&mut command);
    let capture = arguments.capture.as_deref().map(capture::prepare).transpose()?;
    if let Some(directory) = &capture {
        command.env("WARPSCOPE_CAPTURE", directory);
    }
    command.env("WARPSCOPE_MODE", if let Mode::Functional = arguments.mode { "functional" } else { "timing" });
    if let Some(config) = &arguments.machine.config {
        // The program may change its directory before it opens the device.
        let path = Path::new(config);
        let absolute = if path.is_file() { path.canonicalize().map_err(ours)? } else { path.to_path_buf() };
        command.env("WARPSCOPE_CONFIG", absolute);
    }
    if !arguments.machine.set.is_empty() {
        let before = std::env::var("WARPSCOPE_SET").ok().filter(|v| !v.is_empty());
        let all: Vec<String> = before.into_iter().chain(arguments.machine.set.iter().cloned()).collect();
        command.env("WARPSCOPE_SET", all.join(";"));
    }
    let status = signals::outlived(&mut command).map_err(|e| {
        let code = if e.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
        Failure::Program(code, format!("{}: {e}", arguments.program[0].display()))
    })?;

    let processes = read_processes(&out).map_err(ours)?;
    let name = arguments.machine.config.clone().unwrap_or_else(|| machine.source.clone());
    let report = program_report(&processes, &name, &machine.spec);
    output::note(report.trim_end());
    if arguments.out.is_some() && !processes.is_empty() {
        output::write_file(&out.join("report.txt"), report.as_bytes()).map_err(also_ours)?;
        let page = program_page(&processes, &name, &machine.spec);
        output::write_file(&out.join("report.html"), page.as_bytes()).map_err(also_ours)?;
    }
    if let Some(directory) = &capture {
        output::note(&capture::merge(directory).map_err(also_ours)?);
    }
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    if code == 0 { Ok(()) } else { Err(Failure::Program(code as u8, String::new())) }
}

/// A failure of this command, as opposed to the program's.
fn also_ours(failure: Failure) -> Failure {
    match failure {
        Failure::Failed(why) => Failure::Program(OURS, format!("warpscope run: {why}")),
        other => other,
    }
}

/// A directory for the log: without an earlier run's, which would be mixed into the report.
fn kept(directory: &Path) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(directory).map_err(|e| Failure::Usage(format!("{}: {e}", directory.display())))?;
    let absolute = directory.canonicalize().map_err(|e| Failure::Usage(format!("{}: {e}", directory.display())))?;
    let earlier = read_processes(&absolute).map_err(|e| Failure::Usage(format!("{}: {e}", absolute.display())))?;
    if earlier.is_empty() {
        return Ok(absolute);
    }
    Err(Failure::Usage(format!("{} holds an earlier run's log; name another directory", absolute.display())))
}
