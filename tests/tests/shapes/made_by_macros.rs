//! Functions that `macro_rules!` makes: tokens come in groups without delimiters, and names with a hygiene.

use ratelimit_runtime::{LazyKeyedLimiter, RateLimited, limiter, rate_limit};

use crate::{Bodies, at_once, handle};

static BODIES: Bodies = Bodies::new();
static SHARED: LazyKeyedLimiter = limiter!(keyed, max = 1, window = "1h");

macro_rules! limited {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($parameter:ident: $type:ty),*) -> $returned:ty $body:block
        by $key:expr, at most $max:expr, each $window:literal, costs $cost:expr, called $label:expr
    ) => {
        $(#[$attribute])*
        #[rate_limit(key = $key, max = $max, window = $window, cost = $cost, name = $label)]
        $visibility fn $name($($parameter: $type),*) -> $returned $body
    };
}

limited! {
    /// Its parts are fragments of a macro.
    #[inline]
    pub(crate) fn fragments(user: &str, pages: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        if user.is_empty() {
            return Ok(0);
        }
        Ok(pages)
    }
    by (user, user.len()), at most 3, each "1h", costs pages.min(9), called "made_by_macros.fragments"
}

#[test]
fn fragments_may_stand_in_the_function_and_in_the_attribute() {
    let before = BODIES.count();
    assert_eq!(fragments("ada", 2).unwrap(), 2);
    assert!(fragments("ada", 2).is_err());
    assert_eq!(fragments("ada", 1).unwrap(), 1);
    assert_eq!(fragments("", 3).unwrap(), 0);
    assert_eq!(BODIES.count() - before, 3);
    assert_eq!(handle("made_by_macros.fragments").spec().max(), 3, "a literal, though in a group");
}

#[test]
fn a_type_in_a_group_may_be_a_boxed_future() {
    macro_rules! waits {
        ($name:ident -> $returned:ty, $wait:expr, $label:literal) => {
            #[rate_limit(max = 1, window = "10s", wait = $wait, name = $label)]
            fn $name(number: u8) -> $returned {
                Box::pin(async move { Ok(number) })
            }
        };
    }
    waits!(call -> futures::future::BoxFuture<'static, Result<u8, RateLimited>>, "1h", "made_by_macros.boxed");

    assert_eq!(at_once(call(1)).unwrap(), 1);
    let waited = crate::waits_without_its_thread("made_by_macros.boxed", || call(2));
    assert_eq!(futures::executor::block_on(waited).unwrap(), 2);
}

#[test]
fn a_whole_item_may_be_passed_through() {
    macro_rules! pass {
        ($item:item) => {
            $item
        };
    }
    macro_rules! limit {
        ($($argument:tt)*) => {
            #[rate_limit($($argument)*)]
            async fn inside(number: u8) -> Option<u8> {
                Some(number)
            }
        };
    }
    macro_rules! limit_item {
        ($max:literal $item:item) => {
            #[rate_limit(max = $max, window = "1h")]
            $item
        };
    }

    pass! {
        #[rate_limit(max = 1, window = "1h")]
        fn passed() -> Option<u8> {
            Some(7)
        }
    }
    limit!(max = 1, window = "1h");
    limit_item!(1 fn item() -> Option<u8> { Some(7) });

    assert_eq!([passed(), passed()], [Some(7), None]);
    assert_eq!([at_once(inside(7)), at_once(inside(7))], [Some(7), None]);
    assert_eq!([item(), item()], [Some(7), None]);
}

#[test]
fn a_bare_key_sees_the_callers_name_and_not_the_macros() {
    macro_rules! shadows {
        ($name:ident, $user:ident) => {
            #[rate_limit(key = $user, max = 1, window = "1h")]
            #[rate_limit(key = user, max = 2, window = "1h")]
            fn $name($user: u8, user: u8) -> Option<u8> {
                Some($user + user)
            }
        };
    }
    shadows!(call, user);

    assert_eq!(call(1, 10), Some(11));
    assert_eq!(call(1, 20), None, "the caller's `user` has no room");
    assert_eq!(call(2, 10), Some(12));
    assert_eq!(call(3, 10), None, "the macro's has none");
    assert_eq!(call(3, 20), Some(23));
}

#[test]
fn a_string_sees_the_names_where_it_was_written() {
    macro_rules! make {
        ($name:ident, $key:literal, $parameter:ident) => {
            #[rate_limit(key = $key, max = 1, window = "1h")]
            fn $name($parameter: u8) -> Option<u8> {
                Some($parameter)
            }
        };
    }
    make!(call, "user", user);

    assert_eq!([call(1), call(1), call(2)], [Some(1), None, Some(2)]);
}

#[test]
fn a_method_made_by_a_macro_is_limited_by_self() {
    struct User {
        id: u8,
    }

    macro_rules! make {
        ($name:ident, $self:ident) => {
            impl User {
                #[rate_limit(key = (self.id, "self.id"), max = 1, window = "1h")]
                #[rate_limit(key = "(self.id, other)", max = 1, window = "1h")]
                fn inside(&self, other: u8) -> Option<u8> {
                    Some(self.id + other)
                }

                #[rate_limit(key = $self.id, max = 1, window = "1h", fallback = Self::denied)]
                fn $name(&$self) -> u8 {
                    $self.id
                }

                fn denied(_: RateLimited) -> u8 {
                    0
                }
            }
        };
    }
    make!(outside, self);

    let [ada, bob] = [1, 2].map(|id| User { id });
    assert_eq!([ada.inside(1), ada.inside(1), bob.inside(1)], [Some(2), None, Some(3)]);
    assert_eq!([ada.outside(), ada.outside(), bob.outside()], [1, 0, 2]);
}

#[test]
fn every_other_value_may_be_a_fragment() {
    macro_rules! make {
        ($name:ident, $limiter:path, $fallback:expr, $when:expr, $permit:ident, $runtime:path, $number:ident) => {
            #[rate_limit(limiter = $limiter, key = 7, fallback = $fallback, when = $when, permit = $permit, crate = $runtime)]
            fn $name($number: u8) -> u32 {
                u32::from($number) + $permit.remaining()
            }
        };
    }
    make!(
        call,
        crate::made_by_macros::SHARED,
        |limited| limited.limit().max() + 99,
        number > 0,
        left,
        ::ratelimit_runtime,
        number
    );

    assert_eq!([call(7), call(7)], [7, 100]);
    assert_eq!(call(0), u32::MAX);
}

#[test]
fn two_functions_of_one_macro_have_a_limit_each() {
    macro_rules! make {
        ($($module:ident)*) => {
            $(mod $module {
                #[ratelimit_runtime::rate_limit(max = 1, window = "1h")]
                pub(super) fn call() -> Option<&'static str> {
                    Some(stringify!($module))
                }
            })*
        };
    }
    make!(tea pot);

    assert_eq!([tea::call(), pot::call(), tea::call(), pot::call()], [Some("tea"), Some("pot"), None, None]);
}
