//! The scripts on real servers, with a clock of the test's.

mod changes;
mod giving_back;
mod histories;
mod lives;
mod together;
mod vectors;

use std::{sync::Arc, time::Duration};

use ratelimit_runtime::{Algorithm, LimitSpec, StoreCall, StoreOutlook, StoreReceipt, StoreVerdict};
use redis::{Connection, ConnectionLike as _, RedisResult, Value};

use super::{Order, Script, Terms, Verb, decide, decide_by, order, outlook, refund, undo, verdict};
use crate::{
    key,
    support::{Engine, Server},
};

/// The test's own time instead of the server's, and keys that outlive any pause of the test.
const TEST_CLOCK: &str = "local raw, margin = tonumber(redis.call('GET', 'now')), 3600000\n";

/// The server's time and as much more as the test says, and keys that live as they do by the server's.
const CLOCK_AHEAD: &str = "local clock, margin = redis.call('TIME'), 1000\n\
    local raw = clock[1] * 1000000 + clock[2] + redis.call('GET', 'now')\n";

/// A budget on a server, asked at times of the test's choice.
struct Budget<'a> {
    connection: &'a mut Connection,
    /// Chooses the script, by the test's clock or the server's.
    script: fn(Algorithm) -> Arc<Script>,
    key: Vec<u8>,
    /// In microseconds.
    now: u64,
}

fn set_clock(connection: &mut Connection, now: u64) {
    redis::cmd("SET").arg("now").arg(now).exec(connection).unwrap();
}

/// What a script answers to each order.
fn run(connection: &mut Connection, script: &Script, orders: &[Order]) -> Vec<Value> {
    let mut command = Vec::new();
    script.by_code(orders.iter(), &mut command);
    let answer = connection.req_packed_command(&command).unwrap();
    match answer {
        Value::Array(values) => values,
        value => vec![value],
    }
}

impl<'a> Budget<'a> {
    fn new(connection: &'a mut Connection, name: &str) -> Self {
        let script = |algorithm| decide_by(TEST_CLOCK, algorithm);
        Self { connection, script, key: key::budget("test", name, b""), now: 0 }
    }

    /// By the server's own clock.
    fn in_real_time(connection: &'a mut Connection, name: &str) -> Self {
        Self { script: |algorithm| Arc::clone(decide(algorithm)), ..Self::new(connection, name) }
    }

    /// By the server's own clock, but that time passes as well when the test says so.
    fn ahead_of_real_time(connection: &'a mut Connection, name: &str) -> Self {
        Self { script: |algorithm| decide_by(CLOCK_AHEAD, algorithm), ..Self::new(connection, name) }
    }

    /// Ahead of real time: the key grows older by so many milliseconds too.
    fn pass(&mut self, millis: u32) {
        self.now += u64::from(millis) * 1000;
        // By one command, since between two of them it grows older by itself.
        let age = "local life = redis.call('PTTL', KEYS[1])\n\
            if life >= 0 then redis.call('PEXPIRE', KEYS[1], life - ARGV[1]) end";
        redis::Script::new(age).key(&self.key).arg(millis).invoke::<()>(self.connection).unwrap();
    }

    /// For how many milliseconds the key is kept. -2: there is none; -1: for ever.
    fn life(&mut self) -> i64 {
        redis::cmd("PTTL").arg(&self.key).query(self.connection).unwrap()
    }

    fn ask(&mut self, verb: Verb, call: &StoreCall<'_>) -> Value {
        self.tries(verb, call).unwrap()
    }

    fn tries(&mut self, verb: Verb, call: &StoreCall<'_>) -> RedisResult<Value> {
        let order = order(self.key.clone(), verb, Terms::of(call), 0);
        set_clock(self.connection, self.now);
        let mut command = Vec::new();
        (self.script)(call.spec.algorithm()).by_code([&order].into_iter(), &mut command);
        self.connection.req_packed_command(&command)
    }

    fn charge(&mut self, spec: LimitSpec, cost: u32) -> StoreVerdict {
        let call = call(spec).with_cost(cost);
        let answer = self.ask(Verb::Charge, &call);
        verdict(Terms::of(&call), &answer).unwrap()
    }

    fn look(&mut self, spec: LimitSpec) -> StoreOutlook {
        let call = call(spec);
        let answer = self.ask(Verb::Look, &call);
        outlook(Terms::of(&call), &answer).unwrap()
    }

    fn refund(&mut self, spec: LimitSpec, cost: u32, receipt: StoreReceipt) {
        self.ask(refund(&spec, receipt), &call(spec).with_cost(cost));
    }

    fn undo(&mut self, spec: LimitSpec, cost: u32, receipt: StoreReceipt) {
        self.ask(undo(receipt), &call(spec).with_cost(cost));
    }

    fn reset(&mut self, spec: LimitSpec) {
        self.ask(Verb::Reset, &call(spec));
    }

    /// What is kept, whatever its type.
    fn kept(&mut self) -> Option<Vec<u8>> {
        redis::cmd("DUMP").arg(&self.key).query(self.connection).unwrap()
    }
}

fn call(spec: LimitSpec) -> StoreCall<'static> {
    StoreCall::new("limit", spec, b"")
}

fn spec(text: &str) -> LimitSpec {
    text.parse().unwrap()
}

/// On each server that is here.
fn on_every_server(test: impl Fn(&mut Connection)) {
    for engine in Engine::all() {
        let server = Server::start(engine);
        test(&mut server.connect());
    }
}

fn admitted(verdict: &StoreVerdict) -> Option<(u32, StoreReceipt)> {
    match *verdict {
        StoreVerdict::Admitted { remaining, receipt } => Some((remaining, receipt)),
        StoreVerdict::Denied { .. } => None,
    }
}

fn denied(verdict: &StoreVerdict) -> Option<Duration> {
    match *verdict {
        StoreVerdict::Admitted { .. } => None,
        StoreVerdict::Denied { retry_after, .. } => Some(retry_after),
    }
}
