//! When a program's commands ran, as SVG.
use super::plots::{self, BARS, LABEL, ROW};
use plotters::style::text_anchor::HPos;

/// A line of the picture.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it shows.
    pub name: String,
    /// When something ran, in any order.
    pub spans: Vec<Span>,
}

/// A stretch of time in microseconds.
#[derive(Copy, Clone, Debug)]
pub struct Span {
    /// Begin.
    pub start: f64,
    /// End.
    pub end: f64,
    /// Whether it is a kernel's (its colour).
    pub kernels: bool,
}

/// The lanes over `end` microseconds. Spans that would lie on the same pixel are drawn as one.
pub fn program_timeline(lanes: &[Lane], end: f64) -> String {
    let height = (lanes.len() as i32 * ROW + 40) as u32;
    let scale = f64::from(BARS) / end;
    plots::svg(((LABEL + BARS + 20) as u32, height), |area| {
        for (i, lane) in lanes.iter().enumerate() {
            let y = 8 + i as i32 * ROW;
            plots::text(area, (LABEL - 8, y + ROW / 2), 12, HPos::Right, &lane.name)?;
            for (start, stop) in merged(&lane.spans, scale) {
                let x = f64::from(LABEL);
                let colour = plots::lane_colour(lane.spans.first().is_some_and(|s| s.kernels));
                plots::bar(area, (x + start, x + stop.max(start + 1.0)), (y + 2, y + ROW - 2), colour)?;
            }
        }
        let y = 18 + lanes.len() as i32 * ROW;
        plots::text(area, (LABEL, y), 12, HPos::Left, "0")?;
        plots::text(area, (LABEL + BARS, y), 12, HPos::Right, &format!("{end:.2} us of simulated time"))
    })
}

/// Stretches in pixels, those less than half a pixel apart joined.
fn merged(spans: &[Span], scale: f64) -> Vec<(f64, f64)> {
    let mut stretches: Vec<(f64, f64)> = spans.iter().map(|s| (s.start * scale, s.end * scale)).collect();
    stretches.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (start, end) in stretches {
        match out.last_mut() {
            Some(last) if start <= last.1 + 0.5 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_spans_are_one() {
        let span = |start, end| Span { start, end, kernels: true };
        let all = [span(10.0, 20.0), span(0.0, 1.0), span(1.2, 2.0), span(15.0, 30.0)];
        assert_eq!(merged(&all, 1.0), [(0.0, 2.0), (10.0, 30.0)]);
        let svg = program_timeline(&[Lane { name: "12 kernels".into(), spans: all.to_vec() }], 30.0);
        assert!(svg.contains("12 kernels") && svg.matches("<rect").count() >= 3, "{svg}");
    }
}
