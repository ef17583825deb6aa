//! Kernel objects and their arguments (OpenCL 3.0 API, 5.9.1 to 5.9.3).
use super::{list, release, retain, text};
use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::spirv::{Access, HandleType};
use crate::model::{ArgumentValue, Kernel, MemObject, ProgramObject, Queue, Sampler};
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use warpscope_exec::program::ParameterKind;

pub unsafe fn create_kernel(program: Raw, kernel_name: *const c_char) -> Result<Raw> {
    let program = handle::resolve::<ProgramObject>(program)?;
    ensure!(!kernel_name.is_null(), CL_INVALID_VALUE, "kernel_name is NULL");
    let built = program.executable()?;
    let name = text(kernel_name);
    let Some(index) = built.find(&name) else {
        let names: Vec<&str> = built.kernels.iter().map(|k| k.name.as_str()).collect();
        fail!(CL_INVALID_KERNEL_NAME, "the program has no kernel {name:?}; it has {}", names.join(", "))
    };
    Ok(publish(Arc::new(Kernel::new(program, built, index)?)))
}

pub unsafe fn create_kernels_in_program(
    program: Raw,
    num_kernels: u32,
    kernels: *mut Raw,
    num_kernels_ret: *mut u32,
) -> Result {
    let program = handle::resolve::<ProgramObject>(program)?;
    let built = program.executable()?;
    let count = built.kernels.len();
    if !num_kernels_ret.is_null() {
        num_kernels_ret.write(count as u32);
    }
    if kernels.is_null() {
        return Ok(());
    }
    // "if kernels is not NULL and num_kernels is less than the number of kernels in program"
    ensure!(
        num_kernels as usize >= count,
        CL_INVALID_VALUE,
        "there are {count} kernels; there is room for {num_kernels}"
    );
    for index in 0..count {
        let kernel = Kernel::new(program.clone(), built.clone(), index)?;
        kernels.add(index).write(publish(Arc::new(kernel)));
    }
    Ok(())
}

pub unsafe fn retain_kernel(kernel: Raw) -> Result {
    retain::<Kernel>(kernel)
}

pub unsafe fn release_kernel(kernel: Raw) -> Result {
    release::<Kernel>(kernel)
}

pub unsafe fn clone_kernel(source_kernel: Raw) -> Result<Raw> {
    let kernel = handle::resolve::<Kernel>(source_kernel)?;
    Ok(publish(Arc::new(kernel.copy()?)))
}

pub unsafe fn set_kernel_arg(kernel: Raw, arg_index: u32, arg_size: usize, arg_value: *const c_void) -> Result {
    let kernel = handle::resolve::<Kernel>(kernel)?;
    let parameter = kernel.parameter(arg_index)?;
    let name = &parameter.name;
    if let Some(handle) = kernel.info().handles[arg_index as usize] {
        let size = size_of::<Raw>();
        ensure!(
            arg_size == size,
            CL_INVALID_ARG_SIZE,
            "argument {arg_index} (`{name}`) is a handle: its size is {size}, not {arg_size}"
        );
        let Some(&raw) = list(arg_value.cast::<Raw>(), 1).first() else {
            fail!(CL_INVALID_ARG_VALUE, "argument {arg_index} (`{name}`): its value is NULL")
        };
        let value = handle_argument(&kernel, handle, raw).map_err(|e| {
            let why = format!("argument {arg_index} (`{name}`): {}", e.why);
            ClError::new(e.code, why)
        })?;
        kernel.set(arg_index as usize, value);
        return Ok(());
    }
    let value = match parameter.kind {
        ParameterKind::LocalPointer { .. } => {
            // "if the argument is declared with the local qualifier and arg_size is zero", and "arg_value must be NULL"
            ensure!(
                arg_value.is_null(),
                CL_INVALID_ARG_VALUE,
                "argument {arg_index} (`{name}`) is local: its value must be NULL"
            );
            let most = kernel.program.device().local_memory();
            ensure!(arg_size > 0, CL_INVALID_ARG_SIZE, "argument {arg_index} (`{name}`) is local: its size is 0");
            ensure!(
                arg_size as u64 <= most,
                CL_INVALID_ARG_SIZE,
                "argument {arg_index} (`{name}`): {arg_size} bytes of local memory; the device has {most}"
            );
            ArgumentValue::Local(arg_size as u32)
        }
        ParameterKind::Pointer { .. } => {
            let size = size_of::<Raw>();
            ensure!(
                arg_size == size,
                CL_INVALID_ARG_SIZE,
                "argument {arg_index} (`{name}`) is a memory object: its size is {size}, not {arg_size}"
            );
            match list(arg_value.cast::<Raw>(), 1).first() {
                Some(raw) if !raw.is_null() => {
                    let object = handle::resolve::<MemObject>(*raw)?;
                    let buffer = object.object_type() == CL_MEM_OBJECT_BUFFER;
                    ensure!(
                        buffer,
                        CL_INVALID_MEM_OBJECT,
                        "argument {arg_index} (`{name}`) takes a buffer, not an image or a pipe"
                    );
                    super::same_context(&kernel.program.context, &object.context, "the memory object")?;
                    ArgumentValue::Memory(Arc::downgrade(&object))
                }
                _ => ArgumentValue::Address(0),
            }
        }
        ParameterKind::Value => {
            ensure!(
                arg_size == parameter.size as usize,
                CL_INVALID_ARG_SIZE,
                "argument {arg_index} (`{name}`) has {} bytes, not {arg_size}",
                parameter.size
            );
            ensure!(!arg_value.is_null(), CL_INVALID_ARG_VALUE, "argument {arg_index} (`{name}`): its value is NULL");
            ArgumentValue::Value(list(arg_value.cast::<u8>(), arg_size).to_vec())
        }
    };
    kernel.set(arg_index as usize, value);
    Ok(())
}

/// An argument that is a handle, checked against what the parameter stands for.
fn handle_argument(kernel: &Kernel, handle: HandleType, raw: Raw) -> Result<ArgumentValue> {
    let context = &kernel.program.context;
    let bytes = || ArgumentValue::Value((raw as u64).to_le_bytes().to_vec());
    match handle {
        // "for an argument declared to be of type sampler_t when the specified arg_value is not a valid sampler object"
        HandleType::Sampler => {
            let sampler = handle::resolve::<Sampler>(raw)?;
            super::same_context(context, &sampler.context, "the sampler").map(|()| bytes())
        }
        // "for an argument declared to be of type queue_t when the specified arg_value is not a valid device queue object"
        HandleType::Queue => {
            let queue = handle::resolve::<Queue>(raw).ok().filter(|queue| queue.on_device.is_some());
            let Some(queue) = queue else { fail!(CL_INVALID_DEVICE_QUEUE, "{raw:p} is no queue on the device") };
            super::same_context(context, &queue.context, "the queue on the device").map(|()| bytes())
        }
        HandleType::Pipe(_) => {
            let object = handle::resolve::<MemObject>(raw)?;
            ensure!(object.object_type() == CL_MEM_OBJECT_PIPE, CL_INVALID_MEM_OBJECT, "the memory object is no pipe");
            super::same_context(context, &object.context, "the pipe")?;
            Ok(ArgumentValue::Handle(Arc::downgrade(&object)))
        }
        HandleType::Image { kind, depth, access } => {
            let object = handle::resolve::<MemObject>(raw)?;
            let Some(image) = object.as_image() else { fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image") };
            super::same_context(context, &object.context, "the image")?;
            // "if the argument is an image declared with the read_only qualifier and arg_value refers to an image object
            // created with cl_mem_flags of CL_MEM_WRITE_ONLY", and the reverse
            let denied = match access {
                Access::Read => CL_MEM_WRITE_ONLY,
                Access::Write => CL_MEM_READ_ONLY,
                Access::ReadWrite => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
            };
            ensure!(object.flags & denied == 0, CL_INVALID_ARG_VALUE, "the kernel may not use the image in this way");
            let fits = image.kind == kind && depth == (image.format.order == CL_DEPTH);
            ensure!(fits, CL_INVALID_ARG_VALUE, "the image is of another kind than the parameter");
            Ok(ArgumentValue::Handle(Arc::downgrade(&object)))
        }
    }
}

pub unsafe fn set_kernel_arg_svm_pointer(kernel: Raw, arg_index: u32, arg_value: *const c_void) -> Result {
    let kernel = handle::resolve::<Kernel>(kernel)?;
    let parameter = kernel.parameter(arg_index)?;
    // "if arg_value is not a valid value": the parameter must be a pointer to global or constant memory
    let pointer = Kernel::takes_memory(&parameter.kind);
    ensure!(
        pointer,
        CL_INVALID_ARG_VALUE,
        "argument {arg_index} (`{}`) is no pointer to global memory",
        parameter.name
    );
    kernel.set(arg_index as usize, ArgumentValue::Address(arg_value as u64));
    Ok(())
}

/// Kernels may use any shared allocation of the context at any time, so that lists of pointers need no keeping.
pub unsafe fn set_kernel_exec_info(
    kernel: Raw,
    param_name: u32,
    param_value_size: usize,
    param_value: *const c_void,
) -> Result {
    handle::resolve::<Kernel>(kernel)?;
    // An empty list takes back the pointers that were set before.
    let empty = param_name == CL_KERNEL_EXEC_INFO_SVM_PTRS && param_value_size == 0 && param_value.is_null();
    if empty {
        return Ok(());
    }
    ensure!(!param_value.is_null(), CL_INVALID_VALUE, "param_value is NULL");
    match param_name {
        CL_KERNEL_EXEC_INFO_SVM_PTRS => {
            let whole = param_value_size > 0 && param_value_size.is_multiple_of(size_of::<Raw>());
            ensure!(whole, CL_INVALID_VALUE, "{param_value_size} bytes are no list of pointers");
        }
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
            ensure!(param_value_size == 4, CL_INVALID_VALUE, "a truth value has 4 bytes, not {param_value_size}");
            let wanted = param_value.cast::<u32>().read_unaligned() != 0;
            // "if param_name is CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM and param_value is CL_TRUE but no devices in
            // context … support fine-grain system SVM allocations"
            ensure!(!wanted, CL_INVALID_OPERATION, "the device has no fine-grained system sharing");
        }
        _ => fail!(CL_INVALID_VALUE, "kernel execution information {param_name:#x} is not known"),
    }
    Ok(())
}
