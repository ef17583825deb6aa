//! Programs: source, SPIR-V or a binary, and what building makes of them.
use super::binary::Binary;
use super::spirv::HandleType;
use super::toolchain::{self, BuildFailure, CompileInput};
use super::{Context, Device, Handle};
use crate::cl::Raw;
use crate::cl::enums::{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_EXECUTABLE};
use crate::error::{Result, ensure, fail};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpscope_compiler::Standard;
use warpscope_exec::program::Parameter;
use warpscope_isa::ir::{Module, Ty};

pub use super::toolchain::Lowered;

/// State of a program's last build.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum BuildStatus {
    /// Never built.
    #[default]
    None,
    /// Being built.
    InProgress,
    /// The last build failed.
    Error,
    /// The last build succeeded.
    Success,
}

/// What the API tells about a kernel.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    /// Index in the module's kernels.
    pub index: usize,
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// What those parameters that are handles stand for.
    pub handles: Vec<Option<HandleType>>,
    /// Qualifiers of each parameter, as OpenCL C words (`const restrict`).
    pub qualifiers: Vec<String>,
    /// `reqd_work_group_size`.
    pub required_group_size: Option<[u32; 3]>,
    /// Attributes as written in the source.
    pub attributes: String,
}

/// A program ready to make kernels of.
pub struct Built {
    /// The decoded module.
    pub module: Module,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
    /// Whether work-groups must divide the global size evenly.
    pub uniform_groups: bool,
    /// Module-scope variables in device memory, and lowered kernels.
    pub lowered: Lowered,
}

impl Built {
    /// A kernel by name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|k| k.name == name)
    }

    /// Bytes of program-scope variables in global memory.
    pub fn variable_bytes(&self) -> usize {
        let global = self.module.globals.iter().filter(|g| g.space == Ty::PtrGlobal && !g.printf);
        global.map(|g| g.init.len()).sum()
    }
}

#[derive(Default)]
struct State {
    status: BuildStatus,
    options: String,
    log: String,
    binary: Option<Arc<Binary>>,
    built: Option<Arc<Built>>,
    constants: BTreeMap<u32, Vec<u8>>,
}

/// A program.
pub struct ProgramObject {
    pub(crate) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// OpenCL C source, where it has any.
    pub source: Option<String>,
    /// SPIR-V, where it was given.
    pub il: Option<Vec<u8>>,
    state: Mutex<State>,
    kernels: AtomicUsize,
}

impl ProgramObject {
    fn new(context: Arc<Context>, source: Option<String>, il: Option<Vec<u8>>) -> Result<ProgramObject> {
        Ok(ProgramObject {
            handle: Handle::reserve()?,
            context,
            source,
            il,
            state: Mutex::default(),
            kernels: AtomicUsize::new(0),
        })
    }

    /// From OpenCL C.
    pub fn from_source(context: Arc<Context>, source: String) -> Result<ProgramObject> {
        ProgramObject::new(context, Some(source), None)
    }

    /// From SPIR-V.
    pub fn from_il(context: Arc<Context>, il: Vec<u8>) -> Result<ProgramObject> {
        ProgramObject::new(context, None, Some(il))
    }

    /// From a binary of this library.
    pub fn from_binary(context: Arc<Context>, binary: Binary) -> Result<ProgramObject> {
        let program = ProgramObject::new(context, None, None)?;
        program.state.lock().binary = Some(Arc::new(binary));
        Ok(program)
    }

    /// An empty program, to be the result of a link.
    pub fn for_link(context: Arc<Context>) -> Result<ProgramObject> {
        ProgramObject::new(context, None, None)
    }

    /// State of the last build.
    pub fn status(&self) -> BuildStatus {
        self.state.lock().status
    }
    /// Options of the last build.
    pub fn options(&self) -> String {
        self.state.lock().options.clone()
    }
    /// Log of the last build.
    pub fn log(&self) -> String {
        self.state.lock().log.clone()
    }
    /// The binary.
    pub fn binary(&self) -> Option<Arc<Binary>> {
        self.state.lock().binary.clone()
    }
    /// The executable.
    pub fn built(&self) -> Option<Arc<Built>> {
        self.state.lock().built.clone()
    }
    /// Sets a specialization constant for the next build.
    pub fn set_constant(&self, id: u32, value: Vec<u8>) {
        self.state.lock().constants.insert(id, value);
    }

    pub(super) fn attach_kernel(&self) {
        self.kernels.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn detach_kernel(&self) {
        self.kernels.fetch_sub(1, Ordering::Relaxed);
    }

    /// Begins a build: refuses while another one runs or kernels are attached.
    pub fn begin(&self, options: &str) -> Result {
        let kernels = self.kernels.load(Ordering::Relaxed);
        ensure!(kernels == 0, CL_INVALID_OPERATION, "{kernels} kernel objects are attached to the program");
        let mut state = self.state.lock();
        ensure!(state.status != BuildStatus::InProgress, CL_INVALID_OPERATION, "the program is being built");
        state.status = BuildStatus::InProgress;
        state.options = options.to_string();
        state.log = String::new();
        state.built = None;
        Ok(())
    }

    fn end(&self, result: std::result::Result<(Binary, Option<Built>, String), BuildFailure>) -> Result {
        let mut state = self.state.lock();
        match result {
            Ok((binary, built, log)) => {
                state.status = BuildStatus::Success;
                state.log = log;
                state.binary = Some(Arc::new(binary));
                state.built = built.map(Arc::new);
                Ok(())
            }
            Err(failure) => {
                state.status = BuildStatus::Error;
                state.log = failure.log;
                Err(failure.error)
            }
        }
    }

    /// SPIR-V of the program, and its binary type.
    fn compiled(&self, input: &CompileInput) -> std::result::Result<(Binary, String), BuildFailure> {
        let constants = self.state.lock().constants.clone();
        // "-cl-uniform-work-group-size": OpenCL C 1.x always means it, SPIR-V never by itself (OpenCL 3.0 API, 5.8.6.4).
        let old = self.source.is_some() && input.options.standard < Standard::Cl20;
        let uniform_groups = old || input.options.uniform_work_group_size;
        let make = |spirv, kind| Binary { kind, options: input.text.clone(), uniform_groups, constants, spirv };
        if let Some(source) = &self.source {
            let compiled = toolchain::compile(&self.context.device, source, input)?;
            return Ok((make(compiled.spirv, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT), compiled.log));
        }
        if let Some(il) = &self.il {
            return Ok((make(il.clone(), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT), String::new()));
        }
        match self.binary() {
            Some(binary) => Ok(((*binary).clone(), String::new())),
            None => Err(BuildFailure::binary("the program has neither source nor SPIR-V")),
        }
    }

    /// Compiles and links; [`begin`](Self::begin) went before.
    pub fn build(&self, input: &CompileInput) -> Result {
        let result = self.compiled(input).and_then(|(binary, log)| {
            let binary = Binary { kind: CL_PROGRAM_BINARY_TYPE_EXECUTABLE, ..binary };
            let built = toolchain::finish(&self.context, &binary)?;
            Ok((binary, Some(built), log))
        });
        self.end(result)
    }

    /// Compiles to an object; [`begin`](Self::begin) went before.
    pub fn compile(&self, input: &CompileInput) -> Result {
        let result = self.compiled(input).map(|(binary, log)| (binary, None, log));
        self.end(result)
    }

    /// Becomes what `inputs` link to; [`begin`](Self::begin) went before.
    pub fn link(&self, inputs: &[Arc<Binary>], kind: u32, input: &CompileInput) -> Result {
        let result = toolchain::link(inputs, kind, input).and_then(|binary| {
            let built = match kind {
                CL_PROGRAM_BINARY_TYPE_EXECUTABLE => Some(toolchain::finish(&self.context, &binary)?),
                _ => None,
            };
            Ok((binary, built, String::new()))
        });
        self.end(result)
    }

    /// The executable, or the error for a program without one.
    pub fn executable(&self) -> Result<Arc<Built>> {
        match self.built() {
            Some(built) => Ok(built),
            None => fail!(CL_INVALID_PROGRAM_EXECUTABLE, "the program was not built, or its build failed"),
        }
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.context.device
    }

    /// Its handle.
    pub fn raw(&self) -> Raw {
        self.handle.raw()
    }
}
