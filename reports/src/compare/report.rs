//! Tables, CSV and pages of a comparison.
use super::quantities::{Kind, QUANTITIES, index};
use super::{Reference, Summary};
use crate::render::{Align, Page, Point, csv_field, scatter, table};
use crate::{Check, Entry};
use std::collections::BTreeMap;

/// Cases in the list of the worst.
const WORST: usize = 12;
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

/// A case compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Case's name.
    pub case: String,
    /// Case's group.
    pub group: String,
    /// Kernel's name.
    pub kernel: String,
    /// For each quantity the measured and the simulated value, where there are both.
    pub pairs: Vec<Option<(f64, f64)>>,
    /// Largest stall reason: measured, simulated.
    pub stalls: (String, String),
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
                kernel: record.map_or(String::new(), |r| r.kernel.clone()),
                pairs: measured.values.iter().enumerate().map(pair).collect(),
                stalls: (measured.top_stall.clone(), top),
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
        let rows = self.rows.iter().filter(|r| group.is_none_or(|g| r.group == g));
        let triples: Vec<_> = rows
            .filter_map(|r| r.difference(quantity).and_then(|d| r.pairs[quantity].map(|(m, s)| (m, s, d))))
            .collect();
        Summary::of(&triples)
    }

    fn summary_rows(&self) -> (Vec<&'static str>, Vec<Align>, Vec<Vec<String>>) {
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

    /// The report as text; `cases` lists every case, otherwise kernels with the mean over their cases.
    pub fn text(&self, cases: bool) -> String {
        let mut out = if cases { self.case_table() } else { self.kernel_table() };
        out.push('\n');
        let (headings, align, rows) = self.summary_rows();
        out += &table(&headings, &align, &rows);
        out += &format!("\nWorst by cycles (active):\n{}", self.worst());
        for row in self.rows.iter().filter(|r| !r.failure.is_empty()) {
            out += &format!("FAILED {}: {}\n", row.case, row.failure);
        }
        if !self.unmeasured.is_empty() {
            out += &format!("{} cases are not in the reference.\n", self.unmeasured.len());
        }
        out
    }

    fn case_table(&self) -> String {
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
        table(&headings, &align, &self.rows.iter().map(row).collect::<Vec<_>>())
    }

    fn kernel_table(&self) -> String {
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
        table(&headings, &align, &kernels.iter().map(row).collect::<Vec<_>>())
    }

    fn worst_rows(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().filter(|r| r.difference(0).is_some()).collect();
        let size = |r: &Row| r.pairs[0].map_or(0.0, |(m, s)| (s / m).max(f64::MIN_POSITIVE).ln().abs());
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        rows.truncate(WORST);
        rows
    }

    fn worst(&self) -> String {
        let line = |r: &&Row| {
            let (measured, simulated) = r.pairs[0].unwrap_or_default();
            format!(
                "  {}: {simulated:.0} instead of {measured:.0} ({}); {}\n",
                r.case,
                signed(simulated / measured - 1.0, Kind::Relative),
                why(r)
            )
        };
        self.worst_rows().iter().map(line).collect()
    }

    /// One row a case, three columns a quantity.
    pub fn csv(&self) -> String {
        let mut out = String::from("case,group,kernel");
        for q in QUANTITIES {
            out += &format!(",{0},{0}_simulated,{0}_error", q.column);
        }
        out += ",top_stall,top_stall_simulated\n";
        for row in &self.rows {
            out += &[&row.case, &row.group, &row.kernel].map(|f| csv_field(f)).join(",");
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

    /// Simulated over measured values of a quantity.
    pub fn plot(&self, quantity: usize) -> String {
        let points: Vec<Point> = self
            .rows
            .iter()
            .filter_map(|r| r.pairs[quantity].map(|(x, y)| Point { x, y, name: r.case.clone() }))
            .collect();
        let q = &QUANTITIES[quantity];
        scatter(&points, q.doc, q.unit)
    }

    /// The report as a page.
    pub fn page(&self, title: &str) -> String {
        let mut page = Page::new(title);
        let (headings, align, rows) = self.summary_rows();
        let headings: Vec<(&str, &str)> = headings.into_iter().map(|h| (h, "")).collect();
        page.paragraph("Relative differences in percent of the measured value, differences of percentages in points.");
        page.table(&headings, &align, &rows);
        for (i, quantity) in QUANTITIES.iter().enumerate() {
            if quantity.kind == Kind::Relative && self.rows.iter().any(|r| r.pairs[i].is_some()) {
                page.heading(quantity.column);
                page.plot(&self.plot(i));
            }
        }
        page.heading("Worst by cycles (active)");
        for row in self.worst_rows() {
            page.paragraph(&format!("{}: {}", row.case, why(row)));
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

/// A difference with its sign: percent, or points.
fn signed(difference: f64, kind: Kind) -> String {
    match kind {
        Kind::Relative => format!("{:+.1}%", difference * 100.0),
        Kind::Points => format!("{difference:+.1}"),
    }
}

/// What else differs in a case, largest first: where to look.
fn why(row: &Row) -> String {
    let mut parts: Vec<(f64, String)> = Vec::new();
    for (i, quantity) in QUANTITIES.iter().enumerate().skip(2) {
        let Some(difference) = row.difference(i) else { continue };
        let size = match quantity.kind {
            Kind::Relative => difference.abs(),
            Kind::Points => difference.abs() / 100.0,
        };
        if size > 0.05 {
            parts.push((size, format!("{} {}", quantity.heading, signed(difference, quantity.kind))));
        }
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut words: Vec<String> = parts.into_iter().take(4).map(|(_, text)| text).collect();
    if row.stalls.0.is_empty() && words.is_empty() {
        words.push("counters agree".into());
    }
    if !row.stalls.0.is_empty() {
        words.push(format!("top stall {} (measured) {} (simulated)", row.stalls.0, row.stalls.1));
    }
    words.join(", ")
}
