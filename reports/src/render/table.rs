//! Plain-text tables.
use crate::{COLUMNS, Check, Entry};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Lays out rows under headings, two spaces between columns.
pub fn table(headings: &[&str], align: &[Align], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count());
        cells.chain([headings[i].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let padded = cells.iter().zip(&widths).zip(align).map(|((cell, width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let mut out = line(headings);
    let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    out += &line(&rule.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows {
        out += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    out
}

/// The same as a table of Markdown.
pub fn markdown(headings: &[&str], align: &[Align], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(|c| c.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = line(&mut headings.iter().copied());
    let rule = align.iter().map(|a| if *a == Align::Right { "---:" } else { "---" });
    out += &line(&mut rule.into_iter());
    rows.iter().for_each(|row| out += &line(&mut row.iter().map(String::as_str)));
    out
}

/// The summary of launches, one a row; columns without any value are left out. Sentences about what failed follow.
pub fn summary(entries: &[Entry]) -> String {
    let several = entries.windows(2).any(|w| w[0].configuration != w[1].configuration);
    let mut headings = Vec::new();
    let mut align = Vec::new();
    let mut rows: Vec<Vec<String>> = vec![Vec::new(); entries.len()];
    if several {
        headings.push("machine");
        align.push(Align::Left);
        rows.iter_mut().zip(entries).for_each(|(row, e)| row.push(e.configuration.clone()));
    }
    for column in COLUMNS {
        let values: Vec<_> = entries.iter().map(column.value).collect();
        if values.iter().all(|v| *v == crate::Value::Missing) {
            continue;
        }
        headings.push(column.heading);
        align.push(if values.iter().any(crate::Value::is_number) { Align::Right } else { Align::Left });
        rows.iter_mut().zip(values).for_each(|(row, v)| row.push(v.show()));
    }
    let mut out = table(&headings, &align, &rows);
    for entry in entries {
        if let Check::Failed(why) = &entry.check {
            let machine = if several { format!(" on {}", entry.configuration) } else { String::new() };
            out += &format!("{}{machine}: {why}\n", entry.case);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["bcd".into(), "100".into()]];
        let text = table(&["name", "n"], &[Align::Left, Align::Right], &rows);
        assert_eq!(text, "name    n\n----  ---\na       1\nbcd   100\n");
    }
}
