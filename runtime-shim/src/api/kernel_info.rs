//! Kernel queries (OpenCL 3.0 API, 5.9.4).
use super::info::{Query, Written};
use super::{device, list, unknown};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::Kernel;
use crate::model::handle;
use crate::model::spirv::{Access, HandleType};
use std::ffi::c_void;
use warpscope_exec::program::ParameterKind;

pub unsafe fn get_kernel_info(kernel: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Kernel>(kernel)?;
    match param_name {
        CL_KERNEL_FUNCTION_NAME => query.text(&object.info().name),
        CL_KERNEL_NUM_ARGS => query.value(object.info().parameters.len() as u32),
        CL_KERNEL_REFERENCE_COUNT => query.value(handle::count::<Kernel>(kernel)),
        CL_KERNEL_CONTEXT => query.value(object.program.context.handle.raw()),
        CL_KERNEL_PROGRAM => query.value(object.program.raw()),
        // "For kernels not created from OpenCL C source and the clCreateProgramWithSource API call the string returned
        // from this query will be empty."
        CL_KERNEL_ATTRIBUTES => {
            query.text(if object.program.source.is_some() { &object.info().attributes } else { "" })
        }
        _ => unknown("kernel query", param_name),
    }
}

pub unsafe fn get_kernel_work_group_info(kernel: Raw, device: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Kernel>(kernel)?;
    // "or if device is NULL but there is more than one device associated with kernel"
    if !device.is_null() {
        device::resolve(device)?;
    }
    match param_name {
        CL_KERNEL_WORK_GROUP_SIZE => query.value(object.max_group_size()?),
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
            query.value(object.info().required_group_size.unwrap_or([0; 3]).map(|n| n as usize))
        }
        CL_KERNEL_LOCAL_MEM_SIZE => {
            let program = object.lowered()?;
            query.value(u64::from(program.local_bytes) + u64::from(object.local_arguments()))
        }
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => query.value(object.lowered()?.width as usize),
        CL_KERNEL_PRIVATE_MEM_SIZE => query.value(u64::from(object.lowered()?.private_bytes)),
        CL_KERNEL_SPILL_MEM_SIZE_INTEL => query.value(u64::from(object.lowered()?.spill_bytes)),
        // "valid only for custom devices or built-in kernels"
        CL_KERNEL_GLOBAL_WORK_SIZE => {
            fail!(CL_INVALID_VALUE, "CL_KERNEL_GLOBAL_WORK_SIZE is for custom devices and built-in kernels")
        }
        _ => unknown("work-group query", param_name),
    }
}

pub unsafe fn get_kernel_sub_group_info(
    kernel: Raw,
    device: Raw,
    param_name: u32,
    input_value_size: usize,
    input_value: *const c_void,
    query: &Query,
) -> Result<Written> {
    let object = handle::resolve::<Kernel>(kernel)?;
    if !device.is_null() {
        device::resolve(device)?;
    }
    let names = [
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
        CL_KERNEL_MAX_NUM_SUB_GROUPS,
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS,
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL,
    ];
    if !names.contains(&param_name) {
        return unknown("sub-group query", param_name);
    }
    // "if device does not support sub-groups"
    let offered = object.program.device().max_sub_groups() > 0;
    ensure!(offered, CL_INVALID_OPERATION, "the device does not offer sub-groups (CL_DEVICE_MAX_NUM_SUB_GROUPS is 0)");
    let width = object.lowered()?.width as usize;
    let word = size_of::<usize>();
    let sizes = || -> Result<Vec<usize>> {
        let whole = (1..=3).any(|n| input_value_size == n * word);
        ensure!(whole && !input_value.is_null(), CL_INVALID_VALUE, "the input value is no local size");
        Ok(list(input_value.cast::<usize>(), input_value_size / word).to_vec())
    };
    match param_name {
        // A work-group that is smaller than a sub-group is one of its own size.
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            let items: usize = sizes()?.iter().product();
            query.value(width.min(items.max(1)))
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => query.value(sizes()?.iter().product::<usize>().div_ceil(width)),
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            ensure!(
                input_value_size == word && !input_value.is_null(),
                CL_INVALID_VALUE,
                "the input value is no number of sub-groups"
            );
            let wanted = input_value.cast::<usize>().read_unaligned();
            let items = wanted.saturating_mul(width);
            let fits = items > 0 && items <= object.max_group_size()?;
            let dimensions = query.room().div_ceil(word).clamp(1, 3);
            let mut size = vec![1; dimensions];
            size[0] = items;
            query.slice(&if fits { size } else { vec![0; dimensions] })
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => query.value(object.max_group_size()? / width),
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => query.value(0usize),
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => query.value(object.required_sub_group_size() as usize),
        _ => unknown("sub-group query", param_name),
    }
}

pub unsafe fn get_kernel_arg_info(kernel: Raw, arg_indx: u32, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<Kernel>(kernel)?;
    let parameter = object.parameter(arg_indx)?;
    let qualifiers = &object.info().qualifiers[arg_indx as usize];
    let stands_for = object.info().handles[arg_indx as usize];
    // "if the argument information is not available for kernel"
    let known = !parameter.type_name.is_empty();
    let available = |known: bool| -> Result {
        ensure!(known, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "the module carries no information on arguments");
        Ok(())
    };
    match param_name {
        // Images and pipes count as global memory.
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => query.value(match parameter.kind {
            _ if matches!(stands_for, Some(HandleType::Image { .. } | HandleType::Pipe(_))) => {
                CL_KERNEL_ARG_ADDRESS_GLOBAL
            }
            ParameterKind::Pointer { constant: true } => CL_KERNEL_ARG_ADDRESS_CONSTANT,
            ParameterKind::Pointer { constant: false } => CL_KERNEL_ARG_ADDRESS_GLOBAL,
            ParameterKind::LocalPointer { .. } => CL_KERNEL_ARG_ADDRESS_LOCAL,
            ParameterKind::Value => CL_KERNEL_ARG_ADDRESS_PRIVATE,
        }),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => query.value(match stands_for {
            Some(HandleType::Image { access, .. } | HandleType::Pipe(access)) => match access {
                Access::Read => CL_KERNEL_ARG_ACCESS_READ_ONLY,
                Access::Write => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                Access::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            },
            _ => CL_KERNEL_ARG_ACCESS_NONE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => {
            available(known)?;
            query.text(&parameter.type_name)
        }
        CL_KERNEL_ARG_TYPE_QUALIFIER => {
            available(known)?;
            let bit = |word: &str, bit: u64| if qualifiers.split(' ').any(|w| w == word) { bit } else { 0 };
            // "CL_KERNEL_ARG_TYPE_CONST is returned if … the argument is declared with the constant address space"
            let constant = parameter.kind == ParameterKind::Pointer { constant: true };
            let pipe = if matches!(stands_for, Some(HandleType::Pipe(_))) { CL_KERNEL_ARG_TYPE_PIPE } else { 0 };
            let extra = pipe | if constant { CL_KERNEL_ARG_TYPE_CONST } else { 0 };
            query.value(
                extra
                    | bit("const", CL_KERNEL_ARG_TYPE_CONST)
                    | bit("restrict", CL_KERNEL_ARG_TYPE_RESTRICT)
                    | bit("volatile", CL_KERNEL_ARG_TYPE_VOLATILE),
            )
        }
        CL_KERNEL_ARG_NAME => {
            available(!parameter.name.is_empty())?;
            query.text(&parameter.name)
        }
        _ => unknown("argument query", param_name),
    }
}
