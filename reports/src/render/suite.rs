//! The page about a run of a suite.
use super::{Align, Page, Point, occupancy_plot, roofline, stall_stacks};
use crate::{COLUMNS, Check, Entry, Value};

/// Table, failures, plots and legends of all launches of a run.
pub fn suite_page(title: &str, entries: &[Entry]) -> String {
    let mut page = Page::new(title);
    let failed: Vec<&Entry> = entries.iter().filter(|e| matches!(e.check, Check::Failed(_))).collect();
    let machines: std::collections::BTreeSet<&str> = entries.iter().map(|e| e.configuration.as_str()).collect();
    page.paragraph(&format!(
        "{} launches on {}; {} failed.",
        entries.len(),
        machines.into_iter().collect::<Vec<_>>().join(", "),
        failed.len()
    ));
    launches(&mut page, entries);
    if !failed.is_empty() {
        page.heading("What failed");
        for entry in failed {
            if let Check::Failed(why) = &entry.check {
                page.paragraph(&format!("{} on {}: {why}", entry.case, entry.configuration));
            }
        }
    }
    let timed = entries.iter().any(|e| (COLUMNS[2].value)(e) != Value::Missing);
    if timed {
        page.heading("Where resident warps spent their cycles");
        page.plot(&stall_stacks(entries));
        page.heading("Occupancy: achieved (dark) of what fits (light)");
        page.plot(&occupancy_plot(entries));
        for (machine, plot) in rooflines(entries) {
            page.heading(&format!("Instruction roofline, {machine}"));
            page.plot(&plot);
        }
    }
    legends(&mut page, entries);
    page.finish()
}

fn launches(page: &mut Page, entries: &[Entry]) {
    page.heading("Launches");
    let mut headings = vec![("machine", "Machine description and overrides.")];
    headings.extend(COLUMNS.iter().map(|c| (c.heading, c.doc)));
    let mut align = vec![Align::Left];
    let numeric = |c: &crate::Column| entries.iter().any(|e| (c.value)(e).is_number());
    align.extend(COLUMNS.iter().map(|c| if numeric(c) { Align::Right } else { Align::Left }));
    let row = |e: &Entry| {
        let mut row = vec![e.configuration.clone()];
        row.extend(COLUMNS.iter().map(|c| (c.value)(e).show()));
        row
    };
    page.table(&headings, &align, &entries.iter().map(row).collect::<Vec<_>>());
}

/// The instruction roofline of each machine that has a DRAM, with the machine's name.
pub fn rooflines(entries: &[Entry]) -> Vec<(String, String)> {
    let mut machines: Vec<&str> = Vec::new();
    for entry in entries.iter().filter(|e| e.peaks.dram > 0.0) {
        if !machines.contains(&entry.configuration.as_str()) {
            machines.push(&entry.configuration);
        }
    }
    let plot = |machine: &str| {
        let of: Vec<&Entry> = entries.iter().filter(|e| e.configuration == machine).collect();
        let points: Vec<Point> = of.iter().filter_map(|e| crate::metrics::roofline_point(e)).collect();
        let peaks = of.first().map(|e| e.peaks).unwrap_or_default();
        roofline(&points, peaks.issue_rate(), peaks.dram)
    };
    machines.into_iter().map(|m| (m.to_string(), plot(m))).collect()
}

fn legends(page: &mut Page, entries: &[Entry]) {
    page.heading("Columns");
    let unit = |u: &str| if u.is_empty() { String::new() } else { format!(" [{u}]") };
    page.definitions(COLUMNS.iter().map(|c| (c.heading, format!("{}{}", c.doc, unit(c.unit)))));
    page.heading("Counters in the CSV file");
    let counters = entries.iter().find_map(|e| e.record.as_ref()).map(|r| r.counters()).unwrap_or_default();
    page.definitions(counters.iter().map(|(i, _)| (i.path.as_str(), format!("{}{}", i.doc, unit(i.unit)))));
}
