//! Arguments that several commands share.
use crate::failure::Failure;
use clap::Args;
use warpscope_configs::{Config, Selection};

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
