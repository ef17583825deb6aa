//! Errors that are kept, so that a change that makes them worse is noticed.
use super::{Comparison, QUANTITIES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The quantities whose errors are kept.
const KEPT: [&str; 4] = ["cold_cycles_active_max", "cold_cycles_elapsed", "warp_inst", "regs"];

/// What stands at the head of the file.
const HEAD: &str = "\
# Errors of the model on some small cases: a change may not make them worse. The test `accuracy` of the program runs
# these cases and fails where a mean error has grown by more than `slack` points. If that is meant, bless it and say why
# in the commit:
#
#     BLESS=1 cargo test -p warpscope --test accuracy
#
# Mean absolute errors in percent, by group and class.

";

/// A baseline file (TOML).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Points by which a mean error may be larger.
    pub slack: f64,
    /// The cases.
    pub cases: Vec<String>,
    /// For each quantity the mean absolute error in percent, by group and class.
    #[serde(default)]
    pub errors: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Baseline {
    /// Parses a file.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        toml::from_str(text).map_err(|e| e.to_string())
    }

    /// The same cases and slack with the errors of `comparison`.
    pub fn blessed(&self, comparison: &Comparison) -> Baseline {
        Baseline { errors: errors(comparison), ..self.clone() }
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut out = format!("{HEAD}slack = {:?}\ncases = [\n", self.slack);
        self.cases.iter().for_each(|c| out += &format!("  {c:?},\n"));
        out += "]\n";
        for (quantity, classes) in &self.errors {
            out += &format!("\n[errors.{quantity}]\n");
            classes.iter().for_each(|(class, error)| out += &format!("{class:?} = {error:?}\n"));
        }
        out
    }

    /// What is worse than the baseline, a sentence each; also cases and classes that are not there any more.
    pub fn worse(&self, comparison: &Comparison) -> Vec<String> {
        let now = errors(comparison);
        let mut out = Vec::new();
        for case in self.cases.iter().filter(|c| !comparison.rows.iter().any(|r| r.case == **c)) {
            out.push(format!("the case {case} of the baseline was not compared"));
        }
        for (quantity, classes) in &self.errors {
            for (class, before) in classes {
                match now.get(quantity).and_then(|c| c.get(class)) {
                    Some(error) if *error > before + self.slack => {
                        out.push(format!("{quantity} of {class}: mean error {error:.1} %, was {before:.1} %"));
                    }
                    Some(_) => {}
                    None => out.push(format!("{quantity} of {class} was not compared")),
                }
            }
        }
        if self.errors.is_empty() {
            out.push("the baseline has no errors yet: bless it".into());
        }
        out
    }
}

/// The mean errors, to a tenth of a percent.
fn errors(comparison: &Comparison) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut out: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for (i, quantity) in QUANTITIES.iter().enumerate().filter(|(_, q)| KEPT.contains(&q.column)) {
        for (group, class) in comparison.classes() {
            let summary = comparison.summary_where(i, |r| r.group == group && r.class == class);
            if summary.count > 0 {
                let error = (summary.mean * 1000.0).round() / 10.0;
                out.entry(quantity.column.to_string()).or_default().insert(format!("{group}, {class}"), error);
            }
        }
    }
    out
}
