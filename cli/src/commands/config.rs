//! `warpscope config`: list, show and check machine descriptions.
use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::output::print;
use clap::{Args, Subcommand};
use warpscope_configs::{Selection, key_reference, preset_list};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the machines that come with the program.
    List,
    /// Print a machine as TOML that can be saved and changed: every key with its meaning, unit, range, value and origin.
    Show {
        /// Machine: a preset or the path of a .toml file.
        machine: Option<String>,
        /// Only keys whose path contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        #[command(flatten)]
        select: MachineArguments,
    },
    /// Check machine descriptions; every problem is reported with file, line and key.
    Check {
        /// Machines: presets or paths of .toml files.
        #[arg(required = true)]
        machines: Vec<String>,
        /// Override a key; may be repeated.
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Print the reference of all keys as Markdown.
    Reference,
    /// Print the keys in which two machines differ.
    Diff {
        /// First machine.
        left: String,
        /// Second machine.
        right: String,
    },
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::List => print(&preset_list()),
        Command::Show { machine, only, select } => {
            let config = machine.clone().or_else(|| select.config.clone());
            let select = MachineArguments { config, set: select.set.clone() };
            print(&select.load()?.show(only))
        }
        Command::Check { machines, set } => check(machines, set),
        Command::Reference => print(&key_reference()),
        Command::Diff { left, right } => {
            let [left, right] = [Selection::named(left).load()?, Selection::named(right).load()?];
            let lines: Vec<String> =
                left.differences(&right).iter().flat_map(|(l, r)| [format!("- {l}\n"), format!("+ {r}\n")]).collect();
            print(&lines.concat())
        }
    }
}

fn check(machines: &[String], set: &[String]) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for machine in machines {
        let select = Selection { config: Some(machine.clone()), set: set.to_vec() };
        match select.load() {
            Ok(config) => print(&format!("{machine}: good (digest {})\n", config.digest))?,
            Err(error) => problems.push(error.to_string()),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::Usage(problems.join("\n"))) }
}
