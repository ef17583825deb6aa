//! Measuring the cases of a suite on a real device: what `warpscope validate` compares with (`docs/reference.md`).
//!
//! A [`Host`] is a programming interface of a device: OpenCL of any vendor, or the CUDA driver, which runs the machine
//! code that NVIDIA's OpenCL makes of the same sources, because NVIDIA's profiler does not see OpenCL.
pub mod cuda;
pub mod opencl;
pub mod ptx;
mod rows;

pub use rows::{Row, csv};

use crate::check::{Check, complaint, outputs, unchecked};
use crate::data::digest::Recorded;
use crate::manifest::{Arg, Case};
use crate::references;

/// How often and in which state of the caches a case is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Timed launches after the one whose outputs are checked; 0: only that one.
    pub samples: u32,
    /// Overwrite the device's caches before every launch.
    pub cold: bool,
}

/// A programming interface of a device.
pub trait Host {
    /// Builds a case's kernel and fills its buffers with `contents` (by argument).
    fn prepare(&mut self, case: &Case, contents: &[Vec<u8>]) -> Result<Box<dyn Prepared>, String>;
    /// Overwrites what the caches hold.
    fn flush(&mut self) -> Result<(), String>;
}

/// A case that is ready to be launched.
pub trait Prepared {
    /// Fills a buffer argument again.
    fn restore(&mut self, argument: usize, bytes: &[u8]) -> Result<(), String>;
    /// Launches the kernel once; gives the time on the device in ns.
    fn launch(&mut self) -> Result<f64, String>;
    /// Reads a buffer argument.
    fn read(&mut self, argument: usize, bytes: &mut [u8]) -> Result<(), String>;
    /// What the compiler decided, where the interface tells.
    fn resources(&self) -> Option<Resources> {
        None
    }
}

/// Resources of a compiled kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a work-item.
    pub registers: u32,
    /// Bytes of local memory that the kernel declares itself.
    pub local_memory: u32,
    /// Bytes of private memory of a work-item.
    pub private_memory: u32,
}

/// What a case did on the device.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Times of the samples in ns, ascending; of the checked launch where there were none.
    pub times: Vec<f64>,
    /// One check an output.
    pub checks: Vec<Check>,
    /// What the compiler decided, where the interface tells.
    pub resources: Option<Resources>,
}

impl Measurement {
    /// The middle sample in ns, of an even number the mean of both.
    pub fn median(&self) -> f64 {
        let n = self.times.len();
        (self.times[(n - 1) / 2] + self.times[n / 2]) / 2.0
    }

    /// What is wrong with the outputs, in a sentence; an output that nothing is known about is not.
    pub fn wrong(&self) -> Option<String> {
        if self.unchecked() { None } else { complaint(&self.checks) }
    }

    /// Whether some output had nothing to be compared with, and nothing else is wrong.
    pub fn unchecked(&self) -> bool {
        unchecked(&self.checks)
    }
}

/// Runs a case: once (as often as the manifest says) for its outputs, then once for each sample from restored buffers.
///
/// `digests` are recorded outputs for cases without a CPU reference.
pub fn measure(
    host: &mut dyn Host,
    case: &Case,
    digests: Option<&Recorded>,
    sampling: Sampling,
) -> Result<Measurement, String> {
    if let Some(global) = case.globals.first() {
        return Err(format!(
            "the case gives the program's variable `{}` contents, which only the simulator can do",
            global.name
        ));
    }
    let contents = case.args.iter().map(Arg::contents).collect::<Result<Vec<_>, _>>()?;
    let mut prepared = host.prepare(case, &contents)?;
    if sampling.cold {
        host.flush()?;
    }
    let first = prepared.launch()?;
    for _ in 1..case.launches {
        prepared.launch()?;
    }
    let mut after = contents.clone();
    for (index, bytes) in after.iter_mut().enumerate().filter(|(i, _)| matches!(case.args[*i], Arg::Buffer(_))) {
        prepared.read(index, bytes)?;
    }
    let checks = outputs(case, references::expected(case, &contents)?.as_ref(), digests, &contents, &after);

    let mut times = Vec::with_capacity(sampling.samples as usize);
    for _ in 0..sampling.samples {
        for (index, arg) in case.args.iter().enumerate() {
            if matches!(arg, Arg::Buffer(b) if b.role.is_output()) {
                prepared.restore(index, &contents[index])?;
            }
        }
        if sampling.cold {
            host.flush()?;
        }
        times.push(prepared.launch()?);
    }
    if times.is_empty() {
        times.push(first);
    }
    times.sort_by(f64::total_cmp);
    Ok(Measurement { times, checks, resources: prepared.resources() })
}

/// A launch's work-items, work-group and offset in three dimensions; a work-group of 0 is the runtime's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Dimensions.
    pub dimensions: u32,
    /// Work-items.
    pub global: [usize; 3],
    /// Work-items of a group.
    pub local: Option<[usize; 3]>,
    /// Global offset.
    pub offset: [usize; 3],
}

impl Shape {
    /// The shape of a case's launch.
    pub fn of(case: &Case) -> Shape {
        let of = |list: &[u64], default: usize| [0, 1, 2].map(|d| list.get(d).map_or(default, |&v| v as usize));
        let local: Vec<u64> = case.local.iter().map(|&l| u64::from(l)).collect();
        Shape {
            dimensions: case.global.len() as u32,
            global: of(&case.global, 1),
            local: (!local.is_empty()).then(|| of(&local, 1)),
            offset: of(&case.offset, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(times: &[f64]) -> f64 {
        Measurement { times: times.to_vec(), checks: Vec::new(), resources: None }.median()
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(timed(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(timed(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        assert_eq!(timed(&[5.0]), 5.0);
    }
}
