//! First stage: what is written in the parentheses.
//!
//! Every argument keeps its name and its value for carets, and a wrong one does not hide those after it. Only the form
//! of each value is read here; what goes with what is in [`check`](crate::check).

mod read;
mod recover;
mod value;
mod written;

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use ratelimit_spec::{Algorithm, Mode};
use syn::{Expr, ExprClosure, ExprConst, ExprPath, LitStr};

pub(crate) use read::read;

/// One argument as written.
pub(crate) struct Argument<T> {
    pub(crate) name: Ident,
    /// What the caret covers where the value is at fault.
    pub(crate) written: TokenStream,
    /// Its place among the arguments of the whole stack: of two that exclude each other, the later is at fault.
    pub(crate) place: usize,
    /// `None` if the value was wrong, which has been reported.
    pub(crate) value: Option<T>,
}

/// The arguments of one attribute, or of one `limiter!`.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) max: Option<Argument<Max>>,
    pub(crate) window: Option<Argument<Window>>,
    pub(crate) rate: Option<Argument<(u32, Duration)>>,
    pub(crate) algorithm: Option<Argument<Algorithm>>,
    pub(crate) buckets: Option<Argument<u32>>,
    pub(crate) burst: Option<Argument<Burst>>,
    pub(crate) initial: Option<Argument<u32>>,
    pub(crate) key: Option<Argument<Expr>>,
    pub(crate) max_keys: Option<Argument<u64>>,
    pub(crate) cost: Option<Argument<Cost>>,
    pub(crate) share: Option<Argument<Share>>,
    pub(crate) when: Option<Argument<Expr>>,
    /// The bound of the wait: `None` for the bare flag.
    pub(crate) wait: Option<Argument<Option<Duration>>>,
    pub(crate) max_waiters: Option<Argument<u32>>,
    pub(crate) fallback: Option<Argument<Fallback>>,
    pub(crate) permit: Option<Argument<Ident>>,
    pub(crate) mode: Option<Argument<Mode>>,
    pub(crate) name: Option<Argument<LitStr>>,
    pub(crate) store: Option<Argument<LitStr>>,
    pub(crate) limiter: Option<Argument<ExprPath>>,
    pub(crate) runtime: Option<Argument<syn::Path>>,
    /// The flag of `limiter!`.
    pub(crate) keyed: Option<Argument<()>>,
    /// Something stands where a name was expected, which has been reported: no telling what is missing.
    pub(crate) has_nameless: bool,
}

/// Every argument and how it is written, in the order in which the documentation lists them.
pub(crate) const ARGUMENTS: [(&str, &str); 22] = [
    ("max", "max = 100"),
    ("window", "window = \"1s\""),
    ("rate", "rate = \"100/s\""),
    ("algorithm", "algorithm = \"sliding_window\""),
    ("buckets", "buckets = 20"),
    ("burst", "burst = 10"),
    ("initial", "initial = 0"),
    ("key", "key = user_id"),
    ("max_keys", "max_keys = 100_000"),
    ("cost", "cost = 2"),
    ("share", "share = 0.8"),
    ("when", "when = !user.is_admin"),
    ("wait", "wait = \"100ms\""),
    ("max_waiters", "max_waiters = 100"),
    ("fallback", "fallback = |limited| ..."),
    ("permit", "permit = permit"),
    ("mode", "mode = \"shadow\""),
    ("name", "name = \"login\""),
    ("store", "store = \"redis\""),
    ("limiter", "limiter = LOGIN"),
    ("crate", "crate = ::ratelimit_runtime"),
    ("keyed", "keyed"),
];

/// How an argument is written, for messages.
fn example(name: &Ident) -> &'static str {
    let name = name.to_string();
    ARGUMENTS.iter().find(|(known, _)| *known == name).map_or("name = value", |(_, example)| example)
}

/// How many permits there are in one window.
pub(crate) enum Max {
    Literal(u32),
    Constant(ExprConst),
    /// Evaluated by each call.
    PerCall(Expr),
}

pub(crate) enum Window {
    Literal(Duration),
    Constant(ExprConst),
}

pub(crate) enum Burst {
    Literal(u32),
    Constant(ExprConst),
}

pub(crate) enum Cost {
    Literal(u32),
    Expression(Expr),
}

pub(crate) enum Share {
    Literal(f64),
    Expression(Expr),
}

/// What a denied call returns.
pub(crate) enum Fallback {
    /// Its body is placed in the function.
    Closure(ExprClosure),
    /// It is called with the `RateLimited`.
    Path(ExprPath),
}

impl<T> Argument<T> {
    /// The later of two arguments that exclude each other.
    pub(crate) fn is_after<U>(&self, other: &Argument<U>) -> bool {
        self.place > other.place
    }
}

/// Prints what the caret covers where the name is at fault.
impl<T> ToTokens for Argument<T> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
    }
}

/// The value of an argument that is there and well formed.
pub(crate) fn value<T>(argument: Option<&Argument<T>>) -> Option<&T> {
    argument?.value.as_ref()
}
