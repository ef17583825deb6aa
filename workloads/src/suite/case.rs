//! One case on one machine: load, allocate, launch, read back, check.
use super::{CaseResult, Shared};
use crate::check::outputs;
use crate::data::digest::fnv1a;
use crate::manifest::{Arg, Case};
use crate::references;
use nix::time::{ClockId, clock_gettime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpscope_exec::ops::Ty;
use warpscope_exec::program::{Global, Program};
use warpscope_sim::{Argument, Launch, LaunchError, LaunchRecord, LoadedModule, Machine};

/// Runs a case. A panic of the simulator becomes the case's error: the other cases still run.
pub(super) fn run(shared: &Shared, case: &Case, machine: usize) -> CaseResult {
    let mut result = CaseResult {
        case: case.clone(),
        machine,
        records: Vec::new(),
        checks: Vec::new(),
        digests: Vec::new(),
        outputs: Vec::new(),
        printed: Vec::new(),
        error: None,
        interrupted: false,
        seconds: 0.0,
        processor_seconds: 0.0,
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| execute(shared, case, machine, &mut result)));
    result.error = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(why)) => Some(why),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Some(format!("internal error, please report it: {text}"))
        }
    };
    result.interrupted = result.error.is_some() && shared.stop.requested();
    result
}

fn execute(shared: &Shared, case: &Case, machine: usize, result: &mut CaseResult) -> Result<(), String> {
    let spec = &shared.machines[machine].spec;
    let program = shared.programs.program(&case.source, &case.options, &case.kernel, machine, spec)?;
    let module = shared.programs.module(&case.source, &case.options)?;
    let contents = case.args.iter().map(Arg::contents).collect::<Result<Vec<_>, _>>()?;

    let mut machine = Machine::new(spec.clone());
    machine.options_mut().threads = shared.threads;
    machine.options_mut().window = shared.options.window;
    if shared.options.instruction_limit > 0 {
        machine.options_mut().instruction_limit = shared.options.instruction_limit;
    }
    let memory = machine.memory().clone();
    let variables = LoadedModule::new(&memory, &module.globals, spec.host.printf_buffer).map_err(|e| e.to_string())?;
    let globals = Globals::place(case, &module.globals, &variables)?;
    let arguments = place(&machine, case, &contents)?;
    let launch = launch(case, program, &variables, arguments, shared)?;

    machine.flush_caches();
    let (started, used) = (Instant::now(), thread_seconds());
    let flag = machine.interrupt_flag();
    let launched = shared.stop.watch(flag, || repeat(&mut machine, &launch, case.launches));
    result.printed = machine.take_printed();
    result.seconds = started.elapsed().as_secs_f64();
    result.processor_seconds = thread_seconds() - used;
    result.records = launched.map_err(|e| e.to_string())?;

    let after = read_back(&machine, case, &launch.arguments)?;
    globals.check(&module.globals, &variables)?;
    drop((variables, machine));
    check(shared, case, &contents, &after, result)?;
    if shared.options.keep_outputs {
        result.outputs = after.into_iter().enumerate().collect();
    }
    Ok(())
}

/// The program-scope variables that a case gives contents: position in the module, name, contents expected afterwards.
struct Globals<'a>(Vec<(usize, &'a str, Vec<u8>)>);

impl Globals<'_> {
    /// Gives the variables their contents.
    fn place<'a>(case: &'a Case, globals: &[Global], variables: &LoadedModule) -> Result<Globals<'a>, String> {
        let mut placed = Vec::new();
        for given in &case.globals {
            let name = &given.name;
            let mut named = globals.iter().enumerate().filter(|(_, g)| &g.name == name && g.space == Ty::PtrGlobal);
            let (Some((index, global)), None) = (named.next(), named.next()) else {
                return Err(format!("the program has not exactly one variable `{name}` in global memory"));
            };
            let read = |path: &Path| {
                let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
                match bytes.len() == global.init.len() {
                    true => Ok(bytes),
                    false => Err(format!(
                        "{}: {} bytes, but the variable `{name}` has {}",
                        path.display(),
                        bytes.len(),
                        global.init.len()
                    )),
                }
            };
            if let Some(path) = &given.file {
                variables.restore(globals, index, &read(path)?).map_err(|e| e.to_string())?;
            }
            let after = match &given.expected {
                Some(path) => read(path)?,
                None => contents(globals, index, variables)?,
            };
            placed.push((index, name.as_str(), after));
        }
        Ok(Globals(placed))
    }

    /// Compares the variables with what they must hold.
    fn check(&self, globals: &[Global], variables: &LoadedModule) -> Result<(), String> {
        for (index, name, expected) in &self.0 {
            let got = contents(globals, *index, variables)?;
            if let Some(at) = got.iter().zip(expected).position(|(g, e)| g != e) {
                let (g, e) = (got[at], expected[at]);
                return Err(format!("byte {at} of the variable `{name}` is {g:#04x}, not {e:#04x} as expected"));
            }
        }
        Ok(())
    }
}

fn contents(globals: &[Global], index: usize, variables: &LoadedModule) -> Result<Vec<u8>, String> {
    let held = variables.contents(globals, index).map_err(|e| e.to_string())?;
    held.ok_or_else(|| format!("a pointer of the variable `{}` was changed", globals[index].name))
}

/// Processor time that this thread has used so far.
fn thread_seconds() -> f64 {
    // The clock is there on every system with processor time; where it is not, no time is counted.
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or_else(|_| Duration::ZERO, Duration::from);
    time.as_secs_f64()
}

fn repeat(machine: &mut Machine, launch: &Launch, times: u32) -> Result<Vec<LaunchRecord>, LaunchError> {
    (0..times).map(|_| machine.launch(launch)).collect()
}

/// Allocates and fills the buffers.
fn place(machine: &Machine, case: &Case, contents: &[Vec<u8>]) -> Result<Vec<Argument>, String> {
    let memory = machine.memory();
    let mut arguments = Vec::new();
    // The address of each argument's buffer, 0 where it has none.
    let mut bases: Vec<u64> = Vec::new();
    for (arg, bytes) in case.args.iter().zip(contents) {
        let mut base = 0;
        arguments.push(match arg {
            Arg::Buffer(_) if bytes.is_empty() => Argument::Pointer(0),
            Arg::Buffer(buffer) => {
                let allocation = memory.allocate(bytes.len() as u64, 256, Default::default());
                base = allocation.map_err(|e| e.to_string())?.address;
                memory.write(base, bytes).map_err(|e| e.to_string())?;
                Argument::Pointer(base + buffer.at)
            }
            Arg::Same { argument, at } => Argument::Pointer(bases[*argument] + at),
            Arg::Scalar { .. } | Arg::Struct { .. } => Argument::Value(bytes.clone()),
            Arg::Local { bytes } => Argument::Local(*bytes),
        });
        bases.push(base);
    }
    Ok(arguments)
}

fn launch(
    case: &Case,
    program: Arc<Program>,
    variables: &LoadedModule,
    arguments: Vec<Argument>,
    shared: &Shared,
) -> Result<Launch, String> {
    let dimension = |list: &[u64], d: usize, default: u64| list.get(d).copied().unwrap_or(default);
    let global = [0, 1, 2].map(|d| dimension(&case.global, d, 1));
    let local = if case.local.is_empty() {
        program.required_group_size.unwrap_or_else(|| default_local(global))
    } else {
        [0, 1, 2].map(|d| case.local.get(d).copied().unwrap_or(1))
    };
    Ok(Launch {
        program,
        globals: variables.addresses().clone(),
        work_dim: case.global.len() as u32,
        offset: [0, 1, 2].map(|d| dimension(&case.offset, d, 0)),
        global,
        local,
        arguments,
        printf: variables.printf(),
        mode: shared.options.mode,
    })
}

/// The largest power of two up to 256 that divides the first dimension.
fn default_local(global: [u64; 3]) -> [u32; 3] {
    let fits = |n: &u32| global[0].is_multiple_of(*n as u64);
    [[256, 128, 64, 32, 16, 8, 4, 2].into_iter().find(fits).unwrap_or(1), 1, 1]
}

fn read_back(machine: &Machine, case: &Case, arguments: &[Argument]) -> Result<Vec<Vec<u8>>, String> {
    let mut after = Vec::new();
    for (arg, argument) in case.args.iter().zip(arguments) {
        let mut bytes = Vec::new();
        if let (Arg::Buffer(buffer), Argument::Pointer(address)) = (arg, argument)
            && *address != 0
        {
            bytes = vec![0; buffer.bytes()];
            machine.memory().read(*address - buffer.at, &mut bytes).map_err(|e| e.to_string())?;
        }
        after.push(bytes);
    }
    Ok(after)
}

fn check(
    shared: &Shared,
    case: &Case,
    before: &[Vec<u8>],
    after: &[Vec<u8>],
    result: &mut CaseResult,
) -> Result<(), String> {
    let expected = references::expected(case, before)?;
    let path = case.digests.as_ref().or(shared.options.digests.as_ref());
    let recorded = path.and_then(|p| shared.recorded.get(p)).map(|r| &**r);
    for (index, arg) in case.args.iter().enumerate() {
        if matches!(arg, Arg::Buffer(buffer) if buffer.role.is_output()) {
            result.digests.push((index, fnv1a(&after[index])));
        }
    }
    result.checks = outputs(case, expected.as_ref(), recorded, before, after);
    Ok(())
}
