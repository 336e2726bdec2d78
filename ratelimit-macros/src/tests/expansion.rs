//! What the user wrote comes out as it went in.

use super::{errors, tokens};

const FUNCTIONS: [(&str, &str); 5] = [
    ("#[must_use] pub(crate) fn f<T>(x: T) -> Option<T> where T: Copy", "{ some(x) ? ; half typed"),
    (
        "async unsafe fn f(self: Arc<Self>, #[cfg(a)] (a, ref b): (u8, u8)) -> Result<(), E>",
        "{ return midway",
    ),
    ("extern \"C\" fn f(mut x: impl A<B>) -> impl C", "{ use a as b; const C: u8 = 1; x"),
    (
        "fn f<'async_trait>() -> Pin<Box<dyn Future<Output = u8> + 'async_trait>>",
        "{ Box::pin(async move { })",
    ),
    ("fn f() -> BoxFuture<'static, u8>", "{ g!()"),
];

const ARGUMENTS: [&str; 4] = [
    "rate = \"1/s\"",
    "rate = \"1/s\", key = x, wait = \"1s\", permit = permit, fallback = |limited| 5",
    "limiter = LOGIN, wait, cost = 1",
    "rate = \"1/s\", mistake = 1",
];

#[test]
fn signatures_and_bodies_are_untouched() {
    for (signature, body) in FUNCTIONS {
        for arguments in ARGUMENTS {
            let item = format!("{signature} {body} }}");
            let expansion =
                without_spaces(&crate::attribute::expand(tokens(arguments), tokens(&item)).to_string());
            let signature = without_spaces(signature);
            let body = without_spaces(body.trim_start_matches('{'));
            assert!(expansion.contains(&signature), "{arguments}: {expansion}");
            assert_eq!(expansion.matches(&body).count(), 1, "{arguments}: {expansion}");
        }
    }
}

/// Tokens print with other spaces than they were written with.
fn without_spaces(code: &str) -> String {
    code.split_whitespace().collect()
}

#[test]
fn attributes_below_keep_their_order_and_the_stack_is_taken_out() {
    let item = "#[first] #[rate_limit(rate = \"1/m\")] #[second] #[x::rate_limit(rate = \"1/h\")] #[third] fn f() {}";
    let expansion = crate::attribute::expand(tokens("rate = \"1/s\""), tokens(item));
    assert!(errors(expansion.clone()).is_empty());
    let expansion = expansion.to_string();
    assert!(expansion.starts_with("# [first] # [second] # [third] fn f ()"), "{expansion}");
    assert_eq!(expansion.matches("static __RATE_LIMIT").count(), 3);
}

#[test]
fn the_same_code_gives_the_same_expansion() {
    for (signature, body) in FUNCTIONS {
        let expand = || {
            let item = tokens(&format!("{signature} {body} }}"));
            crate::attribute::expand(tokens(ARGUMENTS[1]), item).to_string()
        };
        assert_eq!(expand(), expand());
    }
}
