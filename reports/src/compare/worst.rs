//! The cases that are furthest off, and what the counters say about why.
use super::quantities::{Kind, QUANTITIES, index};
use super::report::{Row, signed};

/// Cases in the list of the worst.
const WORST: usize = 12;
/// Below this a relative difference explains nothing.
const SMALL: f64 = 0.05;

/// The rows whose cycles (active) are furthest off by factor, worst first.
pub(super) fn worst_rows(rows: &[Row]) -> Vec<&Row> {
    let mut rows: Vec<&Row> = rows.iter().filter(|r| r.difference(0).is_some()).collect();
    rows.sort_by(|a, b| log_ratio(b, 0).abs().total_cmp(&log_ratio(a, 0).abs()));
    rows.truncate(WORST);
    rows
}

/// The logarithm of simulated over measured; 0 where one is missing or not positive.
fn log_ratio(row: &Row, quantity: usize) -> f64 {
    match row.pairs[quantity] {
        Some((m, s)) if m > 0.0 && s > 0.0 => (s / m).ln(),
        _ => 0.0,
    }
}

/// One line: both measures, then the reason.
pub(super) fn line(row: &Row) -> String {
    let (measured, simulated) = row.pairs[0].unwrap_or_default();
    let elapsed = row.difference(1).map_or(String::new(), |d| format!(", elapsed {}", signed(d, Kind::Relative)));
    format!(
        "{}: {simulated:.0} cycles instead of {measured:.0} ({}{elapsed}): {}",
        row.case,
        signed(simulated / measured - 1.0, Kind::Relative),
        why(row)
    )
}

/// The quantities whose excess costs cycles, and what an excess is called.
const COSTS: &[(&str, &str)] = &[
    ("warp_inst", "instructions"),
    ("dram_read_bytes", "DRAM reads"),
    ("l2_read_sectors", "L2 reads"),
    ("l2_write_sectors", "L2 writes"),
    ("smem_conflicts", "bank conflicts"),
];

/// What explains a difference in cycles, in a clause; then what else differs, largest first.
pub(super) fn why(row: &Row) -> String {
    let off = log_ratio(row, 0);
    let explains = |column: &str| {
        let ratio = index(column).map_or(0.0, |i| log_ratio(row, i));
        // Half of the difference, in the same direction.
        ratio.abs() > SMALL && ratio * off > 0.0 && ratio.abs() * 2.0 >= off.abs()
    };
    let mut clause: Vec<String> = COSTS
        .iter()
        .filter(|(column, _)| explains(column))
        .map(|(_, name)| format!("{} {name}", if off > 0.0 { "too many" } else { "too few" }))
        .collect();
    // Fewer resident warps hide less, so occupancy errs the other way.
    let occupancy = index("occ_achieved_pct").and_then(|i| row.pairs[i]).filter(|(m, s)| *m > 0.0 && *s > 0.0);
    if let Some((m, s)) = occupancy
        && (s / m).ln() * off < 0.0
        && (s / m).ln().abs() > 0.2
    {
        clause.push(format!("too {} warps resident", if s < m { "few" } else { "many" }));
    }
    if clause.is_empty() {
        clause.push(match row.causes.first() {
            Some((cause, _)) => {
                format!("work and traffic do not explain it, so it is time: latency or queueing behind {cause}")
            }
            None => "work and traffic do not explain it".into(),
        });
    }
    let mut words = vec![clause.join(", ")];
    words.extend(differences(row));
    if !row.causes.is_empty() {
        let shares: Vec<String> = row.causes.iter().map(|(c, s)| format!("{c} {:.0}%", s * 100.0)).collect();
        words.push(format!("warps spend {}", shares.join(", ")));
    }
    if !row.stalls.0.is_empty() {
        words.push(format!("top stall {} (measured) {} (simulated)", row.stalls.0, row.stalls.1));
    }
    words.join("; ")
}

/// What else differs in a case, largest first.
fn differences(row: &Row) -> Option<String> {
    let mut parts: Vec<(f64, String)> = Vec::new();
    for (i, quantity) in QUANTITIES.iter().enumerate().filter(|(_, q)| !q.column.starts_with("cold_")) {
        let Some(difference) = row.difference(i) else { continue };
        let size = match quantity.kind {
            Kind::Relative => difference.abs(),
            Kind::Points => difference.abs() / 100.0,
        };
        if size > SMALL {
            parts.push((size, format!("{} {}", quantity.heading, signed(difference, quantity.kind))));
        }
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let words: Vec<String> = parts.into_iter().take(4).map(|(_, text)| text).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
