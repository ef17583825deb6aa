//! A kernel launch on its way to the machine.
use super::command::Done;
use super::{Engine, Kernel, MemObject};
use crate::error::{Result, ensure};
use std::sync::Arc;
use warpscope_sim::{Launch, Resources, occupancy};

/// Sizes of a launch.
#[derive(Copy, Clone, Debug)]
pub struct Geometry {
    /// 1, 2 or 3.
    pub work_dim: u32,
    /// Global offset.
    pub offset: [u64; 3],
    /// Global size.
    pub global: [u64; 3],
    /// Work-group size; none: ours to choose.
    pub local: Option<[u64; 3]>,
}

/// A launch with everything that it needs.
pub struct PreparedLaunch {
    launch: Launch,
    keep: (Arc<Kernel>, Vec<Arc<MemObject>>),
}

impl PreparedLaunch {
    /// Executes it.
    pub fn run(mut self, engine: &mut Engine) -> Result<Done> {
        let done = engine.launch(&mut self.launch, &self.keep.0);
        drop(self.keep);
        done
    }
}

impl Kernel {
    /// The largest work-group: what registers and local memory allow (CL_KERNEL_WORK_GROUP_SIZE).
    pub fn max_group_size(&self) -> Result<usize> {
        if let Some(required) = self.info().required_group_size {
            return Ok(required.iter().map(|n| *n as usize).product());
        }
        let program = self.lowered()?;
        let spec = &self.program.device().spec;
        let most = spec.compute_unit.max_group_size;
        let local = self.local_arguments();
        // Whole sub-groups, the most that fit; at least one work-item where not even one sub-group does.
        let warps = most / program.width;
        let fits = |warps: &u32| occupancy(spec, &Resources::of(&program, local, warps * program.width)).groups > 0;
        let warps = (1..=warps).rev().find(fits).unwrap_or(0);
        Ok((warps * program.width).max(1) as usize)
    }

    /// `intel_reqd_sub_group_size`, or 0.
    pub fn required_sub_group_size(&self) -> u32 {
        self.built.module.kernels[self.info().index].required_sub_group_size.unwrap_or(0)
    }

    /// Checks a launch and takes the arguments as they are now.
    pub fn launch(self: Arc<Self>, geometry: Geometry) -> Result<PreparedLaunch> {
        let (arguments, objects) = self.latch()?;
        let program = self.lowered()?;
        let local = self.group_size(&geometry)?;
        let launch = Launch {
            globals: self.built.lowered.addresses().clone(),
            work_dim: geometry.work_dim,
            offset: geometry.offset,
            global: geometry.global,
            local,
            arguments,
            printf: self.built.lowered.printf(),
            mode: self.program.device().mode,
            program,
        };
        Ok(PreparedLaunch { launch, keep: (self, objects) })
    }

    fn group_size(&self, geometry: &Geometry) -> Result<[u32; 3]> {
        let required = self.info().required_group_size;
        let Some(local) = geometry.local else {
            return match required {
                // "if local_work_size is NULL" and the kernel has a required size, that one is used
                Some(required) => Ok(required),
                None => self.choose(geometry),
            };
        };
        let most = self.program.device().max_group_size() as u64;
        for (d, size) in local.iter().enumerate() {
            // "if any of the local work sizes is 0", "if any exceeds CL_DEVICE_MAX_WORK_ITEM_SIZES"
            ensure!(*size > 0, CL_INVALID_WORK_GROUP_SIZE, "the work-group size of dimension {d} is 0");
            ensure!(
                *size <= most,
                CL_INVALID_WORK_ITEM_SIZE,
                "the work-group size of dimension {d} is {size}; the device allows {most}"
            );
        }
        let local = local.map(|n| n as u32);
        if let Some(required) = required {
            ensure!(
                local == required,
                CL_INVALID_WORK_GROUP_SIZE,
                "the kernel requires work-groups of {required:?}, not {local:?}"
            );
        }
        let items: u64 = local.iter().map(|n| u64::from(*n)).product();
        let most = self.max_group_size()? as u64;
        ensure!(
            items <= most,
            CL_INVALID_WORK_GROUP_SIZE,
            "{items} work-items a group; this kernel's registers and local memory allow {most}"
        );
        let even = geometry.global.iter().zip(local).all(|(g, l)| g.is_multiple_of(u64::from(l)));
        ensure!(
            even || !self.built.uniform_groups,
            CL_INVALID_WORK_GROUP_SIZE,
            "work-groups of {local:?} do not divide the global size {:?} evenly",
            geometry.global
        );
        Ok(local)
    }

    /// A work-group size where the program leaves it to us: as long as possible in x, dividing the global size, and of
    /// at most 256 work-items, so that several fit on a compute unit. Where only a fraction of a sub-group would divide
    /// it and the program allows remainder groups, there is one.
    fn choose(&self, geometry: &Geometry) -> Result<[u32; 3]> {
        const WANTED: u64 = 256;
        let mut room = (self.max_group_size()? as u64).min(WANTED);
        let width = u64::from(self.lowered()?.width);
        let mut local = [1u32; 3];
        for (global, local) in geometry.global.iter().zip(&mut local) {
            let global = (*global).max(1);
            let size = (1..=room.min(global)).rev().find(|n| global.is_multiple_of(*n)).unwrap_or(1);
            let remainder = !self.built.uniform_groups && size < width.min(global).min(room);
            let size = if remainder { room.min(global) } else { size };
            *local = size as u32;
            room /= size;
        }
        Ok(local)
    }
}
