//! The form of each argument's value. The caret of an error stands on the value.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use proc_macro2::Ident;
use ratelimit_spec::{Algorithm, Mode, parse_duration, parse_rate, parse_window, rules};
use syn::{Expr, ExprLit, ExprPath, Lit, LitStr, Path, Result};

use super::written::{Written, is_literal, refuse};
use super::{Burst, Cost, Fallback, Max, Share, Window};

pub(super) fn max(written: &Written) -> Result<Max> {
    match written.expression()? {
        Expr::Const(constant) => Ok(Max::Constant(constant)),
        other => match written.number(&other) {
            Some(literal) => at(&other, rules::max(written.whole_u64(literal?)?)).map(Max::Literal),
            None if is_literal(&other) => {
                refuse(&other, "`max` takes a whole number, `const { ... }`, or an expression of type `u32`")
            }
            None => Ok(Max::PerCall(other)),
        },
    }
}

pub(super) fn window(written: &Written) -> Result<Window> {
    match written.plain()? {
        Expr::Const(constant) => Ok(Window::Constant(constant)),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            at(&text, parse_window(&text.value())).map(Window::Literal)
        }
        other => refuse(
            &other,
            "`window` takes a duration in quotes, such as `\"1s\"`, or `const { ... }` of type `Duration`",
        ),
    }
}

pub(super) fn rate(written: &Written) -> Result<(u32, Duration)> {
    let text = written.text("`\"100/s\"` or `\"5/10s\"`")?;
    let (max, window) = at(&text, parse_rate(&text.value()))?;
    at(&text, rules::max(max.into()))?;
    Ok((max, window))
}

pub(super) fn algorithm(written: &Written) -> Result<Algorithm> {
    let text = written.text("`\"sliding_window\"`")?;
    at(&text, Algorithm::from_str(&text.value()))
}

pub(super) fn mode(written: &Written) -> Result<Mode> {
    let text = written.text("`\"enforce\"`, `\"shadow\"` or `\"off\"`")?;
    at(&text, Mode::from_str(&text.value()))
}

pub(super) fn name(written: &Written) -> Result<LitStr> {
    let text = written.text("`\"login\"`")?;
    if text.value().trim().is_empty() {
        return refuse(&text, "`name` must not be empty; leave it out for the function's path");
    }
    Ok(text)
}

pub(super) fn store(written: &Written) -> Result<LitStr> {
    let text = written.text("`\"redis\"`")?;
    if text.value().trim().is_empty() {
        return refuse(&text, "`store` must not be empty; leave it out for a budget in this process");
    }
    Ok(text)
}

pub(super) fn buckets(written: &Written) -> Result<u32> {
    let value = written.plain()?;
    at(&value, rules::buckets(written.whole(&value)?))
}

pub(super) fn burst(written: &Written) -> Result<Burst> {
    match written.plain()? {
        Expr::Const(constant) => Ok(Burst::Constant(constant)),
        other => at(&other, rules::burst(written.whole(&other)?)).map(Burst::Literal),
    }
}

pub(super) fn max_keys(written: &Written) -> Result<u64> {
    written.whole(&written.plain()?)
}

/// A whole number of type `u32`.
pub(super) fn count(written: &Written) -> Result<u32> {
    let value = written.plain()?;
    written.narrow(&value, written.whole(&value)?)
}

pub(super) fn cost(written: &Written) -> Result<Cost> {
    let value = written.expression()?;
    match written.number(&value) {
        Some(literal) => written.narrow(&value, written.whole_u64(literal?)?).map(Cost::Literal),
        None if is_literal(&value) => {
            refuse(&value, "`cost` takes a whole number or an expression of type `u32`")
        }
        None => Ok(Cost::Expression(value)),
    }
}

pub(super) fn share(written: &Written) -> Result<Share> {
    const FORM: &str = "`share` takes a number from 0.0 to 1.0 or an expression of type `f64`";
    let value = written.expression()?;
    let literal = match &value {
        Expr::Lit(ExprLit { lit: Lit::Float(literal), .. }) => literal.base10_parse::<f64>(),
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse::<f64>(),
        other if is_literal(other) => return refuse(other, FORM),
        _ => return Ok(Share::Expression(value)),
    };
    match literal {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(Share::Literal(share)),
        _ => refuse(&value, FORM),
    }
}

pub(super) fn wait(written: &Written) -> Result<Option<Duration>> {
    if written.value.is_none() {
        return Ok(None);
    }
    let text = written.text("`\"100ms\"`, or leave the value out to wait without end")?;
    at(&text, parse_duration(&text.value())).map(Some)
}

pub(super) fn keyed(written: &Written) -> Result<()> {
    match &written.value {
        None => Ok(()),
        Some(value) => refuse(value, "`keyed` takes no value; write `keyed` alone"),
    }
}

pub(super) fn fallback(written: &Written) -> Result<Fallback> {
    const FORM: &str =
        "`fallback` takes a closure, `|limited| ...`, or the path of a function of one `RateLimited`";
    match written.expression()? {
        Expr::Path(path) => Ok(Fallback::Path(path)),
        Expr::Closure(closure) => {
            if let Some(asyncness) = &closure.asyncness {
                return refuse(
                    asyncness,
                    "the closure of `fallback` cannot be `async`; leave that out, in an `async fn` its body may `.await`",
                );
            }
            if closure.inputs.len() != 1 {
                return refuse(
                    &closure,
                    "the closure of `fallback` takes one argument, the `RateLimited`; write `|limited| ...`",
                );
            }
            Ok(Fallback::Closure(closure))
        }
        other => refuse(&other, FORM),
    }
}

pub(super) fn permit(written: &Written) -> Result<Ident> {
    match written.expression()? {
        Expr::Path(ExprPath { attrs, qself: None, path })
            if attrs.is_empty() && path.get_ident().is_some_and(|ident| ident != "self") =>
        {
            path.require_ident().cloned()
        }
        other => {
            refuse(&other, "`permit` takes the name that the permit has in the body; write `permit = permit`")
        }
    }
}

pub(super) fn limiter(written: &Written) -> Result<ExprPath> {
    match written.expression()? {
        Expr::Path(path) => Ok(path),
        other => refuse(
            &other,
            "`limiter` takes the path of a `static` made by `limiter!`; write `limiter = LOGIN`",
        ),
    }
}

pub(super) fn runtime(written: &Written) -> Result<Path> {
    const FORM: &str =
        "`crate` takes an absolute path; write `crate = ::ratelimit_runtime` or `crate = crate::path`";
    match written.expression()? {
        Expr::Path(ExprPath { qself: None, path, .. }) => {
            let root = path.segments.first().map(|segment| segment.ident.to_string());
            let is_absolute =
                path.leading_colon.is_some() || root.is_some_and(|root| root == "crate" || root == "$crate");
            let is_plain = path.segments.iter().all(|segment| segment.arguments.is_none());
            if is_absolute && is_plain { Ok(path) } else { refuse(&path, FORM) }
        }
        other => refuse(&other, FORM),
    }
}

fn at<T, E: Display>(value: impl quote::ToTokens, result: std::result::Result<T, E>) -> Result<T> {
    result.map_err(|error| syn::Error::new_spanned(value, error))
}
