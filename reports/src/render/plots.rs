//! Plots as SVG that needs no font file.
use crate::Entry;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use warpscope_sim::{Cause, Mode};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn = Result<(), Box<dyn Error>>;

const FONT: &str = "sans-serif";
const TEXT: RGBColor = RGBColor(40, 44, 52);
const GRID: RGBColor = RGBColor(226, 229, 234);
const BAND: RGBColor = RGBColor(150, 160, 175);
const POINT: RGBColor = RGBColor(38, 98, 196);
const POINT_BAD: RGBColor = RGBColor(205, 60, 50);

/// Colours that stay apart from their neighbours.
const PALETTE: [RGBColor; 16] = [
    RGBColor(46, 125, 50),
    RGBColor(200, 205, 212),
    RGBColor(141, 110, 199),
    RGBColor(179, 157, 219),
    RGBColor(66, 133, 214),
    RGBColor(214, 69, 65),
    RGBColor(240, 150, 60),
    RGBColor(93, 173, 226),
    RGBColor(176, 58, 96),
    RGBColor(243, 190, 80),
    RGBColor(26, 150, 150),
    RGBColor(110, 84, 62),
    RGBColor(120, 170, 90),
    RGBColor(60, 80, 130),
    RGBColor(150, 150, 160),
    RGBColor(190, 215, 170),
];

pub(super) fn svg(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    super::bitmap::register_font();
    let mut out = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        area.fill(&WHITE)
            .map_err(Into::into)
            .and_then(|()| draw(&area))
            .and_then(|()| area.present().map_err(Into::into))
    };
    match drawn {
        Ok(()) => out,
        Err(error) => format!("<p>This plot could not be drawn: {}</p>", super::escape(&error.to_string())),
    }
}

pub(super) fn text(area: &Area<'_>, at: (i32, i32), size: i32, anchor: HPos, words: &str) -> Drawn {
    let style = (FONT, size).into_font().color(&TEXT).pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(words.to_string(), at, style)).map_err(|e| e.to_string().into())
}

/// Colour of a lane of kernels, or of transfers.
pub(super) fn lane_colour(kernels: bool) -> RGBColor {
    if kernels { PALETTE[4] } else { PALETTE[6] }
}

pub(super) fn bar(area: &Area<'_>, x: (f64, f64), y: (i32, i32), colour: RGBColor) -> Drawn {
    let corners = [(x.0.round() as i32, y.0), (x.1.round() as i32, y.1)];
    area.draw(&Rectangle::new(corners, colour.filled())).map_err(|e| e.to_string().into())
}

pub(super) const LABEL: i32 = 260;
pub(super) const BARS: i32 = 640;
pub(super) const ROW: i32 = 18;

/// Names the bars: the case, and the machine where there are several.
fn label(entry: &Entry, several: bool) -> String {
    let name = if several { format!("{} · {}", entry.case, entry.configuration) } else { entry.case.clone() };
    let short: String = name.chars().take(40).collect();
    if short.len() < name.len() { short + "…" } else { name }
}

fn timed(entries: &[Entry]) -> Vec<(&Entry, &warpscope_sim::LaunchRecord)> {
    let records = entries.iter().filter_map(|e| e.record.as_ref().map(|r| (e, r)));
    records.filter(|(_, r)| r.mode == Mode::Timing).collect()
}

fn several_machines(entries: &[Entry]) -> bool {
    entries.windows(2).any(|w| w[0].configuration != w[1].configuration)
}

/// What resident warps spent their cycles on: one bar a launch, one colour a cause. Only causes that occur are named.
pub fn stall_stacks(entries: &[Entry]) -> String {
    let launches = timed(entries);
    let used: Vec<Cause> = Cause::ALL
        .iter()
        .copied()
        .filter(|c| *c != Cause::NoWarp && launches.iter().any(|(_, r)| r.counters.time.warps[*c] > 0))
        .collect();
    let legend_rows = used.len().div_ceil(5) as i32;
    let top = 14 + legend_rows * ROW;
    let height = top + launches.len() as i32 * ROW + 8;
    svg(((LABEL + BARS + 20) as u32, height as u32), |area| {
        for (i, cause) in used.iter().enumerate() {
            let (x, y) = (20 + (i % 5) as i32 * 178, 12 + (i / 5) as i32 * ROW);
            bar(area, (f64::from(x), f64::from(x + 10)), (y - 5, y + 5), PALETTE[*cause as usize % PALETTE.len()])?;
            text(area, (x + 15, y), 12, HPos::Left, cause.key())?;
        }
        for (i, (entry, record)) in launches.iter().enumerate() {
            let y = top + i as i32 * ROW;
            text(area, (LABEL - 8, y + ROW / 2), 12, HPos::Right, &label(entry, several_machines(entries)))?;
            let warps = &record.counters.time.warps;
            let total = used.iter().map(|c| warps[*c]).sum::<u64>().max(1) as f64;
            let mut x = f64::from(LABEL);
            for cause in &used {
                let end = x + warps[*cause] as f64 / total * f64::from(BARS);
                bar(area, (x, end), (y + 2, y + ROW - 2), PALETTE[*cause as usize % PALETTE.len()])?;
                x = end;
            }
        }
        Ok(())
    })
}

/// Achieved (dark) over theoretical (light) occupancy, one bar a launch.
pub fn occupancy_plot(entries: &[Entry]) -> String {
    let launches = timed(entries);
    let top = 22;
    let height = top + launches.len() as i32 * ROW + 8;
    svg(((LABEL + BARS + 20) as u32, height as u32), |area| {
        for percent in [0, 25, 50, 75, 100] {
            let x = LABEL + BARS * percent / 100;
            bar(area, (f64::from(x), f64::from(x + 1)), (top - 4, height - 6), GRID)?;
            text(area, (x, 10), 12, HPos::Center, &format!("{percent}%"))?;
        }
        for (i, (entry, record)) in launches.iter().enumerate() {
            let y = top + i as i32 * ROW;
            text(area, (LABEL - 8, y + ROW / 2), 12, HPos::Right, &label(entry, several_machines(entries)))?;
            let end = |share: f64| f64::from(LABEL) + share.clamp(0.0, 1.0) * f64::from(BARS);
            let from = f64::from(LABEL);
            bar(area, (from, end(record.occupancy.ratio())), (y + 2, y + ROW - 2), RGBColor(190, 208, 236))?;
            bar(area, (from, end(record.counters.time.occupancy_achieved)), (y + 5, y + ROW - 5), POINT)?;
        }
        Ok(())
    })
}

/// A point of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Position.
    pub x: f64,
    /// Position.
    pub y: f64,
    /// Name shown beside the point; empty: none.
    pub name: String,
}

/// A span that holds all values, at least a decade wide; `None` where no value is positive.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for value in values.filter(|v| v.is_finite() && *v > 0.0) {
        low = low.min(value);
        high = high.max(value);
    }
    (high > 0.0).then(|| (low / 1.6, (high * 1.6).max(low * 6.0)))
}

fn nothing(what: &str) -> String {
    svg((420, 40), |area| text(area, (210, 20), 13, HPos::Center, what))
}

/// Instruction roofline: warp instructions a nanosecond over warp instructions per byte of DRAM traffic, under the
/// machine's issue rate and DRAM bandwidth. One machine a plot.
pub fn roofline(points: &[Point], issue_rate: f64, bandwidth: f64) -> String {
    let ridge = issue_rate / bandwidth;
    let xs = span(points.iter().map(|p| p.x).chain([ridge]));
    let ys = span(points.iter().map(|p| p.y).chain([issue_rate]));
    let (Some((x0, x1)), Some((y0, y1))) = (xs, ys) else { return nothing("No launch with DRAM traffic to plot") };
    svg((900, 520), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d((x0..x1).log_scale(), (y0..y1).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .x_desc("warp instructions per byte of DRAM traffic")
            .y_desc("warp instructions per ns")
            .label_style((FONT, 13).into_font().color(&TEXT))
            .draw()?;
        let left = x0.max(y0 / bandwidth);
        let roof = [(left, left * bandwidth), (ridge, issue_rate), (x1, issue_rate)];
        chart.draw_series(LineSeries::new(roof, TEXT.stroke_width(2)))?;
        for point in points.iter().filter(|p| p.x > 0.0 && p.y > 0.0) {
            chart.draw_series([Circle::new((point.x, point.y), 4, POINT.filled())])?;
            let style = (FONT, 11).into_font().color(&TEXT);
            chart
                .draw_series([EmptyElement::at((point.x, point.y)) + Text::new(point.name.clone(), (6, -5), style)])?;
        }
        Ok(())
    })
}

/// Simulated over measured values, log-log, with the identity line and bands of 25 %.
pub fn scatter(points: &[Point], title: &str, unit: &str) -> String {
    match scatter_span(points) {
        Some(span) => svg(SCATTER, |area| draw_scatter(area, span, points, title, unit)),
        None => nothing("Nothing to plot"),
    }
}

/// The same as PNG. The error is a sentence.
pub fn scatter_png(points: &[Point], title: &str, unit: &str) -> Result<Vec<u8>, String> {
    super::bitmap::png(SCATTER, |area| match scatter_span(points) {
        Some(span) => draw_scatter(area, span, points, title, unit),
        None => Ok(()),
    })
}

const SCATTER: (u32, u32) = (640, 600);

fn scatter_span(points: &[Point]) -> Option<(f64, f64)> {
    span(points.iter().flat_map(|p| [p.x, p.y]))
}

fn draw_scatter<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    (low, high): (f64, f64),
    points: &[Point],
    title: &str,
    unit: &str,
) -> Drawn
where
    B::ErrorType: 'static,
{
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption(title, (FONT, 16).into_font().color(&TEXT))
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_desc(format!("measured ({unit})"))
        .y_desc(format!("simulated ({unit})"))
        .label_style((FONT, 13).into_font().color(&TEXT))
        .draw()?;
    for (factor, colour) in [(1.0f64, TEXT), (1.25, BAND), (0.75, BAND)] {
        // Both ends lie on the plot's edge: a point outside would be pulled to the corner.
        let (from, to) = (low / factor.min(1.0), high / factor.max(1.0));
        chart.draw_series(LineSeries::new([(from, from * factor), (to, to * factor)], colour.stroke_width(1)))?;
    }
    for point in points.iter().filter(|p| p.x > 0.0 && p.y > 0.0) {
        let far = (point.y / point.x - 1.0).abs() > 0.25;
        let colour = if far { POINT_BAD } else { POINT };
        chart.draw_series([Circle::new((point.x, point.y), 3, colour.mix(0.8).filled())])?;
        if far && !point.name.is_empty() {
            let style = (FONT, 10).into_font().color(&TEXT);
            let name = Text::new(point.name.clone(), (5, -4), style);
            chart.draw_series([EmptyElement::at((point.x, point.y)) + name])?;
        }
    }
    Ok(())
}
