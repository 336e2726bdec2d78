//! What was measured, as a table: to read in a terminal, in Markdown, and as JSON.

use std::fmt::{self, Write};

use serde::Serialize;

use crate::code::Cost;
use crate::ours;
use crate::peers;

/// All that one run of the program measured.
#[derive(Default, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) costs: Vec<Cost>,
}

/// A case, and the figures of its contestants.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) case: &'static str,
    pub(crate) unit: Unit,
    pub(crate) goal: Option<Goal>,
    pub(crate) runs: Vec<Run>,
}

/// The figures for a number of threads.
#[derive(Serialize)]
pub(crate) struct Run {
    pub(crate) threads: usize,
    pub(crate) results: Vec<Measured>,
}

#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// Whether the machine had other work as well.
    pub(crate) disturbed: bool,
}

impl Measured {
    /// With as many digits as say something.
    fn short(&self) -> String {
        let mark = if self.disturbed { "≈" } else { "" };
        let digits = usize::from(self.value < 10.0);
        format!("{mark}{:.digits$}", self.value)
    }
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
}

/// What the project wants to reach.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// Our figure divided by `governor`'s, with one thread and with two.
    OfGovernor([f64; 2]),
    /// Our figure itself.
    AtMost(f64),
}

impl Run {
    fn of(&self, name: &str) -> Option<&Measured> {
        self.results.iter().find(|measured| measured.name == name)
    }

    /// Our figure divided by the peer's.
    fn ratio(&self, peer: &str) -> Option<f64> {
        Some(self.of(ours::NAME)?.value / self.of(peer)?.value)
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.name(), self.values(ours::NAME), self.goal()];
        cells.extend(peers::NAMES.map(|peer| {
            let (value, ratio) = (self.values(peer), self.ratios(peer));
            if value.is_empty() { value } else { format!("{value} ({ratio})") }
        }));
        cells
    }

    fn name(&self) -> String {
        match self.unit {
            Unit::Nanoseconds => self.case.to_owned(),
            Unit::Bytes => format!("bytes a key: {}", self.case),
        }
    }

    fn goal(&self) -> String {
        match self.goal {
            None => String::new(),
            Some(Goal::OfGovernor(ratios)) => join(ratios.iter().map(|ratio| format!("{ratio:.2}"))),
            Some(Goal::AtMost(most)) => format!("≤ {most}"),
        }
    }

    /// The figures of each run: `8.9 / 37` with one thread and with two.
    fn values(&self, name: &str) -> String {
        join(self.runs.iter().filter_map(|run| run.of(name)).map(Measured::short))
    }

    fn ratios(&self, peer: &str) -> String {
        join(self.runs.iter().filter_map(|run| run.ratio(peer)).map(|ratio| format!("{ratio:.2}")))
    }
}

fn join(figures: impl Iterator<Item = String>) -> String {
    figures.collect::<Vec<_>>().join(" / ")
}

const LEGEND: &str = "\
Nanoseconds for a call, with one thread / with two: the time of a round divided by the calls of one thread, the median of
all rounds. In brackets, our time divided by the peer's. The goal is what that is to be for `governor` at most. Where a
peer has no such case, its cell is empty. `≈`: the machine had other work.";

impl Report {
    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        self.lay_out(&Layout::Columns)
    }

    /// For the README.
    pub(crate) fn markdown(&self) -> String {
        self.lay_out(&Layout::Markdown)
    }

    /// For machines, with all digits.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has no maps")
    }

    fn lay_out(&self, layout: &Layout) -> String {
        let mut text = format!("{}\n", self.machine);
        if !self.rows.is_empty() {
            let head = ["case", ours::NAME, "goal"].into_iter().chain(peers::NAMES).collect::<Vec<_>>();
            let _ = write!(text, "\n{LEGEND}\n\n{}", layout.table(&head, self.rows.iter().map(Row::cells)));
        }
        if !self.costs.is_empty() {
            let _ = write!(text, "\n{}", layout.table(&Cost::HEAD, self.costs.iter().map(Cost::cells)));
        }
        text
    }
}

enum Layout {
    Columns,
    Markdown,
}

impl Layout {
    fn table(&self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
        let rows: Vec<Vec<String>> = rows.collect();
        let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
        match self {
            Self::Columns => {
                let all = || std::iter::once(&head).chain(&rows);
                let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
                let widths: Vec<usize> = (0..head.len()).map(width).collect();
                let line = |row: &Vec<String>| {
                    let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
                    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
                };
                all().map(line).collect()
            }
            Self::Markdown => {
                let rule = vec!["---".to_owned(); head.len()];
                let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
                [&head, &rule].into_iter().chain(&rows).map(line).collect()
            }
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, ratio) = (self.values(ours::NAME), self.ratios(peers::NAMES[0]));
        write!(f, "{:<45} {ours:>13}  {ratio:>13}", self.name())
    }
}
