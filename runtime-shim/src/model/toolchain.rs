//! From source or SPIR-V to what the machine runs: the compiler driver, the linker, the instruction set's front and
//! back end.
use super::binary::Binary;
use super::device::{compiler_features, compiler_prelude};
use super::program::{Built, KernelInfo};
use super::spirv::Words;
use super::{Context, Device};
use crate::cl::errors::*;
use crate::error::{ClError, Result};
use crate::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use warpscope_compiler::{BuildOptions, CompileError, Compiled, Compiler, Request};
use warpscope_exec::program::Program;
use warpscope_isa::frontend::{DecodeOptions, decode_with};
use warpscope_isa::ir::Module;
use warpscope_sim::{LoadedModule, PrintfBuffer};

/// How to compile.
#[derive(Clone)]
pub struct CompileInput {
    /// The options as the program gave them.
    pub text: String,
    /// The same, parsed.
    pub options: BuildOptions,
    /// Headers: name and text.
    pub headers: Vec<(String, String)>,
}

/// A failed build: the error for the caller and the log for who asks.
pub struct BuildFailure {
    /// For the caller.
    pub error: ClError,
    /// The build log.
    pub log: String,
}

impl BuildFailure {
    fn new(code: i32, log: impl Into<String>) -> BuildFailure {
        let log = log.into();
        BuildFailure { error: ClError::new(code, log.clone()), log }
    }
    /// A program that has nothing to build from.
    pub fn binary(why: &str) -> BuildFailure {
        BuildFailure::new(CL_INVALID_BINARY, why)
    }
}

/// Compiles OpenCL C.
pub fn compile(device: &Device, source: &str, input: &CompileInput) -> std::result::Result<Compiled, BuildFailure> {
    let compiler = Compiler::find().map_err(|e| BuildFailure::new(CL_COMPILER_NOT_AVAILABLE, e.to_string()))?;
    let options = BuildOptions { kernel_arg_info: true, ..input.options.clone() };
    let extensions = compiler_features();
    let prelude = compiler_prelude();
    let request = Request {
        headers: &input.headers,
        extensions: &extensions,
        prelude: &prelude,
        contract: device.spec.target.contract,
        ..Request::new(source, "program.cl", &options)
    };
    compiler.compile(&request).map_err(|error| match error {
        CompileError::Tools(e) => BuildFailure::new(CL_COMPILER_NOT_AVAILABLE, e.to_string()),
        CompileError::Source { log, .. } => BuildFailure {
            error: ClError::new(CL_BUILD_PROGRAM_FAILURE, "the source does not compile; see the build log"),
            log,
        },
        other => BuildFailure::new(CL_BUILD_PROGRAM_FAILURE, other.to_string()),
    })
}

/// Links objects; `kind` is the type of the result.
pub fn link(inputs: &[Arc<Binary>], kind: u32, input: &CompileInput) -> std::result::Result<Binary, BuildFailure> {
    let mut constants = BTreeMap::new();
    for binary in inputs {
        constants.extend(binary.constants.clone());
    }
    let spirv = match inputs {
        [one] => one.spirv.clone(),
        several => spirv_link(several, kind).map_err(|(code, log)| BuildFailure::new(code, log))?,
    };
    // One module that needs even work-groups makes the whole program need them.
    let uniform_groups = inputs.iter().any(|b| b.uniform_groups);
    Ok(Binary { kind, options: input.text.clone(), uniform_groups, constants, spirv })
}

/// Joins modules with SPIRV-Tools' linker, which takes the first of several definitions where nothing imports them.
fn spirv_link(inputs: &[Arc<Binary>], kind: u32) -> std::result::Result<Vec<u8>, (i32, String)> {
    let mut defined = BTreeSet::new();
    if let Some(twice) = inputs.iter().flat_map(|b| Words::new(&b.spirv).exports()).find(|n| !defined.insert(n.clone()))
    {
        return Err((CL_LINK_PROGRAM_FAILURE, format!("`{twice}` is defined in more than one of the programs")));
    }
    let io = |e: std::io::Error| (CL_LINK_PROGRAM_FAILURE, format!("linking: {e}"));
    let directory = tempfile::tempdir().map_err(io)?;
    let out = directory.path().join("linked.spv");
    let mut command = Command::new("spirv-link");
    command.env_remove("LD_PRELOAD").arg("--allow-partial-linkage");
    if kind == crate::cl::enums::CL_PROGRAM_BINARY_TYPE_LIBRARY {
        command.arg("--create-library");
    }
    for (i, binary) in inputs.iter().enumerate() {
        let path = directory.path().join(format!("{i}.spv"));
        std::fs::write(&path, &binary.spirv).map_err(io)?;
        command.arg(path);
    }
    command.arg("-o").arg(&out).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| {
        (CL_LINKER_NOT_AVAILABLE, format!("spirv-link cannot be run ({e}); on Debian install the package spirv-tools"))
    })?;
    let mut log = Vec::new();
    child.stderr.take().map_or(Ok(0), |mut s| s.read_to_end(&mut log)).map_err(io)?;
    let log = String::from_utf8_lossy(&log).into_owned();
    match child.wait() {
        Ok(status) if !status.success() => return Err((CL_LINK_PROGRAM_FAILURE, log)),
        Ok(_) => {}
        // The program ignores its children or has reaped this one: the result says how it ended.
        Err(e) if e.raw_os_error() == Some(libc::ECHILD) => {}
        Err(e) => return Err(io(e)),
    }
    std::fs::read(&out).map_err(|e| (CL_LINK_PROGRAM_FAILURE, format!("{log}linking: {e}")))
}

/// Decodes an executable and places its variables.
pub fn finish(context: &Arc<Context>, binary: &Binary) -> std::result::Result<Built, BuildFailure> {
    let options = DecodeOptions { specialisation: binary.constants.clone().into_iter().collect() };
    let module =
        decode_with(&binary.spirv, &options).map_err(|e| BuildFailure::new(CL_BUILD_PROGRAM_FAILURE, e.to_string()))?;
    let sizes = &context.device.spec.chip.sub_group_sizes;
    for kernel in &module.kernels {
        if let Some(size) = kernel.required_sub_group_size.filter(|s| !sizes.contains(s)) {
            let why = format!("kernel `{}` requires sub-groups of {size}; the device has {sizes:?}", kernel.name);
            return Err(BuildFailure::new(CL_BUILD_PROGRAM_FAILURE, why));
        }
    }
    let kernels = kernel_infos(&module, &binary.spirv);
    let variables = LoadedModule::new(&context.memory, &module.globals, context.device.spec.host.printf_buffer)
        .map_err(|e| BuildFailure::new(CL_OUT_OF_RESOURCES, e.to_string()))?;
    let lowered = Lowered { variables, programs: Mutex::default() };
    Ok(Built { module, kernels, uniform_groups: binary.uniform_groups, lowered })
}

/// Kernels that the API shows: the invoke kernels of blocks stay hidden.
fn kernel_infos(module: &Module, spirv: &[u8]) -> Vec<KernelInfo> {
    let words = Words::new(spirv);
    let (strings, mut handles) = (words.strings(), words.handles());
    let mut out = Vec::new();
    for (index, kernel) in module.kernels.iter().enumerate() {
        if kernel.name.starts_with("__") && kernel.name.ends_with("_block_invoke_kernel") {
            continue;
        }
        let prefix = format!("kernel_arg_type_qual.{}.", kernel.name);
        let found = strings.iter().find_map(|s| s.strip_prefix(&prefix)).unwrap_or("");
        let mut qualifiers: Vec<String> = found.split(',').map(str::to_string).collect();
        qualifiers.resize(kernel.parameters.len(), String::new());
        let mut attributes = Vec::new();
        let mut sizes = |name: &str, size: Option<[u32; 3]>| {
            if let Some([x, y, z]) = size {
                attributes.push(format!("{name}({x},{y},{z})"));
            }
        };
        sizes("reqd_work_group_size", kernel.required_group_size);
        sizes("work_group_size_hint", kernel.group_size_hint);
        if !kernel.vec_type_hint.is_empty() {
            // The compiler driver keeps the sign of an unsigned type, which SPIR-V has no place for.
            let prefix = format!("vec_type_hint.{}.", kernel.name);
            let unsigned = strings.iter().find_map(|s| s.strip_prefix(&prefix));
            attributes.push(format!("vec_type_hint({})", unsigned.unwrap_or(&kernel.vec_type_hint)));
        }
        if let Some(size) = kernel.required_sub_group_size {
            attributes.push(format!("intel_reqd_sub_group_size({size})"));
        }
        out.push(KernelInfo {
            index,
            name: kernel.name.clone(),
            parameters: kernel.parameters.clone(),
            handles: {
                let mut found = handles.remove(&kernel.name).unwrap_or_default();
                found.resize(kernel.parameters.len(), None);
                found
            },
            qualifiers,
            required_group_size: kernel.required_group_size,
            attributes: attributes.join(" "),
        });
    }
    out
}

/// Module-scope variables in device memory, and kernels lowered so far.
pub struct Lowered {
    variables: LoadedModule,
    programs: Mutex<BTreeMap<(usize, u32), Arc<Program>>>,
}

impl Lowered {
    /// Addresses of the module's variables.
    pub fn addresses(&self) -> &Arc<Vec<u64>> {
        self.variables.addresses()
    }

    /// The module's variables.
    pub fn variables(&self) -> &LoadedModule {
        &self.variables
    }

    /// Where its kernels print to.
    pub fn printf(&self) -> Option<PrintfBuffer> {
        self.variables.printf()
    }

    /// A kernel, lowered for the device.
    pub fn program(&self, module: &Module, index: usize, device: &Device) -> Result<Arc<Program>> {
        let width = module.kernels[index].required_sub_group_size.unwrap_or(device.spec.chip.sub_group_size);
        let mut programs = self.programs.lock();
        if let Some(program) = programs.get(&(index, width)) {
            return Ok(program.clone());
        }
        let program = warpscope_isa::compile(module, index, &device.spec, width)
            .map_err(|e| ClError::new(CL_OUT_OF_RESOURCES, e.to_string()))?;
        Ok(programs.entry((index, width)).or_insert(Arc::new(program)).clone())
    }
}
