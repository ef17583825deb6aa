//! Lowering: optimised IR to the machine program.
//!
//! Stages, one file each: [`expand`] (IR forms without a machine form), [`select`] (instruction selection), [`sink`] (over
//! loops), [`phi`] (out of SSA), [`tidy`] (blocks), [`uniform`] (uniform datapath), [`balance`] (pipes), [`schedule`], [`allocate`] and [`spill`] (registers),
//! [`emit`] (layout and branches), [`atomics`] (accesses that wait for atomics). [`verify`] checks a program, [`disassemble`] prints it.
mod abi;
mod addresses;
mod allocate;
mod atomics;
mod balance;
mod cfg;
mod constants;
mod disasm;
mod effects;
mod emit;
mod expand;
mod liveness;
mod mir;
mod narrow;
#[cfg(test)]
mod order_tests;
mod packs;
mod phi;
mod predicate;
mod recipes;
mod reuse;
mod schedule;
mod select;
mod sink;
mod spill;
#[cfg(test)]
mod tests;
mod tidy;
mod uniform;
mod verify;

pub use disasm::{disassemble, operation};
pub use verify::verify;

use crate::ir::{Function, Kernel, Module};
use mir::MFunc;
use warpscope_configs::MachineSpec;
use warpscope_configs::specs::TargetSpec;
use warpscope_exec::program::{ConstantRow, LaunchConstant, Program};

/// What lowering needs to know of the machine.
#[derive(Copy, Clone, Debug)]
pub struct Options<'a> {
    /// The target.
    pub target: &'a TargetSpec,
    /// Lanes a warp.
    pub width: u32,
    /// First free offset of local memory.
    pub local_reserved: u32,
    /// Most vector registers of a work-item.
    pub max_registers: u32,
    /// Vector registers up to which all work-items that a compute unit can hold are resident.
    pub full_occupancy: u32,
    /// Registers of a work-item are handed out in units of this many.
    pub register_step: u32,
    /// Banks of the register file.
    pub register_banks: u32,
    /// Whether the machine keeps operands for reuse.
    pub reuse_cache: bool,
}

impl<'a> Options<'a> {
    /// Options for a machine and a warp width.
    pub fn of(machine: &'a MachineSpec, width: u32) -> Options<'a> {
        Options {
            target: &machine.target,
            width,
            local_reserved: machine.memory.local.reserved_per_group,
            max_registers: machine.compute_unit.max_registers_per_work_item,
            full_occupancy: machine.compute_unit.registers / machine.compute_unit.max_work_items,
            register_step: (machine.compute_unit.register_granularity / width.max(1)).max(1),
            register_banks: machine.compute_unit.register_file.banks,
            reuse_cache: machine.compute_unit.register_file.reuse_cache,
        }
    }

    /// Registers of a work-item that code cannot use.
    fn kept_registers(&self) -> u32 {
        self.target.reserved_registers + self.target.fixed_registers.len() as u32
    }
}

/// Why a kernel cannot be lowered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("kernel `{kernel}`{}: {why}", place(.file, .line))]
pub struct LowerError {
    /// Kernel.
    pub kernel: String,
    /// Source file, or empty.
    pub file: String,
    /// Source line, 0 where unknown.
    pub line: u32,
    /// What is wrong and what to do.
    pub why: String,
}

fn place(file: &str, line: &u32) -> String {
    if *line == 0 { String::new() } else { format!(" ({file}:{line})") }
}

/// Rounds of spilling after which allocation gives up.
const SPILL_ROUNDS: usize = 64;

/// Lowers a kernel's function, with all calls inlined, to a program for warps of `options.width` lanes.
pub fn lower(
    function: &Function,
    kernel: &Kernel,
    module: &Module,
    options: &Options<'_>,
) -> Result<Program, LowerError> {
    let mut function = function.clone();
    expand::expand(&mut function);
    if options.target.optimise_addresses {
        narrow::narrow(&mut function);
        addresses::separate_constants(&mut function, options.target.wide_global_ids);
        crate::passes::cse::run(&mut function);
        crate::passes::licm::run(&mut function);
        crate::passes::compares::run(&mut function);
        crate::passes::dce::run(&mut function);
    }
    let mut selector = select::Selector::new(&function, kernel, module, options);
    selector.run()?;
    let facts = selector.facts.clone();
    let mut f = std::mem::take(&mut selector.out);
    tidy::drop_parameters_of_single_edges(&mut f);
    sink::sink(&mut f);
    phi::eliminate(&mut f);
    tidy::merge_blocks(&mut f);
    let fail = |why| LowerError { kernel: kernel.name.clone(), file: String::new(), line: 0, why };
    packs::share(&mut f, options.target.schedule.register_budget as usize / HELD_SHARE);
    uniform::assign(&mut f, options);
    constants::legalise(&mut f, options);
    abi::insert(&mut f, options, facts.local_variables).map_err(fail)?;
    recipes::expand(&mut f, &mut recipes::Recipes::of(options.target).map_err(fail)?).map_err(fail)?;
    predicate::predicate(&mut f, predicate::Limits::of(options.target));
    tidy::merge_blocks(&mut f);
    abi::converge(&mut f, options);
    balance::balance(&mut f, &options.target.multiply_pipe);
    let Scheduled { f, cfg, assignment, private } = arrange(&f, options, facts.private_bytes).map_err(fail)?;
    let mut code = emit::emit(&f, &cfg, &assignment);
    atomics::mark(&mut code);
    reuse::mark(&mut code, options);
    Ok(Program {
        name: kernel.name.clone(),
        width: options.width,
        ops: code.ops,
        lines: code.lines,
        files: module.files.clone(),
        constant_offsets: f.pool.rows.iter().map(|r| bank_offset(r, options.target)).collect(),
        constants: f.pool.rows,
        jump_tables: code.jump_tables,
        registers: (assignment.vector + options.target.reserved_registers).max(options.target.minimum_registers),
        uniform_registers: assignment.uniform,
        local_bytes: facts.local_bytes,
        private_bytes: private,
        spill_bytes: private - facts.private_bytes,
        parameters: kernel.parameters.clone(),
        parameter_bytes: kernel.parameter_bytes,
        required_group_size: kernel.required_group_size,
        required_sub_group_size: kernel.required_sub_group_size,
        order_sensitive: facts.order_sensitive,
        has_barrier: facts.has_barrier,
    })
}

/// Scheduled code with its registers.
struct Scheduled {
    f: MFunc,
    cfg: cfg::Cfg,
    assignment: allocate::Assignment,
    /// Bytes of private memory, spills included.
    private: u32,
}

/// The part of the register budget that stored constants may hold over a loop is one in this many.
const HELD_SHARE: usize = 2;
/// What is taken off the register budget, one after the other, to reach full occupancy (the H200's compiler stays within
/// 32 registers for code that could use half as many again: nw, lud, image filters).
const TIGHTER: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15];
/// The same for code of more than [`LONG`] operations.
const TIGHTER_LONG: [u32; 5] = [0, 2, 5, 9, 15];
/// Times by which one warp may take longer for full occupancy, by the estimate (the H200's compiler keeps 32 registers
/// where that costs so much: measured for kmeans, nbody, spmv, lavamd).
const SLOWER: f64 = 1.66;
/// The same for any higher occupancy: next to nothing (the H200's compiler takes 44 and 64 registers for loops of gemv and
/// gemm that would take a tenth longer with 40 and 48).
const ALIKE: f64 = 1.02;
/// Ways to choose what comes next: which is best depends on the code, so all are tried.
const CHOICES: [schedule::Choice; 10] = [
    schedule::Choice { headroom: 0, in_order: false, spare_predicates: 2, lazy: false },
    schedule::Choice { headroom: 4, in_order: false, spare_predicates: 2, lazy: false },
    schedule::Choice { headroom: 0, in_order: true, spare_predicates: 2, lazy: false },
    schedule::Choice { headroom: 4, in_order: true, spare_predicates: 2, lazy: false },
    schedule::Choice { headroom: 0, in_order: false, spare_predicates: 2, lazy: true },
    schedule::Choice { headroom: 4, in_order: false, spare_predicates: 2, lazy: true },
    schedule::Choice { headroom: 0, in_order: true, spare_predicates: 2, lazy: true },
    schedule::Choice { headroom: 4, in_order: true, spare_predicates: 2, lazy: true },
    // Where predicates hold something up. Too many of them cost registers and moves.
    schedule::Choice { headroom: 0, in_order: false, spare_predicates: 0, lazy: false },
    schedule::Choice { headroom: 0, in_order: true, spare_predicates: 0, lazy: false },
];
/// Code of more operations than this is tried with fewer budgets.
const LONG: usize = 2_000;
/// Code of more operations than this is scheduled once.
const LARGE: usize = 20_000;

/// A schedule that was tried.
struct Attempt {
    choice: schedule::Choice,
    /// Taken off the register budget.
    less: u32,
    /// Whether it reaches full occupancy.
    full: bool,
    /// Registers in steps of occupancy.
    step: u32,
    /// Estimated cycles of one warp.
    cycles: f64,
}

/// Schedules and allocates registers: in every way with the target's register budget, and with less of it until all
/// work-items that fit a compute unit can be resident. The highest occupancy wins that does not take one warp too much
/// longer, and the fewest cycles among those that reach it.
fn arrange(f: &MFunc, options: &Options<'_>, private: u32) -> Result<Scheduled, String> {
    let operations = f.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
    let once = operations > LARGE || !options.target.schedule.enabled;
    if once {
        return scheduled(f, options, private, (CHOICES[0], 0), &mut false).map(|s| s.0);
    }
    let budgets: &[u32] = if operations > LONG { &TIGHTER_LONG } else { &TIGHTER };
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut held_up = false;
    for choice in CHOICES {
        if choice.spare_predicates == 0 && !held_up {
            break;
        }
        for &less in budgets {
            let (s, cycles) = scheduled(f, options, private, (choice, less), &mut held_up)?;
            let registers = s.assignment.vector + options.target.reserved_registers;
            let full = registers <= options.full_occupancy;
            let step = registers.max(options.full_occupancy).div_ceil(options.register_step);
            attempts.push(Attempt { choice, less, full, step, cycles });
            if full {
                break;
            }
        }
    }
    let least = attempts.iter().map(|a| a.cycles).fold(f64::INFINITY, f64::min);
    let good = |a: &&Attempt| a.cycles <= least * if a.full { SLOWER } else { ALIKE };
    let best = attempts.iter().filter(good).min_by(|a, b| a.step.cmp(&b.step).then(a.cycles.total_cmp(&b.cycles)));
    let best = best.ok_or_else(|| "it was not scheduled".to_string())?;
    scheduled(f, options, private, (best.choice, best.less), &mut held_up).map(|s| s.0)
}

/// Schedules in one way with the target's register budget less some, and estimates the cycles of a warp.
fn scheduled(
    f: &MFunc,
    options: &Options<'_>,
    mut private: u32,
    (choice, less): (schedule::Choice, u32),
    held_up: &mut bool,
) -> Result<(Scheduled, f64), String> {
    let mut f = f.clone();
    let spec = &options.target.schedule;
    *held_up |= schedule::schedule(&mut f, options, spec.register_budget.saturating_sub(less).max(1), choice);
    let (cfg, assignment) = assign(&mut f, options, &mut private)?;
    let cycles = schedule::estimate(&f, &cfg, spec);
    Ok((Scheduled { f, cfg, assignment, private }, cycles))
}

/// Allocates registers, spilling until they suffice.
fn assign(f: &mut MFunc, options: &Options<'_>, private: &mut u32) -> Result<(cfg::Cfg, allocate::Assignment), String> {
    let limits = allocate::Limits {
        vector: options.max_registers.saturating_sub(options.target.reserved_registers),
        fixed: &options.target.fixed_registers,
        roomy: options.full_occupancy.saturating_sub(options.target.reserved_registers),
        uniform: options.target.uniform_registers,
        predicates: options.target.predicates,
        banks: options.register_banks,
    };
    let cfg = cfg::Cfg::of(f);
    for _ in 0..SPILL_ROUNDS {
        match allocate::allocate(f, &cfg, limits) {
            Ok(assignment) => return Ok((cfg, assignment)),
            Err(victims) if victims.is_empty() => break,
            Err(victims) => spill::spill(f, &victims, private),
        }
    }
    Err(format!(
        "it does not fit {} registers and {} predicates even with spilling; raise \
         compute_unit.max_registers_per_work_item or target.predicates",
        limits.vector, limits.predicates
    ))
}

/// Byte offset in the constant bank from which a row is read.
fn bank_offset(row: &ConstantRow, target: &TargetSpec) -> u32 {
    let bank = &target.constant_bank;
    match *row {
        ConstantRow::Immediate(_) | ConstantRow::GlobalAddress(..) => u32::MAX,
        ConstantRow::Parameter(offset) => bank.parameters + offset,
        ConstantRow::LocalArgument(n) => bank.local_arguments + 4 * n,
        ConstantRow::Launch(l) => match l {
            LaunchConstant::GlobalOffset { dim, high } => bank.global_offset + 4 * dim as u32 + 16 * high as u32,
            LaunchConstant::EnqueuedLocalSize(dim) => bank.local_size + 4 * dim as u32,
            LaunchConstant::NumGroups(dim) => bank.group_count + 4 * dim as u32,
            LaunchConstant::GlobalSize { dim, high } => bank.global_size + 4 * dim as u32 + 16 * high as u32,
            LaunchConstant::WorkDim => bank.launch,
            LaunchConstant::EnqueuedNumSubGroups => bank.launch + 4,
            LaunchConstant::MaxSubGroupSize => bank.launch + 8,
            LaunchConstant::Zero => bank.launch + 12,
        },
    }
}
