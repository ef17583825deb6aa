//! Checks of a launch before anything runs (OpenCL API, clEnqueueNDRangeKernel), and its parameter block.
use crate::{Argument, Geometry, Launch, LaunchError, Occupancy, Resources, occupancy};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::ParameterKind;

/// A launch that passed all checks.
#[derive(Debug)]
pub(crate) struct Checked {
    pub geometry: Geometry,
    pub resources: Resources,
    pub occupancy: Occupancy,
    /// Bytes of the parameter block.
    pub parameters: Vec<u8>,
    /// Offset of each parameter's local memory (0 for other kinds).
    pub local_offsets: Vec<u32>,
}

pub(crate) fn check(spec: &MachineSpec, launch: &Launch) -> Result<Checked, LaunchError> {
    let program = &*launch.program;
    let machine =
        |why: String| LaunchError::Machine { machine: spec.chip.name.clone(), kernel: program.name.clone(), why };
    if !spec.chip.sub_group_sizes.contains(&program.width) || ![8, 16, 32, 64].contains(&program.width) {
        let sizes = &spec.chip.sub_group_sizes;
        return Err(machine(format!("it was compiled for sub-groups of {}; the machine has {sizes:?}", program.width)));
    }
    if program.registers > spec.compute_unit.max_registers_per_work_item {
        let most = spec.compute_unit.max_registers_per_work_item;
        return Err(machine(format!("it uses {} registers a work-item; the machine has {most}", program.registers)));
    }
    let geometry = geometry(launch)?;
    check_group_size(spec, launch)?;
    let (parameters, local_offsets, dynamic_local) = parameters(spec, launch)?;
    let group_size = launch.local.iter().product();
    let resources = Resources::of(program, dynamic_local, group_size);
    if resources.local_bytes > spec.memory.local.max_per_group {
        return Err(LaunchError::Resources {
            kernel: program.name.clone(),
            why: format!(
                "it needs {} bytes of local memory; the machine allows {}",
                resources.local_bytes, spec.memory.local.max_per_group
            ),
        });
    }
    let occupancy = occupancy(spec, &resources);
    if occupancy.groups == 0 {
        return Err(LaunchError::Resources {
            kernel: program.name.clone(),
            why: format!(
                "{} work-items with {} registers each and {} bytes of local memory exceed its {}",
                group_size,
                program.registers,
                resources.local_bytes,
                occupancy.limiter.name()
            ),
        });
    }
    Ok(Checked { geometry, resources, occupancy, parameters, local_offsets })
}

fn geometry(launch: &Launch) -> Result<Geometry, LaunchError> {
    let range = |why: &str| LaunchError::Range { global: launch.global, offset: launch.offset, why: why.to_string() };
    if !(1..=3).contains(&launch.work_dim) {
        return Err(LaunchError::Dimensions(launch.work_dim));
    }
    let mut groups = [0; 3];
    for (d, count) in groups.iter_mut().enumerate() {
        let (global, local) = (launch.global[d], launch.local[d]);
        if d >= launch.work_dim as usize && (global != 1 || local != 1) {
            return Err(range("sizes beyond the last dimension must be 1"));
        }
        if launch.offset[d].checked_add(global).is_none() {
            return Err(range("size and offset exceed 64 bits"));
        }
        *count = global.div_ceil(u64::from(local.max(1)));
        if *count > u64::from(u32::MAX) {
            return Err(range("more than 2^32 work-groups in one dimension"));
        }
    }
    if groups.iter().try_fold(1u64, |n, g| n.checked_mul(*g)).is_none() {
        return Err(range("the number of work-groups exceeds 64 bits"));
    }
    Ok(Geometry {
        work_dim: launch.work_dim,
        offset: launch.offset,
        global: launch.global,
        local: launch.local,
        groups,
    })
}

fn check_group_size(spec: &MachineSpec, launch: &Launch) -> Result<(), LaunchError> {
    let size = |why: String| LaunchError::GroupSize { kernel: launch.program.name.clone(), size: launch.local, why };
    if launch.local.contains(&0) {
        return Err(size("a dimension is 0".into()));
    }
    let items = launch.local.iter().try_fold(1u32, |n, l| n.checked_mul(*l)).unwrap_or(u32::MAX);
    let most = spec.compute_unit.max_group_size;
    if items > most {
        return Err(size(format!("{items} work-items; the machine allows {most}")));
    }
    match launch.program.required_group_size {
        Some(required) if required != launch.local => Err(size(format!("the kernel requires {required:?}"))),
        _ => Ok(()),
    }
}

/// The parameter block, the offset of each local-pointer parameter, and the bytes of local memory they take together.
fn parameters(spec: &MachineSpec, launch: &Launch) -> Result<(Vec<u8>, Vec<u32>, u32), LaunchError> {
    let program = &*launch.program;
    if program.parameters.len() != launch.arguments.len() {
        return Err(LaunchError::ArgumentCount {
            kernel: program.name.clone(),
            expected: program.parameters.len(),
            given: launch.arguments.len(),
        });
    }
    let mut block = vec![0; program.parameter_bytes as usize];
    let mut offsets = vec![0; program.parameters.len()];
    // Dynamic local memory lies behind the static.
    let start = spec.memory.local.reserved_per_group.saturating_add(program.local_bytes);
    let mut end = start;
    for (index, (parameter, argument)) in program.parameters.iter().zip(&launch.arguments).enumerate() {
        let wrong = |why: String| LaunchError::Argument {
            kernel: program.name.clone(),
            index,
            name: parameter.name.clone(),
            why,
        };
        let bytes: &[u8] = match (&parameter.kind, argument) {
            (ParameterKind::Pointer { .. }, Argument::Pointer(address)) => &address.to_le_bytes(),
            (ParameterKind::Value, Argument::Value(bytes)) if bytes.len() == parameter.size as usize => bytes,
            (ParameterKind::Value, Argument::Value(bytes)) => {
                return Err(wrong(format!("{} bytes are given, its type has {}", bytes.len(), parameter.size)));
            }
            (ParameterKind::LocalPointer { align }, Argument::Local(size)) => {
                if *size == 0 {
                    return Err(wrong("local memory of 0 bytes".into()));
                }
                offsets[index] = end.checked_next_multiple_of((*align).max(1)).unwrap_or(u32::MAX);
                end = offsets[index].saturating_add(*size);
                continue;
            }
            (kind, _) => {
                let wants = match kind {
                    ParameterKind::Pointer { .. } => "a pointer to global or constant memory",
                    ParameterKind::LocalPointer { .. } => "a size of local memory",
                    ParameterKind::Value => "a value",
                };
                return Err(wrong(format!("it takes {wants}, something else is given")));
            }
        };
        let at = parameter.offset as usize;
        let place = block.get_mut(at..at + bytes.len());
        place.ok_or_else(|| wrong("it lies outside the parameter block".into()))?.copy_from_slice(bytes);
    }
    Ok((block, offsets, end - start))
}
