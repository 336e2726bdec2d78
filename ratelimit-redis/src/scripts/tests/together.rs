//! Many calls, one call of the script.

use proptest::{prelude::*, test_runner::TestRunner};
use redis::{Connection, Value};

use super::*;

/// What each of some calls is answered, by one call of the script or by as many.
pub(super) fn ask(
    connection: &mut Connection,
    algorithm: Algorithm,
    orders: &[Order],
    now: u64,
    at_once: bool,
) -> Vec<Value> {
    let script = decide_by(TEST_CLOCK, algorithm);
    let per_call = if at_once { orders.len() } else { 1 };
    set_clock(connection, now);
    orders.chunks(per_call).flat_map(|orders| run(connection, &script, orders)).collect()
}

/// Calls of one budget, in two groups at different times.
fn calls() -> impl Strategy<Value = Vec<(Verb, u32, u32)>> {
    let verb = prop_oneof![
        6 => Just(Verb::Charge),
        1 => Just(Verb::Look),
        2 => (0..3_u64).prop_map(|at| Verb::Give { given: at * 60_000, made: at * 60_000 }),
        1 => Just(Verb::Reset),
    ];
    // Now and then under another limit.
    let max = prop_oneof![8 => Just(8_u32), 1 => Just(5)];
    prop::collection::vec((verb, 0..4_u32, max), 1..30)
}

#[test]
fn what_is_asked_at_once_is_answered_as_one_after_the_other() {
    let calls = (prop::sample::select(&Algorithm::ALL[..]), 0..3_usize, calls(), calls());
    on_every_server(|connection| {
        let connection = std::cell::RefCell::new(connection);
        let mut runner = TestRunner::new(ProptestConfig { cases: 60, ..ProptestConfig::default() });
        runner
            .run(&calls, |(algorithm, keys, first, second)| {
                let mut connection = connection.borrow_mut();
                redis::cmd("FLUSHALL").exec(&mut connection).unwrap();
                let order = |at_once: bool, number: usize, (verb, cost, max): (Verb, u32, u32)| {
                    let spec = LimitSpec::new(max, Duration::from_millis(100)).with_algorithm(algorithm);
                    let key = format!("{at_once} {}", if keys == 0 { 0 } else { number * keys / 7 });
                    super::super::order(key.into(), verb, Terms::of(&call(spec).with_cost(cost)), 0)
                };
                for (now, calls) in [(0, &first), (60_000, &first), (120_000, &second)] {
                    let answers = [false, true].map(|at_once| {
                        let orders =
                            calls.iter().enumerate().map(|(number, call)| order(at_once, number, *call));
                        ask(&mut connection, algorithm, &orders.collect::<Vec<_>>(), now, at_once)
                    });
                    prop_assert_eq!(&answers[0], &answers[1], "{} at {}", algorithm, now);
                }
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn one_that_fails_leaves_the_others_alone() {
    on_every_server(|connection| {
        redis::cmd("SADD").arg(&["b", "of another type"]).exec(connection).unwrap();
        for algorithm in Algorithm::ALL {
            let terms =
                Terms::of(&call(LimitSpec::new(9, Duration::from_secs(60)).with_algorithm(algorithm)));
            let orders =
                ["a", "b", "b", "c"].map(|key| super::super::order(key.into(), Verb::Charge, terms, 0));
            let answers = ask(connection, algorithm, &orders, 1_000_000, true);
            let is_error = |answer: &Value| matches!(answer, Value::ServerError(_));
            assert_eq!(answers.iter().map(is_error).collect::<Vec<_>>(), [false, true, true, false]);
            assert!(verdict(terms, &answers[3]).is_some_and(|verdict| admitted(&verdict).is_some()));
        }
    });
}
