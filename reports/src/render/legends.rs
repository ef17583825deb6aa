//! The definitions of all columns and counters as Markdown, for the documentation.
use crate::COLUMNS;
use warpscope_configs::Counters;
use warpscope_sim::LaunchCounters;

/// Columns of the summary, then every counter of a record.
pub fn counter_reference() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut out = String::from("\n## Columns\n\n| column | CSV | unit | meaning |\n| --- | --- | --- | --- |\n");
    for c in COLUMNS {
        out += &format!("| {} | `{}` | {} | {} |\n", c.heading, c.key, c.unit, cell(c.doc));
    }
    out += "\n## Counters\n\n| counter | unit | definition |\n| --- | --- | --- |\n";
    let mut counters = Vec::new();
    LaunchCounters::describe("", &mut counters);
    for c in counters {
        out += &format!("| `{}` | {} | {} |\n", c.path, c.unit, cell(c.doc));
    }
    out
}
