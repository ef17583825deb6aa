//! Tables, CSV and pages of a comparison.
use super::quantities::{Kind, QUANTITIES, index};
use super::worst::{line, worst_rows};
use super::{Reference, Summary};
use crate::render::{Align, Page, Point, csv_field, markdown, scatter, scatter_png, table};
use crate::{Check, Entry};
use std::collections::BTreeMap;
use warpscope_sim::{Cause, LaunchRecord};

/// Quantities shown for each kernel in the text.
const TABLE: &[&str] = &[
    "cold_cycles_active_max",
    "cold_cycles_elapsed",
    "warp_inst",
    "regs",
    "occ_achieved_pct",
    "ld_hit_pct",
    "l2_hit_pct",
    "dram_read_bytes",
];

/// Headings, alignments and rows of a table.
pub(super) type Table = (Vec<&'static str>, Vec<Align>, Vec<Vec<String>>);
/// Causes kept for the list of the worst.
const CAUSES: usize = 3;

/// A case compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Case's name.
    pub case: String,
    /// Case's group.
    pub group: String,
    /// What the case is bound by, as its manifest says.
    pub class: String,
    /// Kernel's name.
    pub kernel: String,
    /// For each quantity the measured and the simulated value, where there are both.
    pub pairs: Vec<Option<(f64, f64)>>,
    /// Largest stall reason: measured, simulated.
    pub stalls: (String, String),
    /// What resident warps spent most of their cycles on, with its share.
    pub causes: Vec<(&'static str, f64)>,
    /// Why the case failed, or empty.
    pub failure: String,
}

impl Row {
    /// Signed difference in a quantity: a fraction, or points.
    pub fn difference(&self, quantity: usize) -> Option<f64> {
        let (measured, simulated) = self.pairs[quantity]?;
        match QUANTITIES[quantity].kind {
            Kind::Relative => Some(simulated / measured - 1.0),
            Kind::Points => Some(simulated - measured),
        }
    }
}

/// All cases that both sides have.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// In the order of the suite.
    pub rows: Vec<Row>,
    /// Cases of the suite that the reference lacks.
    pub unmeasured: Vec<String>,
}

impl Comparison {
    /// Compares the first launch of every case.
    pub fn new(entries: &[Entry], reference: &Reference) -> Comparison {
        let mut out = Comparison::default();
        for entry in entries.iter().filter(|e| e.launch == 0) {
            let Some(measured) = reference.find(&entry.case) else {
                out.unmeasured.push(entry.case.clone());
                continue;
            };
            let record = entry.record.as_ref();
            let pair = |(i, value): (usize, &Option<f64>)| {
                let quantity = &QUANTITIES[i];
                let measured = (*value).filter(|v| *v >= quantity.floor)?;
                Some((measured, (quantity.simulated)(record?)?))
            };
            let top = record.and_then(|r| r.top_stall()).map_or(String::new(), |(c, _)| c.key().to_string());
            out.rows.push(Row {
                case: entry.case.clone(),
                group: entry.group.clone(),
                class: entry.class.clone(),
                kernel: record.map_or(String::new(), |r| r.kernel.clone()),
                pairs: measured.values.iter().enumerate().map(pair).collect(),
                stalls: (measured.top_stall.clone(), top),
                causes: record.map_or(Vec::new(), causes),
                failure: match &entry.check {
                    Check::Failed(why) => why.clone(),
                    Check::Passed | Check::None => String::new(),
                },
            });
        }
        out
    }

    fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !groups.contains(&row.group.as_str()) {
                groups.push(&row.group);
            }
        }
        groups
    }

    /// The errors in one quantity over the cases of a group (all cases where there is none).
    pub fn summary(&self, quantity: usize, group: Option<&str>) -> Summary {
        self.summary_where(quantity, |r| group.is_none_or(|g| r.group == g))
    }

    /// The errors in one quantity over the rows that `chosen` chooses.
    pub fn summary_where(&self, quantity: usize, chosen: impl Fn(&Row) -> bool) -> Summary {
        let rows = self.rows.iter().filter(|r| chosen(r));
        let triples: Vec<_> = rows
            .filter_map(|r| r.difference(quantity).and_then(|d| r.pairs[quantity].map(|(m, s)| (m, s, d))))
            .collect();
        Summary::of(&triples)
    }

    fn summary_rows(&self) -> Table {
        let headings =
            vec!["group", "quantity", "n", "mean |e|", "median", "p90", "worst", "bias", "corr.", "log corr."];
        let mut align = vec![Align::Right; headings.len()];
        align[..2].fill(Align::Left);
        let mut groups: Vec<Option<&str>> = self.groups().into_iter().map(Some).collect();
        if groups.len() != 1 {
            groups.push(None);
        }
        let mut rows = Vec::new();
        for group in groups {
            for (i, quantity) in QUANTITIES.iter().enumerate() {
                let s = self.summary(i, group);
                if s.count == 0 {
                    continue;
                }
                let show = |d: f64| signed(d, quantity.kind).trim_start_matches('+').to_string();
                rows.push(vec![
                    group.unwrap_or("all").to_string(),
                    quantity.column.to_string(),
                    s.count.to_string(),
                    show(s.mean),
                    show(s.median),
                    show(s.p90),
                    show(s.worst),
                    signed(s.bias, quantity.kind),
                    format!("{:.3}", s.linear),
                    format!("{:.3}", s.log),
                ]);
            }
        }
        (headings, align, rows)
    }

    /// Group and class of the rows, in the order of the suite.
    pub fn classes(&self) -> Vec<(&str, &str)> {
        let mut classes: Vec<(&str, &str)> = Vec::new();
        for row in &self.rows {
            let class = (row.group.as_str(), row.class.as_str());
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// Errors in both measures of cycles and in instructions, by class.
    fn class_rows(&self) -> Table {
        let mut headings = vec!["group", "class", "cases"];
        headings.extend(["active |e|", "p90", "bias", "elapsed |e|", "p90", "bias", "warp inst |e|", "bias"]);
        let mut align = vec![Align::Right; headings.len()];
        align[..2].fill(Align::Left);
        let instructions = index("warp_inst").unwrap_or(0);
        let rows = self.classes().into_iter().map(|(group, class)| {
            let of = |quantity| self.summary_where(quantity, |r| r.group == group && r.class == class);
            let size = |d: f64| signed(d, Kind::Relative).trim_start_matches('+').to_string();
            let mut cells = vec![group.to_string(), class.to_string(), of(0).count.to_string()];
            for quantity in [0, 1] {
                let s = of(quantity);
                cells.extend([size(s.mean), size(s.p90), signed(s.bias, Kind::Relative)]);
            }
            let s = of(instructions);
            cells.extend([size(s.mean), signed(s.bias, Kind::Relative)]);
            cells
        });
        let rows = rows.collect();
        (headings, align, rows)
    }

    /// The report as text; `cases` lists every case, otherwise kernels with the mean over their cases.
    pub fn text(&self, cases: bool) -> String {
        let text = |(headings, align, rows): Table| table(&headings, &align, &rows);
        let mut out = text(if cases { self.case_table() } else { self.kernel_table() });
        out += &format!("\n{}", text(self.class_rows()));
        out += &format!("\n{}", text(self.summary_rows()));
        out += "\nWorst by cycles (active):\n";
        worst_rows(&self.rows).iter().for_each(|r| out += &format!("  {}\n", line(r)));
        for row in self.rows.iter().filter(|r| !r.failure.is_empty()) {
            out += &format!("FAILED {}: {}\n", row.case, row.failure);
        }
        if !self.unmeasured.is_empty() {
            out += &format!("{} cases are not in the reference.\n", self.unmeasured.len());
        }
        out
    }

    /// The report as Markdown under `title`: what a repository keeps of it.
    pub fn markdown(&self, title: &str) -> String {
        let section = |heading: &str, (headings, align, rows): Table| {
            format!("\n## {heading}\n\n{}", markdown(&headings, &align, &rows))
        };
        let mut out =
            format!("# {title}\n\nSigned differences: simulated less measured, in percent of the measured value,\n");
        out += "those of percentages in points. |e|: mean of the absolute differences.\n";
        out += &section("Summary", self.summary_rows());
        out += &section("By class", self.class_rows());
        out += &section("By kernel (mean over its cases)", self.kernel_table());
        out += "\n## Worst by cycles (active)\n\n";
        worst_rows(&self.rows).iter().for_each(|r| out += &format!("- {}\n", line(r)));
        out
    }

    fn case_table(&self) -> Table {
        let columns: Vec<usize> = TABLE.iter().filter_map(|c| index(c)).collect();
        let mut headings = vec!["case", "measured", "simulated"];
        headings.extend(columns.iter().map(|c| QUANTITIES[*c].heading));
        let mut align = vec![Align::Right; headings.len()];
        align[0] = Align::Left;
        let row = |r: &Row| {
            let (measured, simulated) = r.pairs[0]
                .map_or((String::from("-"), String::from("-")), |(m, s)| (format!("{m:.0}"), format!("{s:.0}")));
            let mut cells = vec![r.case.clone(), measured, simulated];
            cells.extend(
                columns.iter().map(|c| r.difference(*c).map_or("-".into(), |d| signed(d, QUANTITIES[*c].kind))),
            );
            cells
        };
        let rows = self.rows.iter().map(row).collect();
        (headings, align, rows)
    }

    fn kernel_table(&self) -> Table {
        let columns: Vec<usize> = TABLE.iter().filter_map(|c| index(c)).collect();
        let mut kernels: BTreeMap<(usize, &str), Vec<&Row>> = BTreeMap::new();
        let groups = self.groups();
        for row in &self.rows {
            let group = groups.iter().position(|g| *g == row.group).unwrap_or(0);
            kernels.entry((group, &row.kernel)).or_default().push(row);
        }
        let mut headings = vec!["group", "kernel", "cases"];
        headings.extend(columns.iter().map(|c| QUANTITIES[*c].heading));
        let mut align = vec![Align::Right; headings.len()];
        align[..2].fill(Align::Left);
        let row = |((group, kernel), rows): (&(usize, &str), &Vec<&Row>)| {
            let mut cells = vec![groups[*group].to_string(), kernel.to_string(), rows.len().to_string()];
            for column in &columns {
                let found: Vec<f64> = rows.iter().filter_map(|r| r.difference(*column)).collect();
                let mean = found.iter().sum::<f64>() / found.len().max(1) as f64;
                cells.push(if found.is_empty() { "-".into() } else { signed(mean, QUANTITIES[*column].kind) });
            }
            cells
        };
        let rows = kernels.iter().map(row).collect();
        (headings, align, rows)
    }

    /// One row a case, three columns a quantity.
    pub fn csv(&self) -> String {
        let mut out = String::from("case,group,class,kernel");
        for q in QUANTITIES {
            out += &format!(",{0},{0}_simulated,{0}_error", q.column);
        }
        out += ",top_stall,top_stall_simulated\n";
        for row in &self.rows {
            out += &[&row.case, &row.group, &row.class, &row.kernel].map(|f| csv_field(f)).join(",");
            for (i, pair) in row.pairs.iter().enumerate() {
                match (pair, row.difference(i)) {
                    (Some((m, s)), Some(d)) => out += &format!(",{m},{s},{d}"),
                    _ => out += ",,,",
                }
            }
            out += &format!(",{},{}\n", csv_field(&row.stalls.0), csv_field(&row.stalls.1));
        }
        out
    }

    fn points(&self, quantity: usize) -> Vec<Point> {
        let point = |r: &Row| r.pairs[quantity].map(|(x, y)| Point { x, y, name: r.case.clone() });
        self.rows.iter().filter_map(point).collect()
    }

    /// Simulated over measured values of a quantity, as SVG.
    pub fn plot(&self, quantity: usize) -> String {
        let q = &QUANTITIES[quantity];
        scatter(&self.points(quantity), q.doc, q.unit)
    }

    /// The same as PNG. The error is a sentence.
    pub fn plot_png(&self, quantity: usize) -> Result<Vec<u8>, String> {
        let q = &QUANTITIES[quantity];
        scatter_png(&self.points(quantity), q.doc, q.unit)
    }

    /// The report as a page.
    pub fn page(&self, title: &str) -> String {
        let mut page = Page::new(title);
        let (headings, align, rows) = self.summary_rows();
        let headings: Vec<(&str, &str)> = headings.into_iter().map(|h| (h, "")).collect();
        page.paragraph("Relative differences in percent of the measured value, differences of percentages in points.");
        page.table(&headings, &align, &rows);
        page.heading("By class");
        let (headings, align, rows) = self.class_rows();
        let headings: Vec<(&str, &str)> = headings.into_iter().map(|h| (h, "")).collect();
        page.table(&headings, &align, &rows);
        for (i, quantity) in QUANTITIES.iter().enumerate() {
            if quantity.kind == Kind::Relative && self.rows.iter().any(|r| r.pairs[i].is_some()) {
                page.heading(quantity.column);
                page.plot(&self.plot(i));
            }
        }
        page.heading("Worst by cycles (active)");
        for row in worst_rows(&self.rows) {
            page.paragraph(&line(row));
        }
        page.heading("Cases");
        let mut headings = vec![("case", ""), ("group", ""), ("kernel", "")];
        headings.extend(QUANTITIES.iter().map(|q| (q.heading, q.doc)));
        let mut align = vec![Align::Right; headings.len()];
        align[..3].fill(Align::Left);
        let row = |r: &Row| {
            let mut cells = vec![r.case.clone(), r.group.clone(), r.kernel.clone()];
            let shown = |i| r.difference(i).map_or("-".into(), |d| signed(d, QUANTITIES[i].kind));
            cells.extend((0..QUANTITIES.len()).map(shown));
            cells
        };
        page.table(&headings, &align, &self.rows.iter().map(row).collect::<Vec<_>>());
        page.finish()
    }
}

/// What resident warps spent most of their cycles on, largest first, issuing left out.
fn causes(record: &LaunchRecord) -> Vec<(&'static str, f64)> {
    let warps = &record.counters.time.warps;
    let total = warps.total().max(1) as f64;
    let mut out: Vec<(&'static str, f64)> = Cause::ALL
        .iter()
        .filter(|c| !matches!(c, Cause::Issued | Cause::NoWarp))
        .map(|c| (c.key(), warps[*c] as f64 / total))
        .filter(|(_, share)| *share >= 0.05)
        .collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out.truncate(CAUSES);
    out
}

/// A difference with its sign: percent, or points.
pub(super) fn signed(difference: f64, kind: Kind) -> String {
    match kind {
        Kind::Relative => format!("{:+.1}%", difference * 100.0),
        Kind::Points => format!("{difference:+.1}"),
    }
}
