//! Decoded modules and lowered kernels, shared by the cases of a run.
use crate::compile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::Program;
use warpscope_isa::ir::Module;

type Slot<T> = Arc<OnceLock<Result<Arc<T>, String>>>;
type ModuleKey = (PathBuf, String);
type ProgramKey = (ModuleKey, String, usize);

/// Modules by source and options, programs by kernel and machine. Each is made once, by whoever asks first.
#[derive(Debug, Default)]
pub struct Programs {
    from_source: bool,
    modules: Mutex<BTreeMap<ModuleKey, Slot<Module>>>,
    programs: Mutex<BTreeMap<ProgramKey, Slot<Program>>>,
}

impl Programs {
    /// Nothing loaded yet. With `from_source`, sources are compiled even where a compiled module is there.
    pub fn new(from_source: bool) -> Programs {
        Programs { from_source, ..Programs::default() }
    }

    /// The module of (`source`, `options`).
    pub fn module(&self, source: &Path, options: &str) -> Result<Arc<Module>, String> {
        let slot = slot(&self.modules, (source.to_path_buf(), options.to_string()));
        slot.get_or_init(|| {
            let binary = compile::module(source, options, self.from_source)?;
            let module = warpscope_isa::frontend::decode(&binary);
            module.map(Arc::new).map_err(|e| format!("{}: {e}", source.display()))
        })
        .clone()
    }

    /// A kernel of that module for machine number `machine`.
    pub fn program(
        &self,
        source: &Path,
        options: &str,
        kernel: &str,
        machine: usize,
        spec: &MachineSpec,
    ) -> Result<Arc<Program>, String> {
        let module = self.module(source, options)?;
        let key = ((source.to_path_buf(), options.to_string()), kernel.to_string(), machine);
        slot(&self.programs, key).get_or_init(|| lower(&module, source, kernel, spec).map(Arc::new)).clone()
    }
}

fn slot<K: Ord, T>(map: &Mutex<BTreeMap<K, Slot<T>>>, key: K) -> Slot<T> {
    map.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

/// Lowers `kernel` for the sub-group size that it requires, or the machine's own.
fn lower(module: &Module, source: &Path, kernel: &str, spec: &MachineSpec) -> Result<Program, String> {
    let index = module.kernels.iter().position(|k| k.name == kernel).ok_or_else(|| {
        let names: Vec<&str> = module.kernels.iter().map(|k| k.name.as_str()).collect();
        format!("{} has no kernel `{kernel}`; it has {}", source.display(), names.join(", "))
    })?;
    let width = module.kernels[index].required_sub_group_size.unwrap_or(spec.chip.sub_group_size);
    warpscope_isa::compile(module, index, spec, width).map_err(|e| format!("{}: {e}", source.display()))
}
