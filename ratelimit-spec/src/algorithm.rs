use std::fmt;

/// How a limit counts. The default is [`SlidingWindow`](Self::SlidingWindow).
///
/// ```
/// use ratelimit_runtime::Algorithm;
///
/// assert_eq!("token_bucket".parse(), Ok(Algorithm::TokenBucket));
/// assert_eq!(Algorithm::Gcra.to_string(), "gcra");
/// let error = "sliding_windw".parse::<Algorithm>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown algorithm `sliding_windw`; did you mean `sliding_window`?");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// At most `max` in every interval as long as the window; a charge is released at most one bucket late.
    #[default]
    SlidingWindow,
    /// `max` from the first call until the window ends; twice that can pass around an edge.
    FixedWindow,
    /// At most `max` in every interval as long as the window, exactly; remembers every charge.
    SlidingLog,
    /// Bursts up to `burst`, refilled continuously at `max` per window.
    TokenBucket,
    /// Holds up to `burst`, leaking continuously at `max` per window; with waiting, a queue that spaces calls.
    LeakyBucket,
    /// What a token bucket admits that is full at first, by one number: when it would be full again.
    Gcra,
}

impl Algorithm {
    /// Every algorithm, in the order the documentation lists them.
    pub const ALL: [Self; 6] = [
        Self::SlidingWindow,
        Self::FixedWindow,
        Self::SlidingLog,
        Self::TokenBucket,
        Self::LeakyBucket,
        Self::Gcra,
    ];

    /// The name that the attribute and [`Display`](fmt::Display) use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlidingWindow => "sliding_window",
            Self::FixedWindow => "fixed_window",
            Self::SlidingLog => "sliding_log",
            Self::TokenBucket => "token_bucket",
            Self::LeakyBucket => "leaky_bucket",
            Self::Gcra => "gcra",
        }
    }

    /// Whether `buckets` may be set.
    #[must_use]
    pub const fn takes_buckets(self) -> bool {
        matches!(self, Self::SlidingWindow)
    }

    /// Whether `burst` may be set.
    #[must_use]
    pub const fn takes_burst(self) -> bool {
        matches!(self, Self::TokenBucket | Self::LeakyBucket | Self::Gcra)
    }

    /// Whether `initial` may be set.
    #[must_use]
    pub const fn takes_initial(self) -> bool {
        matches!(self, Self::TokenBucket)
    }

    /// Whether `max` may be an expression that each call evaluates.
    #[must_use]
    pub const fn takes_max_per_call(self) -> bool {
        matches!(self, Self::SlidingWindow | Self::FixedWindow | Self::SlidingLog)
    }

    /// Whether `option` may be set.
    #[must_use]
    pub const fn takes(self, option: AlgorithmOption) -> bool {
        match option {
            AlgorithmOption::Buckets => self.takes_buckets(),
            AlgorithmOption::Burst => self.takes_burst(),
            AlgorithmOption::Initial => self.takes_initial(),
            AlgorithmOption::MaxPerCall => self.takes_max_per_call(),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What only some algorithms take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlgorithmOption {
    /// `buckets`
    Buckets,
    /// `burst`
    Burst,
    /// `initial`
    Initial,
    /// A `max` that is an expression, evaluated by each call.
    MaxPerCall,
}

impl AlgorithmOption {
    /// Every option, in the order in which a limit is printed.
    pub const ALL: [Self; 4] = [Self::Buckets, Self::Burst, Self::Initial, Self::MaxPerCall];

    /// The name of the argument that sets it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::Burst => "burst",
            Self::Initial => "initial",
            Self::MaxPerCall => "max",
        }
    }
}
