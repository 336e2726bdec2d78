//! Every limit that the program declares.

use std::{collections::BTreeMap, error::Error, fmt, sync::Arc};

use ratelimit_spec::{LimitSpec, Mode, SpecError};

use crate::{
    declared::{Declaration, Declared},
    key::RateLimitKey,
    keyed::KeyedLimiter,
    limit::Limit,
    limiter::Limiter,
    stats::Stats,
    store::{Stored, is_installed},
};

/// A declared limit as the linker collects it.
pub struct Registered {
    declaration: &'static dyn Declaration,
}

inventory::collect!(Registered);

impl Registered {
    /// A copy that another attribute has made of a limited function, to check it: nobody calls it, and nobody means it.
    fn is_copy(&self) -> bool {
        let Self { declaration } = self;
        let is_original = |other: &Self| {
            let other = other.declaration;
            !other.is_in_copied_code()
                && (other.file(), other.line()) == (declaration.file(), declaration.line())
        };
        declaration.is_in_copied_code() && inventory::iter::<Registered>().any(is_original)
    }

    /// A limit with one budget.
    #[must_use]
    pub const fn unkeyed(declared: &'static Declared<Limiter>) -> Self {
        Self { declaration: declared }
    }

    /// A limit with a budget for every key.
    #[must_use]
    pub const fn keyed(declared: &'static Declared<KeyedLimiter>) -> Self {
        Self { declaration: declared }
    }
}

/// Every limit that the program declares by `#[rate_limit]` or `limiter!`, by name, known before its first call.
///
/// Limits in a dependency that the binary never names are not linked, and so not listed.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use ratelimit_runtime::{RateLimited, limits, rate_limit};
///
/// #[rate_limit(max = 5, window = "1m", name = "reports")]
/// fn report() -> Result<(), RateLimited> {
///     Ok(())
/// }
///
/// let reports = limits().find(|limit| limit.name() == "reports").unwrap();
/// assert_eq!(reports.spec().max(), 5);
/// assert_eq!(reports.stats().allowed, 0);
/// # }
/// ```
pub fn limits() -> impl Iterator<Item = LimitHandle> {
    let mut handles: Vec<_> =
        inventory::iter::<Registered>().filter(|limit| !limit.is_copy()).map(LimitHandle::of).collect();
    handles
        .sort_by(|one, other| (one.name(), one.file, one.line).cmp(&(other.name(), other.file, other.line)));
    handles.into_iter()
}

/// The declared limit of that name; if several have it, one of them (see [`verify`]).
#[must_use]
pub fn limit(name: &str) -> Option<LimitHandle> {
    limits().find(|limit| limit.name() == name)
}

/// Checks what only the whole program shows. To call at start-up.
///
/// # Errors
///
/// If two limits have the same name: one of them could be neither found nor configured. And if a limit's store is not
/// [installed](crate::install_store): each process then decides alone, by the whole limit.
pub fn verify() -> Result<(), VerifyError> {
    let mut by_name = BTreeMap::<String, Vec<LimitHandle>>::new();
    for limit in limits() {
        by_name.entry(limit.name().to_owned()).or_default().push(limit);
    }
    by_name.retain(|_, limits| limits.len() > 1);
    let mut without_store = BTreeMap::<&'static str, Vec<LimitHandle>>::new();
    for limit in limits() {
        if let Some(store) = limit.limit.stored().map(Stored::name).filter(|store| !is_installed(store)) {
            without_store.entry(store).or_default().push(limit);
        }
    }
    let is_sound = by_name.is_empty() && without_store.is_empty();
    if is_sound { Ok(()) } else { Err(VerifyError { used_twice: by_name, without_store }) }
}

/// What [`verify`] found: every name that is used twice, every store that is not installed, and where.
#[derive(Clone)]
pub struct VerifyError {
    used_twice: BTreeMap<String, Vec<LimitHandle>>,
    without_store: BTreeMap<&'static str, Vec<LimitHandle>>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, limits)) in self.used_twice.iter().enumerate() {
            let lead = if number == 0 { "" } else { "; " };
            let places: Vec<_> = limits.iter().map(LimitHandle::place).collect();
            write!(f, "{lead}{} limits are named `{name}`: {}", limits.len(), places.join(", "))?;
        }
        if !self.used_twice.is_empty() {
            f.write_str("; give each a `name` of its own")?;
        }
        for (number, (store, limits)) in self.without_store.iter().enumerate() {
            let lead = if number == 0 && self.used_twice.is_empty() { "" } else { "; " };
            let limits: Vec<_> =
                limits.iter().map(|limit| format!("`{}` at {}", limit.name(), limit.place())).collect();
            write!(f, "{lead}no store is installed as `{store}`, which is used by {}", limits.join(", "))?;
        }
        if !self.without_store.is_empty() {
            f.write_str("; call `install_store` at start-up")?;
        }
        Ok(())
    }
}

/// As text, since that is what a `main` shows which returns it.
impl fmt::Debug for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for VerifyError {}

/// A declared limit: to look at it, and to change it while the program runs.
///
/// # In a store
///
/// `used`, `reset_key` and `reset` ask the [store](crate::install_store) that a limit is in, and block their thread until it
/// answers, for at most the store's time limit; `reset` so long for each thousand keys that the store holds. Inside an async
/// runtime too: nothing panics, but the other tasks of that thread stand still meanwhile. There, put them on a thread for
/// such things, as by `tokio::task::spawn_blocking`. If the store does not answer, `used` tells what this process knows, and
/// a reset forgets that alone.
#[derive(Clone)]
pub struct LimitHandle {
    limit: &'static Arc<Limit>,
    file: &'static str,
    line: u32,
}

impl LimitHandle {
    fn of(registered: &Registered) -> Self {
        let declaration = registered.declaration;
        Self { limit: declaration.limit(), file: declaration.file(), line: declaration.line() }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Its name: as given, else the path of the function or static.
    #[must_use]
    pub fn name(&self) -> &str {
        self.limit.name()
    }

    /// The source file that declares it.
    #[must_use]
    pub fn file(&self) -> &str {
        self.file
    }

    /// The line of its declaration.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The limit in force. `max` is `u32::MAX` if each call brings its own.
    #[must_use]
    pub fn spec(&self) -> LimitSpec {
        self.limit.spec()
    }

    /// Puts another limit in force at once, and keeps what has been used, as [`Limiter::set_spec`] does. It does so in this
    /// process: if the limit is in a store, have the others do the same.
    ///
    /// A `max` other than `u32::MAX` wins over one that each call brings.
    ///
    /// # Errors
    ///
    /// If the limit [breaks a rule](LimitSpec::validate); then the one before stays in force.
    pub fn set_spec(&self, spec: LimitSpec) -> Result<(), SpecError> {
        self.limit.set_spec(spec)
    }

    /// Whether it is enforced, only watched, or off.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.limit.mode()
    }

    /// Switches the limit, for calls from now on. Those who wait for a limit that is no longer enforced are admitted.
    pub fn set_mode(&self, mode: Mode) {
        self.limit.set_mode(mode);
    }

    /// What has come of its calls.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.limit.stats()
    }

    /// Forgets every charge of every key.
    ///
    /// Blocks if the limit is [in a store](Self#in-a-store).
    pub fn reset(&self) {
        self.limit.reset();
    }

    /// Forgets every charge of one key: to unlock one customer, say. A limit without keys is left as it is.
    ///
    /// Blocks if the limit is [in a store](Self#in-a-store).
    pub fn reset_key<K: RateLimitKey + ?Sized>(&self, key: &K) {
        self.limit.reset_key(&self.limit.key(key));
    }

    /// Permits in use now by one key, or by all calls of a limit without keys, whatever key is given.
    ///
    /// Blocks if the limit is [in a store](Self#in-a-store).
    #[must_use]
    pub fn used<K: RateLimitKey + ?Sized>(&self, key: &K) -> u32 {
        self.limit.used(&self.limit.key(key))
    }
}

impl fmt::Debug for LimitHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut handle = f.debug_struct("LimitHandle");
        handle.field("file", &self.file).field("line", &self.line);
        self.limit.describe(&mut handle).finish_non_exhaustive()
    }
}
