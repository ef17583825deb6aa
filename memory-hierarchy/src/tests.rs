//! What several tests need.
use warpscope_configs::MachineSpec;

/// The H200's description.
pub(crate) fn h200() -> MachineSpec {
    warpscope_configs::load("nvidia-h200", &[]).expect("the preset is valid").spec
}
