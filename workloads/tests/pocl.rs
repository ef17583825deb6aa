//! The kernels on PoCL, built from source: a second opinion on the kernels and on the CPU references, and a device to
//! measure.
//!
//! Kernels whose options ask for a newer OpenCL C, and those that use half precision, are left out: PoCL 3.1 has
//! neither the generic address space nor `cl_khr_fp16`.
use std::path::Path;
use warpscope_workloads::manifest::{Arg, Manifest};
use warpscope_workloads::measure::{Sampling, measure, opencl};

const PLATFORM: &str = "Portable Computing Language";

fn full() -> Manifest {
    Manifest::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("full.toml")).unwrap()
}

#[test]
fn references_agree_with_pocl() {
    let mut device = opencl::Device::open(PLATFORM, 0).expect("install ocl-icd-libopencl1 and pocl-opencl-icd");
    let mut wrong = Vec::new();
    let mut run = 0;
    for case in full().cases.iter().filter(|c| c.size == "s" || c.size.is_empty()) {
        let half = case.args.iter().any(|a| matches!(a, Arg::Buffer(b) if b.element.scalar.name() == "f16"));
        if case.options.contains("-cl-std=") || half {
            continue;
        }
        run += 1;
        let measured = measure(&mut device, case, None, Sampling { samples: 0, cold: false });
        match measured.map(|m| m.wrong()) {
            Ok(None) => {}
            Ok(Some(why)) | Err(why) => wrong.push(format!("{}: {why}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run >= 24, "only {run} cases ran");
}

/// `inout` buffers are restored before each sample, so what is measured is the same launch every time.
#[test]
fn samples_are_taken_from_restored_buffers() {
    let mut device = opencl::Device::open(PLATFORM, 0).expect("install ocl-icd-libopencl1 and pocl-opencl-icd");
    let manifest = full();
    let case = manifest.cases.iter().find(|c| c.name == "bfs_s").unwrap();
    let measured = measure(&mut device, case, None, Sampling { samples: 4, cold: true }).unwrap();
    assert_eq!(measured.wrong(), None);
    assert_eq!(measured.times.len(), 4);
    assert!(measured.times.is_sorted() && measured.times[0] > 0.0, "{:?}", measured.times);
    assert!(measured.median() >= measured.times[1] && measured.median() <= measured.times[2]);
    let about = device.describe().unwrap();
    assert!(about.starts_with("platform = \"Portable Computing Language\"\ndevice = "), "{about}");
    assert!(device.flush_bytes() >= 256 << 20 && device.empty_launch().unwrap() > 0.0);
}

#[test]
fn platforms_that_are_not_there_are_named() {
    let Err(error) = opencl::Device::open("no such platform", 0) else { panic!("it opened") };
    assert!(error.starts_with("no OpenCL platform is called `no such platform`; there is "), "{error}");
    assert!(error.contains(PLATFORM), "{error}");
    let Err(error) = opencl::Device::open("portable", 99) else { panic!("it opened") };
    assert!(error.ends_with("there is no device 99"), "{error}");
}
