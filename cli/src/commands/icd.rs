//! `warpscope icd`: where the OpenCL driver is, and making loaders find it.
use crate::failure::Failure;
use crate::{driver, output};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `warpscope icd`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print the driver's path.
    Path,
    /// Write an .icd file, so that every OpenCL program sees the device.
    Install {
        /// Directory that the loader searches.
        #[arg(long, value_name = "DIR", default_value = "/etc/OpenCL/vendors")]
        vendors: PathBuf,
    },
}

/// Runs the command.
pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let library = driver::find()?;
    match &arguments.action {
        Action::Path => output::print(&format!("{}\n", library.display())),
        Action::Install { vendors } => {
            let failed = |e| Failure::Failed(format!("{}: {e}", vendors.display()));
            std::fs::create_dir_all(vendors).map_err(failed)?;
            let file = vendors.join("warpscope.icd");
            output::write_file(&file, format!("{}\n", library.display()).as_bytes())?;
            output::print(&format!("{}\n", file.display()))
        }
    }
}
