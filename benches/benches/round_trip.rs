//! What a decision in a store costs beside a PING, and what is left of that when the server is killed.
//!
//! `cargo bench -p ratelimit-benches --bench round_trip`, on a machine that does nothing else. It starts the servers by
//! itself. A row tells how long a call takes at the median, made one after another by a task on a thread of its own, and how
//! much longer that is than a PING: "there" on a connection like the store's, whose answers another thread reads, and "here"
//! on one of the task's own. Then how much longer it takes if two PINGs are made before each call, as if the server had
//! something else to do between them: what it needs for a script, it has to fetch into its caches again. How many calls there
//! are in a second when one task makes them, and when 64 on one connection do; and what the server says that its script takes
//! for each, alone and together.
//!
//! All that twice. First the server has a core to itself, and the cores are kept awake: so each call takes the same way, as
//! on machines that have something to do. Then everything runs where the system puts it, and cores fall asleep between
//! calls, which can cost more than the call, above all in a virtual machine.

#[expect(dead_code, reason = "the tests of `ratelimit-redis` use the rest")]
#[path = "../../ratelimit-redis/tests/support/mod.rs"]
mod support;

use std::{
    collections::VecDeque,
    fmt::{self, Write as _},
    fs::File,
    io::Write as _,
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use futures::future::join_all;
use ratelimit_redis::{LinkState, RedisStore};
use ratelimit_runtime::{Algorithm, LimitSpec, Store, StoreCall};
use redis::aio::MultiplexedConnection;
use support::{Engine, Server, eventually};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, tcp::OwnedWriteHalf},
    runtime::{Builder, Runtime},
    sync::oneshot,
};
use trypema::{
    BucketSize, RateLimit, RateLimiterBuilder as _, WindowSize,
    redis::{RedisKey, RedisRateLimiterProvider},
};

const CALLS: u32 = 4_000;
/// So many calls of a kind after another, before it is the next kind's turn.
const SERIES: u32 = 40;
const TASKS: u32 = 64;
const TIMEOUT: Duration = Duration::from_millis(50);

fn main() {
    for engine in [Engine::Redis, Engine::Valkey] {
        let awake = Awake::start();
        runtime().block_on(decisions(engine, true));
        drop(awake);
        runtime().block_on(decisions(engine, false));
        runtime().block_on(failures(engine));
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn hour(max: u32) -> LimitSpec {
    LimitSpec::new(max, Duration::from_secs(3600))
}

/// Keeps the cores from falling asleep: the system is told that nothing may take it any time to go on. Where that cannot be
/// said, loops of the lowest priority that there is do it.
struct Awake {
    _told: Option<File>,
    loops: Vec<Child>,
}

impl Awake {
    fn start() -> Self {
        // It holds for as long as the file is open.
        let told = File::create("/dev/cpu_dma_latency")
            .and_then(|mut file| file.write_all(&0_i32.to_ne_bytes()).map(|()| file))
            .ok();
        let looping = if told.is_some() { 0 } else { cores() };
        let loops = (0..looping).filter_map(|core| {
            let arguments =
                ["-c", &core.to_string(), "chrt", "--idle", "0", "sh", "-c", "while :; do :; done"];
            Command::new("taskset").args(arguments).spawn().ok()
        });
        Self { loops: loops.collect(), _told: told }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.loops {
            _ = child.kill();
            _ = child.wait();
        }
        move_to(&format!("0-{}", cores() - 1));
    }
}

fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// This process, and what it starts from now on.
fn move_to(cores: &str) {
    let own = std::process::id().to_string();
    _ = Command::new("taskset").args(["-a", "-c", "-p", cores, &own]).stdout(Stdio::null()).status();
}

async fn decisions(engine: Engine, apart: bool) {
    if apart {
        move_to("0");
    }
    let server = Server::start(engine);
    if apart && cores() > 1 {
        move_to(&format!("1-{}", cores() - 1));
    }
    let machine = if apart { "cores awake" } else { "cores asleep" };
    let client = redis::Client::open(server.url()).unwrap();
    let here = client.get_multiplexed_async_connection().await.unwrap();
    let there = Pings::start(server.port);
    let store = RedisStore::builder(&server.url()).timeout(Duration::from_secs(1)).connect_lazy().unwrap();
    assert!(eventually(Duration::from_secs(5), || store.state() == LinkState::Up));

    println!(
        "\n{:32}      p50        p99   over PING there, here   after PINGs there, here   1 task   64 tasks   in the server",
        format!("{engine:?}, {machine}")
    );
    let bench = Bench { server, here, there };
    bench.row("PING here", |_| bench.ping_here()).await;
    bench.row("PING there", |_| bench.there.ping()).await;
    for algorithm in Algorithm::ALL {
        let spec = hour(1_000_000).with_algorithm(algorithm);
        bench.row(algorithm.name(), |_| decide(&store, algorithm.name(), spec, 0)).await;
        let full = hour(1).with_algorithm(algorithm);
        let name = format!("{algorithm}, denied");
        bench.row(&name, |_| decide(&store, &name, full, 0)).await;
    }
    let brief = LimitSpec::new(1_000_000, Duration::from_millis(10)).with_algorithm(Algorithm::SlidingLog);
    bench.row("sliding_log, charges age", |_| decide(&store, "ages", brief, 0)).await;
    let gcra = hour(1_000_000).with_algorithm(Algorithm::Gcra);
    bench.row("gcra, a key for each task", |task| decide(&store, "keys", gcra, task)).await;
    trypema(&bench).await;
}

/// What many would use instead: a sliding window in Redis 7.2 and later.
async fn trypema(bench: &Bench) {
    let client = redis::Client::open(bench.server.url()).unwrap();
    let provider = RedisRateLimiterProvider::builder(client.get_connection_manager().await.unwrap())
        .prefix(RedisKey::try_from("trypema".to_owned()).unwrap())
        .window_size(WindowSize::minutes_or_panic(60))
        .bucket_size(BucketSize::seconds_or_panic(60))
        .cleanup_enabled(false)
        .build()
        .unwrap();
    let key = RedisKey::try_from("key".to_owned()).unwrap();
    for (name, rate) in [
        ("trypema", RateLimit::per_second_or_panic(1_000_000.0)),
        ("trypema, denied", RateLimit::per_hour_or_panic(1.0)),
    ] {
        let absolute = provider.absolute();
        absolute.clear().await.unwrap();
        if let Err(error) = absolute.inc(&key, &rate, 1).await {
            println!("  {name:32} {error}");
            continue;
        }
        bench.row(name, |_| async { _ = absolute.inc(&key, &rate, 1).await.unwrap() }).await;
    }
}

struct Bench {
    server: Server,
    /// The answers are read by the task that asks.
    here: MultiplexedConnection,
    /// The answers are read by another thread.
    there: Pings,
}

impl Bench {
    async fn ping_here(&self) {
        redis::cmd("PING").exec_async(&mut self.here.clone()).await.unwrap();
    }

    /// Measures calls one by one, then by many tasks, each of which is told its number.
    async fn row<F: Future<Output = ()>>(&self, name: &str, call: impl Fn(u32) -> F) {
        for _ in 0..CALLS / 10 {
            call(0).await;
        }
        script_time(&self.server);
        let (mut times, over) = self.over_pings(SERIES, || call(0)).await;
        let (_, after) = self.over_pings(1, || call(0)).await;
        let alone = script_time(&self.server) / (2 * CALLS);
        let (each, call) = (CALLS / 4, &call);
        let began = Instant::now();
        let task = |task| async move {
            for _ in 0..each {
                call(task).await;
            }
        };
        join_all((0..TASKS).map(task)).await;
        let per_second = f64::from(TASKS * each) / began.elapsed().as_secs_f64();
        let together = script_time(&self.server) / (TASKS * each);
        let one_by_one = f64::from(CALLS) / times.iter().sum::<Duration>().as_secs_f64();
        let [p50, p99] = [50, 99].map(|percent| part(&mut times, percent));
        let mut line = format!(
            "  {name:30} {p50:>8.1?}   {p99:>8.1?}     {over}           {after}      {one_by_one:>6.0}/s  {per_second:>7.0}/s"
        );
        // The processes tell each other that they are there by a script, too.
        if alone.as_nanos() > 100 {
            _ = write!(line, "   {alone:.1?}, {together:.1?}");
        }
        println!("{line}");
    }

    /// How long the calls take, and how much longer than PINGs at the median. In turn, since machines have better and worse
    /// moments: so many of each kind.
    async fn over_pings<F: Future<Output = ()>>(
        &self,
        series: u32,
        call: impl Fn() -> F,
    ) -> (Vec<Duration>, OverPings) {
        let (mut all, mut over_here, mut than_there) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..CALLS / series {
            let mut here = timed(series, || self.ping_here()).await;
            let mut there = timed(series, || self.there.ping()).await;
            let mut times = timed(series, &call).await;
            let [here, there, time] =
                [&mut here, &mut there, &mut times].map(|times| micros(part(times, 50)));
            over_here.push(time - here);
            than_there.push(time - there);
            all.append(&mut times);
        }
        let [there, here] = [than_there, over_here].map(|mut over| {
            over.sort_by(f64::total_cmp);
            over[over.len() / 2]
        });
        (all, OverPings { there, here })
    }
}

/// In microseconds.
struct OverPings {
    there: f64,
    here: f64,
}

impl fmt::Display for OverPings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:>5.1}, {:>4.1} µs", self.there, self.here)
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

async fn timed<F: Future<Output = ()>>(calls: u32, call: impl Fn() -> F) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..calls {
        let began = Instant::now();
        call().await;
        times.push(began.elapsed());
    }
    times
}

fn part(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[times.len() * percent / 100]
}

/// How long scripts have run since this was asked last, as the server says.
fn script_time(server: &Server) -> Duration {
    let mut connection = server.connect();
    let told: String = redis::cmd("INFO").arg("commandstats").query(&mut connection).unwrap();
    redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut connection).unwrap();
    let scripts = told.lines().filter(|line| line.starts_with("cmdstat_eval"));
    let micros =
        scripts.filter_map(|line| line.split_once("usec=")?.1.split(',').next()?.parse::<u64>().ok());
    Duration::from_micros(micros.sum())
}

async fn decide(store: &RedisStore, limit: &str, spec: LimitSpec, key: u32) {
    store.charge(&StoreCall::new(limit, spec, &key.to_le_bytes())).await.unwrap();
}

/// The least that a store's connection can cost: callers write themselves, and a thread reads and wakes them.
struct Pings {
    waiting: Arc<Mutex<VecDeque<oneshot::Sender<()>>>>,
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
}

impl Pings {
    fn start(port: u16) -> Self {
        let waiting = Arc::<Mutex<VecDeque<oneshot::Sender<()>>>>::default();
        let (started, writer) = mpsc::channel();
        let answered = Arc::clone(&waiting);
        thread::spawn(move || {
            runtime().block_on(async {
                let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (mut reader, writer) = stream.into_split();
                started.send(writer).unwrap();
                let mut bytes = [0; 8 * 1024];
                while let Ok(read @ 1..) = reader.read(&mut bytes).await {
                    for _ in bytes[..read].iter().filter(|byte| **byte == b'\n') {
                        let waiter = answered.lock().unwrap().pop_front().unwrap();
                        _ = waiter.send(());
                    }
                }
            });
        });
        Self { waiting, writer: tokio::sync::Mutex::new(writer.recv().unwrap()) }
    }

    async fn ping(&self) {
        let (waiter, answer) = oneshot::channel();
        {
            let mut writer = self.writer.lock().await;
            self.waiting.lock().unwrap().push_back(waiter);
            writer.write_all(b"PING\r\n").await.unwrap();
        }
        answer.await.unwrap();
    }
}

/// The longest of everything that is promised to be short.
async fn failures(engine: Engine) {
    const TIMES: u32 = 5;
    let (mut frozen, mut killed, mut down, mut back) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let mut server = Server::start(engine);
        let store = RedisStore::builder(&server.url()).timeout(TIMEOUT).connect_lazy().unwrap();
        assert!(eventually(Duration::from_secs(5), || store.state() == LinkState::Up));
        let call = || async {
            let began = Instant::now();
            let answer = store.charge(&StoreCall::new("limit", hour(1_000_000), b"key")).await;
            (answer.is_ok(), began.elapsed())
        };
        let took = |calls: Vec<(bool, Duration)>| calls.into_iter().map(|(_, took)| took);
        assert!(call().await.0);
        server.signal("STOP");
        frozen.extend(took(join_all((0..100).map(|_| call())).await));
        server.signal("CONT");
        assert!(eventually(Duration::from_secs(5), || store.state() == LinkState::Up));

        server.signal("STOP");
        let soon = thread::spawn(move || {
            thread::sleep(TIMEOUT / 5);
            server.kill();
            server
        });
        killed.extend(took(join_all((0..100).map(|_| call())).await));
        let mut server = soon.join().unwrap();
        assert!(eventually(Duration::from_secs(5), || store.state() != LinkState::Up));
        for _ in 0..CALLS / TIMES {
            down.push(call().await.1);
        }
        // For as long as a restart may take.
        thread::sleep(Duration::from_secs(2));
        server.run();
        let began = Instant::now();
        assert!(eventually(Duration::from_secs(5), || store.state() == LinkState::Up));
        assert!(call().await.0);
        back.push(began.elapsed());
    }
    println!("\n{engine:?}, calls that end within {TIMEOUT:?}{:8} p50       p99       longest", "");
    for (name, times) in [
        ("100 calls, the server stands still", &mut frozen),
        ("100 calls, the server is killed", &mut killed),
        ("calls while the server is down", &mut down),
        ("the server is back", &mut back),
    ] {
        let [p50, p99] = [50, 99].map(|percent| part(times, percent));
        println!("  {name:36} {p50:>8.1?}  {p99:>8.1?}  {:>8.1?}", times[times.len() - 1]);
    }
}
