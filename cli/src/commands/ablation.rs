//! `warpscope ablation`: what each mechanism of the model does to its error.
use crate::arguments::{MachineArguments, SuiteArguments};
use crate::failure::Failure;
use crate::output::{note, print, write_file};
use crate::run::{Show, folder, run, verdict};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use warpscope_reports::compare::{Ablation, Comparison, Reference, Variant};
use warpscope_sim::Mode;
use warpscope_workloads::suite::NamedMachine;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArguments,
    /// Measured values: CSV with a column `case` (docs/reference.md).
    #[arg(long, value_name = "FILE")]
    reference: PathBuf,
    /// The mechanisms, with the keys that switch each one off, and the cases where `--only` names none (TOML).
    #[arg(long, value_name = "FILE", default_value = "workloads/ablation.toml")]
    mechanisms: PathBuf,
    /// Only mechanisms whose name contains this; may be repeated.
    #[arg(long, value_name = "TEXT")]
    without: Vec<String>,
    #[command(flatten)]
    machine: MachineArguments,
    /// Results folder: records.jsonl, ablation.txt, .md and .csv.
    #[arg(long, value_name = "FOLDER", env = "WARPSCOPE_OUT", default_value = "warpscope-ablation")]
    out: PathBuf,
}

/// The file of mechanisms.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mechanisms {
    /// Cases that are run where the command line chooses none.
    #[serde(default)]
    cases: Vec<String>,
    #[serde(rename = "mechanism")]
    list: Vec<Mechanism>,
}

/// A mechanism and how it is switched off.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mechanism {
    name: String,
    /// What it models.
    doc: String,
    /// `key=value` each.
    off: Vec<String>,
}

pub fn run_command(arguments: &Arguments) -> Result<(), Failure> {
    let reference = Reference::read(&arguments.reference).map_err(Failure::usage)?;
    let path = arguments.mechanisms.display();
    let text = std::fs::read_to_string(&arguments.mechanisms).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
    let mut mechanisms: Mechanisms = toml::from_str(&text).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
    if !arguments.without.is_empty() {
        mechanisms.list.retain(|m| arguments.without.iter().any(|w| m.name.contains(w.as_str())));
    }
    if mechanisms.list.is_empty() {
        return Err(Failure::Usage(format!("{path}: no mechanism is left")));
    }
    let mut suite = arguments.suite.clone();
    if suite.filter.is_empty() {
        suite.filter = mechanisms.cases.clone();
    }
    let (manifest, mut cases) = suite.cases()?;
    cases.retain(|c| reference.cases().any(|name| name == c.name));
    if cases.is_empty() {
        return Err(Failure::Usage(format!("no chosen case is in {}", arguments.reference.display())));
    }
    let machines = machines(&arguments.machine, &mechanisms)?;
    note(&format!("{} cases, {} mechanisms", cases.len(), mechanisms.list.len()));
    let mut results = folder(&arguments.out)?;
    let options = suite.options(Mode::Timing);
    let outcome = run(&manifest.name, &cases, &machines, &options, Show::Progress, Some(&mut results))?;
    let compared = |name: &str| {
        let of: Vec<_> = outcome.entries.iter().filter(|e| e.configuration == name).cloned().collect();
        Comparison::new(&of, &reference)
    };
    let variant = |m: Mechanism| Variant { comparison: compared(&m.name), name: m.name, doc: m.doc, set: m.off };
    let ablation = Ablation { base: compared(BASE), variants: mechanisms.list.into_iter().map(variant).collect() };
    let title = format!("Ablation: {} against {}", arguments.machine.load()?.label(), arguments.reference.display());
    print(&ablation.text())?;
    for (name, content) in [
        ("ablation.txt", ablation.text()),
        ("ablation.md", ablation.markdown(&title)),
        ("ablation.csv", ablation.csv()),
    ] {
        write_file(&arguments.out.join(name), content.as_bytes())?;
    }
    note(&format!("results are in {}", arguments.out.display()));
    verdict(&outcome, Some(&arguments.out))
}

/// Name of the machine with all mechanisms.
const BASE: &str = "(all mechanisms)";

/// The machine as it is, then without each mechanism.
fn machines(base: &MachineArguments, mechanisms: &Mechanisms) -> Result<Vec<NamedMachine>, Failure> {
    let one = |name: &str, off: &[String]| {
        let set = base.set.iter().chain(off).cloned().collect();
        let config = MachineArguments { config: base.config.clone(), set }.load();
        let config = config.map_err(|e| match e {
            Failure::Usage(why) => Failure::Usage(format!("mechanism `{name}`: {why}")),
            other => other,
        })?;
        Ok::<_, Failure>(NamedMachine { name: name.to_string(), spec: Arc::new(config.spec) })
    };
    let mut out = vec![one(BASE, &[])?];
    for m in &mechanisms.list {
        if out.iter().any(|o| o.name == m.name) {
            return Err(Failure::Usage(format!("the mechanism `{}` occurs twice", m.name)));
        }
        out.push(one(&m.name, &m.off)?);
    }
    Ok(out)
}
