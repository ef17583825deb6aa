//! How long launches without timing take, so that events of theirs can be compared and programs that measure end.
//!
//! Where a launch of the same kernel and sizes was timed in this context, its time by instructions executed; otherwise a
//! nominal time: the launch's head and tail, and its instructions over a rate. Among launches that are timed that is the
//! machine's, as `host.nominal_ipc` assumes it. In functional mode it is the simulator's own (`host.functional_rate`): a
//! program that enlarges its launches until they fill some time would otherwise ask for as much work as the machine could
//! do in that time, which is ten thousand times what is simulated in it.
use super::clock::Time;
use std::collections::HashMap;
use warpscope_configs::MachineSpec;
use warpscope_sim::{Launch, Mode, WorkCounters};

/// What launches have in common that are taken to run alike: name, global size, work-group size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape(String, [u64; 3], [u32; 3]);

impl Shape {
    /// Of a launch.
    pub fn of(launch: &Launch) -> Shape {
        Shape(launch.program.name.clone(), launch.global, launch.local)
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub fn new(kernel: &str, global: u64) -> Shape {
        Shape(kernel.to_string(), [global, 1, 1], [1, 1, 1])
    }
}

/// Times of the launches of one context.
#[derive(Debug)]
pub struct Nominal {
    /// Picoseconds of every launch: head and tail.
    fixed: f64,
    /// Picoseconds of one warp instruction on one unit.
    instruction: f64,
    /// What work-groups are spread over: compute units, or the simulator, which is one.
    units: u64,
    /// The last timed launch of each shape: its time, and the warp instructions that it executed.
    timed: HashMap<Shape, (Time, u64)>,
}

impl Nominal {
    /// For a machine, in the mode that launches have unless they are left out.
    pub fn new(spec: &MachineSpec, mode: Mode) -> Nominal {
        let cycle = 1e6 / spec.chip.core_mhz;
        // Picoseconds of one instruction on one unit, infinite where no rate is set.
        let (instruction, units) = match mode {
            Mode::Functional => (1e6 / spec.host.functional_rate, 1),
            Mode::Timing => {
                let rate = spec.host.nominal_ipc * f64::from(spec.compute_unit.sub_cores);
                (cycle / rate, u64::from(spec.chip.compute_units))
            }
        };
        let fixed = f64::from(spec.launch.head + spec.launch.tail) * cycle;
        let (fixed, instruction) = if instruction.is_finite() { (fixed, instruction) } else { (0.0, 0.0) };
        Nominal { fixed, instruction, units, timed: HashMap::new() }
    }

    /// A launch was timed.
    pub fn measured(&mut self, shape: Shape, time: Time, work: &WorkCounters) {
        self.timed.insert(shape, (time, work.warp_instructions));
    }

    /// The time of a launch that was not. Work-groups are spread evenly over the units.
    pub fn time(&self, shape: &Shape, work: &WorkCounters) -> Time {
        let instructions = work.warp_instructions as f64;
        match self.timed.get(shape) {
            Some((time, 0)) => *time,
            Some((time, timed)) => (*time as f64 * (instructions / *timed as f64)) as Time,
            None => {
                let busy = work.groups.clamp(1, self.units);
                (self.fixed + instructions * self.instruction / busy as f64) as Time
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpscope_configs::Selection;

    fn work(warp_instructions: u64, groups: u64) -> WorkCounters {
        WorkCounters { warp_instructions, groups, ..WorkCounters::default() }
    }

    fn machine(ipc: f64) -> MachineSpec {
        let mut spec = Selection::default().load().expect("the default machine").spec;
        spec.chip.core_mhz = 500.0;
        spec.chip.compute_units = 4;
        spec.compute_unit.sub_cores = 2;
        (spec.launch.head, spec.launch.tail) = (100, 50);
        spec.host.nominal_ipc = ipc;
        spec
    }

    fn nominal(ipc: f64) -> Nominal {
        Nominal::new(&machine(ipc), Mode::Timing)
    }

    #[test]
    fn a_nominal_time_is_instructions_over_the_rate() {
        let (n, shape) = (nominal(0.5), Shape::new("k", 64));
        // A cycle is 2 ns. 8 groups on 4 units: 4 x 2 x 0.5 instructions a cycle, 150 cycles of head and tail.
        assert_eq!(n.time(&shape, &work(4000, 8)), (1000 + 150) * 2000);
        // One group keeps one unit busy.
        assert_eq!(n.time(&shape, &work(4000, 1)), (4000 + 150) * 2000);
        assert_eq!(nominal(0.0).time(&shape, &work(4000, 8)), 0);
    }

    #[test]
    fn in_functional_mode_the_rate_is_the_simulators() {
        let (mut spec, shape) = (machine(0.5), Shape::new("k", 64));
        spec.host.functional_rate = 20.0;
        // 4000 instructions take 200 us on whatever number of compute units, and 150 cycles of 2 ns.
        let n = Nominal::new(&spec, Mode::Functional);
        assert_eq!(n.time(&shape, &work(4000, 8)), 200_300_000);
        assert_eq!(n.time(&shape, &work(4000, 1)), 200_300_000);
        spec.host.functional_rate = 0.0;
        assert_eq!(Nominal::new(&spec, Mode::Functional).time(&shape, &work(4000, 8)), 0);
    }

    #[test]
    fn a_timed_launch_says_what_later_ones_take() {
        let (mut n, shape) = (nominal(0.5), Shape::new("k", 64));
        n.measured(shape.clone(), 7_000_000, &work(100, 8));
        assert_eq!(n.time(&shape, &work(100, 8)), 7_000_000);
        assert_eq!(n.time(&shape, &work(200, 8)), 14_000_000);
        let other = Shape::new("k", 128);
        assert_eq!(n.time(&other, &work(400, 8)), (100 + 150) * 2000);
    }
}
