//! Arguments that several commands share.
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use warpscope_configs::{Config, MachineSpec, Selection};
use warpscope_exec::program::Program;
use warpscope_isa::frontend;
use warpscope_isa::ir::Module;
use warpscope_sim::Mode;
use warpscope_workloads::manifest::{Case, Manifest};
use warpscope_workloads::suite::{SuiteOptions, choose};

/// Which machine.
#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// Machine: a preset (`warpscope config list`) or the path of a .toml file.
    #[arg(long, value_name = "MACHINE")]
    pub config: Option<String>,
    /// Override a key of the machine; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl MachineArguments {
    /// Loads the machine, the environment's settings included.
    pub fn load(&self) -> Result<Config, Failure> {
        Ok(Selection { config: self.config.clone(), set: self.set.clone() }.load_with_environment()?)
    }
}

/// One or more machines.
#[derive(Args, Clone, Debug)]
pub struct MachinesArguments {
    /// Machine: a preset (`warpscope config list`) or the path of a .toml file; may be repeated.
    #[arg(long, value_name = "MACHINE")]
    pub config: Vec<String>,
    /// Override a key of every machine; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// One machine for each of these values of a key; given several times: for every combination.
    #[arg(long, value_name = "KEY=VALUE,VALUE...")]
    pub sweep: Vec<String>,
}

impl MachinesArguments {
    /// Loads the machines, the environment's settings included.
    pub fn load(&self) -> Result<Vec<Config>, Failure> {
        let mut configs: Vec<Option<String>> = self.config.iter().cloned().map(Some).collect();
        if configs.is_empty() {
            configs.push(None);
        }
        let mut sets = vec![self.set.clone()];
        for sweep in &self.sweep {
            let values = sweep_values(sweep)?;
            let with = |set: &Vec<String>, value: &String| set.iter().chain([value]).cloned().collect();
            sets = sets.iter().flat_map(|set| values.iter().map(move |v| with(set, v))).collect();
        }
        let all = configs.iter().flat_map(|config| sets.iter().map(move |set| (config.clone(), set.clone())));
        all.map(|(config, set)| MachineArguments { config, set }.load()).collect()
    }
}

/// `KEY=A,B` as `KEY=A` and `KEY=B`; commas within brackets and quotation marks belong to a value.
fn sweep_values(sweep: &str) -> Result<Vec<String>, Failure> {
    let usage = || Failure::Usage(format!("--sweep {sweep}: expected KEY=VALUE,VALUE..."));
    let (key, list) = sweep.split_once('=').ok_or_else(usage)?;
    let (mut values, mut depth, mut quoted) = (vec![String::new()], 0i32, false);
    for c in list.chars() {
        match c {
            ',' if depth == 0 && !quoted => {
                values.push(String::new());
                continue;
            }
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if let Some(last) = values.last_mut() {
            last.push(c);
        }
    }
    if key.trim().is_empty() || values.iter().any(|v| v.trim().is_empty()) {
        return Err(usage());
    }
    Ok(values.iter().map(|v| format!("{}={}", key.trim(), v.trim())).collect())
}

/// Whether time is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Results only.
    Functional,
    /// Results and detailed timing.
    Timing,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Mode {
        match name {
            ModeName::Functional => Mode::Functional,
            ModeName::Timing => Mode::Timing,
        }
    }
}

/// The `--mode` flag.
#[derive(Args, Clone, Debug)]
pub struct ModeArgument {
    /// Whether time is simulated.
    #[arg(long, value_enum, env = "WARPSCOPE_MODE", default_value = "timing")]
    pub mode: ModeName,
}

/// Which suite, which of its cases, and how they are run.
#[derive(Args, Clone, Debug)]
pub struct SuiteArguments {
    /// The suite's manifest.
    #[arg(value_name = "SUITE.toml")]
    pub suite: PathBuf,
    /// Only cases of this name (with `*` for any text), group, class or size; several with commas between them, or the
    /// option repeated.
    #[arg(long, value_name = "PATTERN", visible_alias = "only", value_delimiter = ',')]
    pub filter: Vec<String>,
    /// Cases that run at the same time; 0: one for each core of this computer.
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    pub jobs: usize,
    /// Compile OpenCL C sources even where a compiled module lies beside them.
    #[arg(long)]
    pub from_source: bool,
    /// Recorded outputs to check cases against whose manifest names none.
    #[arg(long, value_name = "FILE")]
    pub digests: Option<PathBuf>,
    /// Warp instructions after which a launch is stopped as a runaway; 0: the default.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub limit: u64,
}

impl SuiteArguments {
    /// Reads the manifest and chooses the cases.
    pub fn cases(&self) -> Result<(Manifest, Vec<Case>), Failure> {
        let manifest = Manifest::read(&self.suite).map_err(Failure::usage)?;
        let cases = choose(&manifest, &self.filter).map_err(Failure::Usage)?;
        Ok((manifest, cases))
    }

    /// How to run them.
    pub fn options(&self, mode: Mode) -> SuiteOptions {
        SuiteOptions {
            mode,
            jobs: self.jobs,
            from_source: self.from_source,
            digests: self.digests.clone(),
            instruction_limit: self.limit,
            ..SuiteOptions::default()
        }
    }
}

/// Which kernel of which module.
#[derive(Args, Clone, Debug)]
pub struct KernelArguments {
    /// SPIR-V module (.spv) or OpenCL C source (compiled with clang where it is installed).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Kernel; may be left out where the module has only one.
    #[arg(long, short)]
    pub kernel: Option<String>,
    /// Build options for a source, as OpenCL defines them.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    pub options: String,
}

impl KernelArguments {
    /// Reads (and, for a source, compiles) the module.
    pub fn module(&self) -> Result<Module, Failure> {
        let binary = warpscope_workloads::compile::module(&self.file, &self.options, true).map_err(Failure::Usage)?;
        frontend::decode(&binary).map_err(|e| Failure::Usage(format!("{}: {e}", self.file.display())))
    }

    /// The kernel's name.
    pub fn choose(&self) -> Result<String, Failure> {
        self.choose_in(&self.module()?)
    }

    /// The kernel's name in a module that has been read already.
    pub fn choose_in(&self, module: &Module) -> Result<String, Failure> {
        match (&self.kernel, module.kernels.as_slice()) {
            (Some(name), _) => self.find(module, name).map(|_| name.clone()),
            (None, [only]) => Ok(only.name.clone()),
            (None, []) => Err(Failure::Usage(format!("{} has no kernel", self.file.display()))),
            (None, _) => {
                let names = names(module);
                Err(Failure::Usage(format!(
                    "{} has several kernels, choose one with --kernel: {names}",
                    self.file.display()
                )))
            }
        }
    }

    /// Index of a kernel by name.
    pub fn find(&self, module: &Module, name: &str) -> Result<usize, Failure> {
        module.kernels.iter().position(|k| k.name == name).ok_or_else(|| {
            let near = warpscope_configs::nearest(name, module.kernels.iter().map(|k| k.name.as_str()));
            let hint = near.map_or_else(|| format!("it has {}", names(module)), |n| format!("did you mean `{n}`?"));
            Failure::Usage(format!("{} has no kernel `{name}`; {hint}", self.file.display()))
        })
    }

    /// Compiles a kernel for a machine.
    pub fn compile(
        &self,
        module: &Module,
        index: usize,
        spec: &MachineSpec,
        width: Option<u32>,
    ) -> Result<Program, Failure> {
        let required = module.kernels[index].required_sub_group_size;
        let width = width.or(required).unwrap_or(spec.chip.sub_group_size);
        if !spec.chip.sub_group_sizes.contains(&width) {
            let sizes = &spec.chip.sub_group_sizes;
            return Err(Failure::Usage(format!("sub-groups of {width}: this machine has sizes {sizes:?}")));
        }
        warpscope_isa::compile(module, index, spec, width)
            .map_err(|e| Failure::Usage(format!("{}: {e}", self.file.display())))
    }
}

fn names(module: &Module) -> String {
    module.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ")
}
