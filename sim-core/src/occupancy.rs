//! How many work-groups fit on a compute unit, and what limits them.
use serde::{Deserialize, Serialize};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::Program;

/// What a kernel's work-groups need.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resources {
    /// Lanes a warp.
    pub width: u32,
    /// Vector registers a work-item.
    pub registers: u32,
    /// Local memory of a group: static, and what local-pointer arguments ask for.
    pub local_bytes: u32,
    /// Work-items in a group.
    pub group_size: u32,
}

impl Resources {
    /// Of a program with `dynamic_local` bytes of local memory for its local-pointer parameters.
    pub fn of(program: &Program, dynamic_local: u32, group_size: u32) -> Resources {
        Resources {
            width: program.width,
            registers: program.registers,
            local_bytes: program.local_bytes.saturating_add(dynamic_local),
            group_size,
        }
    }
}

/// What keeps more groups from being resident.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// Warp slots.
    Warps,
    /// Work-group slots.
    Groups,
    /// Work-item slots.
    WorkItems,
    /// Registers.
    Registers,
    /// Local memory.
    LocalMemory,
}

impl Limiter {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Limiter::Warps => "warps",
            Limiter::Groups => "groups",
            Limiter::WorkItems => "work-items",
            Limiter::Registers => "registers",
            Limiter::LocalMemory => "local memory",
        }
    }
}

/// Groups that each resource of a compute unit has room for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupLimits {
    /// By warp slots.
    pub warps: u32,
    /// By group slots.
    pub groups: u32,
    /// By work-item slots.
    pub work_items: u32,
    /// By registers.
    pub registers: u32,
    /// By local memory.
    pub local_memory: u32,
}

/// Theoretical occupancy of a compute unit.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Occupancy {
    /// Groups resident at once.
    pub groups: u32,
    /// Warps resident at once.
    pub warps: u32,
    /// Warps that the compute unit has room for.
    pub max_warps: u32,
    /// Warps of a group.
    pub warps_per_group: u32,
    /// Registers that a warp is given.
    pub registers_per_warp: u32,
    /// Local memory that a group is given, the reserved part included.
    pub local_per_group: u32,
    /// Bytes of the combined store set aside for local memory; the rest is L1.
    pub carve_out: u32,
    /// The scarcest resource.
    pub limiter: Limiter,
    /// Groups by each resource.
    pub limits: GroupLimits,
}

impl Occupancy {
    /// Resident warps as a share of the warp slots.
    pub fn ratio(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps)
    }
}

/// Theoretical occupancy; `groups` is 0 where a group does not fit at all.
pub fn occupancy(spec: &MachineSpec, need: &Resources) -> Occupancy {
    let cu = &spec.compute_unit;
    let local = &spec.memory.local;
    let warps_per_group = need.group_size.max(1).div_ceil(need.width.max(1));
    let registers_per_warp = need.registers.max(1).saturating_mul(need.width).next_multiple_of(cu.register_granularity);
    // Each sub-core holds so many; a group is refused as if it had the same number in all of them.
    let fitting_warps = cu.registers / registers_per_warp / cu.warp_granularity * cu.warp_granularity;
    let local_per_group = need
        .local_bytes
        .saturating_add(local.reserved_per_group)
        .checked_next_multiple_of(local.granularity)
        .unwrap_or(u32::MAX);
    let largest = local.carve_outs.iter().copied().max().unwrap_or(local.combined);
    let limits = GroupLimits {
        warps: cu.max_warps / warps_per_group,
        groups: cu.max_groups,
        work_items: cu.max_work_items / need.group_size.max(1),
        registers: match warps_per_group.next_multiple_of(cu.warp_granularity) <= fitting_warps {
            true => fitting_warps / warps_per_group,
            false => 0,
        },
        local_memory: largest / local_per_group,
    };
    let (groups, limiter) = [
        (limits.warps, Limiter::Warps),
        (limits.groups, Limiter::Groups),
        (limits.work_items, Limiter::WorkItems),
        (limits.registers, Limiter::Registers),
        (limits.local_memory, Limiter::LocalMemory),
    ]
    .into_iter()
    .min_by_key(|(groups, _)| *groups)
    .expect("five limits");
    // The smallest split that does not itself limit the groups.
    let wanted = u64::from(groups.max(1)) * u64::from(local_per_group);
    let carve_out = local.carve_outs.iter().copied().find(|c| u64::from(*c) >= wanted).unwrap_or(largest);
    Occupancy {
        groups,
        warps: groups * warps_per_group,
        max_warps: cu.max_warps,
        warps_per_group,
        registers_per_warp,
        local_per_group,
        carve_out,
        limiter,
        limits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Theoretical occupancy that the H200's profiler gives (micro ilp8_w1, ilp8_w2, dram_read_f4_132x64, dgemm).
    #[test]
    fn groups_of_few_warps_fill_a_unit() {
        let spec = warpscope_configs::load("nvidia-h200", &[]).expect("the preset loads").spec;
        let ratio = |registers, group_size| {
            occupancy(&spec, &Resources { width: 32, registers, local_bytes: 0, group_size }).ratio()
        };
        for (registers, group_size, expected) in
            [(23, 32, 0.5), (23, 64, 1.0), (28, 64, 1.0), (40, 256, 0.75), (48, 64, 0.625), (255, 1024, 0.0)]
        {
            assert_eq!(ratio(registers, group_size), expected, "{registers} registers, groups of {group_size}");
        }
    }
}
