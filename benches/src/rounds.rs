//! How time is measured: short rounds, the contestants of a case in turn, and the median of all rounds.
//!
//! What disturbs the machine for a while disturbs all contestants alike, and their ratio least. In a round, every thread
//! makes the same number of calls: first some that bring back into the caches what the round before drove out, then,
//! beginning together, those that count. The round's figure is the time of the slowest thread, divided by the calls of
//! one thread. A round does not count if a thread had to wait for a core, or the threads did not run at the same time,
//! unless there are too few others.

mod round;

use std::time::Duration;

use self::round::Round;
use crate::contestant::Contestant;
use crate::keys::Stretch;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// About how long the calls that count are to last.
    pub(crate) round: Duration,
    /// How often a round is played again that something disturbed.
    again: usize,
}

impl Effort {
    pub(crate) const FULL: Self = Self { rounds: 31, round: Duration::from_millis(6), again: 2 };
    pub(crate) const QUICK: Self = Self { rounds: 5, round: Duration::from_millis(1), again: 0 };
}

/// What a case asks of its rounds.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) threads: usize,
    /// Most calls of a thread in a round, where each one takes memory.
    pub(crate) most_calls: usize,
    /// Whether calls are to be admitted or denied, or else the figure would not be of what it says.
    pub(crate) admitted: bool,
}

/// What the rounds of one contestant came to.
pub(crate) struct Figure {
    /// The median nanoseconds for a call.
    pub(crate) nanos: f64,
    /// Whether so few rounds went undisturbed that the others count as well.
    pub(crate) disturbed: bool,
}

/// The figure of each contestant.
pub(crate) fn measure(contestants: &[Contestant], terms: Terms, effort: Effort) -> Vec<Figure> {
    let mut entrants: Vec<Entrant<'_>> =
        contestants.iter().map(|contestant| Entrant::ready(contestant, terms, effort)).collect();
    for _ in 0..effort.rounds {
        for entrant in &mut entrants {
            entrant.play(terms, effort.again);
        }
    }
    entrants.into_iter().map(Entrant::figure).collect()
}

/// A contestant, and how far it is.
struct Entrant<'a> {
    contestant: &'a Contestant,
    /// Calls of each thread so far.
    made: usize,
    /// Calls of each thread that count in a round.
    calls: usize,
    /// Nanoseconds for a call: of the rounds that nothing disturbed, and of the others.
    undisturbed: Vec<f64>,
    disturbed: Vec<f64>,
}

impl<'a> Entrant<'a> {
    /// So many times fewer calls are made beforehand, at least.
    const BEFOREHAND: usize = 3;
    /// So many undisturbed rounds make a figure.
    const ENOUGH: usize = 7;

    /// Warms it up, and finds out how many calls fill a round.
    fn ready(contestant: &'a Contestant, terms: Terms, effort: Effort) -> Self {
        let mut entrant = Self {
            contestant,
            made: 0,
            calls: contestant.warm_up,
            undisturbed: Vec::new(),
            disturbed: Vec::new(),
        };
        entrant.run(terms.threads);
        entrant.calls = 100.min(terms.most_calls);
        loop {
            let took = entrant.run(terms.threads).took;
            if took * 4 >= effort.round || entrant.calls == terms.most_calls {
                let fill = entrant.calls as u128 * effort.round.as_nanos() / took.as_nanos().max(1);
                entrant.calls = usize::try_from(fill).unwrap_or(usize::MAX).clamp(1, terms.most_calls);
                return entrant;
            }
            entrant.calls = (entrant.calls * 2).min(terms.most_calls);
        }
    }

    /// A round that counts: the first that nothing disturbed, or the last.
    fn play(&mut self, terms: Terms, again: usize) {
        let mut round = self.run(terms.threads);
        for _ in 0..again {
            if round.undisturbed {
                break;
            }
            round = self.run(terms.threads);
        }
        let all = self.calls * terms.threads;
        let astray = if terms.admitted { all - round.admitted } else { round.admitted };
        // A limit that denies still admits one call in each window.
        assert!(
            astray * 100 <= all + 100,
            "{}: of {all} calls {} were admitted; that is not what the case says",
            self.contestant.name,
            round.admitted,
        );
        let calls = u32::try_from(self.calls).expect("a round is short");
        let rounds = if round.undisturbed { &mut self.undisturbed } else { &mut self.disturbed };
        rounds.push(round.took.as_secs_f64() * 1e9 / f64::from(calls));
    }

    fn figure(self) -> Figure {
        let disturbed = self.undisturbed.len() < Self::ENOUGH && !self.disturbed.is_empty();
        let mut rounds = self.undisturbed;
        if disturbed {
            rounds.extend(self.disturbed);
        }
        Figure { nanos: median(rounds), disturbed }
    }

    fn run(&mut self, threads: usize) -> Round {
        let beforehand = (self.calls / Self::BEFOREHAND).max(self.contestant.beforehand);
        let from = self.made + beforehand;
        self.made = from + self.calls;
        let part = |thread, from, calls| self.contestant.call(Stretch { thread, from, calls });
        Round::of(
            threads,
            |thread| part(thread, from - beforehand, beforehand),
            |thread| part(thread, from, self.calls),
        )
    }
}

/// The middle one; of two, the larger.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_time_of_one_call() {
        let nap = Duration::from_micros(500);
        let mut sleeper = Contestant::unkeyed("sleeper", move || {
            std::thread::sleep(nap);
            true
        });
        sleeper.warm_up = 1;
        let terms = Terms { threads: 2, most_calls: 4, admitted: true };
        let figures = measure(&[sleeper], terms, Effort::QUICK);
        assert!(figures[0].nanos >= 500_000.0, "{}", figures[0].nanos);
    }

    #[test]
    #[should_panic(expected = "0 were admitted")]
    fn a_case_that_does_something_else_than_it_says_has_no_figure() {
        let denier = Contestant::unkeyed("denier", || false);
        measure(&[denier], Terms { threads: 1, most_calls: 1000, admitted: true }, Effort::QUICK);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(vec![3.0, 1.0, 100.0]) - 3.0).abs() < f64::EPSILON);
    }
}
