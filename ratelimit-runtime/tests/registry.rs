//! The limits that a program declares: what they are called, and what can be done to them while it runs.

use std::{collections::HashSet, time::Duration};

use ratelimit_runtime::{
    Algorithm, KeyedLimiter, LazyKeyedLimiter, LazyLimiter, LimitHandle, LimitSpec, Limiter, Mode,
    RateLimited, limit, limiter, limits, rate_limit, test_util::isolate, verify,
};

type Answer = Result<(), RateLimited>;

const SECOND: Duration = Duration::from_secs(1);

fn named(name: &str) -> LimitHandle {
    limit(name).unwrap_or_else(|| {
        let names: Vec<_> = limits().map(|limit| limit.name().to_owned()).collect();
        panic!("no limit is called {name}; there are {names:#?}")
    })
}

#[expect(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    clippy::unused_self,
    reason = "here a function's shape matters, and not what it does"
)]
mod shop {
    use super::{Answer, LazyKeyedLimiter, LazyLimiter, limiter, rate_limit};

    #[rate_limit(max = 1, window = "1s")]
    pub(crate) fn free() -> Answer {
        Ok(())
    }

    #[rate_limit(max = 1, window = "1s")]
    pub(crate) async fn asynchronous() -> Answer {
        Ok(())
    }

    #[rate_limit(max = 1, window = "1s")]
    pub(crate) fn generic<T, const N: usize>(things: [T; N]) -> Answer {
        let _ = things;
        Ok(())
    }

    #[rate_limit(max = 1, window = "1s")]
    pub(crate) fn r#match() -> Answer {
        Ok(())
    }

    #[rate_limit(max = 1, window = "1s")]
    #[rate_limit(max = 1, window = "1s", name = "shop.second")]
    #[rate_limit(max = 1, window = "1s")]
    #[rate_limit(max = 1, window = "1s")]
    pub(crate) fn stacked() -> Answer {
        Ok(())
    }

    pub(crate) fn outer() -> Answer {
        #[rate_limit(max = 1, window = "1s")]
        fn nested() -> Answer {
            Ok(())
        }
        let closure = || {
            #[rate_limit(max = 1, window = "1s")]
            fn in_closure() -> Answer {
                Ok(())
            }
            in_closure()
        };
        nested().and(closure())
    }

    pub(crate) struct Orders;
    pub(crate) struct Page<T>(pub(crate) T);
    pub(crate) struct View<'a>(pub(crate) &'a str);

    impl Orders {
        #[rate_limit(max = 1, window = "1s")]
        pub(crate) fn create(&self) -> Answer {
            Ok(())
        }

        #[rate_limit(max = 1, window = "1s")]
        pub(crate) async fn find(&self) -> Answer {
            Ok(())
        }
    }

    impl<T> Page<T> {
        #[rate_limit(max = 1, window = "1s")]
        pub(crate) fn create(&self) -> Answer {
            let _ = &self.0;
            Ok(())
        }
    }

    impl View<'_> {
        #[rate_limit(max = 1, window = "1s")]
        pub(crate) fn create(&self) -> Answer {
            let _ = self.0;
            Ok(())
        }
    }

    pub(crate) trait Get<K> {
        fn get(&self, key: K) -> Answer;

        #[rate_limit(max = 1, window = "1s")]
        fn provided(&self) -> Answer {
            Ok(())
        }
    }

    impl Get<u8> for Orders {
        #[rate_limit(max = 1, window = "1s")]
        fn get(&self, _: u8) -> Answer {
            Ok(())
        }
    }

    impl Get<String> for Orders {
        #[rate_limit(max = 1, window = "1s")]
        fn get(&self, _: String) -> Answer {
            Ok(())
        }
    }

    impl<T: Send> Get<T> for Page<T> {
        #[rate_limit(max = 1, window = "1s")]
        fn get(&self, _: T) -> Answer {
            Ok(())
        }
    }

    pub(crate) mod admin {
        use super::{Answer, Orders, rate_limit};

        impl Orders {
            #[rate_limit(max = 1, window = "1s")]
            pub(crate) fn purge(&self) -> Answer {
                Ok(())
            }
        }
    }

    pub(crate) static SHARED: LazyLimiter = limiter!(max = 1, window = "1s");
    pub(crate) static PER_USER: LazyKeyedLimiter = limiter!(keyed, max = 1, window = "1s");
}

#[test]
fn a_limit_is_called_by_the_path_of_its_function() {
    for name in [
        "registry::shop::free",
        "registry::shop::asynchronous",
        "registry::shop::generic",
        "registry::shop::outer::nested",
        "registry::shop::outer::in_closure",
    ] {
        named(name);
    }
}

#[test]
fn a_raw_identifier_is_called_as_the_compiler_calls_it() {
    let raw: Vec<_> = limits().filter(|limit| limit.name().contains("match")).collect();
    assert_eq!(raw.len(), 1, "{raw:?}");
}

#[test]
fn a_method_is_called_by_its_type() {
    for name in [
        "registry::shop::Orders::create",
        "registry::shop::Orders::find",
        "registry::shop::Page::create",
        "registry::shop::View::create",
        "registry::shop::Orders::purge",
    ] {
        named(name);
    }
}

#[test]
fn a_trait_method_is_called_by_type_and_trait() {
    for name in [
        "<registry::shop::Orders as registry::shop::Get<u8>>::get",
        "<registry::shop::Orders as registry::shop::Get<alloc::string::String>>::get",
        "<registry::shop::Page as registry::shop::Get>::get",
        "registry::shop::Get::provided",
    ] {
        named(name);
    }
}

#[tokio::test]
async fn a_denial_is_called_as_the_limit_is() {
    async fn all() -> [Answer; 6] {
        [
            shop::free(),
            shop::asynchronous().await,
            shop::r#match(),
            shop::outer(),
            shop::Orders.find().await,
            shop::Orders.purge(),
        ]
    }
    let _time = isolate();
    assert!(all().await.iter().all(Result::is_ok));
    let names = all().await.map(|answer| answer.unwrap_err().name().to_owned());
    assert!(names.iter().all(|name| limit(name).unwrap().stats().denied == 1), "{names:?}");
    shop::stacked().unwrap();
    assert!(shop::stacked().unwrap_err().name().contains("stacked"));
}

#[test]
fn further_unnamed_limits_of_a_stack_are_numbered() {
    for name in
        ["registry::shop::stacked", "shop.second", "registry::shop::stacked#2", "registry::shop::stacked#3"]
    {
        named(name);
    }
}

#[test]
fn a_shared_limiter_is_called_by_the_path_of_its_static() {
    named("registry::shop::SHARED");
    named("registry::shop::PER_USER");
}

#[test]
fn every_instance_of_a_generic_function_has_the_one_limit() {
    let _time = isolate();
    shop::generic(["a"]).unwrap();
    assert_eq!(shop::generic([1, 2, 3]).unwrap_err().name(), "registry::shop::generic");
    shop::Page(1).create().unwrap();
    shop::Page("a").create().unwrap_err();
}

#[test]
fn two_methods_of_one_name_have_two_limits() {
    use shop::Get;

    let _time = isolate();
    shop::Orders.create().unwrap();
    shop::View("a").create().unwrap();
    shop::Orders.get(1).unwrap();
    shop::Orders.get(String::new()).unwrap();
    shop::Page(1).get(1).unwrap();
    shop::Orders.get(1).unwrap_err();
    Get::<u8>::provided(&shop::Orders).unwrap();
    shop::Page(1).provided().unwrap_err();
}

#[test]
fn every_limit_is_listed_once_by_name_with_where_it_stands() {
    let all: Vec<_> = limits().collect();
    let names: Vec<_> = all.iter().map(LimitHandle::name).collect();
    assert!(names.is_sorted(), "{names:#?}");
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    for limit in &all {
        assert!(limit.file().ends_with("registry.rs"), "{limit:?}");
        assert!(limit.line() > 1, "{limit:?}");
    }
    let places: HashSet<_> = all.iter().map(LimitHandle::line).collect();
    assert_eq!(places.len(), all.len(), "every declaration has a line of its own here");
    assert!(named("registry::shop::free").line() < named("registry::shop::PER_USER").line());
}

#[test]
fn names_that_are_all_different_are_verified() {
    verify().unwrap();
}

#[test]
fn a_limit_that_is_not_declared_is_not_found() {
    assert!(limit("registry::shop").is_none());
    assert!(limit("").is_none());
    // Made while the program runs, and so in nobody's registry.
    let by_hand = Limiter::new(LimitSpec::new(1, SECOND)).unwrap().with_name("by.hand");
    by_hand.try_acquire().unwrap();
    assert!(limit("by.hand").is_none());
}

#[rate_limit(key = "user", max = 2, window = "10s", name = "handle.keyed")]
fn keyed(user: &str) -> Answer {
    let _ = user;
    Ok(())
}

#[rate_limit(rate = "2/10s", buckets = 10, name = "handle.plain")]
fn plain() -> Answer {
    Ok(())
}

#[test]
fn a_handle_tells_the_limit_as_declared() {
    let _time = isolate();
    let plain = named("handle.plain");
    assert_eq!(plain.spec(), LimitSpec::new(2, 10 * SECOND).with_buckets(10));
    assert_eq!(plain.spec().algorithm(), Algorithm::SlidingWindow);
    assert_eq!((plain.name(), plain.mode()), ("handle.plain", Mode::Enforce));
}

#[test]
fn a_handle_unlocks_one_key() {
    let _time = isolate();
    let limit = named("handle.keyed");
    for user in ["alice", "bob"] {
        keyed(user).unwrap();
        keyed(user).unwrap();
        keyed(user).unwrap_err();
    }
    limit.reset_key("alice");
    assert_eq!((limit.used("alice"), limit.used("bob"), limit.used("carol")), (0, 2, 0));
    keyed("alice").unwrap();
    keyed("bob").unwrap_err();
    limit.reset();
    keyed("bob").unwrap();
}

#[test]
fn a_handle_of_a_limit_without_keys_looks_at_no_key() {
    let _time = isolate();
    let limit = named("handle.plain");
    plain().unwrap();
    plain().unwrap();
    limit.reset_key("anybody");
    assert_eq!((limit.used("anybody"), limit.used(&7)), (2, 2));
    plain().unwrap_err();
    limit.reset();
    assert_eq!(limit.used(&()), 0);
}

#[test]
fn a_handle_changes_the_limit_at_once() {
    let time = isolate();
    let limit = named("handle.keyed");
    keyed("alice").unwrap();
    limit.set_spec(LimitSpec::new(1, 20 * SECOND)).unwrap();
    assert_eq!(keyed("alice").unwrap_err().limit(), &LimitSpec::new(1, 20 * SECOND));
    time.advance(11 * SECOND);
    keyed("alice").unwrap_err();
    limit.set_spec(LimitSpec::new(3, 20 * SECOND)).unwrap();
    keyed("alice").unwrap();
    limit.set_spec(LimitSpec::new(0, Duration::ZERO)).unwrap_err();
    assert_eq!(limit.spec(), LimitSpec::new(3, 20 * SECOND));
}

#[test]
fn all_handles_of_a_limit_and_its_function_see_one_budget() {
    let _time = isolate();
    let (one, other) = (named("handle.plain"), named("handle.plain").clone());
    plain().unwrap();
    one.set_mode(Mode::Off);
    assert_eq!((other.mode(), other.used(&()), other.stats().allowed), (Mode::Off, 1, 1));
}

#[test]
fn a_shared_limiter_is_one_with_its_handle() {
    let _time = isolate();
    let per_user: &KeyedLimiter = &shop::PER_USER;
    per_user.try_acquire("alice").unwrap();
    shop::SHARED.try_acquire().unwrap();
    assert_eq!(named("registry::shop::PER_USER").used("alice"), 1);
    assert_eq!(named("registry::shop::SHARED").stats().allowed, 1);
    let limited = shop::SHARED.try_acquire().unwrap_err();
    assert_eq!(limited.name(), "registry::shop::SHARED");
}
