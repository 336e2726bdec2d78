//! Measures annotated functions against other limiters: `cargo run --release -p ratelimit-benches -- --help`.

mod arguments;
mod cases;
mod code;
mod contestant;
mod keys;
mod machine;
mod memory;
mod ours;
mod peers;
mod rounds;
mod table;

use std::process::ExitCode;

use self::arguments::{Arguments, Format, USAGE};
use self::cases::Case;
use self::table::{Report, Row};

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(given) {
        Ok(arguments) => arguments,
        Err(mistake) => {
            eprintln!("{mistake}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match measure(&arguments) {
        Ok(report) => {
            println!("{}", show(&report, arguments.format));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Figures go to stderr as they come, the table to stdout when all are there.
fn measure(arguments: &Arguments) -> Result<Report, String> {
    let mut report = Report { machine: machine::describe(), ..Report::default() };
    let chosen = |cases: Vec<Case>| cases.into_iter().filter(|case| arguments.chooses(case.name));
    // First, while no other limiter has left anything in the allocator.
    if arguments.memory {
        report.rows.extend(chosen(cases::of_memory()).map(|case| told(case.bytes_per_key())));
    }
    if arguments.time {
        let timed = |case: Case| told(case.nanoseconds(arguments.threads.clone(), arguments.effort));
        report.rows.splice(0..0, chosen(cases::of_time()).map(timed));
    }
    if arguments.code {
        report.costs = code::measure()?;
    }
    Ok(report)
}

fn told(row: Row) -> Row {
    eprintln!("{row}");
    row
}

fn show(report: &Report, format: Format) -> String {
    match format {
        Format::Text => report.text(),
        Format::Markdown => report.markdown(),
        Format::Json => report.json(),
    }
}
