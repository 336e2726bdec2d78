//! `cargo run -p outbound_client`

use std::io;
use std::time::Instant;

use outbound_client::{Pace, ask_many};

#[tokio::main]
async fn main() -> io::Result<()> {
    for (label, pace) in [("as fast as possible", Pace::Unlimited), ("waiting in line", Pace::Limited)] {
        let began = Instant::now();
        let answers = ask_many(pace).await?;
        println!(
            "{label:<20} {:>2} answered, {:>2} rejected, {:.1} s",
            answers.answered,
            answers.rejected,
            began.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
