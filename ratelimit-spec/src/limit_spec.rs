use std::time::Duration;

use crate::algorithm::{Algorithm, AlgorithmOption};
use crate::error::SpecError;
use crate::rules;

/// A limit as declared: how many permits, in what window, by which algorithm.
///
/// Made by [`new`](Self::new) and the `with_` methods, or read from text such as `"100/1s buckets=10"`, which
/// [`Display`](std::fmt::Display) prints again. Nothing is checked until [`validate`](Self::validate); text is
/// checked when it is read.
///
/// Two specs are equal if they declare the same: `buckets`, `burst` or `initial` not set differs from the same
/// set to its default.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{Algorithm, LimitSpec};
///
/// const LOGIN: LimitSpec = LimitSpec::new(5, Duration::from_secs(60)).with_algorithm(Algorithm::Gcra).with_burst(2);
/// assert_eq!(LOGIN.validate(), Ok(()));
/// assert_eq!(LOGIN.to_string(), "5/1m algorithm=gcra burst=2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitSpec {
    max: u32,
    window: Duration,
    algorithm: Algorithm,
    // None where not set, so that the defaults follow a change of `max` or `window`.
    pub(crate) buckets: Option<u32>,
    pub(crate) burst: Option<u32>,
    pub(crate) initial: Option<u32>,
}

impl LimitSpec {
    /// `max` permits per `window`, by a sliding window of the default buckets.
    #[must_use]
    pub const fn new(max: u32, window: Duration) -> Self {
        Self { max, window, algorithm: Algorithm::SlidingWindow, buckets: None, burst: None, initial: None }
    }

    /// The same limit with another `max`.
    #[must_use]
    pub const fn with_max(self, max: u32) -> Self {
        Self { max, ..self }
    }

    /// Counts by `algorithm`.
    #[must_use]
    pub const fn with_algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Divides a sliding window into `buckets`, 1 to 1000: a charge is released at most one bucket late.
    #[must_use]
    pub const fn with_buckets(self, buckets: u32) -> Self {
        Self { buckets: Some(buckets), ..self }
    }

    /// Sets the capacity, in permits and at least 1, of a token bucket, a leaky bucket or gcra.
    #[must_use]
    pub const fn with_burst(self, burst: u32) -> Self {
        Self { burst: Some(burst), ..self }
    }

    /// Sets how many permits, at most `burst`, a token bucket holds at first.
    #[must_use]
    pub const fn with_initial(self, initial: u32) -> Self {
        Self { initial: Some(initial), ..self }
    }

    /// Permits in one window.
    #[must_use]
    pub const fn max(&self) -> u32 {
        self.max
    }

    /// The length of the window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        self.window
    }

    /// How the limit counts. [`Algorithm::SlidingWindow`] by default.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The buckets of a sliding window. By default 20 for windows up to 1 s, 50 up to 10 s, else 60.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        match self.buckets {
            Some(buckets) => buckets,
            None => default_buckets(self.window),
        }
    }

    /// The capacity, in permits, of a token bucket, a leaky bucket or gcra. [`max`](Self::max) by default.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        match self.burst {
            Some(burst) => burst,
            None => self.max,
        }
    }

    /// The permits that a token bucket holds at first. [`burst`](Self::burst) by default.
    #[must_use]
    pub const fn initial(&self) -> u32 {
        match self.initial {
            Some(initial) => initial,
            None => self.burst(),
        }
    }

    /// Checks what the attribute checks, except that `max` may be 0: such a limit denies every call.
    ///
    /// # Errors
    /// The first rule that is broken, in the words of the attribute's own message.
    pub const fn validate(&self) -> Result<(), SpecError> {
        if let Err(error) = rules::window(self.window) {
            return Err(error);
        }
        if let Err(error) = self.check_buckets() {
            return Err(error);
        }
        if let Err(error) = self.check_burst() {
            return Err(error);
        }
        self.check_initial()
    }

    const fn check_buckets(&self) -> Result<(), SpecError> {
        if let Some(buckets) = self.buckets {
            if let Err(error) = rules::option_fits(AlgorithmOption::Buckets, self.algorithm) {
                return Err(error);
            }
            if let Err(error) = rules::buckets(buckets as u64) {
                return Err(error);
            }
        }
        if self.algorithm.takes_buckets() {
            rules::window_holds_buckets(self.window, self.buckets())
        } else {
            Ok(())
        }
    }

    const fn check_burst(&self) -> Result<(), SpecError> {
        if let Some(burst) = self.burst {
            if let Err(error) = rules::option_fits(AlgorithmOption::Burst, self.algorithm) {
                return Err(error);
            }
            if let Err(error) = rules::burst(burst as u64) {
                return Err(error);
            }
        }
        Ok(())
    }

    const fn check_initial(&self) -> Result<(), SpecError> {
        if let Some(initial) = self.initial {
            if let Err(error) = rules::option_fits(AlgorithmOption::Initial, self.algorithm) {
                return Err(error);
            }
            if let Err(error) = rules::initial(initial as u64, self.burst()) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The spec itself, if it is valid: for constants, where a broken rule is then an error when compiling.
    ///
    /// # Panics
    /// If [`validate`](Self::validate) finds a broken rule. Where that should not panic, call `validate`.
    ///
    /// ```compile_fail
    /// # use {ratelimit_runtime::LimitSpec, std::time::Duration};
    /// const NEVER: LimitSpec = LimitSpec::new(100, Duration::ZERO).checked();
    /// # let _ = NEVER;
    /// ```
    #[must_use]
    #[track_caller]
    pub const fn checked(self) -> Self {
        if let Err(error) = self.validate() {
            panic!("{}", error.rule());
        }
        self
    }

    /// The spec itself, if it is valid and its `max` is at least 1: what a declaration in code must be.
    ///
    /// # Panics
    /// If it is not. For constants, as [`checked`](Self::checked).
    #[must_use]
    #[track_caller]
    pub const fn declared(self) -> Self {
        if let Err(error) = rules::max(self.max as u64) {
            panic!("{}", error.rule());
        }
        self.checked()
    }
}

/// Fine enough that a bucket is at most 5 % of a short window, and less of a long one.
pub(crate) const fn default_buckets(window: Duration) -> u32 {
    const ONE_SECOND: u128 = Duration::from_secs(1).as_nanos();
    let nanos = window.as_nanos();
    if nanos <= ONE_SECOND {
        20
    } else if nanos <= 10 * ONE_SECOND {
        50
    } else {
        60
    }
}
