//! Random histories of what is charged and given back: a key is kept for as long as it counts, and a second more.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use proptest::{prelude::*, test_runner::TestRunner};
use ratelimit_runtime::{Algorithm, LimitSpec, StoreReceipt};

use super::{Budget, admitted, denied, lives::every_algorithm, on_every_server};

#[derive(Clone, Debug)]
enum Step {
    /// So many milliseconds.
    Pass(u32),
    Charge(u32),
    /// What cannot be had, if anything is in use.
    ChargeAll,
    /// The charge so many admissions ago, as a refund or as an undo.
    Give(usize, bool),
    Reset,
    /// To another limit.
    Change(LimitSpec),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..120_u32).prop_map(Step::Pass),
        1 => (0..3000_u32).prop_map(Step::Pass),
        9 => (1..4_u32).prop_map(Step::Charge),
        2 => Just(Step::ChargeAll),
        9 => (0..4_usize, any::<bool>()).prop_map(|(back, is_undo)| Step::Give(back, is_undo)),
        1 => Just(Step::Reset),
        1 => any_limit().prop_map(Step::Change),
    ]
}

fn any_limit() -> impl Strategy<Value = LimitSpec> {
    let algorithm = prop::sample::select(&Algorithm::ALL[..]);
    let window = prop::sample::select(&[400_u64, 2000, 60_000][..]);
    (algorithm, window, 3..30_u32).prop_map(|(algorithm, window, max)| {
        LimitSpec::new(max, Duration::from_millis(window)).with_algorithm(algorithm)
    })
}

#[test]
fn a_key_lives_for_as_long_as_it_counts_and_a_second_more_whatever_was_given_back() {
    on_every_server(|connection| {
        let (number, connection) = (Cell::new(0), RefCell::new(connection));
        let mut runner = TestRunner::new(ProptestConfig { cases: 300, ..ProptestConfig::default() });
        let histories = (any_limit(), prop::collection::vec(step(), 1..40));
        runner
            .run(&histories, |(spec, steps)| {
                number.set(number.get() + 1);
                let mut connection = connection.borrow_mut();
                let mut budget =
                    Budget::ahead_of_real_time(&mut connection, &format!("lives {}", number.get()));
                lives_as_it_should(&mut budget, spec, &steps);
                Ok(())
            })
            .unwrap();
    });
}

fn lives_as_it_should(budget: &mut Budget<'_>, mut spec: LimitSpec, steps: &[Step]) {
    let mut charged: Vec<(LimitSpec, u32, StoreReceipt)> = Vec::new();
    // The limit by which the key was written.
    let mut written_by = spec;
    for step in steps {
        let before = budget.kept();
        match *step {
            Step::Pass(millis) => budget.pass(millis),
            Step::Charge(cost) => {
                if let Some((_, receipt)) = admitted(&budget.charge(spec, cost)) {
                    charged.push((spec, cost, receipt));
                }
            }
            Step::ChargeAll if budget.look(spec).used == 0 => {}
            Step::ChargeAll => _ = budget.charge(spec, spec.max()),
            Step::Give(back, is_undo) => {
                let Some(number) = charged.len().checked_sub(back + 1) else { continue };
                let (charged_by, cost, receipt) = charged.remove(number);
                // Of a limit that has been changed since, perhaps: the budget stays one of the limit that it is.
                let give = if is_undo { Budget::undo } else { Budget::refund };
                give(budget, charged_by, cost, receipt);
            }
            Step::Reset => budget.reset(spec),
            Step::Change(other) => spec = other,
        }
        if budget.kept() != before && !matches!(step, Step::Give(..)) {
            written_by = spec;
        }
        is_kept_as_it_should_be(budget, written_by, step);
    }
}

fn is_kept_as_it_should_be(budget: &mut Budget<'_>, spec: LimitSpec, step: &Step) {
    let asked = Instant::now();
    let life = budget.life();
    // When all would be admitted again the budget is full; and it is now, if nothing is in use.
    let full = match budget.look(spec).used {
        0 => Duration::ZERO,
        _ => denied(&budget.charge(spec, spec.max())).unwrap_or_default(),
    };
    let passed = asked.elapsed();
    if full.is_zero() && life == -2 {
        return;
    }
    let most = full + Duration::from_millis(1_010) + passed;
    let life = u64::try_from(life).map(Duration::from_millis).unwrap();
    assert!(full <= life && life <= most, "{spec}, {step:?}: full in {full:?}, kept {life:?}");
}

#[test]
fn what_was_given_back_alone_leaves_no_key() {
    on_every_server(|connection| {
        for spec in every_algorithm(5, Duration::from_secs(3600)) {
            for is_undo in [false, true] {
                let mut budget = Budget::in_real_time(connection, &format!("alone {spec}"));
                let (_, receipt) = admitted(&budget.charge(spec, 3)).unwrap();
                let give = if is_undo { Budget::undo } else { Budget::refund };
                give(&mut budget, spec, 3, receipt);
                let is_gone = budget.life() == -2;
                // What has flowed since is not given back twice.
                let refills = matches!(
                    spec.algorithm(),
                    Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra
                );
                assert!(is_gone || refills && !is_undo, "{spec}");
                budget.reset(spec);
            }
        }
    });
}
