//! An argument as it is written: an expression, a text, or a whole number.

use std::fmt::Display;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitInt, LitStr, Result, UnOp};

use super::example;

/// A name, and what stands after it.
pub(super) struct Written {
    pub(super) name: Ident,
    /// `None` for a bare name.
    pub(super) value: Option<Expr>,
    pub(super) place: usize,
}

impl Written {
    /// An expression, bare or in a string. Tokens in a string stand on the literal.
    pub(super) fn expression(&self) -> Result<Expr> {
        match self.plain()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                text.parse::<Expr>().map(ungrouped).map_err(|error| {
                    let message = if text.value().trim().is_empty() {
                        format!("`{}` is empty; write an expression", self.name)
                    } else {
                        format!("`{}` is no expression: {error}", self.name)
                    };
                    syn::Error::new_spanned(&text, message)
                })
            }
            other => Ok(other),
        }
    }

    /// The value as it is written, without the invisible group that `macro_rules!` puts around it.
    pub(super) fn plain(&self) -> Result<Expr> {
        match &self.value {
            Some(value) => Ok(ungrouped(value.clone())),
            None => refuse(
                &self.name,
                format_args!("`{}` needs a value; write `{}`", self.name, example(&self.name)),
            ),
        }
    }

    pub(super) fn text(&self, examples: &str) -> Result<LitStr> {
        match self.plain()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text),
            other => refuse(&other, format_args!("`{}` takes a string, such as {examples}", self.name)),
        }
    }

    pub(super) fn whole(&self, value: &Expr) -> Result<u64> {
        match self.number(value) {
            Some(literal) => self.whole_u64(literal?),
            None => refuse(
                value,
                format_args!("`{}` takes a whole number; write `{}`", self.name, example(&self.name)),
            ),
        }
    }

    pub(super) fn whole_u64(&self, literal: &LitInt) -> Result<u64> {
        let fits = if self.name == "max_keys" { "usize" } else { "u32" };
        if !literal.suffix().is_empty() && literal.suffix() != fits {
            let digits = literal.base10_digits();
            return refuse(literal, format_args!("`{}` is of type `{fits}`; write `{digits}`", self.name));
        }
        literal.base10_parse().or_else(|_| refuse(literal, format_args!("`{}` is too large", self.name)))
    }

    pub(super) fn narrow(&self, value: &Expr, number: u64) -> Result<u32> {
        u32::try_from(number).or_else(|_| {
            refuse(value, format_args!("`{}` must be at most {}, not {number}", self.name, u32::MAX))
        })
    }

    /// A whole number, if the value is written as one. The error of a negative one covers its sign.
    pub(super) fn number<'a>(&self, value: &'a Expr) -> Option<Result<&'a LitInt>> {
        match value {
            Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => Some(Ok(literal)),
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) if is_literal(expr) => Some(refuse(
                value,
                format_args!("`{}` must not be negative; write `{}`", self.name, example(&self.name)),
            )),
            _ => None,
        }
    }
}

fn ungrouped(expression: Expr) -> Expr {
    match expression {
        Expr::Group(group) => ungrouped(*group.expr),
        other => other,
    }
}

pub(super) fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) => true,
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => is_literal(expr),
        _ => false,
    }
}

pub(super) fn refuse<T>(value: impl ToTokens, message: impl Display) -> Result<T> {
    Err(syn::Error::new_spanned(value, message))
}
