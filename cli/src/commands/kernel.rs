//! `warpscope kernel`: one kernel of a module with arguments from the command line.
use crate::arguments::{KernelArguments, MachineArguments, ModeArgument};
use crate::failure::Failure;
use crate::kernel_argument;
use crate::output::{note, print};
use crate::run::{Outcome, Show, folder, machines, run, verdict};
use clap::Args;
use std::path::{Path, PathBuf};
use warpscope_reports::render::csv;
use warpscope_reports::sections;
use warpscope_workloads::data::files;
use warpscope_workloads::manifest::{Arg, Buffer, Case, Manifest};
use warpscope_workloads::suite::SuiteOptions;

/// Elements of a dumped buffer that are printed.
const PRINTED: usize = 64;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    kernel: KernelArguments,
    /// Global size: one to three numbers, as 1024 or 64x64.
    #[arg(long, short, value_name = "SIZE", required_unless_present = "case")]
    global: Option<String>,
    /// The case of this name, FILE being a suite's manifest: it brings the module, sizes, arguments and checks.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["global", "local", "offset", "args", "kernel", "options"])]
    case: Option<String>,
    /// Work-group size; where it is missing the kernel's required one or a fitting one is taken.
    #[arg(long, short, value_name = "SIZE")]
    local: Option<String>,
    /// Global offset.
    #[arg(long, value_name = "SIZE")]
    offset: Option<String>,
    #[arg(long = "arg", short, value_name = "ARG", help = kernel_argument::HELP)]
    args: Vec<String>,
    /// Print a buffer after the launch, or save it with =FILE (.bin, .npy, .csv); the buffer is named by the
    /// argument's position from 0.
    #[arg(long, value_name = "ARG[=FILE]")]
    dump: Vec<String>,
    /// Launches, one after the other on the same buffers; the first finds cold caches.
    #[arg(long, value_name = "N", default_value_t = 1)]
    launches: u32,
    /// Warp instructions after which the launch is stopped as a runaway; 0: the default.
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: u64,
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    mode: ModeArgument,
    /// Results folder: records.jsonl, launches.csv, report.txt, report.html.
    #[arg(long, value_name = "FOLDER", env = "WARPSCOPE_OUT")]
    out: Option<PathBuf>,
}

/// A buffer to print or save.
struct Dump {
    argument: usize,
    file: Option<PathBuf>,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let machine = arguments.machine.load()?;
    let case = match &arguments.case {
        Some(name) => case_of(&arguments.kernel.file, name, arguments.launches)?,
        None => case(arguments)?,
    };
    let dumps = dumps(&arguments.dump, &case.args)?;
    let options = SuiteOptions {
        mode: arguments.mode.mode.into(),
        jobs: 1,
        from_source: arguments.case.is_none(),
        instruction_limit: arguments.limit,
        keep_outputs: !dumps.is_empty(),
        ..SuiteOptions::default()
    };
    let mut results = arguments.out.as_deref().map(folder).transpose()?;
    let outcome = run(
        "",
        std::slice::from_ref(&case),
        &machines(std::slice::from_ref(&machine)),
        &options,
        Show::Nothing,
        results.as_mut(),
    )?;
    for entry in outcome.entries.iter().filter(|e| e.record.is_some()) {
        print(&sections::text(entry))?;
    }
    if let Some(folder) = &results {
        write(folder, &outcome)?;
    }
    dump(&dumps, &case, &outcome)?;
    match outcome.results.first().and_then(|r| r.error.clone()) {
        Some(why) if !outcome.interrupted => Err(Failure::Failed(why)),
        _ => verdict(&outcome, arguments.out.as_deref()),
    }
}

/// The case that the command line describes.
fn case(arguments: &Arguments) -> Result<Case, Failure> {
    let kernel = arguments.kernel.choose()?;
    let args = arguments.args.iter().map(|a| kernel_argument::parse(a)).collect::<Result<Vec<_>, _>>();
    let args = args.map_err(|why| Failure::Usage(format!("--arg: {why}")))?;
    Ok(Case {
        name: kernel.clone(),
        group: String::new(),
        class: String::new(),
        size: String::new(),
        source: arguments.kernel.file.clone(),
        kernel,
        options: arguments.kernel.options.clone(),
        global: global(arguments.global.as_deref().unwrap_or(""))?,
        local: local_sizes(arguments.local.as_deref())?,
        offset: arguments.offset.as_deref().map_or(Ok(Vec::new()), |o| sizes("--offset", o))?,
        launches: arguments.launches,
        args,
        globals: Vec::new(),
        reference: None,
        digests: None,
        variables: Default::default(),
    })
}

/// A case of a manifest.
fn case_of(manifest: &Path, name: &str, launches: u32) -> Result<Case, Failure> {
    let all = Manifest::read(manifest).map_err(Failure::usage)?.cases;
    let found = all.iter().find(|c| c.name == name).cloned();
    let case = found.ok_or_else(|| {
        let near = warpscope_configs::nearest(name, all.iter().map(|c| c.name.as_str()));
        let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        Failure::Usage(format!("{} has no case `{name}`{hint}", manifest.display()))
    })?;
    Ok(if launches == 1 { case } else { Case { launches, ..case } })
}

fn write(folder: &warpscope_reports::Folder, outcome: &Outcome) -> Result<(), Failure> {
    let text: String = outcome.entries.iter().map(sections::text).collect();
    folder.write("report.txt", &text).map_err(Failure::failed)?;
    folder.write("launches.csv", &csv(&outcome.entries)).map_err(Failure::failed)?;
    if let Some(last) = outcome.entries.last() {
        folder.write("report.html", &sections::page(last)).map_err(Failure::failed)?;
    }
    note(&format!("results are in {}", folder.path().display()));
    Ok(())
}

fn global(text: &str) -> Result<Vec<u64>, Failure> {
    let global = sizes("--global", text)?;
    match global.contains(&0) {
        true => Err(Failure::Usage(format!("--global {text}: nothing would run; every dimension must be 1 or more"))),
        false => Ok(global),
    }
}

/// `64x64` or `64,64` as numbers.
fn sizes(flag: &str, text: &str) -> Result<Vec<u64>, Failure> {
    let parts: Result<Vec<u64>, _> = text.split(['x', ',']).map(|p| p.trim().parse::<u64>()).collect();
    match parts {
        Ok(parts) if (1..=3).contains(&parts.len()) => Ok(parts),
        _ => Err(Failure::Usage(format!("{flag} {text}: must be one to three whole numbers, as 1024 or 64x64"))),
    }
}

fn local_sizes(text: Option<&str>) -> Result<Vec<u32>, Failure> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let narrow =
        |size: u64| u32::try_from(size).map_err(|_| Failure::Usage(format!("--local {text}: {size} is too large")));
    sizes("--local", text)?.into_iter().map(narrow).collect()
}

fn dumps(texts: &[String], args: &[Arg]) -> Result<Vec<Dump>, Failure> {
    let parse = |text: &String| {
        let (position, file) = match text.split_once('=') {
            Some((position, file)) => (position, Some(PathBuf::from(file))),
            None => (text.as_str(), None),
        };
        let argument = position.trim().parse::<usize>().ok().filter(|i| matches!(args.get(*i), Some(Arg::Buffer(_))));
        match argument {
            Some(argument) => Ok(Dump { argument, file }),
            None => Err(Failure::Usage(format!("--dump {text}: argument {position} is not a buffer given by --arg"))),
        }
    };
    texts.iter().map(parse).collect()
}

fn dump(dumps: &[Dump], case: &Case, outcome: &Outcome) -> Result<(), Failure> {
    let Some(result) = outcome.results.first() else { return Ok(()) };
    for dump in dumps {
        let Some(Arg::Buffer(buffer)) = case.args.get(dump.argument) else { continue };
        let Some((_, bytes)) = result.outputs.iter().find(|(i, _)| *i == dump.argument) else { continue };
        match &dump.file {
            Some(file) => save(file, buffer, bytes)?,
            None => print(&listing(dump.argument, buffer, bytes))?,
        }
    }
    Ok(())
}

fn save(file: &Path, buffer: &Buffer, bytes: &[u8]) -> Result<(), Failure> {
    files::write(file, buffer.element, bytes).map_err(Failure::Failed)
}

fn listing(argument: usize, buffer: &Buffer, bytes: &[u8]) -> String {
    let scalar = buffer.element.scalar;
    let mut out = format!("argument {argument}: {}[{}]\n", buffer.element, buffer.count);
    let values: Vec<String> =
        bytes.chunks_exact(scalar.bytes()).map(|v| files::format_value(scalar, v)).take(PRINTED).collect();
    for line in values.chunks(8) {
        out += &format!("  {}\n", line.join(" "));
    }
    let more = (bytes.len() / scalar.bytes()).saturating_sub(PRINTED);
    if more > 0 {
        out += &format!("  ... {more} more; --dump {argument}=FILE saves all\n");
    }
    out
}
