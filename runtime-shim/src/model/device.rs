//! The device: a machine description seen through the API. What is reported is what works.
use super::clock::Clock;
use super::engine::Link;
use super::selection::Rules;
use crate::cl::version;
use std::sync::{Arc, OnceLock};
use warpscope_configs::MachineSpec;
use warpscope_sim::Mode;

/// An optional feature with the name that programs look for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Extension name, or feature macro.
    pub name: &'static str,
    /// Version, as CL_MAKE_VERSION makes it.
    pub version: u32,
}

const fn feature(name: &'static str, major: u32) -> Feature {
    Feature { name, version: version(major, 0, 0) }
}

/// Extensions of the device.
const EXTENSIONS: &[Feature] = &[
    feature("cl_khr_byte_addressable_store", 1),
    feature("cl_khr_extended_versioning", 1),
    feature("cl_khr_fp64", 1),
    feature("cl_khr_global_int32_base_atomics", 1),
    feature("cl_khr_global_int32_extended_atomics", 1),
    feature("cl_khr_il_program", 1),
    feature("cl_khr_int64_base_atomics", 1),
    feature("cl_khr_int64_extended_atomics", 1),
    feature("cl_khr_local_int32_base_atomics", 1),
    feature("cl_khr_local_int32_extended_atomics", 1),
];

/// Extensions of the host side that come with images.
const IMAGE_EXTENSIONS: &[Feature] = &[
    feature("cl_khr_3d_image_writes", 1),
    feature("cl_khr_depth_images", 1),
    feature("cl_khr_image2d_from_buffer", 1),
];

/// Optional features of OpenCL C 3.0.
pub const C_FEATURES: &[Feature] = &[
    feature("__opencl_c_atomic_order_acq_rel", 3),
    feature("__opencl_c_atomic_order_seq_cst", 3),
    feature("__opencl_c_atomic_scope_all_devices", 3),
    feature("__opencl_c_atomic_scope_device", 3),
    feature("__opencl_c_fp64", 3),
    feature("__opencl_c_generic_address_space", 3),
    feature("__opencl_c_int64", 3),
    feature("__opencl_c_program_scope_global_variables", 3),
];

/// What clang is to offer (`-cl-ext`).
pub fn compiler_features() -> String {
    let offered = EXTENSIONS.iter().chain(C_FEATURES);
    offered.fold("-all".to_string(), |text, f| text + ",+" + f.name)
}

/// Macros that clang's header defines for SPIR-V whatever `-cl-ext` says.
const CLANG_MACROS: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_device_enqueue",
    "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "cl_ext_float_atomics",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

/// Text in front of every source: undefines the macros of features that the device does not have.
pub fn compiler_prelude() -> String {
    let offered = |name: &str| EXTENSIONS.iter().chain(C_FEATURES).any(|f| f.name == name);
    let absent = CLANG_MACROS.iter().filter(|name| !offered(name));
    absent.fold(PRELUDE.to_string(), |text, name| text + "\n#undef " + name)
}

/// What the device says about itself, against clang's defaults.
const PRELUDE: &str = "#undef __IMAGE_SUPPORT__\n#undef __OPENCL_VERSION__\n#define __OPENCL_VERSION__ 300";

/// The device.
#[derive(Debug)]
pub struct Device {
    /// The machine.
    pub spec: Arc<MachineSpec>,
    /// Virtual time.
    pub clock: Clock,
    /// The link to the host.
    pub link: Link,
    /// How launches are simulated.
    pub mode: Mode,
    /// Which of them are, in timing mode.
    pub rules: Rules,
}

static DEVICE: OnceLock<Result<Arc<Device>, String>> = OnceLock::new();

/// The device that `WARPSCOPE_CONFIG` and `WARPSCOPE_SET` describe, or what is wrong with them.
pub fn device() -> Result<Arc<Device>, &'static str> {
    let made = DEVICE.get_or_init(|| {
        let loaded = warpscope_configs::Selection::default().load_with_environment();
        let machine = loaded.map_err(|e| e.to_string())?;
        Ok(Arc::new(Device { rules: Rules::from_environment()?, ..Device::new(machine.spec, mode()?) }))
    });
    made.clone().map_err(|_| made.as_ref().err().map_or("", |e| e.as_str()))
}

fn mode() -> Result<Mode, String> {
    match std::env::var("WARPSCOPE_MODE").unwrap_or_default().as_str() {
        "" | "timing" => Ok(Mode::Timing),
        "functional" => Ok(Mode::Functional),
        other => Err(format!("WARPSCOPE_MODE is {other:?}: use \"timing\" or \"functional\"")),
    }
}

impl Device {
    /// The device of a machine.
    pub fn new(spec: MachineSpec, mode: Mode) -> Device {
        Device {
            clock: Clock::new(&spec.host),
            link: Link::new(&spec.host),
            spec: Arc::new(spec),
            mode,
            rules: Rules::default(),
        }
    }

    /// Extensions that it offers.
    pub fn extensions(&self) -> Vec<Feature> {
        let images = if self.spec.host.images { IMAGE_EXTENSIONS } else { &[] };
        let mut all = [EXTENSIONS, images].concat();
        all.sort_by_key(|feature| feature.name);
        all
    }

    /// Sub-groups of the largest work-group; 0 where kernels have no sub-group functions.
    pub fn max_sub_groups(&self) -> u32 {
        let offered = C_FEATURES.iter().any(|feature| feature.name == "__opencl_c_subgroups");
        if offered { self.spec.compute_unit.max_group_size / self.spec.chip.sub_group_size } else { 0 }
    }

    /// Device memory that is handed out.
    pub fn global_memory(&self) -> u64 {
        self.spec.chip.global_memory.min(self.spec.host.memory_cap)
    }

    /// The largest allocation: a quarter of the memory, as the specification asks at least.
    pub fn max_allocation(&self) -> u64 {
        let memory = self.global_memory();
        (memory / 4).max(memory.min(128 << 20))
    }

    /// Local memory that a work-group can use.
    pub fn local_memory(&self) -> u64 {
        u64::from(self.spec.memory.local.max_per_group)
    }

    /// Bytes of the cache that all of global memory goes through.
    pub fn cache_bytes(&self) -> u64 {
        self.spec.memory.l2.capacity
    }

    /// Work-items in the largest work-group.
    pub fn max_group_size(&self) -> usize {
        self.spec.compute_unit.max_group_size as usize
    }
}
