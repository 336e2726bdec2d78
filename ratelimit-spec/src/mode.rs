use std::fmt;

/// What a limit does with a call that is over it. The default is [`Enforce`](Self::Enforce).
///
/// ```
/// use ratelimit_runtime::Mode;
///
/// assert_eq!("shadow".parse(), Ok(Mode::Shadow));
/// assert_eq!(Mode::Off.to_string(), "off");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Counts and denies.
    #[default]
    Enforce,
    /// Counts and reports what it would deny, and denies nothing.
    Shadow,
    /// Admits everything and counts nothing.
    Off,
}

impl Mode {
    /// Every mode, in the order the documentation lists them.
    pub const ALL: [Self; 3] = [Self::Enforce, Self::Shadow, Self::Off];

    /// The name that the attribute and [`Display`](fmt::Display) use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Shadow => "shadow",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
