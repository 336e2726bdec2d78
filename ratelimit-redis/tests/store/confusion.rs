//! A denial is no failure, and a failure no denial: in what callers get, in what is counted, and by every policy.

use super::*;

use ratelimit_runtime::{LimitHandle, RateLimited, Reason, install_store, limit, rate_limit};
use support::free_port;

#[rate_limit(max = 3, window = "1h", store = "confusion.open", name = "confusion.open")]
fn open() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 3, window = "1h", store = "confusion.closed", name = "confusion.closed")]
fn closed() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 3, window = "1h", store = "confusion.local", name = "confusion.local")]
fn local() -> Result<(), RateLimited> {
    Ok(())
}

/// Something that keeps a server from deciding, and its end.
struct Trouble {
    name: &'static str,
    begin: fn(&mut Server, &[Policy]),
    end: fn(&mut Server, &[Policy]),
}

const TROUBLES: [Trouble; 9] = [
    Trouble {
        name: "timeout",
        begin: |server, _| server.signal("STOP"),
        end: |server, _| server.signal("CONT"),
    },
    Trouble { name: "killed", begin: |server, _| server.kill(), end: |server, _| server.run() },
    Trouble {
        name: "wrong type",
        begin: |server, policies| {
            for policy in policies {
                tell(server, &["SADD", &format!("ratelimit:v1:{}:", policy.name), "member"]);
            }
        },
        end: |server, _| tell(server, &["FLUSHALL"]),
    },
    Trouble {
        name: "out of memory",
        begin: |server, _| tell(server, &["CONFIG", "SET", "maxmemory", "1"]),
        end: |server, _| tell(server, &["CONFIG", "SET", "maxmemory", "0"]),
    },
    Trouble {
        name: "read only",
        begin: |server, _| tell(server, &["REPLICAOF", "127.0.0.1", "1"]),
        end: |server, _| tell(server, &["REPLICAOF", "NO", "ONE"]),
    },
    Trouble {
        name: "no replica to write to",
        begin: |server, _| tell(server, &["CONFIG", "SET", "min-replicas-to-write", "1"]),
        end: |server, _| tell(server, &["CONFIG", "SET", "min-replicas-to-write", "0"]),
    },
    Trouble {
        name: "not permitted",
        begin: |server, _| tell(server, &["ACL", "SETUSER", "default", "-eval", "-evalsha"]),
        end: |server, _| tell(server, &["ACL", "SETUSER", "default", "+@all"]),
    },
    Trouble {
        name: "paused",
        begin: |server, _| tell(server, &["CLIENT", "PAUSE", "60000", "WRITE"]),
        end: |server, _| tell(server, &["CLIENT", "UNPAUSE"]),
    },
    Trouble {
        name: "switched off",
        begin: |_, policies| policies.iter().for_each(|policy| policy.store.set_enabled(false)),
        end: |_, policies| policies.iter().for_each(|policy| policy.store.set_enabled(true)),
    },
];

fn tell(server: &Server, command: &[&str]) {
    redis::cmd(command[0]).arg(&command[1..]).exec(&mut server.connect()).unwrap();
}

struct Policy {
    name: &'static str,
    function: fn() -> Result<(), RateLimited>,
    store: RedisStore,
}

/// What has been counted: allowed, denied and failed by the limit; decided by the store, left by it to each policy, and
/// failed for whatever reason.
type Counts = [u64; 8];

impl Policy {
    fn install(
        name: &'static str,
        policy: OnFailure,
        function: fn() -> Result<(), RateLimited>,
        url: &str,
    ) -> Self {
        let store = RedisStore::builder(url)
            .timeout(Duration::from_millis(150))
            .on_timeout(policy)
            .on_disconnect(policy)
            .local_share(1.0)
            .connect_lazy()
            .unwrap();
        install_store(name, store.clone()).unwrap();
        Self { name, function, store }
    }

    fn limit(&self) -> LimitHandle {
        limit(self.name).unwrap()
    }

    fn counts(&self) -> Counts {
        let (limit, store) = (self.limit().stats(), self.store.stats());
        let reasons = store.timeouts + store.disconnected + store.refused + store.overloaded + store.off;
        let policies = [store.failed_open, store.failed_closed, store.failed_local];
        let [open, closed, local] = policies;
        [limit.allowed, limit.denied, limit.store_failures, store.decided, open, closed, local, reasons]
    }

    /// Five calls, and what was counted of them.
    fn call(&self) -> (Vec<Result<(), Reason>>, Counts) {
        let before = self.counts();
        let outcomes = (0..5).map(|_| {
            (self.function)().map_err(|denial| {
                // Only a denial can tell when to come back.
                assert_eq!(denial.retry_after().is_some(), denial.reason() == Reason::Exceeded, "{denial}");
                denial.reason()
            })
        });
        let outcomes = outcomes.collect();
        let after = self.counts();
        (outcomes, std::array::from_fn(|number| after[number] - before[number]))
    }
}

#[test]
fn no_failure_is_taken_for_a_denial_nor_the_reverse_by_any_policy() {
    let port = free_port();
    let url = format!("redis://127.0.0.1:{port}");
    let policies = [
        Policy::install("confusion.open", OnFailure::Open, open, &url),
        Policy::install("confusion.closed", OnFailure::Closed, closed, &url),
        Policy::install("confusion.local", OnFailure::Local, local, &url),
    ];
    let (ok, exceeded, unavailable) = (Ok(()), Err(Reason::Exceeded), Err(Reason::StoreUnavailable));
    let by_budget = vec![ok, ok, ok, exceeded, exceeded];
    for engine in Engine::all() {
        let mut server = Server::prepare(engine, &[]);
        server.port = port;
        server.run();
        for trouble in &TROUBLES {
            let name = trouble.name;
            // The server decides.
            for policy in &policies {
                let decides = || {
                    policy.limit().reset();
                    policy.store.state() == LinkState::Up
                        && (policy.function)().is_ok()
                        && policy.limit().used(&()) == 1
                };
                assert!(eventually(LIVELY, decides), "before {name}: {:?}", policy.store);
                policy.limit().reset();
                let by_server = (by_budget.clone(), [3, 2, 0, 5, 0, 0, 0, 0]);
                assert_eq!(policy.call(), by_server, "before {name}: {}", policy.name);
                policy.limit().reset();
            }
            // It does not.
            (trouble.begin)(&mut server, &policies);
            let [open, closed, local] = &policies;
            assert_eq!(open.call(), (vec![ok; 5], [5, 0, 5, 0, 5, 0, 0, 5]), "{name}");
            assert_eq!(closed.call(), (vec![unavailable; 5], [0, 0, 5, 0, 0, 5, 0, 5]), "{name}");
            assert_eq!(local.call(), (by_budget.clone(), [3, 2, 5, 0, 0, 0, 5, 5]), "{name}");
            (trouble.end)(&mut server, &policies);
        }
    }
}

#[test]
fn calls_that_are_too_many_to_wait_are_failures_and_no_denials() {
    with_servers(&[], |server| {
        let proxy = proxy::Proxy::before(server.port);
        proxy.swallow(true);
        // The first attempt to connect lasts until nobody has time left.
        let store = builder(&proxy.url()).timeout(Duration::from_secs(2)).connect_lazy().unwrap();
        let calls: Vec<_> = (0..17_000).map(|_| store.charge(&call(hour(1)))).collect();
        let answers = block_on(futures::future::join_all(calls));
        assert!(answers.iter().all(Result::is_err));
        let stats = store.stats();
        assert_eq!((stats.decided, stats.overloaded), (0, 17_000 - 16 * 1024), "{stats:?}");
        assert_eq!(stats.timeouts + stats.disconnected, 16 * 1024, "{stats:?}");
        // As little time is lost for both.
        assert_eq!(stats.failed_open, stats.timeouts + stats.overloaded, "{stats:?}");
    });
}
