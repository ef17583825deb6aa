//! The simulated machine: occupancy, dispatch, compute units, the engine, and the record of each launch.
//!
//! The public face, used by the command line, the suite runner and the OpenCL runtime alike:
//! [`Machine`] (owns time and caches; outlives launches), [`LoadedModule`] (module-scope variables in device memory),
//! [`Launch`] (what to run), [`LaunchRecord`] (what it did), [`LaunchError`] (why it stopped).
mod check;
mod diagnosis;
mod entry;
mod error;
mod functional;
mod grid;
mod lanes;
mod launch;
mod machine;
mod module;
mod occupancy;
mod printf;
mod record;
mod timing;

pub use error::*;
pub use launch::*;
pub use machine::*;
pub use module::*;
pub use occupancy::*;
pub use printf::PrintfBuffer;
pub use record::*;
pub use warpscope_memory::device_memory;
