//! Going on where an interrupted run ended: what each result is made from, so that only equal ones are kept.
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::Path;
use warpscope_configs::Config;
use warpscope_reports::{Entry, Fingerprints};
use warpscope_sim::Mode;
use warpscope_workloads::compile::module_path;
use warpscope_workloads::data::digest::fnv1a;
use warpscope_workloads::manifest::{Arg, BufferSource, Case};
use warpscope_workloads::suite::SuiteOptions;

/// The fingerprint of every case on every machine: this program, the machine's parameters, the mode, and the case with
/// the files that it names.
pub fn fingerprints(cases: &[Case], machines: &[Config], options: &SuiteOptions) -> Result<Fingerprints, Failure> {
    let program = std::env::current_exe().and_then(std::fs::read).map_err(Failure::failed)?;
    let timing = options.mode == Mode::Timing;
    let run = format!("{:016x} {timing} {} {}", fnv1a(&program), options.instruction_limit, options.from_source);
    let mut out = Fingerprints::new();
    for case in cases {
        let case_digest = format!("{:016x}", fnv1a(&case_bytes(case, options)));
        for machine in machines {
            let all = format!("{run} {case_digest} {}", machine.digest);
            out.insert((case.name.clone(), machine.label()), format!("{:016x}", fnv1a(all.as_bytes())));
        }
    }
    Ok(out)
}

/// Everything that a case consists of. A file that cannot be read counts as empty: running the case says so.
fn case_bytes(case: &Case, options: &SuiteOptions) -> Vec<u8> {
    let mut bytes = format!("{case:?}").into_bytes();
    let mut add = |path: &Path| bytes.extend(std::fs::read(path).unwrap_or_default());
    add(&case.source);
    add(&module_path(&case.source, &case.options));
    for arg in &case.args {
        if let Arg::Buffer(buffer) = arg
            && let BufferSource::File(path) = &buffer.source
        {
            add(path);
        }
    }
    case.digests.iter().chain(&options.digests).for_each(|path| add(path));
    bytes
}

/// The pairs of (machine, case) that `entries` hold.
pub fn finished(entries: &[Entry], cases: &[Case], machines: &[Config]) -> BTreeSet<(usize, usize)> {
    entries.iter().filter_map(|e| place(e, cases, machines)).collect()
}

/// In the order in which a run that was not interrupted has them.
pub fn sort(entries: &mut [Entry], cases: &[Case], machines: &[Config]) {
    entries.sort_by_key(|e| (place(e, cases, machines), e.launch));
}

fn place(entry: &Entry, cases: &[Case], machines: &[Config]) -> Option<(usize, usize)> {
    let machine = machines.iter().position(|m| m.label() == entry.configuration)?;
    Some((machine, cases.iter().position(|c| c.name == entry.case)?))
}
