//! Two or more runs of the same cases compared: what another machine or another key changes.
use crate::render::{Align, csv_field, table};
use crate::{Check, Entry, metrics};
use warpscope_sim::LaunchRecord;

/// A run: launches of one machine from one results folder.
struct Run<'a> {
    name: String,
    entries: Vec<&'a Entry>,
}

/// Runs side by side; the first is what the others are compared with.
pub struct RunsComparison<'a> {
    runs: Vec<Run<'a>>,
}

/// A quantity shown beside the cycles, with how a change is expressed.
struct Shown {
    heading: &'static str,
    value: fn(&LaunchRecord) -> Option<f64>,
    points: bool,
}

const SHOWN: &[Shown] = &[
    Shown { heading: "warp inst", value: |r| Some(r.counters.work.warp_instructions as f64), points: false },
    Shown { heading: "regs", value: |r| Some(f64::from(r.resources.registers)), points: false },
    Shown { heading: "occ.", value: |r| Some(r.counters.time.occupancy_achieved * 100.0), points: true },
    Shown { heading: "L1 hit", value: metrics::l1_hit_percent, points: true },
    Shown { heading: "L2 hit", value: metrics::l2_hit_percent, points: true },
    Shown { heading: "DRAM read", value: metrics::dram_read_bytes, points: false },
];

impl<'a> RunsComparison<'a> {
    /// Takes the runs out of results folders (name and launches each): every machine of every folder is a run.
    /// The error is a sentence.
    pub fn new(folders: &'a [(String, Vec<Entry>)]) -> Result<RunsComparison<'a>, String> {
        let mut runs: Vec<(usize, Run<'a>)> = Vec::new();
        for (number, (_, entries)) in folders.iter().enumerate() {
            for entry in entries {
                let found = runs.iter_mut().find(|(n, r)| *n == number && r.name == entry.configuration);
                match found {
                    Some((_, run)) => run.entries.push(entry),
                    None => runs.push((number, Run { name: entry.configuration.clone(), entries: vec![entry] })),
                }
            }
        }
        // The folder's name tells apart what is called the same.
        let names: Vec<String> = runs.iter().map(|(_, r)| r.name.clone()).collect();
        for (number, run) in &mut runs {
            if names.iter().filter(|n| **n == run.name).count() > 1 {
                run.name = format!("{} in {}", run.name, folders[*number].0);
            }
        }
        let runs: Vec<Run<'a>> = runs.into_iter().map(|(_, r)| r).collect();
        match runs.len() {
            0 | 1 => Err("there is one run only: give two results folders, or one of a run on several machines".into()),
            _ => Ok(RunsComparison { runs }),
        }
    }

    /// Pairs of launches of the same case: the first run's and the other's.
    fn pairs(&self, other: &Run<'a>) -> Vec<(&'a Entry, &'a Entry)> {
        let same = |a: &Entry, b: &Entry| a.case == b.case && a.launch == b.launch && a.suite == b.suite;
        let of = |a: &'a Entry| other.entries.iter().find(|b| same(a, b)).map(|b| (a, *b));
        self.runs[0].entries.iter().filter_map(|a| of(a)).collect()
    }

    /// A table for each other run, with the geometric mean of its speed.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for other in &self.runs[1..] {
            let pairs = self.pairs(other);
            out += &format!("{} compared with {}\n\n", other.name, self.runs[0].name);
            if pairs.is_empty() {
                out += "They have no case in common.\n\n";
                continue;
            }
            let mut headings = vec!["case", "cycles", "cycles", "change"];
            headings.extend(SHOWN.iter().map(|s| s.heading));
            headings.push("top stall");
            let mut align = vec![Align::Right; headings.len()];
            align[0] = Align::Left;
            align[headings.len() - 1] = Align::Left;
            let rows: Vec<Vec<String>> = pairs.iter().map(|(a, b)| row(a, b)).collect();
            out += &table(&headings, &align, &rows);
            out += &format!("\n{}\n\n", self.verdict(other, &pairs));
        }
        out
    }

    /// Faster, slower, the mean, and what could not be compared.
    fn verdict(&self, other: &Run<'a>, pairs: &[(&Entry, &Entry)]) -> String {
        let logs: Vec<f64> = pairs.iter().filter_map(|(a, b)| Some((time(b)? / time(a)?).ln())).collect();
        let mean = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        let count = |f: fn(f64) -> bool| logs.iter().filter(|l| f(**l)).count();
        let (faster, slower) = (count(|l| l < -0.001), count(|l| l > 0.001));
        let mut out = format!(
            "{} launches: {faster} faster, {slower} slower, {} alike; time x {mean:.3} (geometric mean)",
            logs.len(),
            logs.len() - faster - slower
        );
        let alone = self.runs[0].entries.len() + other.entries.len() - 2 * pairs.len();
        if alone > 0 {
            out += &format!("; {alone} launches are in one run only");
        }
        let failed = pairs.iter().filter(|(a, b)| [a, b].iter().any(|e| matches!(e.check, Check::Failed(_)))).count();
        if failed > 0 {
            out += &format!("; {failed} failed");
        }
        out
    }

    /// One row a launch and other run.
    pub fn csv(&self) -> String {
        let mut out = String::from("base,other,case,launch,cycles,cycles_other,ns,ns_other");
        for shown in SHOWN {
            let key = shown.heading.replace([' ', '.'], "_").to_lowercase();
            out += &format!(",{key},{key}_other");
        }
        out.push('\n');
        for other in &self.runs[1..] {
            for (a, b) in self.pairs(other) {
                out += &[&self.runs[0].name, &other.name, &a.case].map(|f| csv_field(f)).join(",");
                out += &format!(",{}", a.launch);
                let both = |f: &dyn Fn(&LaunchRecord) -> Option<f64>| {
                    let of = |e: &Entry| e.record.as_ref().and_then(f).map_or(String::new(), |v| v.to_string());
                    format!(",{},{}", of(a), of(b))
                };
                out += &both(&|r| Some(r.counters.time.cycles_elapsed as f64));
                out += &both(&|r| Some(r.counters.time.nanoseconds));
                SHOWN.iter().for_each(|s| out += &both(&s.value));
                out.push('\n');
            }
        }
        out
    }
}

/// Simulated time in ns, where there is one.
fn time(entry: &Entry) -> Option<f64> {
    entry.record.as_ref().map(|r| r.counters.time.nanoseconds).filter(|t| *t > 0.0)
}

fn row(a: &Entry, b: &Entry) -> Vec<String> {
    let cycles = |e: &Entry| e.record.as_ref().map(|r| r.counters.time.cycles_elapsed as f64);
    let number = |v: Option<f64>| v.map_or("-".to_string(), |v| format!("{v:.0}"));
    let mut out = vec![a.case.clone(), number(cycles(a)), number(cycles(b)), change(cycles(a), cycles(b), false)];
    for shown in SHOWN {
        let value = |e: &Entry| e.record.as_ref().and_then(|r| (shown.value)(r));
        out.push(change(value(a), value(b), shown.points));
    }
    let stall = |e: &Entry| {
        let top = e.record.as_ref().and_then(|r| r.top_stall());
        top.map_or("-".to_string(), |(c, share)| format!("{} {:.0}%", c.key(), share * 100.0))
    };
    let (from, to) = (stall(a), stall(b));
    out.push(if from == to { from } else { format!("{from} -> {to}") });
    out
}

/// A change in percent or in points; `=` where there is none.
fn change(from: Option<f64>, to: Option<f64>, points: bool) -> String {
    match (from, to) {
        (Some(a), Some(b)) if a == b => "=".into(),
        (Some(a), Some(b)) if points => format!("{:+.1}", b - a),
        (Some(a), Some(b)) if a > 0.0 => format!("{:+.1}%", (b / a - 1.0) * 100.0),
        _ => "-".into(),
    }
}
