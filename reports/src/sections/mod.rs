//! The parts of the report on one launch, in the manner of a profiler: one file a section, one row in [`SECTIONS`].
mod instructions;
mod launch;
mod memory;
mod occupancy;
mod stalls;
mod throughput;

use crate::Entry;
use crate::render::{Align, Page, stall_stacks, table};
use warpscope_sim::{LaunchRecord, Mode};

/// A section: rows of figures, then what they suggest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: &'static str,
    /// Figures.
    pub rows: Vec<Row>,
    /// Sentences about them.
    pub notes: Vec<String>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Unit; empty for names and ratios.
    pub unit: &'static str,
    /// Definition.
    pub doc: String,
}

impl Section {
    fn new(title: &'static str) -> Section {
        Section { title, ..Section::default() }
    }

    fn row(&mut self, name: &str, value: impl ToString, unit: &'static str, doc: &str) {
        self.rows.push(Row { name: name.into(), value: value.to_string(), unit, doc: doc.into() });
    }
}

/// One section of a launch; none where it has nothing to say.
type Make = fn(&Entry, &LaunchRecord) -> Option<Section>;

/// All sections in their order; the second value says whether it needs simulated time.
const SECTIONS: &[(Make, bool)] = &[
    (launch::section, false),
    (throughput::section, true),
    (occupancy::section, false),
    (stalls::section, true),
    (memory::section, true),
    (instructions::section, false),
];

/// The sections of a launch.
pub fn sections(entry: &Entry) -> Vec<Section> {
    let Some(record) = &entry.record else { return Vec::new() };
    let timed = record.mode == Mode::Timing;
    SECTIONS.iter().filter(|(_, needs)| timed || !needs).filter_map(|(make, _)| make(entry, record)).collect()
}

/// The report on one launch as text.
pub fn text(entry: &Entry) -> String {
    let mut out = String::new();
    for section in sections(entry) {
        let rows: Vec<Vec<String>> =
            section.rows.iter().map(|r| vec![format!("  {}", r.name), r.value.clone(), r.unit.to_string()]).collect();
        out += &format!("{}\n", section.title);
        let body = table(&["", "", ""], &[Align::Left, Align::Right, Align::Left], &rows);
        out.extend(body.lines().skip(2).map(|l| format!("{l}\n")));
        out.extend(section.notes.iter().map(|n| format!("  * {n}\n")));
        out.push('\n');
    }
    out
}

/// The report on one launch as a page.
pub fn page(entry: &Entry) -> String {
    let kernel = entry.record.as_ref().map_or(entry.case.as_str(), |r| r.kernel.as_str());
    let mut page = Page::new(&format!("{kernel} on {}", entry.configuration));
    for section in sections(entry) {
        page.heading(section.title);
        let row = |r: &Row| vec![r.name.clone(), r.value.clone(), r.unit.to_string(), r.doc.clone()];
        let rows: Vec<Vec<String>> = section.rows.iter().map(row).collect();
        let headings = [("figure", ""), ("value", ""), ("unit", ""), ("meaning", "")];
        page.table(&headings, &[Align::Left, Align::Right, Align::Left, Align::Left], &rows);
        section.notes.iter().for_each(|n| page.paragraph(n));
    }
    if entry.record.as_ref().is_some_and(|r| r.mode == Mode::Timing) {
        page.heading("Where resident warps spent their cycles");
        page.plot(&stall_stacks(std::slice::from_ref(entry)));
    }
    page.finish()
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Whole numbers with a thin separation of thousands.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(super::grouped(0), "0");
        assert_eq!(super::grouped(1234567), "1 234 567");
        assert_eq!(super::grouped(123), "123");
    }
}
