//! Servers that are spoken to in private.

use super::*;

#[test]
fn an_address_that_asks_for_what_is_not_there_says_so_and_tells_no_password() {
    let refused = |url: &str| RedisStore::builder(url).connect_lazy().unwrap_err().to_string();
    if cfg!(not(feature = "tls")) {
        let expected = "`rediss://…@localhost`: TLS needs the feature `tls` of `ratelimit-redis`";
        assert!(refused("rediss://me:secret@localhost").starts_with(expected));
    }
    for url in
        ["rediss://me:secret@localhost#insecure", "redis://me:sec@ret@local host", "me:secret@localhost"]
    {
        let message = refused(url);
        assert!(!message.contains("secret") && !message.contains("sec@ret"), "{message}");
    }
}

#[cfg(feature = "tls")]
mod on_a_server {
    use super::*;

    use std::{
        env,
        path::{Path, PathBuf},
        process::Command,
    };

    use support::free_port;

    const SERVER: &str = "RATELIMIT_TEST_TLS_SERVER";

    /// Good for a hundred years, and for `localhost` and `127.0.0.1`.
    fn file(name: &str) -> String {
        let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name);
        file.to_str().unwrap().to_owned()
    }

    /// A server, and its other port.
    fn server() -> Option<(Server, String)> {
        // The other one is built without.
        let engine = Engine::all().into_iter().find(|engine| *engine == Engine::Redis)?;
        let port = free_port().to_string();
        let [certificate, key] = ["server.pem", "server.key"].map(file);
        let certified =
            ["--tls-cert-file", &certificate, "--tls-key-file", &key, "--tls-ca-cert-file", &certificate];
        let options = [&["--tls-port", &port, "--tls-auth-clients", "no"][..], &certified].concat();
        Some((Server::start_with(engine, &options), port))
    }

    #[test]
    fn a_server_is_used_by_tls_if_its_certificate_is_trusted() {
        let Some((_server, port)) = server() else { return };
        let run = |trusted: &str| {
            let child = Command::new(env::current_exe().unwrap())
                .args(["--exact", "tls::on_a_server::one_that_trusts", "--ignored", "--nocapture"])
                .env(SERVER, &port)
                .env("SSL_CERT_FILE", file(trusted))
                .output()
                .unwrap();
            String::from_utf8(child.stdout).unwrap()
        };
        let said = run("authority.pem");
        assert!(said.contains("localhost: decided") && said.contains("127.0.0.1: decided"), "{said}");
        // It has not signed itself.
        let said = run("server.pem");
        assert!(said.contains("localhost: failed") && said.contains("127.0.0.1: failed"), "{said}");
    }

    /// Not a test by itself: what a process does that trusts what its environment says.
    #[test]
    #[ignore = "is started by another test, as a process"]
    fn one_that_trusts() {
        let Ok(port) = env::var(SERVER) else { return };
        for host in ["localhost", "127.0.0.1"] {
            let store = RedisStore::builder(&format!("rediss://{host}:{port}"))
                .timeout(Duration::from_secs(3))
                .on_disconnect(OnFailure::Closed)
                .connect_lazy()
                .unwrap();
            let calls: Vec<_> = (0..2000).map(|_| store.charge(&call(hour(1000)))).collect();
            let answers = block_on(futures::future::join_all(calls));
            let decided = answers.iter().all(Result::is_ok);
            println!("{host}: {}", if decided { "decided" } else { "failed" });
        }
    }
}
