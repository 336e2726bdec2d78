//! A server of this program's own, which it can kill.

use std::{
    env, io,
    net::{TcpListener, TcpStream},
    process::{self, Child, Command, Stdio},
    thread,
    time::Duration,
};

pub(crate) struct Server {
    port: u16,
    /// `None` if there is no server on this machine.
    program: Option<String>,
    running: Option<Child>,
}

/// Redis or Valkey, if one is installed.
pub(crate) fn installed() -> Option<String> {
    let path = env::var_os("PATH")?;
    ["redis-server", "valkey-server"].into_iter().find_map(|name| {
        let programs = env::split_paths(&path).map(|folder| folder.join(name));
        programs.into_iter().find(|program| program.is_file())?.into_os_string().into_string().ok()
    })
}

impl Server {
    /// Starts it at a port that nobody uses.
    pub(crate) fn start(program: &str) -> io::Result<Self> {
        let mut server = Self::that_is_not_there()?;
        server.program = Some(program.to_owned());
        server.start_again()?;
        Ok(server)
    }

    /// An address at which nobody answers.
    pub(crate) fn that_is_not_there() -> io::Result<Self> {
        Ok(Self { port: free_port()?, program: None, running: None })
    }

    pub(crate) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it, and says whether there was one.
    pub(crate) fn kill(&mut self) -> io::Result<bool> {
        let Some(mut running) = self.running.take() else { return Ok(false) };
        running.kill()?;
        running.wait()?;
        Ok(true)
    }

    /// Starts it at the same port, and says whether there is one to start.
    pub(crate) fn start_again(&mut self) -> io::Result<bool> {
        let Some(program) = &self.program else { return Ok(false) };
        let port = self.port.to_string();
        let started = Command::new(program)
            .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .current_dir(env::temp_dir())
            .stdout(Stdio::null())
            .spawn()?;
        self.running = Some(started);
        for _ in 0..100 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(true);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(io::Error::other(format!("{program} does not answer at port {}", self.port)))
    }
}

/// Lower than those that the system gives to who connects: a store that looks for the server must not find itself there. And
/// another one for each program that does the same.
fn free_port() -> io::Result<u16> {
    let first = 20_000 + u16::try_from(process::id() % 10_000).unwrap_or_default();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..first + 100).find(is_free).ok_or_else(|| io::Error::other("no port is free"))
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.kill();
    }
}
