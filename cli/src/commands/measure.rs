//! `warpscope measure`: the cases of a suite on a real device, as a reference to validate against.
use crate::arguments::SuiteArguments;
use crate::failure::Failure;
use crate::output::{note, print, write_file};
use crate::run::stop_on_interrupt;
use clap::Args;
use std::path::{Path, PathBuf};
use warpscope_workloads::data::digest::Recorded;
use warpscope_workloads::manifest::Case;
use warpscope_workloads::measure::{Host, Row, Sampling, csv, cuda, measure, opencl, ptx};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArguments,
    /// Platform by a part of its name; `warpscope platforms` lists them.
    #[arg(long, value_name = "NAME", required_unless_present = "cuda")]
    platform: Option<String>,
    /// Device of the platform, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
    /// Timed launches of each case; 0: only the one whose outputs are checked.
    #[arg(long, value_name = "N", default_value_t = 15)]
    samples: u32,
    /// Leave in the caches what is there; otherwise they are overwritten before every launch.
    #[arg(long)]
    warm: bool,
    /// Also write the PTX of each program (NVIDIA), made fit for the CUDA driver, to this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "cuda")]
    ptx: Option<PathBuf>,
    /// Run the programs in this folder (.cubin, else .ptx) through the CUDA driver, for NVIDIA's profiler.
    #[arg(long, value_name = "FOLDER", conflicts_with = "platform")]
    cuda: Option<PathBuf>,
    /// The reference file that is written (docs/reference.md); what the device is goes beside it as .toml.
    #[arg(long, value_name = "FILE", default_value = "measured.csv")]
    out: PathBuf,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let (_, cases) = arguments.suite.cases()?;
    match (&arguments.cuda, &arguments.platform) {
        (Some(programs), _) => {
            let mut driver = cuda::Driver::open(arguments.device, programs).map_err(Failure::Usage)?;
            let about = driver.describe().map_err(Failure::Usage)?;
            all(arguments, &cases, &mut driver, |_, _| Ok(()), |_| Ok(about.clone()))
        }
        (None, Some(platform)) => {
            let mut device = opencl::Device::open(platform, arguments.device).map_err(Failure::Usage)?;
            let keep = |device: &opencl::Device, case: &Case| match &arguments.ptx {
                Some(folder) => keep_ptx(folder, device, case),
                None => Ok(()),
            };
            let about = |device: &opencl::Device| {
                let (about, empty) = (device.describe()?, device.empty_launch()?);
                Ok(format!("{about}empty_kernel_ns = {empty}\nflush_bytes = {}\n", device.flush_bytes()))
            };
            all(arguments, &cases, &mut device, keep, about)
        }
        (None, None) => Err(Failure::Usage("a platform must be named".into())),
    }
}

/// Lists what can be measured.
pub fn platforms() -> Result<(), Failure> {
    let mut text = String::new();
    for (platform, devices) in opencl::list().map_err(Failure::Failed)? {
        text += &format!("{platform}\n");
        for (index, device) in devices.iter().enumerate() {
            text += &format!("  {index}: {device}\n");
        }
    }
    print(if text.is_empty() { "no OpenCL platform is installed\n" } else { &text })
}

/// Measures every case; the file is whole after each, so an interrupted run keeps what was measured.
fn all<H: Host>(
    arguments: &Arguments,
    cases: &[Case],
    host: &mut H,
    keep: impl Fn(&H, &Case) -> Result<(), String>,
    about: impl Fn(&H) -> Result<String, String>,
) -> Result<(), Failure> {
    let stop = stop_on_interrupt()?;
    let sampling = Sampling { samples: arguments.samples, cold: !arguments.warm };
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (i, case) in cases.iter().enumerate() {
        if stop.requested() {
            break;
        }
        let place = format!("{}/{} {}", i + 1, cases.len(), case.name);
        match one(arguments, host, case, sampling).and_then(|row| keep(host, case).map(|()| row)) {
            Ok(row) => {
                let remark = if row.measurement.unchecked() { ", outputs not checked" } else { "" };
                note(&format!("{place}: {:.1} us{remark}", row.measurement.median() / 1000.0));
                rows.push(row);
                write_file(&arguments.out, csv(&rows).as_bytes())?;
            }
            Err(why) => {
                note(&format!("{place}: FAILED: {why}"));
                failed.push(case.name.clone());
            }
        }
    }
    let state = if arguments.warm { "warm" } else { "cold" };
    let sampled = format!("samples = {}\ncaches = \"{state}\"\n", arguments.samples);
    let about = about(host).map_err(Failure::Failed)? + &sampled;
    write_file(&arguments.out.with_extension("toml"), about.as_bytes())?;
    note(&format!("{} cases are in {}", rows.len(), arguments.out.display()));
    if stop.requested() {
        return Err(Failure::Interrupted(format!(
            "interrupted; {} of {} cases were measured",
            rows.len(),
            cases.len()
        )));
    }
    match failed.len() {
        0 => Ok(()),
        n => Err(Failure::Failed(format!("{n} of {} cases failed: {}", cases.len(), failed.join(", ")))),
    }
}

/// Measures a case; wrong outputs are an error, since the time of a wrong computation says nothing.
fn one(arguments: &Arguments, host: &mut dyn Host, case: &Case, sampling: Sampling) -> Result<Row, String> {
    let digests = case.digests.as_ref().or(arguments.suite.digests.as_ref());
    let digests = digests.map(|path| Recorded::read(path)).transpose()?;
    let measurement = measure(host, case, digests.as_ref(), sampling)?;
    match measurement.wrong() {
        Some(why) => Err(why),
        None => Ok(Row { case: case.clone(), measurement }),
    }
}

fn keep_ptx(folder: &Path, device: &opencl::Device, case: &Case) -> Result<(), String> {
    let path = folder.join(format!("{}.ptx", cuda::program_name(case)?));
    if path.exists() {
        return Ok(());
    }
    let text = ptx::for_cuda(&device.binary(case)?)?;
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}
