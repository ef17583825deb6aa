//! The sections of a machine description. One file a part of the machine.

mod chip;
mod compute_unit;
mod frontend;
mod host;
mod launch;
mod memory;
mod target;

pub use chip::*;
pub use compute_unit::*;
pub use frontend::*;
pub use host::*;
pub use launch::*;
pub use memory::*;
pub use target::*;

crate::spec! {
    /// A whole machine, as one TOML file describes it.
    pub struct MachineSpec {
        sections {
            /// Identity, clocks and size.
            chip: ChipSpec,
            /// What a compute unit holds and how it issues.
            compute_unit: ComputeUnitSpec,
            /// Instruction and constant fetch.
            frontend: FrontendSpec,
            /// L1, local memory, interconnect, L2 and DRAM.
            memory: MemorySpec,
            /// Dispatch of work-groups, head and tail of a launch.
            launch: LaunchSpec,
            /// What the compiler's back end may use.
            target: TargetSpec,
            /// The host side of an OpenCL program and its link to the device.
            host: HostSpec,
        }
    }
}
