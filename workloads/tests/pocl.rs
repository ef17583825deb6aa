//! The kernels on PoCL, built from source: a second opinion on the kernels and on the CPU references.
//!
//! Kernels whose options ask for a newer OpenCL C, and those that use half precision, are left out: PoCL 3.1 has
//! neither the generic address space nor `cl_khr_fp16`.
mod opencl;

use opencl::{Argument, Device};
use std::path::Path;
use warpscope_workloads::check::against_reference;
use warpscope_workloads::manifest::{Arg, Case, Manifest};
use warpscope_workloads::references::expected;

/// Outputs of a case on the device that differ from the reference's.
fn differences(device: &Device, case: &Case) -> Result<Vec<String>, String> {
    let contents: Vec<Vec<u8>> = case.args.iter().map(|a| a.contents()).collect::<Result<_, _>>()?;
    let source = std::fs::read_to_string(&case.source).map_err(|e| e.to_string())?;
    let arguments: Vec<Argument> = case
        .args
        .iter()
        .zip(&contents)
        .map(|(arg, bytes)| match arg {
            Arg::Buffer(_) => Argument::Buffer(bytes.clone()),
            Arg::Scalar { .. } | Arg::Struct { .. } => Argument::Value(bytes.clone()),
            Arg::Local { bytes } => Argument::Local(*bytes as usize),
        })
        .collect();
    let after = device.run(&source, &case.options, &case.kernel, &case.offset, &case.global, &case.local, arguments)?;
    let outputs = expected(case, &contents)?.ok_or("no reference")?;
    let mut wrong = Vec::new();
    for (index, arg) in case.args.iter().enumerate() {
        let Arg::Buffer(buffer) = arg else { continue };
        let reference = outputs.0.iter().find(|(i, _)| *i == index).map(|(_, bytes)| bytes);
        match (buffer.role.is_output(), reference) {
            (true, Some(reference)) => {
                let check = against_reference(index, buffer, &after[index], reference);
                if !check.passed {
                    wrong.push(format!("{} argument {index}: {}", case.name, check.why));
                }
            }
            (true, None) => wrong.push(format!("{} argument {index} has no reference", case.name)),
            (false, _) if after[index] != contents[index] => {
                wrong.push(format!("{} argument {index}: the input has changed", case.name));
            }
            (false, _) => {}
        }
    }
    Ok(wrong)
}

#[test]
fn references_agree_with_pocl() {
    let device = Device::named("Portable Computing Language").unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = Manifest::read(&folder.join("full.toml")).unwrap();
    let mut wrong = Vec::new();
    let mut run = 0;
    for case in manifest.cases.iter().filter(|c| c.size == "s" || c.size.is_empty()) {
        let half = case.args.iter().any(|a| matches!(a, Arg::Buffer(b) if b.element.scalar.name() == "f16"));
        if case.options.contains("-cl-std=") || half {
            continue;
        }
        run += 1;
        match differences(&device, case) {
            Ok(different) => wrong.extend(different),
            Err(why) => wrong.push(format!("{}: {why}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run >= 24, "only {run} cases ran");
}
