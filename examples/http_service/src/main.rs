//! Starts the service at port 3000, or at the address given. See `lib.rs`.

use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two limits of one name would be found here, not at midnight.
    ratelimit_runtime::verify()?;
    for limit in ratelimit_runtime::limits() {
        let spec = limit.spec().to_string();
        println!("{:<12} {spec:<8} {}:{}", limit.name(), limit.file(), limit.line());
    }

    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await?;
    println!("listening at http://{}", listener.local_addr()?);
    http_service::serve(listener).await?;
    Ok(())
}
