//! One mistake is one error, and hides none of the others.

use super::errors_of;

const FUNCTION: &str = "fn f(user: &User) -> Result<(), E> { Ok(()) }";

/// Arguments with exactly one mistake each, and what the message says of it. `ok` stands for a sound limit.
const MISTAKES: [(&str, &str); 53] = [
    ("", "the limit is missing"),
    ("max = 1", "`window` is missing"),
    ("window = \"1s\"", "`max` is missing"),
    ("max = 0, window = \"1s\"", "`max = 0` would deny every call"),
    ("max = -1, window = \"1s\"", "`max` must not be negative"),
    ("max = 1.5, window = \"1s\"", "`max` takes a whole number"),
    ("max = 1u64, window = \"1s\"", "`max` is of type `u32`"),
    ("max = 99999999999, window = \"1s\"", "not 99999999999"),
    ("max = 99999999999999999999999, window = \"1s\"", "`max` is too large"),
    ("max = , window = \"1s\"", "`max` needs a value"),
    ("max, window = \"1s\"", "`max` needs a value"),
    ("max(1), window = \"1s\"", "expected `=` after `max`"),
    ("rate = \"1/s\", initial = 5", "`initial` does not go with"),
    ("max: 1, window = \"1s\"", "expected `=` after `max`"),
    ("max = 1 window = \"1s\"", "expected `,`"),
    ("max = \"\", window = \"1s\"", "`max` is empty"),
    ("max = \"1 +\", window = \"1s\"", "`max` is no expression"),
    ("max = |a, b| +, window = \"1s\"", "`max` cannot be read"),
    ("max = 1, window = 1", "`window` takes a duration in quotes"),
    ("max = 1, window = \"1x\"", "unknown unit of time `x`"),
    ("max = 1, window = \"10\"", "no unit of time"),
    ("max = 1, window = \"0s\"", "`window` must be above 0"),
    ("max = 1, windw = \"1s\"", "did you mean `window`"),
    ("limit = 1, window = \"1s\"", "did you mean `max`"),
    ("max = 1, window = \"1s\", colour = red", "unknown argument `colour`"),
    ("max = 1, max = 2, window = \"1s\"", "`max` is given twice"),
    ("max = 1, window = \"1s\", buckets = 0", "between 1 and 1000, not 0"),
    ("max = 1, window = \"5ns\"", "at least 1 ns for each"),
    ("rate = \"100\"", "`100` is not a rate"),
    ("rate = \"0/s\"", "would deny every call"),
    ("rate = \"1/s\", widnow = \"1s\"", "did you mean `window`?"),
    ("rate = \"1/s\", share = 0.5, wai = \"1s\"", "did you mean `wait`?"),
    ("rate = \"1/s\", max = 1, window = \"1s\"", "`max` does not go with it"),
    ("\"1/s\"", "write `rate = \"1/s\"`"),
    ("rate = \"1/s\", algorithm = \"gcar\"", "did you mean `gcra`"),
    ("rate = \"1/s\", burst = 1", "`burst` does not go with `sliding_window`"),
    ("rate = \"1/s\", max_keys = 1", "goes only with `key`"),
    ("rate = \"1/s\", keyed", "belongs in `limiter!`"),
    ("rate = \"1/s\", cost = 5000000000", "at most 4294967295"),
    ("rate = \"1/s\", share = 1.5", "from 0.0 to 1.0"),
    ("rate = \"1/s\", share = 0.5, wait", "does not go with `wait`"),
    ("rate = \"1/s\", wait = 1", "`wait` takes a string"),
    ("rate = \"1/s\", wait(5)", "expected `=` after `wait`"),
    ("rate = \"1/s\", max_waiters = 5", "only with `wait`"),
    ("rate = \"1/s\", fallback = 5", "takes a closure"),
    ("rate = \"1/s\", fallback = || 5", "takes one argument"),
    ("rate = \"1/s\", fallback = async |limited| 5", "cannot be `async`"),
    ("rate = \"1/s\", permit = 5", "takes the name"),
    ("rate = \"1/s\", mode = \"loud\"", "unknown mode `loud`"),
    ("rate = \"1/s\", name = \"\"", "must not be empty"),
    ("rate = \"1/s\", store = \"redis\"", "goes only with `name`"),
    ("limiter = LOGIN, name = \"login\"", "leave it out here"),
    ("rate = \"1/s\", crate = runtime", "an absolute path"),
];

#[test]
fn every_mistake_is_one_error() {
    for (arguments, message) in MISTAKES {
        let errors = errors_of(arguments, FUNCTION);
        assert_eq!(errors.len(), 1, "{arguments}: {errors:?}");
        assert!(errors[0].contains(message), "{arguments}: {errors:?}");
    }
}

#[test]
fn a_mistake_hides_none_after_it() {
    for (arguments, count) in [
        ("max(0), window(1)", 2),
        ("max: 0, window: 1, key", 3),
        ("key = |a, max| +, max = 0, window = 1s 5, colour = 1", 5),
        ("max = 0, windw = 1, buckets = 2000, mode = off, name", 5),
    ] {
        let errors = errors_of(arguments, FUNCTION);
        assert_eq!(errors.len(), count, "{arguments}: {errors:?}");
    }
}

#[test]
fn two_mistakes_of_a_stack_are_two_errors() {
    for (first, _) in MISTAKES {
        for (second, _) in MISTAKES {
            let item = format!("#[other] #[rate_limit({second})] {FUNCTION}");
            let errors = errors_of(first, &item);
            // Some mistakes are about the stack as a whole, and some arguments stand in it only once.
            let whole_stack = ["wait", "share", "fallback", "permit", "crate"];
            let of_stack = |arguments: &str| whole_stack.iter().any(|name| arguments.contains(name));
            let expected = if of_stack(first) && of_stack(second) { 1..=4 } else { 2..=2 };
            assert!(expected.contains(&errors.len()), "{first} / {second}: {errors:?}");
        }
    }
}

#[test]
fn an_unfit_item_is_one_error_and_comes_out_again() {
    for (item, message) in [
        ("struct S;", "only a function"),
        ("#[rate_limit(rate = \"1/s\")] pub struct S;", "only a function"),
        ("fn f();", "without a body"),
        ("const fn f() {}", "remove `const`"),
        ("pub(crate) impl S {}", "only a function"),
    ] {
        let errors = errors_of("rate = \"1/s\"", item);
        assert_eq!(errors.len(), 1, "{item}: {errors:?}");
        assert!(errors[0].contains(message), "{item}: {errors:?}");
    }
}

#[test]
fn order_is_free() {
    let arguments = ["max = 1", "window = \"1s\"", "wait", "max_waiters = 3", "key = |a, b| f::<A, B>(a, b)"];
    for start in 0..arguments.len() {
        let mut arguments = arguments;
        arguments.rotate_left(start);
        assert_eq!(errors_of(&arguments.join(", "), FUNCTION), [""; 0]);
        arguments.reverse();
        assert_eq!(errors_of(&arguments.join(", "), FUNCTION), [""; 0]);
    }
}
