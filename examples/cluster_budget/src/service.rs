//! One of the processes: a service that is called all the time, and tells every second what came of it.

use std::{
    error::Error,
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use ratelimit_redis::RedisStore;
use ratelimit_runtime::{OnFailure, RateLimited, install_store, rate_limit};
use tokio::time::{Instant, sleep};

pub(crate) const LIMIT: u32 = 300;
pub(crate) const SECONDS: u32 = 9;

/// 300 a second: for all processes together.
#[rate_limit(max = 300, window = "1s", store = "redis", name = "reports")]
async fn report() -> Result<&'static str, RateLimited> {
    Ok("a report")
}

/// What came of the calls of one second.
pub(crate) struct Second {
    pub(crate) calls: u32,
    pub(crate) admitted: u32,
    /// Those that the store has not decided.
    pub(crate) failures: u32,
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(address: &str, begins: SystemTime) -> Result<(), Box<dyn Error>> {
    let store = RedisStore::builder(address)
        .prefix("cluster_budget")
        .timeout(Duration::from_millis(250))
        .on_timeout(OnFailure::Local)
        .on_disconnect(OnFailure::Local)
        .connect_lazy()?;
    install_store("redis", store.clone())?;
    ratelimit_runtime::verify()?;

    // All processes count by the same seconds.
    sleep(begins.duration_since(SystemTime::now()).unwrap_or_default()).await;
    let (began, mut failed) = (Instant::now(), 0);
    for second in 1..=SECONDS {
        let mut told = Second { calls: 0, admitted: 0, failures: 0 };
        while began.elapsed() < Duration::from_secs(second.into()) {
            told.calls += 1;
            told.admitted += u32::from(report().await.is_ok());
            sleep(Duration::from_millis(1)).await;
        }
        let all_failed = store.stats().failed_local;
        told.failures = u32::try_from(all_failed - failed)?;
        failed = all_failed;
        println!("{told}");
    }
    Ok(())
}

impl fmt::Display for Second {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.calls, self.admitted, self.failures)
    }
}

impl FromStr for Second {
    type Err = Box<dyn Error>;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        let [calls, admitted, failures] = numbers[..] else { return Err("a process has ended early".into()) };
        Ok(Self { calls, admitted, failures })
    }
}
