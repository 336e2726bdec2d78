//! A limit as the attribute and `limiter!` declare it: a static that becomes a limiter with its first use.

use std::{ops::Deref, sync::Arc};

use once_cell::sync::OnceCell;
use ratelimit_spec::{LimitSpec, Mode};

use crate::{
    clock::TimeSource,
    keyed::KeyedLimiter,
    limit::Limit,
    limiter::Limiter,
    name::Name,
    path::{is_in_generated_item, name_of},
};

/// A declaration, and the limiter once it is made. `L` is [`Limiter`] or [`KeyedLimiter`].
pub struct Declared<L> {
    spec: LimitSpec,
    path: fn() -> &'static str,
    file: &'static str,
    line: u32,
    name: Option<&'static str>,
    nth: u32,
    mode: Mode,
    max_keys: usize,
    store: Option<&'static str>,
    limiter: OnceCell<L>,
}

impl<L> Declared<L> {
    /// `path` is the path of a function inside the item that declares the limit.
    #[must_use]
    pub const fn new(spec: LimitSpec, path: fn() -> &'static str, file: &'static str, line: u32) -> Self {
        Self {
            spec,
            path,
            file,
            line,
            name: None,
            nth: 1,
            mode: Mode::Enforce,
            max_keys: KeyedLimiter::DEFAULT_MAX_KEYS,
            store: None,
            limiter: OnceCell::new(),
        }
    }

    /// Names the limit; else it is called by its path.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Tells apart the unnamed limits of one stack: the second is `path#2`.
    #[must_use]
    pub const fn nth(mut self, nth: u32) -> Self {
        self.nth = nth;
        self
    }

    /// The mode to begin in.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The most keys to be tracked.
    #[must_use]
    pub const fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = max_keys;
        self
    }

    /// The store that its budgets live in.
    #[must_use]
    pub const fn store(mut self, store: &'static str) -> Self {
        self.store = Some(store);
        self
    }

    fn name(&self) -> Name {
        match self.name {
            // Leaked once for each declared limit, which lives as long: so a denial clones no count that others share.
            Some(name) => Name::leaked(name, true),
            None => Name::leaked(name_of((self.path)(), self.nth), false),
        }
    }

    fn start(&self, mut limit: Limit) -> Limit {
        // In an isolated test the budgets are the test's own, and not those of a store.
        if let Some(store) = self.store.filter(|_| matches!(limit.clock, TimeSource::System { .. })) {
            limit = limit.in_store(store);
        }
        if self.mode != Mode::Enforce {
            limit.set_mode(self.mode);
        }
        limit
    }
}

impl Declared<Limiter> {
    fn make(&self, clock: TimeSource) -> Limiter {
        Limiter::from_limit(self.start(Limit::unkeyed(self.name(), self.spec, clock)))
    }
}

impl Declared<KeyedLimiter> {
    fn make(&self, clock: TimeSource) -> KeyedLimiter {
        KeyedLimiter::from_limit(self.start(Limit::keyed(self.name(), self.spec, clock, self.max_keys)))
    }
}

/// What the registry needs of a declaration, whatever the kind of its limiter.
pub(crate) trait Declaration: Sync {
    fn limit(&'static self) -> &'static Arc<Limit>;
    fn file(&self) -> &'static str;
    fn line(&self) -> u32;
    fn is_in_copied_code(&self) -> bool;
}

macro_rules! declaration_of {
    ($Limiter:ty) => {
        impl Declared<$Limiter> {
            /// The limiter, made with the first use; in an isolated test, the one that stands for it there.
            #[inline]
            pub(crate) fn limiter(&'static self) -> &'static $Limiter {
                #[cfg(feature = "test-util")]
                if let Some(isolated) = crate::test_util::isolated(self, |clock| self.make(clock)) {
                    return isolated;
                }
                self.limiter.get_or_init(|| self.make(TimeSource::system()))
            }
        }

        impl Declaration for Declared<$Limiter> {
            fn limit(&'static self) -> &'static Arc<Limit> {
                self.limiter().limit()
            }

            fn file(&self) -> &'static str {
                self.file
            }

            fn line(&self) -> u32 {
                self.line
            }

            fn is_in_copied_code(&self) -> bool {
                is_in_generated_item((self.path)())
            }
        }
    };
}

declaration_of!(Limiter);
declaration_of!(KeyedLimiter);

/// A [`Limiter`] in a `static`, made by `limiter!` and started with its first use.
///
/// Several functions share it by `#[rate_limit(limiter = PATH)]`; it is also a `Limiter` to call by hand.
#[derive(Clone, Copy)]
pub struct LazyLimiter {
    declared: &'static Declared<Limiter>,
}

/// A [`KeyedLimiter`] in a `static`, made by `limiter!(keyed, ..)` and started with its first use.
///
/// Several functions share it by `#[rate_limit(limiter = PATH, key = ..)]`; it is also a `KeyedLimiter` to call by hand.
#[derive(Clone, Copy)]
pub struct LazyKeyedLimiter {
    declared: &'static Declared<KeyedLimiter>,
}

macro_rules! lazy {
    ($Lazy:ident, $Limiter:ident) => {
        impl $Lazy {
            /// What `limiter!` expands to.
            #[doc(hidden)]
            #[must_use]
            pub const fn of(declared: &'static Declared<$Limiter>) -> Self {
                Self { declared }
            }
        }

        impl Deref for $Lazy {
            type Target = $Limiter;

            fn deref(&self) -> &$Limiter {
                self.declared.limiter()
            }
        }

        impl std::fmt::Debug for $Lazy {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($Lazy)).field(&**self).finish()
            }
        }
    };
}

lazy!(LazyLimiter, Limiter);
lazy!(LazyKeyedLimiter, KeyedLimiter);
