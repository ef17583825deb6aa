//! The report on a program as a page: the same tables as the text, and the timeline as a picture.
use super::{CommandLine, Process, kernel_rows, largest_entries, summary_line, transfer_rows};
use crate::render::{Align, Lane, Page, Span, program_timeline};
use crate::sections;
use warpscope_configs::MachineSpec;

/// The report as a self-contained page.
pub fn program_page(processes: &[Process], configuration: &str, spec: &MachineSpec) -> String {
    let all: Vec<&CommandLine> = processes.iter().flat_map(|p| &p.commands).collect();
    let mut page = Page::new(&format!("A program on {}", spec.chip.name));
    page.paragraph(&summary_line(processes, configuration, spec));
    let tables = [("Kernels", kernel_rows(&all)), ("Other commands", transfer_rows(&all))];
    for (heading, (headings, rows)) in tables {
        if !rows.is_empty() {
            page.heading(heading);
            let headings: Vec<(&str, &str)> = headings.iter().map(|h| (*h, "")).collect();
            let mut align = vec![Align::Right; headings.len()];
            align[0] = Align::Left;
            page.table(&headings, &align, &rows);
        }
    }
    let end = all.iter().map(|c| c.end_ps).max().unwrap_or(0);
    if end > 0 {
        page.heading("Timeline");
        page.plot(&program_timeline(&lanes(processes), end as f64 / 1e6));
    }
    for (title, entry) in largest_entries(&all, configuration, spec) {
        page.heading(&title);
        for section in sections::sections(&entry) {
            let row = |r: &sections::Row| vec![r.name.clone(), r.value.clone(), r.unit.to_string(), r.doc.clone()];
            let rows: Vec<Vec<String>> = section.rows.iter().map(row).collect();
            let headings = [(section.title, ""), ("value", ""), ("unit", ""), ("meaning", "")];
            page.table(&headings, &[Align::Left, Align::Right, Align::Left, Align::Left], &rows);
            section.notes.iter().for_each(|n| page.paragraph(n));
        }
    }
    let failed: Vec<Vec<String>> = all.iter().filter_map(|c| failed_row(c)).collect();
    if !failed.is_empty() {
        page.heading("Failed commands");
        let headings = [("number", ""), ("command", ""), ("why", "")];
        page.table(&headings, &[Align::Right, Align::Left, Align::Left], &failed);
    }
    page.finish()
}

fn failed_row(command: &CommandLine) -> Option<Vec<String>> {
    let why = command.error.as_ref()?;
    Some(vec![command.sequence.to_string(), command.command.clone(), format!("FAILED: {why}")])
}

/// Two lanes a process: kernels, and everything else that takes time.
fn lanes(processes: &[Process]) -> Vec<Lane> {
    let lane = |process: &Process, kernels: bool| {
        let timed = process.commands.iter().filter(|c| c.launch.is_some() == kernels && c.end_ps > c.start_ps);
        Lane {
            name: format!("{} {}", process.id, if kernels { "kernels" } else { "transfers" }),
            spans: timed
                .map(|c| Span { start: c.start_ps as f64 / 1e6, end: c.end_ps as f64 / 1e6, kernels })
                .collect(),
        }
    };
    processes.iter().flat_map(|p| [lane(p, true), lane(p, false)]).filter(|l| !l.spans.is_empty()).collect()
}
