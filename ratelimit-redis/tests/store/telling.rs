//! What operators are told of a link that is down: why it is, and no password.

use super::*;

use std::{
    cell::Cell,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

/// Until it says something that holds all those words.
#[track_caller]
fn says(store: &RedisStore, words: &[&str]) {
    let said = Cell::new(None);
    let holds = || {
        said.set(store.last_error());
        let text = said.take();
        let holds = text.as_ref().is_some_and(|text| words.iter().all(|word| text.contains(word)));
        said.set(text);
        holds
    };
    assert!(eventually(LIVELY, holds), "{:?} instead of {words:?}", said.take());
}

#[test]
fn why_there_is_no_connection_and_nothing_once_there_is() {
    at_each_engine(|engine| {
        let mut server = Server::prepare(engine, &[]);
        let store = builder(&server.url()).connect_lazy().unwrap();
        let address = format!("127.0.0.1:{}: ", server.port);
        says(&store, &[&address, "refused"]);
        // Nobody is there who could expect something else.
        assert!(!store.last_error().unwrap().contains("TLS"));
        server.run();
        assert!(comes_up(&store));
        assert_eq!(store.last_error(), None);
        server.signal("STOP");
        (0..20).for_each(|_| _ = charge(&store, hour(10)));
        says(&store, &[&address, "not answered in time"]);
        server.signal("CONT");
        assert!(comes_up(&store));
        assert_eq!(store.last_error(), None);
        server.kill();
        says(&store, &[&address, "refused"]);
    });
}

/// Listens, and answers whatever it is asked in the same way, or not at all but closes the connection.
fn stranger(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for caller in listener.incoming() {
            let mut caller = caller.unwrap();
            _ = caller.read(&mut [0; 1024]).and_then(|_| caller.write_all(answer));
        }
    });
    url
}

#[test]
fn that_a_port_is_not_the_servers() {
    let web = builder(&stranger(b"HTTP/1.1 400 Bad Request\r\n\r\n")).connect_lazy().unwrap();
    says(&web, &["is no Redis or Valkey server"]);
    let closes = builder(&stranger(b"")).connect_lazy().unwrap();
    says(&closes, &["`rediss://`"]);
}

#[test]
fn what_the_server_says_that_does_not_decide() {
    with_servers(&[], |server| {
        let mut admin = server.connect();
        let store = up(&server.url());
        redis::cmd("REPLICAOF").arg(&["127.0.0.1", "1"]).exec(&mut admin).unwrap();
        _ = charge(&store, hour(10));
        says(&store, &["READONLY"]);
        assert!(eventually(LIVELY, || store.state() != LinkState::Up));
        redis::cmd("REPLICAOF").arg(&["NO", "ONE"]).exec(&mut admin).unwrap();
        assert!(comes_up(&store));
        assert_eq!(store.last_error(), None);

        let user = ["SETUSER", "idle", "on", ">open-sesame", "~*", "+ping"];
        redis::cmd("ACL").arg(&user).exec(&mut admin).unwrap();
        let url = |password: &str| server.url().replace("://", &format!("://idle:{password}@"));
        says(&builder(&url("open-sesame")).connect_lazy().unwrap(), &["NOPERM"]);
        let store = builder(&url("close-sesame")).connect_lazy().unwrap();
        says(&store, &["authentication failed"]);
        assert!(!store.last_error().unwrap().contains("sesame"));
    });
}

#[test]
fn a_server_that_repeats_what_it_was_sent_gives_no_password_away() {
    with_servers(&["--rename-command", "AUTH", ""], |server| {
        let sesame = "sesame".repeat(40);
        for password in ["sesame", &sesame] {
            let url = server.url().replace("://", &format!("://:{password}@"));
            for store in [RedisStore::builder(&url), RedisStore::cluster([&url])] {
                let store = store.connect_lazy().unwrap();
                says(&store, &["127.0.0.1:", "authentication failed"]);
                assert!(!store.last_error().unwrap().contains("sesame"), "{:?}", store.last_error());
            }
            let store = RedisStore::sentinel([&url], "mymaster").connect_lazy().unwrap();
            says(&store, &["mymaster: no sentinel tells the master", "unknown command"]);
            assert!(!store.last_error().unwrap().contains("sesame"), "{:?}", store.last_error());
        }
    });
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let builder = || RedisStore::builder("redis://127.0.0.1:1");
    for share in [-0.1, 1.1, 10.0, f64::NAN] {
        let told = builder().local_share(share).connect_lazy().unwrap_err().to_string();
        assert!(told.contains("give a part from 0 to 1"), "{told}");
    }
    let told = builder().timeout(Duration::ZERO).connect_lazy().unwrap_err().to_string();
    assert!(told.contains("give it some milliseconds"), "{told}");
    let of_cluster = RedisStore::cluster(["redis://127.0.0.1:1", "redis://127.0.0.1:2/3"]);
    let told = of_cluster.connect_lazy().unwrap_err().to_string();
    assert!(told.contains("no database 3: leave it out"), "{told}");
}

#[test]
fn that_the_sentinels_know_the_master_by_another_name() {
    at_each_engine(|engine| {
        let server = Server::start(engine);
        let sentinel = Server::sentinel(engine, "orders", server.port, 1);
        let store = RedisStore::sentinel([&sentinel.url()], "order").connect_lazy().unwrap();
        says(&store, &["order: no sentinel tells the master", "watches over no master of that name"]);
    });
}
