//! `warpscope occupancy`: how many warps of a kernel fit on a compute unit, and what keeps more from fitting.
use crate::arguments::{KernelArguments, MachineArguments};
use crate::failure::Failure;
use crate::output::print;
use clap::Args;
use std::path::PathBuf;
use warpscope_configs::MachineSpec;
use warpscope_reports::render::{Align, table};
use warpscope_sim::{Occupancy, Resources, occupancy};

#[derive(Args)]
pub struct Arguments {
    /// SPIR-V module or OpenCL C source; without one, give --registers.
    #[arg(value_name = "FILE", required_unless_present = "registers")]
    file: Option<PathBuf>,
    /// Kernel; may be left out where the module has only one.
    #[arg(long, short)]
    kernel: Option<String>,
    /// Build options for a source.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    options: String,
    /// Registers of a work-item, instead of a kernel's.
    #[arg(long, conflicts_with = "file")]
    registers: Option<u32>,
    /// Local memory of a work-group in bytes, beyond what the kernel declares.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    local_memory: u32,
    /// Work-items of a work-group; where it is missing only the table over all sizes is printed.
    #[arg(long, short, value_name = "N")]
    local: Option<u32>,
    #[command(flatten)]
    machine: MachineArguments,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine.load()?;
    let spec = &machine.spec;
    let need = need(arguments, spec)?;
    let largest = spec.compute_unit.max_group_size;
    if let Some(local) = arguments.local {
        if local == 0 || local > largest {
            return Err(Failure::Usage(format!(
                "--local {local}: this machine takes work-groups of 1 to {largest} work-items"
            )));
        }
        let need = Resources { group_size: local, ..need };
        print(&explain(spec, &need, &occupancy(spec, &need)))?;
    }
    print(&over_sizes(spec, &need))
}

fn need(arguments: &Arguments, spec: &MachineSpec) -> Result<Resources, Failure> {
    let (width, registers, local) = match (&arguments.file, arguments.registers) {
        (Some(file), _) => {
            let kernel = KernelArguments {
                file: file.clone(),
                kernel: arguments.kernel.clone(),
                options: arguments.options.clone(),
            };
            let module = kernel.module()?;
            let name = kernel.choose_in(&module)?;
            let index = kernel.find(&module, &name)?;
            let program = kernel.compile(&module, index, spec, None)?;
            (program.width, program.registers, program.local_bytes)
        }
        (None, Some(registers)) => (spec.chip.sub_group_size, registers, 0),
        (None, None) => return Err(Failure::Usage("give a FILE or --registers".into())),
    };
    let most = spec.compute_unit.max_registers_per_work_item;
    if registers > most {
        return Err(Failure::Usage(format!("{registers} registers: a work-item has at most {most} on this machine")));
    }
    Ok(Resources { width, registers, local_bytes: local.saturating_add(arguments.local_memory), group_size: 1 })
}

fn explain(spec: &MachineSpec, need: &Resources, o: &Occupancy) -> String {
    let mut out = format!(
        "{} of {} warps ({:.1}%): {} work-groups of {} work-items, limited by {}\n\n",
        o.warps,
        o.max_warps,
        o.ratio() * 100.0,
        o.groups,
        need.group_size,
        o.limiter.name()
    );
    let local = &spec.memory.local;
    let rows = [
        ("warps", format!("{} a group", o.warps_per_group), o.max_warps.to_string(), o.limits.warps),
        ("groups", "1".into(), spec.compute_unit.max_groups.to_string(), o.limits.groups),
        (
            "work-items",
            format!("{} a group", need.group_size),
            spec.compute_unit.max_work_items.to_string(),
            o.limits.work_items,
        ),
        (
            "registers",
            format!("{} a work-item, {} a warp", need.registers, o.registers_per_warp),
            spec.compute_unit.registers.to_string(),
            o.limits.registers,
        ),
        (
            "local memory",
            format!("{} B a group", o.local_per_group),
            format!("{} B", local.carve_outs.last().copied().unwrap_or(0)),
            o.limits.local_memory,
        ),
    ];
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(name, need, has, groups)| vec![name.into(), need, has, groups.to_string()]).collect();
    out += &table(
        &["resource", "needs", "there is", "groups that fit"],
        &[Align::Left, Align::Left, Align::Right, Align::Right],
        &rows,
    );
    out +=
        &format!("\nLocal memory takes {} B of the {} B that it shares with the L1.\n\n", o.carve_out, local.combined);
    out
}

fn over_sizes(spec: &MachineSpec, need: &Resources) -> String {
    let step = need.width.max(1);
    let largest = spec.compute_unit.max_group_size;
    let sizes: Vec<u32> =
        (1..=largest / step).map(|i| i * step).filter(|s| s.is_power_of_two() || s % (4 * step) == 0).collect();
    let rows: Vec<Vec<String>> = sizes
        .into_iter()
        .map(|group_size| {
            let o = occupancy(spec, &Resources { group_size, ..*need });
            let bar = "#".repeat((o.ratio() * 32.0).round() as usize);
            vec![
                group_size.to_string(),
                o.groups.to_string(),
                o.warps.to_string(),
                format!("{:.1}%", o.ratio() * 100.0),
                o.limiter.name().to_string(),
                bar,
            ]
        })
        .collect();
    let align = [Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
    table(&["work-group", "groups", "warps", "occupancy", "limited by", ""], &align, &rows)
}
