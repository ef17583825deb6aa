//! The objects of the API, without C types. `api/` checks what a program passes; what is here is consistent by
//! construction.

mod binary;
mod capture;
pub mod clock;
pub mod command;
mod context;
mod device;
mod engine;
pub mod event;
pub mod handle;
pub mod image;
mod kernel;
mod launch;
mod memory;
mod nominal;
mod program;
mod queue;
mod record;
mod sampler;
mod selection;
pub mod spirv;
mod stdio;
mod thread;
mod toolchain;

pub use binary::Binary;
pub use context::{Context, Notify};
pub use device::{C_FEATURES, Device, Feature, device};
pub use engine::Engine;
pub use event::Event;
pub use handle::Handle;
pub use image::Image;
pub use kernel::{ArgumentValue, Kernel};
pub use launch::Geometry;
pub use memory::{Destructor, Mapping, MemKind, MemObject, SvmAllocation, boxes_meet};
pub use program::{BuildStatus, Built, KernelInfo, ProgramObject};
pub use queue::Queue;
pub use sampler::Sampler;
pub use thread::spawn;
pub use toolchain::CompileInput;
