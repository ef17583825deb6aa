//! Kernels and their arguments.
use super::{Built, Handle, KernelInfo, MemObject, ProgramObject};
use crate::error::{Result, ensure, fail};
use crate::sync::Mutex;
use std::sync::{Arc, Weak};
use warpscope_exec::program::ParameterKind;
use warpscope_sim::Argument;

/// A set argument. Kernels hold no reference to memory objects (OpenCL 3.0 API, 5.9.2).
#[derive(Clone)]
pub enum ArgumentValue {
    /// A memory object behind a pointer.
    Memory(Weak<MemObject>),
    /// A memory object that is a handle to the kernel: an image or a pipe.
    Handle(Weak<MemObject>),
    /// An address; 0 for NULL.
    Address(u64),
    /// Bytes.
    Value(Vec<u8>),
    /// Bytes of local memory.
    Local(u32),
}

/// A kernel.
pub struct Kernel {
    pub(crate) handle: Handle,
    /// Its program.
    pub program: Arc<ProgramObject>,
    /// The executable that it comes from.
    pub built: Arc<Built>,
    index: usize,
    arguments: Mutex<Vec<Option<ArgumentValue>>>,
}

impl Kernel {
    /// A kernel of a program, without arguments.
    pub fn new(program: Arc<ProgramObject>, built: Arc<Built>, index: usize) -> Result<Kernel> {
        let arguments = vec![None; built.kernels[index].parameters.len()];
        Kernel::with_arguments(program, built, index, arguments)
    }

    fn with_arguments(
        program: Arc<ProgramObject>,
        built: Arc<Built>,
        index: usize,
        arguments: Vec<Option<ArgumentValue>>,
    ) -> Result<Kernel> {
        let handle = Handle::reserve()?;
        program.attach_kernel();
        Ok(Kernel { handle, program, built, index, arguments: Mutex::new(arguments) })
    }

    /// A copy with the same arguments (clCloneKernel).
    pub fn copy(&self) -> Result<Kernel> {
        let arguments = self.arguments.lock().clone();
        Kernel::with_arguments(self.program.clone(), self.built.clone(), self.index, arguments)
    }

    /// What the API tells of it.
    pub fn info(&self) -> &KernelInfo {
        &self.built.kernels[self.index]
    }

    /// Sets an argument, already checked against its parameter.
    pub fn set(&self, index: usize, value: ArgumentValue) {
        self.arguments.lock()[index] = Some(value);
    }

    /// Bytes of local memory that the local arguments ask for.
    pub fn local_arguments(&self) -> u32 {
        let arguments = self.arguments.lock();
        let sizes = arguments.iter().map(|a| if let Some(ArgumentValue::Local(n)) = a { *n } else { 0 });
        sizes.fold(0, u32::saturating_add)
    }

    /// The arguments as they are now, with the memory objects that must live until the launch ends.
    pub fn latch(&self) -> Result<(Vec<Argument>, Vec<Arc<MemObject>>)> {
        let arguments = self.arguments.lock();
        let mut out = Vec::with_capacity(arguments.len());
        let mut keep = Vec::new();
        for (i, argument) in arguments.iter().enumerate() {
            let name = &self.info().parameters[i].name;
            let Some(argument) = argument else {
                fail!(CL_INVALID_KERNEL_ARGS, "argument {i} (`{name}`) of kernel `{}` is not set", self.info().name)
            };
            let object = |weak: &Weak<MemObject>| match weak.upgrade() {
                Some(object) => Ok(object),
                None => fail!(CL_INVALID_MEM_OBJECT, "the memory object of argument {i} (`{name}`) was released"),
            };
            out.push(match argument {
                ArgumentValue::Memory(weak) => {
                    let object = object(weak)?;
                    keep.push(object.clone());
                    Argument::Pointer(object.address)
                }
                ArgumentValue::Handle(weak) => {
                    let object = object(weak)?;
                    keep.push(object.clone());
                    Argument::Value(object.address.to_le_bytes().to_vec())
                }
                ArgumentValue::Address(address) => Argument::Pointer(*address),
                ArgumentValue::Value(bytes) => Argument::Value(bytes.clone()),
                ArgumentValue::Local(size) => Argument::Local(*size),
            });
        }
        Ok((out, keep))
    }

    /// The kind of a parameter.
    pub fn parameter(&self, index: u32) -> Result<&warpscope_exec::program::Parameter> {
        let parameters = &self.info().parameters;
        let found = parameters.get(index as usize);
        ensure!(
            found.is_some(),
            CL_INVALID_ARG_INDEX,
            "kernel `{}` has {} parameters; there is no argument {index}",
            self.info().name,
            parameters.len()
        );
        Ok(&parameters[index as usize])
    }

    /// Whether a parameter is a pointer to global or constant memory.
    pub fn takes_memory(kind: &ParameterKind) -> bool {
        matches!(kind, ParameterKind::Pointer { .. })
    }

    /// The lowered program for the device.
    pub fn lowered(&self) -> Result<Arc<warpscope_exec::program::Program>> {
        self.built.lowered.program(&self.built.module, self.info().index, self.program.device())
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.detach_kernel();
    }
}
