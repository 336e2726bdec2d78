//! Plain budgets, which are charged without a lock while its holder does all that can be done to them.

use std::sync::Arc;

use loom::thread;

use super::{WINDOW, model};
use crate::{
    LimitSpec,
    algorithm::Grain,
    budget::{Charge, Place, Take},
    demand::Demand,
    key::Key,
    rules::Rules,
    table::Table,
};

const SECOND: u64 = 1_000_000_000;

fn rules(max: u32) -> Rules {
    Rules::new(LimitSpec::new(max, WINDOW).with_buckets(1), Grain::DECLARED, 0)
}

/// A table in which key 1 has been charged once, at the beginning.
fn table(max: u32, max_keys: usize) -> Arc<Table> {
    let table = Arc::new(Table::new(rules(max), max_keys));
    assert!(charge(&table, 1, 0).is_some());
    sees(&table);
    table
}

/// Lets this thread take without the lock.
fn sees(table: &Table) {
    assert_eq!(table.take_if_plain(&Key::of(&1), u64::MAX), Take::Ask);
}

/// Runs `act` in another thread.
fn beside<R: 'static>(table: &Arc<Table>, act: impl FnOnce(&Table) -> R + 'static) -> thread::JoinHandle<R> {
    let table = table.clone();
    thread::spawn(move || {
        sees(&table);
        act(&table)
    })
}

/// One call, and whether it was admitted without the lock.
fn call(table: &Table, key: u32, now: u64) -> (bool, bool) {
    match table.take_if_plain(&Key::of(&key), now) {
        Take::Taken(()) => (true, true),
        Take::Denied { ready_at } => {
            assert!(ready_at > now);
            (false, false)
        }
        Take::Ask => charge(table, key, now).map_or((false, false), |charge| (true, charge.counted)),
    }
}

fn charge(table: &Table, key: u32, now: u64) -> Option<Charge> {
    table.charge(&Key::of(&key), now, &Demand::new(1)).ok()
}

fn used(table: &Table, key: u32, now: u64) -> u32 {
    table.look(&Key::of(&key), now, |rules, state, now| rules.plan.used(state, now))
}

fn refund(table: &Table, charge: &Charge, now: u64) {
    table.at(charge.place, now, |rules, now, budget| budget.refund(rules, now, charge));
}

#[test]
fn two_calls_for_the_last_permit_admit_one() {
    model(|| {
        let table = table(2, 9);
        let other = beside(&table, |table| call(table, 1, 0));
        let (this, other) = (call(&table, 1, 0), other.join().unwrap());
        assert!(this.0 != other.0);
        assert_eq!(used(&table, 1, 0), 2);
        assert_eq!(table.admitted(), u64::from(this.1) + u64::from(other.1));
    });
}

#[test]
fn no_window_admits_more_while_a_budget_moves_on() {
    model(|| {
        let table = table(2, 9);
        let other = beside(&table, |table| (call(table, 1, SECOND), call(table, 1, SECOND)));
        let calls = [call(&table, 1, 0), call(&table, 1, SECOND)];
        let (third, fourth) = other.join().unwrap();
        let calls = [calls[0], calls[1], third, fourth];
        // The first one still counts with them.
        assert_eq!(calls.iter().filter(|call| call.0).count(), 1);
        assert_eq!(used(&table, 1, SECOND), 2);
        assert_eq!(table.admitted(), calls.iter().filter(|call| call.1).count() as u64);
        assert_eq!(call(&table, 1, 2 * SECOND).0, used(&table, 1, 2 * SECOND) < 3);
    });
}

#[test]
fn what_has_aged_is_released_once() {
    model(|| {
        let table = table(1, 9);
        let other = beside(&table, |table| call(table, 1, 2 * SECOND).0);
        let this = call(&table, 1, 2 * SECOND).0;
        assert!(this != other.join().unwrap());
        assert_eq!(used(&table, 1, 2 * SECOND), 1);
    });
}

#[test]
fn a_denial_tells_the_same_time_while_the_budget_moves_on() {
    model(|| {
        let table = table(1, 9);
        let denied = |table: &Table, now| match table.take_if_plain(&Key::of(&1), now) {
            Take::Taken(()) => panic!("it is full"),
            Take::Denied { ready_at } => assert_eq!(ready_at, 2 * SECOND),
            Take::Ask => assert!(charge(table, 1, now).is_none()),
        };
        denied(&table, 0);
        let other = beside(&table, move |table| [(); 2].map(|()| denied(table, SECOND)));
        denied(&table, 0);
        other.join().unwrap();
    });
}

#[test]
fn no_charge_goes_to_the_key_that_has_the_place_by_then() {
    model(|| {
        let table = table(5, 1);
        // The clock of this call is behind, and the key is let go of for another.
        let other = beside(&table, |table| call(table, 1, 0).0);
        assert!(call(&table, 2, 2 * SECOND).0);
        assert!(other.join().unwrap());
        // If it came later, it found no room, and shares a budget; 2 has its own, or that of 1 was charged before.
        assert!(
            used(&table, 2, 2 * SECOND) <= 1 || used(&table, 1, 2 * SECOND) == used(&table, 2, 2 * SECOND)
        );
        assert_eq!(used(&table, 2, 4 * SECOND), 0);
    });
}

#[test]
fn a_refund_gives_back_one_permit_whoever_comes_meanwhile() {
    model(|| {
        let table = table(2, 9);
        let permit = charge(&table, 1, 0).unwrap();
        let other = beside(&table, |table| call(table, 1, 0).0);
        refund(&table, &permit, 0);
        let this = call(&table, 1, 0).0;
        assert!(this != other.join().unwrap());
        assert_eq!(used(&table, 1, 0), 2);
        assert!(!call(&table, 1, 0).0);
    });
}

#[test]
fn a_permit_taken_beside_a_reset_is_of_the_life_in_which_it_counts() {
    model(|| {
        let table = table(2, 9);
        let other = beside(&table, |table| table.reset(0));
        let permit = charge(&table, 1, 0).unwrap();
        other.join().unwrap();
        refund(&table, &permit, 0);
        assert_eq!(used(&table, 1, 0), 0);
    });
}

#[test]
fn a_permit_taken_beside_a_reset_of_its_key_is_of_the_life_in_which_it_counts() {
    model(|| {
        let table = table(3, 9);
        let old = charge(&table, 1, 0).unwrap();
        let other = beside(&table, |table| {
            table.reset_key(&Key::of(&1), 0);
            charge(table, 1, 0).unwrap()
        });
        let permit = charge(&table, 1, 0).unwrap();
        let kept = other.join().unwrap();
        refund(&table, &old, 0);
        refund(&table, &permit, 0);
        assert_eq!(used(&table, 1, 0), 1, "that of a life that is over gives nothing back");
        refund(&table, &kept, 0);
        assert_eq!(used(&table, 1, 0), 0);
    });
}

#[test]
fn a_changed_limit_keeps_what_was_used() {
    model(|| {
        let table = table(2, 9);
        let other = beside(&table, |table| call(table, 1, 0).0);
        table.set_rules(&Arc::new(rules(3)), 0);
        let this = (0..3).filter(|_| call(&table, 1, 0).0).count();
        assert_eq!(this + usize::from(other.join().unwrap()), 2);
        assert_eq!(used(&table, 1, 0), 3);
    });
}

#[test]
fn no_charge_is_lost_while_all_budgets_move() {
    model(|| {
        let table = table(3, 9);
        let other = beside(&table, |table| call(table, 1, 0).0);
        // Too long a key for the places that there are.
        let long = Key::of("a key of more than fifteen");
        assert!(table.charge(&long, 0, &Demand::new(1)).is_ok());
        assert!(call(&table, 1, 0).0);
        assert!(other.join().unwrap());
        assert_eq!(used(&table, 1, 0), 3);
        assert_eq!(table.look(&long, 0, |rules, state, now| rules.plan.used(state, now)), 1);
    });
}

#[test]
fn nobody_passes_a_line_that_has_been_opened() {
    model(|| {
        let table = table(2, 9);
        let other = beside(&table, |table| call(table, 1, 0).0);
        let place = table.open_line(&Key::of(&1), 0);
        assert_eq!(place, Place::Own(Key::of(&1)));
        let before = used(&table, 1, 0);
        assert!(!call(&table, 1, 0).0);
        let passed = other.join().unwrap();
        assert_eq!(before, 1 + u32::from(passed));
        assert_eq!(used(&table, 1, 0), before);
    });
}
