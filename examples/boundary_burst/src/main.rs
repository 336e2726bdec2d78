//! `cargo run --release -p boundary_burst -- [--seconds 4] [--svg docs/boundary_burst.svg]`

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

const USAGE: &str = "usage: boundary_burst [--seconds SECONDS] [--svg PATH]";

fn main() -> Result<(), Box<dyn Error>> {
    let mut length = Duration::from_secs(4);
    let mut picture = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/boundary_burst.svg"));
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--seconds" => length = Duration::from_secs(u64::from(value.parse::<u16>()?)),
            "--svg" => picture = value.into(),
            _ => return Err(USAGE.into()),
        }
    }
    let measured = boundary_burst::run(length, &mut io::stdout())?;
    boundary_burst::draw(&measured, length, &picture)?;
    println!("drawn to {}", picture.canonicalize()?.display());
    Ok(())
}
