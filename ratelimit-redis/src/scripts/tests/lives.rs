//! What is written, for how long it is kept, and what a change or another clock makes of it.

use std::time::{Duration, Instant};

use ratelimit_runtime::{Algorithm, LimitSpec, StoreVerdict};

use super::{Budget, Verb, admitted, call, denied, on_every_server, spec};

pub(super) fn every_algorithm(max: u32, window: Duration) -> impl Iterator<Item = LimitSpec> {
    Algorithm::ALL.into_iter().map(move |algorithm| LimitSpec::new(max, window).with_algorithm(algorithm))
}

#[test]
fn a_denied_call_writes_nothing() {
    on_every_server(|connection| {
        for spec in every_algorithm(2, Duration::from_secs(60)) {
            let mut budget = Budget::new(connection, &format!("denied {spec}"));
            budget.charge(spec, 2);
            budget.now = 1_000_000;
            let before = budget.kept();
            assert!(before.is_some());
            assert!(denied(&budget.charge(spec, 1)).is_some());
            budget.look(spec);
            assert_eq!(budget.kept(), before, "{spec}");
        }
    });
}

#[test]
fn a_key_lives_until_its_budget_is_full_again_and_not_much_longer() {
    const MONTH: Duration = Duration::from_secs(30 * 86_400);
    on_every_server(|connection| {
        let limits = [(3, Duration::from_millis(50)), (3, Duration::from_secs(60)), (3, MONTH), (1, MONTH)];
        for spec in limits.into_iter().flat_map(|(max, window)| every_algorithm(max, window)) {
            let mut budget = Budget::in_real_time(connection, &format!("life {spec}"));
            let key = budget.key.clone();
            for _ in 0..spec.max() {
                let (_, receipt) = admitted(&budget.charge(spec, 1)).unwrap();
                let life: u64 = redis::cmd("PTTL").arg(&key).query(budget.connection).unwrap();
                // When all would be admitted again the budget is full; a second more, and a bucket's rounding. What has
                // passed between the two questions is a pause of this machine.
                let StoreVerdict::Denied { retry_after, .. } = budget.charge(spec, spec.max()) else {
                    assert!(spec.window() < Duration::from_secs(1), "{spec} admits too much");
                    redis::cmd("DEL").arg(&key).exec(budget.connection).unwrap();
                    continue;
                };
                let full = u64::try_from(retry_after.as_millis()).unwrap();
                assert!(
                    full <= life && life <= full + 1_010 + 5_000,
                    "{spec}: full in {full} ms, kept {life} ms"
                );
                // A refund leaves it alive.
                budget.refund(spec, 1, receipt);
                let life: i64 = redis::cmd("PTTL").arg(&key).query(budget.connection).unwrap();
                assert!(life > 0 || life == -2, "{spec}: kept {life}");
                budget.charge(spec, 1);
                let life: i64 = redis::cmd("PTTL").arg(&key).query(budget.connection).unwrap();
                assert!(life > 0, "{spec}: kept {life}");
                redis::cmd("DEL").arg(&key).exec(budget.connection).unwrap();
                budget.charge(spec, 1);
            }
        }
    });
}

#[test]
fn a_life_that_was_good_enough_to_be_left_alone_is_still_right() {
    on_every_server(|connection| {
        let limits = every_algorithm(1000, Duration::from_secs(60));
        for (spec, shorter) in limits.zip(every_algorithm(1000, Duration::from_secs(20))) {
            let mut budget = Budget::in_real_time(connection, &format!("left alone {spec}"));
            for call in 0..110 {
                // The last are charged under another limit.
                let spec = if call < 100 { spec } else { shorter };
                let (_, receipt) = admitted(&budget.charge(spec, 1 + call % 3)).unwrap();
                if call % 7 == 6 {
                    budget.refund(spec, 1 + call % 3, receipt);
                }
                let asked = Instant::now();
                let life: u64 = redis::cmd("PTTL").arg(&budget.key).query(budget.connection).unwrap();
                let full = denied(&budget.charge(spec, spec.max())).unwrap();
                let life = Duration::from_millis(life);
                let most = full + Duration::from_millis(1_010) + asked.elapsed();
                assert!(full <= life && life <= most, "{spec}: full in {full:?}, kept {life:?}");
            }
        }
    });
}

#[test]
fn an_undone_charge_leaves_no_trace() {
    on_every_server(|connection| {
        for spec in every_algorithm(10, Duration::from_secs(10)) {
            let mut budget = Budget::new(connection, &format!("undo {spec}"));
            budget.charge(spec, 8);
            for _ in 0..5 {
                budget.now += 300_000;
                let before = budget.look(spec).used;
                let (_, receipt) = admitted(&budget.charge(spec, 1)).unwrap();
                budget.now += 10_000;
                let expected = budget.look(spec).used;
                budget.undo(spec, 1, receipt);
                let used = budget.look(spec).used;
                assert!(used < expected && used <= before, "{spec}: {before}, {expected}, {used}");
            }
            let refills =
                matches!(spec.algorithm(), Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra);
            if refills {
                // 8 permits at 1 a second: 1.55 s later 6.45 are in use, however often one was taken back.
                assert_eq!(budget.look(spec).used, 7);
                let wait = denied(&budget.charge(spec, 10)).unwrap();
                assert_eq!(wait, Duration::from_micros(8_000_000 - budget.now));
            }
        }
    });
}

const HOUR: u64 = 3_600_000_000;

#[test]
fn a_clock_that_steps_back_neither_frees_nor_locks() {
    on_every_server(|connection| {
        for spec in every_algorithm(5, Duration::from_secs(60)) {
            let mut budget = Budget::new(connection, &format!("back {spec}"));
            budget.now = 2 * HOUR;
            budget.charge(spec, 3);
            budget.now = HOUR;
            assert!(admitted(&budget.charge(spec, 2)).is_some(), "{spec} locks");
            assert!(denied(&budget.charge(spec, 1)).is_some(), "{spec} frees");
            // Once the clock has caught up, it is as if nothing had been.
            budget.now = 2 * HOUR + 62_000_000;
            assert!(admitted(&budget.charge(spec, 5)).is_some(), "{spec} locks for longer");
        }
    });
}

#[test]
fn a_clock_that_goes_back_and_forth_an_hour_admits_as_often_as_one_that_does_not() {
    on_every_server(|connection| {
        for spec in every_algorithm(5, Duration::from_secs(60)) {
            let mut budget = Budget::new(connection, &format!("forth {spec}"));
            // By the clock that is right: every second, six calls, for some minutes.
            let mut forth = 0;
            for second in 0..200_u64 {
                // At each turn the other server's clock, an hour behind, is the one that counts.
                let is_back = second % 2 == 1;
                budget.now = if is_back { HOUR } else { 2 * HOUR } + second * 1_000_000;
                for _ in 0..6 {
                    let verdict = budget.charge(spec, 1);
                    if admitted(&verdict).is_some() {
                        forth += 1;
                    }
                    if let Some(wait) = denied(&verdict) {
                        // By the clock that is in force, until the latest instant seen, and no longer than ever.
                        let most = Duration::from_secs(62 + if is_back { 3600 } else { 0 });
                        assert!(wait <= most, "{spec}: {wait:?}");
                    }
                }
                let life = redis::cmd("PTTL").arg(&budget.key).query::<i64>(budget.connection).unwrap();
                assert!(life > 0, "{spec}: kept {life}");
            }
            let mut straight = Budget::new(connection, &format!("straight {spec}"));
            let mut expected = 0;
            for second in 0..200_u64 {
                straight.now = 2 * HOUR + second / 2 * 2 * 1_000_000;
                expected += (0..6).filter(|_| admitted(&straight.charge(spec, 1)).is_some()).count();
            }
            assert_eq!(forth, expected, "{spec}");
            assert!((15..=22).contains(&forth), "{spec}: {forth}");
        }
    });
}

#[test]
fn large_numbers_are_exact() {
    on_every_server(|connection| {
        let century = Duration::from_secs(36_500 * 86_400);
        for spec in every_algorithm(u32::MAX - 1, century) {
            let mut budget = Budget::new(connection, &format!("large {spec}"));
            budget.now = 1_800_000_000_000_123;
            let (remaining, _) = admitted(&budget.charge(spec, u32::MAX - 2)).unwrap();
            // What fills the bucket for longer than 71 years is not told apart.
            assert!(remaining >= 1, "{spec}");
        }
        let spec = spec("4000000000/1s algorithm=gcra burst=4000000000");
        let mut budget = Budget::new(connection, "fast");
        budget.now = 1_800_000_000_000_123;
        let (remaining, _) = admitted(&budget.charge(spec, 3_999_999_999)).unwrap();
        assert_eq!(remaining, 1);
        budget.now += 1;
        assert_eq!(budget.look(spec).used, 3_999_995_999);
    });
}

#[test]
fn a_log_keeps_no_more_entries_than_permits() {
    on_every_server(|connection| {
        let spec = spec("3/1s algorithm=sliding_log");
        let mut budget = Budget::new(connection, "log");
        for _ in 0..500 {
            budget.now += 1;
            let (_, receipt) = admitted(&budget.charge(spec, 1)).unwrap();
            budget.refund(spec, 1, receipt);
        }
        let key = budget.key.clone();
        let length: usize = redis::cmd("STRLEN").arg(&key).query(budget.connection).unwrap();
        assert!(length <= 250, "{length}");
    });
}

#[test]
fn a_log_that_was_long_takes_no_more_room_than_it_needs() {
    on_every_server(|connection| {
        let spec = spec("1000/1s algorithm=sliding_log");
        let mut budget = Budget::new(connection, "long once");
        for _ in 0..400 {
            budget.now += 1_000;
            budget.charge(spec, 1);
        }
        // All but the last three have aged.
        budget.now = 1_398_000;
        budget.charge(spec, 1);
        let length: usize = redis::cmd("STRLEN").arg(&budget.key).query(budget.connection).unwrap();
        assert!(length <= 97 + 16 * 8, "{length}");
        assert_eq!(budget.look(spec).used, 3);
        budget.now = 1_399_000;
        assert_eq!(budget.look(spec).used, 2);
        budget.now = 1_400_000;
        assert_eq!(denied(&budget.charge(spec, 1000)), Some(Duration::from_millis(998)));
    });
}

/// As no script of ours writes it.
#[test]
fn numbers_that_are_none_do_not_hold_the_server_up() {
    on_every_server(|connection| {
        let numbers =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, 2.686_791_455_452_724_3e88, 0.0];
        // As long as a fixed window, a flow, a head, and a head with a slot.
        let lengths = [(b'W', 4), (b'F', 7), (b'C', 12), (b'C', 14)];
        for (number, (kind, count)) in
            numbers.into_iter().flat_map(|number| lengths.map(|kind| (number, kind)))
        {
            for place in 0..=count {
                let mut text = vec![kind];
                for at in 0..count {
                    let is_it = at == place || place == count;
                    text.extend_from_slice(&if is_it { number } else { 1.0 }.to_le_bytes());
                }
                for spec in every_algorithm(10, Duration::from_secs(60)) {
                    let mut budget = Budget::new(connection, "nonsense");
                    budget.now = 1_000_000_000;
                    for verb in [Verb::Charge, Verb::Look, Verb::Give { given: 1, made: 1 }] {
                        let key = budget.key.clone();
                        redis::cmd("SET").arg(&key).arg(&text).exec(budget.connection).unwrap();
                        // Whatever the answer: there is one.
                        _ = budget.tries(verb, &call(spec));
                    }
                }
            }
        }
    });
}
