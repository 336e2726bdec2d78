//! Names of the user's that are also in the expansion, or in the paths that it uses.

use std::future::ready;

use futures::future::BoxFuture;
use ratelimit_runtime::{LazyLimiter, RateLimited, limiter, rate_limit};

use crate::at_once;

/// One function for each layout of the expansion, with parameters of these names, all of them in its key.
macro_rules! parameters {
    ($($name:ident)*) => {
        #[rate_limit(key = ($($name),*), cost = $crate::names::one($($name),*), when = $crate::names::holds($($name),*), max = $crate::names::one($($name),*), share = $crate::names::all($($name),*), window = "1h")]
        fn decides($($name: u8),*) -> Option<u8> {
            Some(0 $(+ $name)*)
        }

        #[rate_limit(key = ($($name),*), max = $crate::names::one($($name),*), window = "1h")]
        #[rate_limit(key = ($($name),*), max = 5, window = "1h")]
        fn decides_by_two($($name: u8),*) -> Option<u8> {
            Some(0 $(+ $name)*)
        }

        #[rate_limit(key = ($($name),*), rate = "1/h", permit = _allowed, fallback = |_denial| Some(1 $(* $name)*))]
        fn falls_back($($name: u8),*) -> Option<u8> {
            Some(0 $(+ $name)*)
        }

        #[rate_limit(key = ($($name),*), rate = "1/h", wait = "1ms")]
        fn blocks($($name: u8),*) -> Option<u8> {
            Some(0 $(+ $name)*)
        }

        #[rate_limit(key = ($($name),*), rate = "1/h", wait = "1ms", permit = _allowed)]
        async fn awaits($($name: u8),*) -> Option<u8> {
            Some(0 $(+ $name)*)
        }

        #[rate_limit(key = ($($name),*), rate = "1/h", wait = "1ms", permit = _allowed, fallback = |_denial| Box::pin(ready(Some(1 $(* $name)*))))]
        fn waits_in_a_box($($name: u8),*) -> BoxFuture<'static, Option<u8>> {
            if false $(|| $name > 9)* {
                return Box::pin(ready(None));
            }
            Box::pin(async move { Some(0 $(+ $name)*) })
        }
    };
}

fn one(_: u8, _: u8, _: u8, _: u8, _: u8) -> u32 {
    1
}

fn all(_: u8, _: u8, _: u8, _: u8, _: u8) -> f64 {
    1.0
}

fn holds(_: u8, _: u8, _: u8, _: u8, _: u8) -> bool {
    true
}

macro_rules! limits_them {
    ($($name:ident)*) => {
        parameters!($($name)*);

        assert_eq!([decides(1, 2, 3, 4, 5), decides(1, 2, 3, 4, 5)], [Some(15), None]);
        assert_eq!([decides_by_two(1, 2, 3, 4, 5), decides_by_two(1, 2, 3, 4, 5)], [Some(15), None]);
        assert_eq!([falls_back(1, 2, 3, 1, 5), falls_back(1, 2, 3, 1, 5)], [Some(12), Some(30)]);
        assert_eq!([blocks(1, 2, 3, 4, 5), blocks(1, 2, 3, 4, 5)], [Some(15), None]);
        assert_eq!([awaits(1, 2, 3, 4, 5), awaits(1, 2, 3, 4, 5)].map(at_once), [Some(15), None]);
        assert_eq!([waits_in_a_box(1, 2, 3, 1, 5), waits_in_a_box(1, 2, 3, 1, 5)].map(at_once), [Some(12), Some(30)]);
    };
}

#[test]
fn parameters_may_be_called_like_the_locals_of_the_expansion() {
    limits_them!(key ask claim limited cost);
}

#[test]
fn parameters_may_be_called_like_the_other_locals_of_the_expansion() {
    limits_them!(max share permit gate returned);
}

#[test]
fn parameters_may_be_called_like_the_locals_of_a_stack() {
    limits_them!(ask_1 claim_1 ask_2 denied value);
}

#[test]
#[expect(non_snake_case, reason = "items of the expansion are called so")]
fn parameters_may_be_called_like_the_items_of_the_expansion() {
    limits_them!(LIMITER __RATE_LIMIT __rate_limit_path __private FromRateLimited);
}

#[test]
fn parameters_may_be_called_like_the_crates_and_modules_of_the_expansion() {
    limits_them!(ratelimit_runtime core std inventory result);
}

#[test]
fn a_permit_may_be_called_like_anything() {
    #[rate_limit(key = permit, max = 3, window = "1h", permit = key)]
    fn key(permit: u8) -> Option<(u8, u32)> {
        Some((permit, key.remaining()))
    }

    #[rate_limit(max = 3, window = "1h", wait = "1ms", permit = limited)]
    async fn limited() -> Option<u32> {
        Some(limited.remaining())
    }

    #[rate_limit(max = 3, window = "1h", wait = "1ms", permit = gate)]
    fn gate(returned: u32) -> BoxFuture<'static, Option<u32>> {
        Box::pin(async move { Some(gate.remaining() + returned) })
    }

    assert_eq!(key(7), Some((7, 2)));
    assert_eq!(at_once(limited()), Some(2));
    assert_eq!(at_once(gate(5)), Some(7));
}

#[test]
fn a_fallbacks_argument_may_be_called_like_a_parameter() {
    #[rate_limit(max = 1, window = "1h", name = "names.fallback", fallback = |limited| limited.name().len())]
    fn call(limited: usize) -> usize {
        limited
    }

    assert_eq!([call(7), call(7)], [7, "names.fallback".len()]);
}

mod taken {
    //! Every name of the prelude, of the paths, and of the primitive types is something else here.
    #![expect(non_camel_case_types, non_snake_case, dead_code, reason = "the names are what is tested")]

    use ::ratelimit_runtime::{RateLimitKey, RateLimited as Denial, rate_limit};

    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod ratelimit_runtime {}
    pub(super) mod result {}

    pub(super) struct Result;
    pub(super) struct Option;
    pub(super) struct Box;
    pub(super) struct Pin;
    pub(super) struct String;
    struct Limiter;
    struct Permit;
    struct RateLimited;
    struct LimitSpec;
    struct Key;
    struct NoKey;
    struct Duration;
    struct u32;
    struct u64;
    struct f64;
    struct bool;
    struct str;
    trait FromRateLimited {}
    trait Into {}
    trait From {}
    trait Future {}
    fn Ok() {}
    fn Err() {}
    fn Some() {}
    fn None() {}
    fn drop() {}
    fn check() {}
    fn claim() {}
    fn key() {}

    macro_rules! taken {
        ($($name:ident)*) => {
            $(
                #[allow(unused_macros)]
                macro_rules! $name {
                    () => {
                        compile_error!("the user's own macro")
                    };
                }
            )*
        };
    }
    taken!(file line submit matches concat);

    #[derive(Clone, Copy, RateLimitKey)]
    pub(super) enum Caller {
        Ok,
        Err { key: u8 },
        Some(u8),
    }

    pub(super) type Answer = ::core::result::Result<Caller, Denial>;

    #[rate_limit(key = caller, cost = 2 - 1, max = 2 - 1, share = 0.5 + 0.5, when = 1 < 2, window = "1h")]
    #[rate_limit(max = const { 5 }, window = const { ::core::time::Duration::from_secs(1) }, mode = "shadow")]
    pub(super) fn decides(caller: Caller) -> Answer {
        Answer::Ok(caller)
    }

    #[rate_limit(key = caller, rate = "1/h", permit = permit, fallback = |_| Caller::Ok)]
    pub(super) fn falls_back(caller: Caller) -> Caller {
        let _ = permit.remaining();
        caller
    }

    #[rate_limit(key = caller, rate = "1/h", wait = "1ms")]
    pub(super) async fn awaits(caller: Caller) -> Answer {
        Answer::Ok(caller)
    }

    #[rate_limit(key = caller, rate = "1/h", wait = "1ms", max_waiters = 3)]
    pub(super) fn waits_in_a_box(caller: Caller) -> futures::future::BoxFuture<'static, Answer> {
        ::std::boxed::Box::pin(::core::future::ready(Answer::Ok(caller)))
    }

    type Boxed<'a, T> =
        ::core::pin::Pin<::std::boxed::Box<dyn ::core::future::Future<Output = T> + Send + 'a>>;

    /// As `async_trait` writes it.
    #[rate_limit(key = caller, rate = "1/h", wait = "1ms", fallback = |_| Caller::Ok)]
    pub(super) fn waits_under_async_trait<'async_trait>(caller: Caller) -> Boxed<'async_trait, Caller> {
        ::std::boxed::Box::pin(async move { caller })
    }

    #[rate_limit(key = caller, rate = "1/h", fallback = |_| Caller::Ok)]
    pub(super) fn decides_under_async_trait<'async_trait>(caller: Caller) -> Boxed<'async_trait, Caller> {
        ::std::boxed::Box::pin(async move { caller })
    }
}

#[test]
fn items_may_be_called_like_those_that_the_expansion_uses() {
    use taken::Caller;

    fn is_limited<T>(call: impl Fn(Caller) -> T) -> [T; 2] {
        [call(Caller::Err { key: 7 }), call(Caller::Err { key: 7 })]
    }

    let fell_back = |callers: [Caller; 2]| matches!(callers, [Caller::Err { key: 7 }, Caller::Ok]);
    assert!(matches!(is_limited(taken::decides), [Ok(Caller::Err { .. }), Err(_)]));
    assert!(taken::decides(Caller::Some(7)).is_ok());
    assert!(fell_back(is_limited(taken::falls_back)));
    assert!(matches!(is_limited(taken::awaits).map(at_once), [Ok(_), Err(_)]));
    assert!(matches!(is_limited(taken::waits_in_a_box).map(at_once), [Ok(_), Err(_)]));
    assert!(fell_back(is_limited(taken::waits_under_async_trait).map(at_once)));
    assert!(fell_back(is_limited(taken::decides_under_async_trait).map(at_once)));
}

mod statics {
    //! A local cannot have the name of a constant, a static or a unit struct: the expansion's may not be such a name.
    #![expect(
        non_camel_case_types,
        non_upper_case_globals,
        dead_code,
        reason = "the names are what is tested"
    )]

    use super::*;

    struct key;
    struct permit;
    struct value(u8);
    const ask: u8 = 1;
    const limited: u8 = 2;
    const claim: u8 = 3;
    const cost: u8 = 4;
    static max: u8 = 5;
    static share: u8 = 6;
    static gate: u8 = 7;
    static returned: u8 = 8;
    static denied: u8 = 9;
    static __RATE_LIMIT: LazyLimiter = limiter!(rate = "1/h");

    #[rate_limit(limiter = __RATE_LIMIT, cost = u32::from(ask), when = limited == 2)]
    #[rate_limit(key = (limited, claim), cost = u32::from(cost), max = u32::from(max), share = f64::from(share) / 6.0, window = "1h")]
    pub(super) fn decides(_limited: u8) -> Option<u8> {
        Some(max)
    }

    #[rate_limit(rate = "1/h", wait = "1ms", permit = _permit, fallback = |_| Box::pin(ready(denied)))]
    pub(super) fn waits_in_a_box() -> BoxFuture<'static, u8> {
        if returned == 0 {
            return Box::pin(ready(gate));
        }
        Box::pin(ready(returned))
    }

    #[rate_limit(rate = "1/h", wait = "1ms", permit = _permit)]
    pub(super) async fn awaits() -> Result<u8, RateLimited> {
        Ok(limited)
    }
}

#[test]
fn constants_and_statics_may_be_called_like_the_locals_of_the_expansion() {
    assert_eq!([statics::decides(0), statics::decides(0)], [Some(5), None]);
    assert_eq!([(); 2].map(|()| at_once(statics::waits_in_a_box())), [8, 9]);
    assert_eq!([(); 2].map(|()| at_once(statics::awaits()).ok()), [Some(2), None]);
}

#[test]
fn what_a_body_brings_into_scope_changes_nothing() {
    #[rate_limit(max = 1, window = "1h")]
    fn call() -> Option<u8> {
        #[expect(unused_imports, reason = "only there to be in the way")]
        use super::names::{at_once as check, taken::core, taken::ratelimit_runtime, taken::std};
        struct Limited(u8);
        let limited = Limited(7);
        Some(limited.0)
    }

    assert_eq!([call(), call()], [Some(7), None]);
}
