//! What may stand in a body: the attribute does not read it.

use std::num::ParseIntError;

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{Bodies, at_once};

#[derive(Debug, PartialEq)]
enum AppError {
    Busy,
    NoNumber,
}

impl From<RateLimited> for AppError {
    fn from(_: RateLimited) -> Self {
        Self::Busy
    }
}

impl From<ParseIntError> for AppError {
    fn from(_: ParseIntError) -> Self {
        Self::NoNumber
    }
}

#[test]
fn a_body_may_leave_early() {
    #[rate_limit(max = 3, window = "1h")]
    fn decides(text: &str) -> Result<u32, AppError> {
        if text.is_empty() {
            return Ok(0);
        }
        Ok(text.parse::<u32>()?)
    }

    #[rate_limit(max = 3, window = "1h", wait = "1ms")]
    fn blocks(text: &str) -> Result<u32, AppError> {
        if text.is_empty() {
            return Ok(0);
        }
        Ok(text.parse::<u32>()?)
    }

    #[rate_limit(max = 3, window = "1h", wait = "1ms", permit = _permit)]
    async fn awaits(text: &str) -> Result<u32, AppError> {
        if text.is_empty() {
            return Ok(0);
        }
        Ok(text.parse::<u32>()?)
    }

    type Answer = Result<u32, AppError>;

    /// Behind an alias, which could be that of a boxed future.
    #[rate_limit(max = 3, window = "1h", wait = "1ms")]
    fn blocks_behind_an_alias(text: &mut String) -> Answer {
        if text.is_empty() {
            return Ok(0);
        }
        let number = text.parse::<u32>()?;
        text.clear();
        Ok(number)
    }

    let expected = [Ok(0), Err(AppError::NoNumber), Ok(7), Err(AppError::Busy)];
    assert_eq!(["", "x", "7", "7"].map(decides), expected);
    assert_eq!(["", "x", "7", "7"].map(blocks), expected);
    assert_eq!(["", "x", "7", "7"].map(|text| at_once(awaits(text))), expected);
    assert_eq!(["", "x", "7", "7"].map(|text| blocks_behind_an_alias(&mut text.to_owned())), expected);
}

#[test]
fn a_body_may_never_return() {
    #[rate_limit(max = 1, window = "1h", wait)]
    fn blocks() -> ! {
        panic!("admitted")
    }

    #[rate_limit(max = 1, window = "1h", wait)]
    async fn awaits() -> ! {
        panic!("admitted")
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| panic!("denied"))]
    fn falls_back() -> ! {
        panic!("admitted")
    }

    #[rate_limit(max = 1, window = "1h")]
    fn carries_a_denial(number: u8) -> Option<u8> {
        panic!("admitted {number}")
    }

    fn message(call: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let panic = std::panic::catch_unwind(call).unwrap_err();
        panic
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
    }

    assert_eq!(message(|| blocks()), "admitted");
    assert_eq!(message(|| at_once(async { awaits().await })), "admitted");
    assert_eq!([message(|| falls_back()), message(|| falls_back())], ["admitted", "denied"]);
    assert_eq!(message(|| _ = carries_a_denial(7)), "admitted 7");
    assert_eq!(carries_a_denial(7), None);
}

#[test]
fn a_fallback_may_leave_by_itself() {
    #[rate_limit(max = 1, window = "1h", fallback = |_| todo!("denied"))]
    fn not_written_yet(number: u8) -> u8 {
        number
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| return number + 1)]
    async fn returns(number: u8) -> u8 {
        number
    }

    #[rate_limit(max = 1, window = "1h", fallback = |limited| {
        if number > 7 {
            return 0;
        }
        limited.limit().max()
    })]
    fn returns_early(number: u32) -> u32 {
        number
    }

    assert_eq!(not_written_yet(7), 7);
    assert!(std::panic::catch_unwind(|| not_written_yet(7)).is_err());
    assert_eq!([at_once(returns(7)), at_once(returns(7))], [7, 8]);
    assert_eq!([returns_early(7), returns_early(7), returns_early(8)], [7, 1, 0]);
}

#[test]
fn a_body_may_begin_with_attributes_and_items() {
    #[rate_limit(max = 1, window = "1h")]
    fn decides() -> Option<u32> {
        #![expect(unused_variables, reason = "an attribute of the function, in its body")]
        //! And one of its docs.

        use std::collections::BTreeMap as Map;

        const FIRST: u32 = 1;

        fn second() -> u32 {
            2
        }

        let unused = 0;
        Some(Map::from([(FIRST, second())]).into_iter().map(|(first, second)| first + second).sum())
    }

    #[rate_limit(max = 1, window = "1h", wait = "1ms")]
    async fn awaits() -> Option<u32> {
        #![expect(unused_variables, reason = "an attribute of the function, in its body")]
        static LIMIT: u32 = 3;
        let unused = 0;
        Some(LIMIT)
    }

    assert_eq!([decides(), decides()], [Some(3), None]);
    assert_eq!([at_once(awaits()), at_once(awaits())], [Some(3), None]);
}

#[test]
fn a_body_may_end_in_anything() {
    #[rate_limit(max = 1, window = "1h", fallback = |_| {})]
    fn empty() {}

    #[rate_limit(max = 1, window = "1h", fallback = |_| ())]
    fn statement(word: &mut String) {
        word.push('!');
    }

    #[rate_limit(max = 1, window = "1h")]
    fn conditional(word: &str) -> Option<usize> {
        if word.is_empty() { None } else { Some(word.len()) }
    }

    #[rate_limit(max = 1, window = "1h")]
    fn labelled(words: &[&str]) -> Option<usize> {
        let found = 'search: {
            for word in words {
                if word.len() == 3 {
                    break 'search Some(word.len());
                }
            }
            None
        };
        let mut tries = 0;
        loop {
            tries += 1;
            if tries > 2 {
                break found;
            }
        }
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| vec![])]
    fn macro_call(number: u8) -> Vec<u8> {
        vec![number]
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| |number| number)]
    fn closure() -> fn(u8) -> u8 {
        |number| number + 1
    }

    empty();
    empty();
    let mut word = "tea".to_owned();
    statement(&mut word);
    statement(&mut word);
    assert_eq!(word, "tea!");
    assert_eq!([conditional("tea"), conditional("tea")], [Some(3), None]);
    assert_eq!([labelled(&["a", "tea"]), labelled(&["a", "tea"])], [Some(3), None]);
    assert_eq!([macro_call(7), macro_call(7)], [vec![7], vec![]]);
    assert_eq!([closure()(7), closure()(7)], [8, 7]);
}

#[test]
fn every_call_of_a_recursion_is_one() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = root, max = 4, window = "1h")]
    fn down(root: u8, depth: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        if depth == 0 {
            return Ok(0);
        }
        Ok(down(root, depth - 1)? + 1)
    }

    assert_eq!(down(1, 3).unwrap(), 3);
    assert!(down(1, 0).is_err());
    assert!(down(2, 9).is_err());
    assert_eq!(BODIES.count(), 8);
}

#[test]
fn a_limited_function_stands_in_another_and_has_a_limit_of_its_own() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 2, window = "1h")]
    fn outer() -> Option<bool> {
        #[rate_limit(max = 1, window = "1h")]
        fn inner() -> Option<u8> {
            BODIES.run();
            Some(7)
        }

        BODIES.run();
        Some(inner().is_some())
    }

    assert_eq!([outer(), outer(), outer()], [Some(true), Some(false), None]);
    assert_eq!(BODIES.count(), 3);
}
