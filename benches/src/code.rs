//! What an annotation costs when compiling, and in the program: cargo builds a generated crate with and without it.

mod generated;
mod size;

use serde::Serialize;

use self::generated::{FUNCTIONS, Generated, Kind};
use self::size::Size;
use crate::rounds::median;

/// How often a check is timed.
const CHECKS: usize = 9;

/// A line of the table of costs.
#[derive(Serialize)]
pub(crate) struct Cost {
    what: String,
    unit: &'static str,
    without: f64,
    with: f64,
    /// What one annotation adds.
    each: f64,
}

impl Cost {
    pub(crate) const HEAD: [&str; 5] =
        ["cost", "unit", "without the attribute", "with it", "for each annotation"];

    pub(crate) fn cells(&self) -> Vec<String> {
        let digits = usize::from(self.unit == "ms");
        let figures = [self.without, self.with, self.each].map(|figure| format!("{figure:.digits$}"));
        [self.what.clone(), self.unit.to_owned()].into_iter().chain(figures).collect()
    }
}

/// Takes about a minute: the runtime is compiled twice, to check and to run.
pub(crate) fn measure() -> Result<Vec<Cost>, String> {
    let plain = Generated::write("plain", 0)?;
    // One function of each kind, so that all the code is there which the functions share.
    let few = Generated::write("few", Kind::ALL.len())?;
    let all = Generated::write("all", FUNCTIONS)?;
    let mut costs = vec![checks(&plain, &all)?];
    costs.extend(sizes(&plain.size()?, &few.size()?, &all.size()?));
    Ok(costs)
}

/// The time to check the crate, while what it depends on is there.
fn checks(plain: &Generated, all: &Generated) -> Result<Cost, String> {
    plain.check()?;
    all.check()?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..CHECKS {
        without.push(plain.check()?);
        with.push(all.check()?);
    }
    let (without, with) = (median(without), median(with));
    let what = format!("`cargo check` of {FUNCTIONS} functions");
    Ok(Cost { what, unit: "ms", without, with, each: (with - without) / count(FUNCTIONS) })
}

fn sizes(plain: &Size, few: &Size, all: &Size) -> Vec<Cost> {
    let more = count(FUNCTIONS - Kind::ALL.len());
    let program = |what: &str, part: fn(&Size) -> f64| Cost {
        what: format!("{what} of a program with {FUNCTIONS} functions"),
        unit: "bytes",
        without: part(plain),
        with: part(all),
        each: (part(all) - part(few)) / more,
    };
    let mut costs =
        vec![program("machine code", |size| size.code), program("code and data", |size| size.loaded)];
    costs.extend(Kind::ALL.map(|kind| {
        let (without, with) = (function(plain, kind), function(all, kind));
        let what = format!("machine code of one {}", kind.description());
        Cost { what, unit: "bytes", without, with, each: with - without }
    }));
    costs
}

/// The mean size of the functions of a kind.
fn function(size: &Size, kind: Kind) -> f64 {
    let names = (0..FUNCTIONS).filter(|&number| Kind::of(number) == kind).map(|number| kind.function(number));
    let sizes: Vec<f64> = names.map(|name| size.of_function(&name)).collect();
    sizes.iter().sum::<f64>() / count(sizes.len())
}

fn count(of: usize) -> f64 {
    u32::try_from(of).map_or(f64::INFINITY, f64::from)
}
