//! What may stand before, on and in a signature.

use std::panic::Location;

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{Bodies, at_once};

#[test]
#[expect(unsafe_code, reason = "unsafe functions can be limited too")]
fn functions_may_be_unsafe() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h")]
    unsafe fn plain(number: *const u8) -> Option<u8> {
        BODIES.run();
        // SAFETY: the caller's pointer is one to a number.
        Some(unsafe { *number })
    }

    #[rate_limit(key = number, max = 1, window = "1h")]
    pub(crate) async unsafe fn asynchronous(number: u8) -> Option<u8> {
        BODIES.run();
        Some(number)
    }

    type Number = Option<u8>;

    #[rate_limit(max = 1, window = "1h", wait = "1ms")]
    unsafe fn waits(number: *const u8) -> Number {
        BODIES.run();
        // SAFETY: the caller's pointer is one to a number.
        unsafe { number.as_ref().copied() }
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| 0)]
    unsafe extern "C" fn foreign(number: u8) -> u8 {
        BODIES.run();
        number
    }

    let number = (&raw const BODIES).cast();
    // SAFETY: the pointer is one to a static, whatever its first byte is, and the others ask for nothing.
    unsafe {
        assert!(plain(number).is_some());
        assert!(plain(number).is_none());
        assert!(waits(number).is_some());
        assert!(waits(number).is_none());
        assert_eq!([at_once(asynchronous(7)), at_once(asynchronous(7))], [Some(7), None]);
        assert_eq!([foreign(7), foreign(7)], [7, 0]);
    }
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn functions_may_have_the_abi_of_c() {
    #[rate_limit(max = 1, window = "1h", fallback = |_| -1)]
    extern "C" fn call(number: i32) -> i32 {
        number
    }

    #[rate_limit(max = 1, window = "1h", wait)]
    extern "C-unwind" fn waits(number: i32) -> i32 {
        number
    }

    let pointer: extern "C" fn(i32) -> i32 = call;
    assert_eq!([pointer(7), call(7)], [7, -1]);
    assert_eq!(waits(7), 7);
}

#[test]
fn parameters_and_generics_may_depend_on_cfg() {
    #[rate_limit(key = here, max = 1, window = "1h")]
    fn decides<#[cfg(not(test))] Missing, #[cfg(test)] Here: Copy>(
        #[cfg(not(test))] missing: Missing,
        #[cfg(test)] here: u8,
        #[cfg_attr(any(), not_there)] value: Here,
    ) -> Option<Here> {
        let _ = here;
        Some(value)
    }

    #[rate_limit(key = here, max = 1, window = "1h", wait = "1ms")]
    async fn awaits(#[cfg(not(test))] missing: Missing, #[allow(unused_variables)] here: u8) -> Option<u8> {
        Some(7)
    }

    assert_eq!([decides(1, "tea"), decides(1, "tea"), decides(2, "tea")], [Some("tea"), None, Some("tea")]);
    assert_eq!([at_once(awaits(1)), at_once(awaits(1))], [Some(7), None]);
}

#[test]
fn names_may_be_raw() {
    struct r#Type {
        r#match: u8,
    }

    impl r#Type {
        #[rate_limit(key = (self.r#match, r#type), max = 1, window = "1h")]
        fn r#fn(&self, r#type: &str) -> Option<u8> {
            let _ = r#type;
            Some(self.r#match)
        }
    }

    #[rate_limit(key = "r#type", max = 1, window = "1h", permit = r#loop)]
    async fn r#while(r#type: u8) -> Option<u32> {
        let _ = r#type;
        Some(r#loop.remaining())
    }

    let value = r#Type { r#match: 7 };
    assert_eq!([value.r#fn("a"), value.r#fn("a"), value.r#fn("b")], [Some(7), None, Some(7)]);
    assert_eq!([at_once(r#while(1)), at_once(r#while(1))], [Some(0), None]);
}

#[test]
fn the_callers_place_is_known_in_the_body_the_key_and_the_fallback() {
    fn line_of(place: &Location<'_>) -> u32 {
        place.line()
    }

    #[track_caller]
    #[rate_limit(key = Location::caller().line(), max = 1, window = "1h", fallback = |_| -i64::from(line_of(Location::caller())))]
    fn above() -> i64 {
        Location::caller().line().into()
    }

    #[rate_limit(max = 1, window = "1h", wait)]
    #[track_caller]
    fn below() -> u32 {
        line_of(Location::caller())
    }

    /// The attribute cannot see that this is no boxed future.
    struct Line(u32);

    #[track_caller]
    #[rate_limit(max = 1, window = "1h", wait)]
    fn of_another_type() -> Line {
        Line(line_of(Location::caller()))
    }

    let [first, second] = [0, 1].map(|_| (above(), i64::from(line!())));
    assert_eq!((first.0, second.0), (first.1, -second.1));
    assert_eq!((above(), below()), (line!().into(), line!()), "a key of its own: another line");
    assert_eq!(of_another_type().0, line!());
}

#[test]
fn visibility_and_other_attributes_stay() {
    mod inner {
        use super::{RateLimited, rate_limit};

        #[inline]
        #[rate_limit(max = 1, window = "1h")]
        #[deprecated = "kept, or the expectation below would not be met"]
        pub(in super::super::qualifiers) fn call() -> Result<u8, RateLimited> {
            Ok(7)
        }
    }

    #[expect(deprecated, reason = "the attribute below `rate_limit` stays on the function")]
    let called = [inner::call().ok(), inner::call().ok()];
    assert_eq!(called, [Some(7), None]);
}
