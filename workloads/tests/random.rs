//! Random kernels give the same results with all passes, without them, from unoptimised modules, on machines with
//! other instruction forms, and on PoCL.
//!
//! `WARPSCOPE_RANDOM=first..last` runs other seeds than the usual few;
//! `WARPSCOPE_RANDOM_SOURCES=FOLDER` keeps the sources.
#[path = "generator/mod.rs"]
mod generator;

use generator::{INPUT_WORDS, Rng};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use warpscope_compiler::{BuildOptions, Compiler, Request, Standard};
use warpscope_configs::MachineSpec;
use warpscope_exec::program::Program;
use warpscope_isa::frontend::decode;
use warpscope_isa::ir::Module;
use warpscope_isa::lower;
use warpscope_isa::passes::{PassOptions, optimise};
use warpscope_sim::{Argument, Launch, LoadedModule, Machine, Mode};
use warpscope_workloads::manifest::Manifest;
use warpscope_workloads::measure::{Host, opencl};

const KERNELS: usize = 4;
const GLOBAL: u64 = 80;
const LOCAL: u32 = 40;

/// Contents of `in`, of `table`, and the values behind them, for a seed.
fn inputs(seed: u64) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>) {
    let mut rng = Rng(seed ^ 0x5555);
    let mut words = || (0..INPUT_WORDS).flat_map(|_| (rng.next() as u32).to_le_bytes()).collect::<Vec<u8>>();
    let (input, table) = (words(), words());
    let mut bytes = |n: usize| rng.next().to_le_bytes()[..n].to_vec();
    let mut values = vec![bytes(4), bytes(4), bytes(8), bytes(8), bytes(2), bytes(1)];
    values.push(3.25f32.to_le_bytes().to_vec());
    values.push([bytes(8), bytes(8)].concat());
    (input, table, values)
}

fn program(module: &Module, index: usize, spec: &MachineSpec, passes: bool) -> Result<Program, String> {
    let width = spec.chip.sub_group_size;
    let kernel = &module.kernels[index];
    let mut options = if passes { PassOptions::default() } else { PassOptions::none() };
    (options.verify, options.contract) = (true, false);
    let f = optimise(module, kernel, &options)?;
    lower::lower(&f, kernel, module, &lower::Options::of(spec, width)).map_err(|e| e.to_string())
}

/// What a kernel leaves in `out` on the simulated machine.
fn simulate(
    spec: &Arc<MachineSpec>,
    module: &Module,
    index: usize,
    passes: bool,
    seed: u64,
    mode: Mode,
) -> Result<Vec<u8>, String> {
    let program = program(module, index, spec, passes)?;
    let mut machine = Machine::new(spec.clone());
    machine.options_mut().instruction_limit = 50_000_000;
    let memory = machine.memory().clone();
    let variables = LoadedModule::new(&memory, &module.globals, 0).map_err(|e| e.to_string())?;
    let place = |bytes: &[u8]| {
        let a = memory.allocate(bytes.len() as u64, 256, Default::default()).map_err(|e| e.to_string())?;
        memory.write(a.address, bytes).map_err(|e| e.to_string())?;
        Ok::<u64, String>(a.address)
    };
    let (input, table, values) = inputs(seed);
    let out = place(&vec![0; 8 * GLOBAL as usize])?;
    let mut arguments =
        vec![Argument::Pointer(out), Argument::Pointer(place(&input)?), Argument::Pointer(place(&table)?)];
    arguments.extend(values.into_iter().map(Argument::Value));
    let launch = Launch {
        program: Arc::new(program),
        globals: variables.addresses().clone(),
        work_dim: 1,
        offset: [0; 3],
        global: [GLOBAL, 1, 1],
        local: [LOCAL, 1, 1],
        arguments,
        mode,
        printf: None,
    };
    machine.launch(&launch).map_err(|e| e.to_string())?;
    let mut bytes = vec![0; 8 * GLOBAL as usize];
    memory.read(out, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// What the kernels leave in `out` on PoCL, by number.
fn references(device: &mut opencl::Device, source: &str, seed: u64) -> Result<Vec<Vec<u8>>, String> {
    let folder = std::env::temp_dir().join(format!("warpscope-random-{}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let outputs = references_in(&folder, device, source, seed);
    // A folder that stays behind does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    outputs
}

fn references_in(folder: &Path, device: &mut opencl::Device, source: &str, seed: u64) -> Result<Vec<Vec<u8>>, String> {
    std::fs::write(folder.join("random.cl"), source).map_err(|e| e.to_string())?;
    let buffer = |ty: &str, count: u64, role: &str| {
        format!("{{ buffer = \"{ty}\", count = {count}, init = \"zeros\", role = \"{role}\" }}")
    };
    let words = buffer("u32", INPUT_WORDS as u64, "in");
    let scalars =
        ["i32", "u32", "i64", "u64", "i16", "u8", "f32"].map(|t| format!("{{ scalar = \"{t}\", value = 0 }}"));
    let vector = "{ scalar = \"i32x4\", value = [0, 0, 0, 0] }";
    let arguments = format!("{}, {words}, {words}, {}, {vector}", buffer("u64", GLOBAL, "out"), scalars.join(", "));
    let mut manifest = String::new();
    for k in 0..KERNELS {
        manifest += &format!(
            "[[case]]\nname = \"k{k}\"\nsource = \"random.cl\"\nkernel = \"k{k}\"\nglobal = [{GLOBAL}]\n\
             local = [{LOCAL}]\nargs = [{arguments}]\n"
        );
    }
    let path = folder.join("random.toml");
    std::fs::write(&path, manifest).map_err(|e| e.to_string())?;
    let manifest = Manifest::read(&path).map_err(|e| e.to_string())?;
    let (input, table, values) = inputs(seed);
    let mut contents = vec![vec![0; 8 * GLOBAL as usize], input, table];
    contents.extend(values);
    let mut outputs = Vec::new();
    for case in &manifest.cases {
        let mut prepared = device.prepare(case, &contents)?;
        prepared.launch()?;
        let mut out = vec![0; 8 * GLOBAL as usize];
        prepared.read(0, &mut out)?;
        outputs.push(out);
    }
    Ok(outputs)
}

/// Differences of one seed's program.
fn check(device: &mut opencl::Device, compiler: &Compiler, machines: &[Arc<MachineSpec>], seed: u64) -> Vec<String> {
    let source = generator::program(seed, KERNELS, if seed.is_multiple_of(2) { 40 } else { 8 });
    if let Some(folder) = std::env::var_os("WARPSCOPE_RANDOM_SOURCES") {
        let path = std::path::Path::new(&folder).join(format!("{seed}.cl"));
        std::fs::write(path, &source).expect("a folder to write the sources to");
    }
    let module = |disable: bool| {
        let options = BuildOptions { opt_disable: disable, ..BuildOptions::new(Standard::Cl12) };
        let compiled = compiler
            .compile(&Request::new(&source, "random.cl", &options))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        decode(&compiled.spirv).unwrap_or_else(|e| panic!("seed {seed}: {e}"))
    };
    let (optimised, plain) = (module(false), module(true));
    let expected = references(device, &source, seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut wrong = Vec::new();
    for (number, expected) in expected.iter().enumerate() {
        let name = format!("k{number}");
        for (m, spec) in machines.iter().enumerate() {
            let mut variants = vec![("optimised module", &optimised, true, Mode::Functional)];
            if m == 0 {
                variants.push(("unoptimised module", &plain, true, Mode::Functional));
                variants.push(("without passes", &optimised, false, Mode::Functional));
                variants.push(("timing", &optimised, true, Mode::Timing));
            }
            for (variant, module, passes, mode) in variants {
                let index = module.kernels.iter().position(|k| k.name == name).expect("the same kernels");
                match simulate(spec, module, index, passes, seed, mode) {
                    Ok(out) if out == *expected => {}
                    Ok(out) => {
                        let at = out.chunks(8).zip(expected.chunks(8)).position(|(a, b)| a != b);
                        wrong.push(format!("seed {seed}, {name}, machine {m}, {variant}: work-item {at:?} differs"));
                    }
                    Err(e) => wrong.push(format!("seed {seed}, {name}, machine {m}, {variant}: {e}")),
                }
            }
        }
    }
    wrong
}

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("WARPSCOPE_RANDOM") else { return 1..6 };
    let (first, last) = text.split_once("..").expect("WARPSCOPE_RANDOM=first..last");
    first.parse().expect("a seed")..last.parse().expect("a seed")
}

#[test]
fn random_kernels_agree() {
    let mut device =
        opencl::Device::open("Portable Computing Language", 0).expect("install ocl-icd-libopencl1 and pocl-opencl-icd");
    let compiler = Compiler::find().unwrap().without_cache();
    let machines: Vec<Arc<MachineSpec>> = ["nvidia-h200", "generic", "tiny"]
        .map(|name| Arc::new(warpscope_configs::load(name, &[] as &[&str]).expect("a preset").spec))
        .into();
    let mut wrong = Vec::new();
    for seed in seeds() {
        wrong.extend(check(&mut device, &compiler, &machines, seed));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
