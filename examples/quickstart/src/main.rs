//! `cargo run -p quickstart`

use std::io;

#[tokio::main]
async fn main() -> io::Result<()> {
    quickstart::run(&mut io::stdout()).await
}
