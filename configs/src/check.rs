//! Checks between keys: values that are each in range but contradict each other.
use crate::specs::FetchCacheSpec;
use crate::{MachineSpec, Problem, join, schema};

/// Keys that `compute_unit.classes` must have; the instruction set's `OpClass` has the same (a test compares them).
pub const OPERATION_CLASSES: &[&str] = &[
    "fp32",
    "fp16",
    "fp64",
    "imad",
    "imad-wide",
    "imad-high",
    "alu",
    "compare",
    "move",
    "xu",
    "convert",
    "uniform",
    "read-special",
    "load-constant",
    "load-uniform",
    "load-global",
    "store-global",
    "atomic-global",
    "reduce-global",
    "load-local",
    "store-local",
    "atomic-local",
    "load-private",
    "store-private",
    "shuffle",
    "vote",
    "reduce",
    "branch",
    "converge",
    "barrier",
    "fence",
    "exit",
];

/// Warps of a sub-core, pipes, and pipes of one class that the simulator has room for.
const MOST_WARPS: u32 = 64;
const MOST_PIPES: usize = 32;
const MOST_CHOICES: usize = 4;
/// Pipes that keep a distance between a warp's operations.
const MOST_SPACING_PIPES: usize = 4;
/// Bytes that the state of a machine may take on the computer that simulates it.
const MOST_STATE: u64 = 8 << 30;

/// Appends a problem for each contradiction.
pub(crate) fn cross(machine: &MachineSpec, problems: &mut Vec<Problem>) {
    let mut add = |path: &str, why: String| problems.push(Problem { path: path.to_string(), why });
    sub_groups(machine, &mut add);
    compute_unit(machine, &mut add);
    classes(machine, &mut add);
    frontend(machine, &mut add);
    local_memory(machine, &mut add);
    l2_and_dram(machine, &mut add);
    state(machine, &mut add);
}

fn sub_groups(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let chip = &machine.chip;
    let sizes = &chip.sub_group_sizes;
    if sizes.is_empty() || !sizes.is_sorted_by(|a, b| a < b) {
        add("chip.sub_group_sizes", "must list at least one size, smallest first, none twice".into());
    }
    for size in sizes {
        if ![8, 16, 32, 64].contains(size) {
            add("chip.sub_group_sizes", format!("{size} is not a size that can be simulated: 8, 16, 32 and 64 are"));
        }
    }
    if !sizes.contains(&chip.sub_group_size) {
        add("chip.sub_group_size", format!("{} is not among chip.sub_group_sizes {sizes:?}", chip.sub_group_size));
    }
}

fn compute_unit(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let cu = &machine.compute_unit;
    if !cu.max_warps.is_multiple_of(cu.sub_cores) {
        let why = format!("{} warps cannot be shared out evenly among {} sub-cores", cu.max_warps, cu.sub_cores);
        add("compute_unit.max_warps", why);
    }
    if cu.max_warps / cu.sub_cores > MOST_WARPS {
        let why = format!("a sub-core can have at most {MOST_WARPS} warps, not {}", cu.max_warps / cu.sub_cores);
        add("compute_unit.max_warps", why);
    }
    if cu.pipes.len() > MOST_PIPES {
        add("compute_unit.pipes", format!("there can be at most {MOST_PIPES} pipes, not {}", cu.pipes.len()));
    }
    let spacing = cu.pipes.values().filter(|p| p.spacing > 1).count();
    if spacing > MOST_SPACING_PIPES {
        add(
            "compute_unit.pipes",
            format!("`spacing` can be above 1 in at most {MOST_SPACING_PIPES} pipes, not {spacing}"),
        );
    }
    if !cu.registers.is_multiple_of(cu.sub_cores) {
        let why = format!("{} registers cannot be shared out evenly among {} sub-cores", cu.registers, cu.sub_cores);
        add("compute_unit.registers", why);
    }
    if cu.max_group_size > cu.max_work_items {
        let why =
            format!("{} work-items do not fit compute_unit.max_work_items = {}", cu.max_group_size, cu.max_work_items);
        add("compute_unit.max_group_size", why);
    }
    let widest = machine.chip.sub_group_sizes.iter().max().copied().unwrap_or(1);
    let narrowest = machine.chip.sub_group_sizes.iter().min().copied().unwrap_or(1).max(1);
    if cu.max_group_size.div_ceil(narrowest) > cu.max_warps {
        let why = format!(
            "a group of {} work-items in sub-groups of {narrowest} needs more than compute_unit.max_warps = {} warps",
            cu.max_group_size, cu.max_warps
        );
        add("compute_unit.max_group_size", why);
    }
    if u64::from(cu.max_registers_per_work_item) * u64::from(widest) > u64::from(cu.registers / cu.sub_cores) {
        let why = format!(
            "one warp of {widest} work-items with {} registers each does not fit a sub-core's {} registers",
            cu.max_registers_per_work_item,
            cu.registers / cu.sub_cores
        );
        add("compute_unit.max_registers_per_work_item", why);
    }
    if cu.register_granularity > cu.registers / cu.sub_cores {
        add("compute_unit.register_granularity", "is larger than a sub-core's registers".into());
    }
}

fn classes(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let cu = &machine.compute_unit;
    let section = "compute_unit.classes";
    for class in OPERATION_CLASSES.iter().filter(|c| !cu.classes.contains_key(**c)) {
        add(section, format!("the class `{class}` is missing"));
    }
    for (name, class) in &cu.classes {
        let path = join(section, name);
        if !OPERATION_CLASSES.contains(&name.as_str()) {
            let near = schema::nearest(name, OPERATION_CLASSES.iter().copied());
            let hint = near.map_or_else(
                || format!("known are {}", OPERATION_CLASSES.join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            add(&path, format!("there is no such class of operations; {hint}"));
        }
        if class.pipes.is_empty() {
            add(&join(&path, "pipes"), "must name at least one pipe".into());
        }
        if class.pipes.len() > MOST_CHOICES {
            let why = format!("can name at most {MOST_CHOICES} pipes, not {}", class.pipes.len());
            add(&join(&path, "pipes"), why);
        }
        for pipe in class.pipes.iter().filter(|p| !cu.pipes.contains_key(*p)) {
            let near = schema::nearest(pipe, cu.pipes.keys().map(String::as_str));
            let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            add(&join(&path, "pipes"), format!("there is no pipe `{pipe}` in compute_unit.pipes{hint}"));
        }
    }
}

fn frontend(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let spec = &machine.frontend;
    let caches = [
        ("l0_instruction", &spec.l0_instruction),
        ("l1_instruction", &spec.l1_instruction),
        ("l0_constant", &spec.l0_constant),
        ("l1_constant", &spec.l1_constant),
        ("l2_fetch", &spec.l2_fetch),
    ];
    for (name, cache) in caches {
        let path = join("frontend", name);
        if !cache.line.is_power_of_two() {
            add(&join(&path, "line"), format!("{} is not a power of two", cache.line));
        }
        if cache.capacity < cache.line {
            let why = format!("{} B do not hold one line of {} B", cache.capacity, cache.line);
            add(&join(&path, "capacity"), why);
        }
    }
    // What is asked of a level is one of its lines.
    let [l0, l1, operands, indexed, far] = caches;
    for ((near, small), (name, large)) in [(l0, l1), (l1, far), (operands, far), (indexed, far)] {
        if !large.line.is_multiple_of(small.line) {
            let why = format!("{} must be a multiple of frontend.{near}.line = {}", large.line, small.line);
            add(&join(&join("frontend", name), "line"), why);
        }
    }
    if !spec.l0_instruction.line.is_multiple_of(spec.instruction_bytes) {
        let why = format!("{} must divide frontend.l0_instruction.line", spec.instruction_bytes);
        add("frontend.instruction_bytes", why);
    }
}

fn local_memory(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let memory = &machine.memory;
    let local = &memory.local;
    if !memory.line.is_multiple_of(memory.sector) || !memory.line.is_power_of_two() || !memory.sector.is_power_of_two()
    {
        let why = format!(
            "line ({}) and sector ({}) must be powers of two, the line a multiple of the sector",
            memory.line, memory.sector
        );
        add("memory.line", why);
    }
    if local.carve_outs.is_empty() || !local.carve_outs.is_sorted_by(|a, b| a < b) {
        add("memory.local.carve_outs", "must list at least one size, smallest first, none twice".into());
    }
    if !memory.line.is_multiple_of(16) || memory.line / memory.sector.max(1) > 8 {
        add("memory.line", "must have at most 8 sectors and be a multiple of 16 B".into());
    }
    let largest = local.carve_outs.last().copied().unwrap_or(0);
    if largest > local.combined {
        add("memory.local.carve_outs", format!("{largest} B do not fit memory.local.combined = {} B", local.combined));
    }
    if local.max_per_group.saturating_add(local.reserved_per_group) > largest {
        let why = format!(
            "{} B and {} B reserved for a group do not fit the largest carve-out of {largest} B",
            local.max_per_group, local.reserved_per_group
        );
        add("memory.local.max_per_group", why);
    }
}

fn l2_and_dram(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let memory = &machine.memory;
    let (l2, dram) = (&memory.l2, &memory.dram);
    if !l2.slices.is_multiple_of(l2.halves.max(1)) {
        add("memory.l2.slices", format!("{} slices cannot be shared by {} halves", l2.slices, l2.halves));
    }
    if !l2.interleave.is_multiple_of(memory.line) || !l2.interleave.is_power_of_two() {
        let why = format!("{} must be a power of two and a multiple of memory.line = {}", l2.interleave, memory.line);
        add("memory.l2.interleave", why);
    }
    let lines = l2.capacity / u64::from(memory.line.max(1)) / u64::from(l2.slices.max(1));
    if lines < u64::from(l2.ways) || lines > 1 << 24 {
        let why = format!("{lines} lines a slice: at least memory.l2.ways = {} and at most 2^24 are needed", l2.ways);
        add("memory.l2.capacity", why);
    }
    let granule_fits = dram.granule.is_power_of_two()
        && dram.granule.is_multiple_of(memory.sector)
        && memory.line.is_multiple_of(dram.granule)
        && dram.row.is_multiple_of(dram.granule);
    if !granule_fits {
        let why = format!(
            "{} must be a power of two, a multiple of memory.sector and divide memory.line and memory.dram.row",
            dram.granule
        );
        add("memory.dram.granule", why);
    }
    if l2.half_bits != 0 && (l2.halves != 2 || 1u64 << l2.half_bits.trailing_zeros() < u64::from(l2.interleave)) {
        let why = "needs two halves, and blocks of at least memory.l2.interleave in each";
        add("memory.l2.half_bits", why.into());
    }
    let fetch = memory.l2.fetch;
    if !fetch.is_power_of_two() || !fetch.is_multiple_of(memory.sector) || !memory.line.is_multiple_of(fetch) {
        let why = format!("{fetch} must be a power of two, a multiple of memory.sector and divide memory.line");
        add("memory.l2.fetch", why);
    }
    if !dram.banks.is_power_of_two() || !dram.row.is_power_of_two() {
        add("memory.dram.banks", "banks and row must be powers of two".into());
    }
    if dram.write_low >= dram.write_high || dram.write_high > dram.write_queue {
        add("memory.dram.write_high", "must lie above write_low and at most at write_queue".into());
    }
    let smallest = memory.local.combined.saturating_sub(memory.local.carve_outs.last().copied().unwrap_or(0));
    if memory.l1.enabled && smallest < memory.line {
        add("memory.local.carve_outs", "the largest leaves not one line to the L1".into());
    }
}

/// What the simulator keeps for a machine that is used to the full must fit a computer.
fn state(machine: &MachineSpec, add: &mut impl FnMut(&str, String)) {
    let (frontend, memory) = (&machine.frontend, &machine.memory);
    let units = u64::from(machine.chip.compute_units);
    let sub_cores = u64::from(machine.compute_unit.sub_cores);
    // Upper bounds of what a line with its tag and a miss register take.
    let lines = |bytes: u64, line: u32| bytes / u64::from(line.max(1)) * 32;
    let misses = |registers: u32| u64::from(registers) * 48;
    let fetch = |cache: &FetchCacheSpec| lines(cache.capacity.into(), cache.line);
    let parts = [
        ("compute_unit.registers", units * u64::from(machine.compute_unit.registers) * 4),
        ("frontend.l0_instruction.capacity", units * sub_cores * fetch(&frontend.l0_instruction)),
        ("frontend.l1_instruction.capacity", units * fetch(&frontend.l1_instruction)),
        ("frontend.l0_constant.capacity", units * sub_cores * fetch(&frontend.l0_constant)),
        ("frontend.l1_constant.capacity", units * fetch(&frontend.l1_constant)),
        ("frontend.l2_fetch.capacity", units * fetch(&frontend.l2_fetch)),
        (
            "memory.local.combined",
            units * (u64::from(memory.local.combined) + lines(memory.local.combined.into(), memory.line)),
        ),
        ("memory.l1.mshrs", units * misses(memory.l1.mshrs)),
        ("memory.l2.capacity", lines(memory.l2.capacity, memory.line)),
        ("memory.l2.mshrs", u64::from(memory.l2.slices) * 2 * misses(memory.l2.mshrs)),
    ];
    let all: u64 = parts.iter().map(|part| part.1).sum();
    if let Some((path, bytes)) = parts.iter().max_by_key(|part| part.1)
        && all > MOST_STATE
    {
        let gib = |bytes: u64| bytes.div_ceil(1 << 30);
        let why = format!(
            "the machine's state would take up to {} GiB of this computer's memory, {} GiB of it for this; at most {} GiB can be simulated",
            gib(all),
            gib(*bytes),
            gib(MOST_STATE)
        );
        add(path, why);
    }
}
