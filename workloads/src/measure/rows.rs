//! Measurements as rows of a reference file.
use super::{Measurement, Shape};
use crate::manifest::Case;

/// A row: the case and what was measured.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: Case,
    /// What was measured.
    pub measurement: Measurement,
}

/// The columns of [`csv`].
const COLUMNS: &str = "case,group,class,size,kernel,launches,groups,local,cold_ns,event_min_ns,event_max_ns,event_samples,\
                       regs,smem_bytes,private_bytes";

/// A reference file (CSV); fields are empty where the interface does not tell.
pub fn csv(rows: &[Row]) -> String {
    let mut out = format!("{COLUMNS}\n");
    for Row { case, measurement } in rows {
        let shape = Shape::of(case);
        let local = shape.local.map_or(0, |l| l.iter().product::<usize>());
        let groups =
            shape.local.map_or(0, |l| (0..3).map(|d| shape.global[d].div_ceil(l[d].max(1))).product::<usize>());
        let known = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        let resource =
            |f: fn(&super::Resources) -> u32| measurement.resources.map_or(String::new(), |r| f(&r).to_string());
        let fields = [
            case.name.clone(),
            quoted(&case.group),
            quoted(&case.class),
            quoted(&case.size),
            case.kernel.clone(),
            case.launches.to_string(),
            known(groups),
            known(local),
            format!("{:.0}", measurement.median()),
            format!("{:.0}", measurement.times[0]),
            format!("{:.0}", measurement.times[measurement.times.len() - 1]),
            measurement.times.len().to_string(),
            resource(|r| r.registers),
            resource(|r| r.local_memory),
            resource(|r| r.private_memory),
        ];
        out += &fields.join(",");
        out.push('\n');
    }
    out
}

/// A field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}
