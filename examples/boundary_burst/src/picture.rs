//! The picture: a panel for each limit, with what it let through over time.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::{Measured, SECOND};

const SIZE: (u32, u32) = (1000, 1000);
const ROWS: usize = 4;
const COLUMNS: usize = 2;

/// The width of a bar.
const BAR: Duration = Duration::from_millis(10);

const BARS: RGBColor = RGBColor(20, 70, 130);
const SUM: RGBColor = RGBColor(130, 175, 220);
const LIMIT: RGBColor = RGBColor(200, 40, 40);

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws up to seven limits, each measured for so long, to an SVG file.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn draw(measured: &[Measured], length: Duration, path: &Path) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let panels = root.split_evenly((ROWS, COLUMNS));
    for (panel, measured) in panels.iter().zip(measured) {
        draw_panel(panel, measured, length)?;
    }
    if let Some(panel) = panels.get(measured.len()) {
        draw_legend(panel)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(panel: &Panel<'_>, measured: &Measured, length: Duration) -> Result<(), Box<dyn Error>> {
    let [second, tenth] = [measured.most_in_a_second(), measured.most_in_a_tenth()];
    let title = format!("{}: at most {second} in 1 s, {tenth} in 100 ms", measured.name);
    let length = millis(length);
    let height = 2 * measured.max + measured.max / 5;
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(24)
        .y_label_area_size(44)
        .build_cartesian_2d(0..length, 0..height)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(9)
        .y_labels(5)
        .x_label_formatter(&|millis| format!("{:.1} s", f64::from(*millis) / 1000.0))
        .draw()?;
    chart.draw_series(LineSeries::new(sums(measured, length), SUM.stroke_width(2)))?;
    chart.draw_series(LineSeries::new([(0, measured.max), (length, measured.max)], LIMIT.stroke_width(1)))?;
    // Their outline keeps the narrow ones visible.
    chart.draw_series(
        bars(measured).map(|(from, to, count)| Rectangle::new([(from, 0), (to, count)], BARS)),
    )?;
    Ok(())
}

fn draw_legend(panel: &Panel<'_>) -> Result<(), Box<dyn Error>> {
    let lines = [
        (BARS, "let through in 10 ms"),
        (SUM, "let through in the last second"),
        (LIMIT, "the limit per second"),
    ];
    for (y, (color, text)) in (90..).step_by(30).zip(lines) {
        panel.draw(&Rectangle::new([(70, y), (100, y + 6)], color.filled()))?;
        panel.draw(&Text::new(text, (112, y - 6), ("sans-serif", 16)))?;
    }
    Ok(())
}

/// Where each bar begins and ends, in milliseconds, and how high it is; not those of no height.
fn bars(measured: &Measured) -> impl Iterator<Item = (u32, u32, u32)> {
    let bar = |at: Duration| millis(at) / millis(BAR);
    measured.admissions.chunk_by(move |one, other| bar(one.earliest) == bar(other.earliest)).map(
        move |admissions| {
            let from = bar(admissions[0].earliest) * millis(BAR);
            (from, from + millis(BAR), count(admissions.len()))
        },
    )
}

/// At the end of each bar, what was let through in the second before.
fn sums(measured: &Measured, length: u32) -> impl Iterator<Item = (u32, u32)> {
    let before = |at: Duration| measured.admissions.partition_point(|admission| admission.earliest < at);
    (0..=length).step_by(10).map(move |end| {
        let at = Duration::from_millis(end.into());
        (end, count(before(at) - before(at.saturating_sub(SECOND))))
    })
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn count(calls: usize) -> u32 {
    u32::try_from(calls).unwrap_or(u32::MAX)
}
