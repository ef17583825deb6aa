//! What each mechanism of the model does to the error: the comparison with one switched off, against that with all.
use super::report::signed;
use super::{Comparison, Kind, Row};
use crate::render::{Align, csv_field, markdown, table};

/// The comparison with one mechanism switched off.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The mechanism.
    pub name: String,
    /// What it models, and how it is switched off.
    pub doc: String,
    /// The keys that switch it off.
    pub set: Vec<String>,
    /// The cases compared.
    pub comparison: Comparison,
}

/// All variants of a machine.
#[derive(Clone, Debug)]
pub struct Ablation {
    /// The machine as it is.
    pub base: Comparison,
    /// One mechanism less each.
    pub variants: Vec<Variant>,
}

const HEADINGS: [&str; 11] = [
    "without",
    "active |e|",
    "change",
    "p90",
    "bias",
    "elapsed |e|",
    "change",
    "p90",
    "cases moved",
    "median x",
    "largest x",
];
/// A case has moved where its active cycles change by more than this.
const MOVED: f64 = 0.01;

impl Ablation {
    /// A row: errors in active and elapsed cycles, the change from the base in points, and how many cases moved how far.
    fn row(&self, name: &str, comparison: &Comparison, base: bool) -> Vec<String> {
        let size = |d: f64| signed(d, Kind::Relative).trim_start_matches('+').to_string();
        let change = |q: usize| {
            let change = (comparison.summary(q, None).mean - self.base.summary(q, None).mean) * 100.0;
            if base { String::new() } else { format!("{change:+.1}") }
        };
        let (active, elapsed) = (comparison.summary(0, None), comparison.summary(1, None));
        let ratios = self.ratios(comparison);
        let moved = ratios.iter().filter(|r| (**r - 1.0).abs() > MOVED).count();
        let factor = |r: Option<f64>| r.filter(|_| !base).map_or(String::new(), |r| format!("{r:.2}"));
        let largest = ratios.iter().copied().max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
        vec![
            name.to_string(),
            size(active.mean),
            change(0),
            size(active.p90),
            signed(active.bias, Kind::Relative),
            size(elapsed.mean),
            change(1),
            size(elapsed.p90),
            if base { String::new() } else { format!("{moved} of {}", ratios.len()) },
            factor(ratios.get(ratios.len() / 2).copied()),
            factor(largest),
        ]
    }

    /// Active cycles of each case over the base's, ascending.
    fn ratios(&self, comparison: &Comparison) -> Vec<f64> {
        let cycles = |r: &Row| r.pairs[0].map(|(_, simulated)| simulated).filter(|s| *s > 0.0);
        let of = |row: &Row| {
            let base = self.base.rows.iter().find(|r| r.case == row.case)?;
            Some(cycles(row)? / cycles(base)?)
        };
        let mut ratios: Vec<f64> = comparison.rows.iter().filter_map(of).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![self.row("(the model)", &self.base, true)];
        rows.extend(self.variants.iter().map(|v| self.row(&v.name, &v.comparison, false)));
        rows
    }

    fn align() -> Vec<Align> {
        let mut align = vec![Align::Right; HEADINGS.len()];
        align[0] = Align::Left;
        align
    }

    /// The table as text.
    pub fn text(&self) -> String {
        let mut out = table(&HEADINGS, &Self::align(), &self.rows());
        out += &format!("\n{} cases. {EXPLAINED}", self.base.rows.len());
        out
    }

    /// The table as Markdown, with what each mechanism is.
    pub fn markdown(&self, title: &str) -> String {
        let mut out = format!("# {title}\n\n{} cases. {EXPLAINED}\n", self.base.rows.len());
        out += &markdown(&HEADINGS, &Self::align(), &self.rows());
        out += "\n## Mechanisms\n\n";
        for v in &self.variants {
            let keys: Vec<String> = v.set.iter().map(|s| format!("`{s}`")).collect();
            out += &format!("- **{}**: {} Off: {}.\n", v.name, v.doc, keys.join(", "));
        }
        out
    }

    /// One row a mechanism and case: measured, simulated with all mechanisms, simulated without this one (active cycles).
    pub fn csv(&self) -> String {
        let mut out = String::from("without,case,group,class,measured,simulated,simulated_without,elapsed_without\n");
        for v in &self.variants {
            for row in &v.comparison.rows {
                let Some(base) = self.base.rows.iter().find(|r| r.case == row.case) else { continue };
                let (Some((measured, with)), Some((_, without))) = (base.pairs[0], row.pairs[0]) else { continue };
                let elapsed = row.pairs[1].map_or(String::new(), |(_, s)| s.to_string());
                let words = [&v.name, &row.case, &row.group, &row.class].map(|f| csv_field(f)).join(",");
                out += &format!("{words},{measured},{with},{without},{elapsed}\n");
            }
        }
        out
    }
}

const EXPLAINED: &str = "Errors are means over the cases, of active and of elapsed cycles; a change of + means\n\
    that the model is further from the hardware without the mechanism. Moved: cases whose active cycles change by more\n\
    than 1 %; x: active cycles without the mechanism over those with it.\n";
