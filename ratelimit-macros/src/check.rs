//! Second stage: what goes with what. Every rule is a function of its own, and reports one mistake.
//!
//! The rules of a limit come from `ratelimit-spec`, which the runtime shares. What comes out of here is known to be
//! sound: [`expand`](crate::expand) asks nothing again.

mod description;
mod limit;
mod whole_stack;

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use ratelimit_spec::{Algorithm, Mode};
use syn::{Expr, ExprConst, ExprPath, LitStr, Signature};

use crate::args::{Argument, Burst, Cost, Fallback, Share, Window, value};
use crate::errors::Errors;
use crate::stack::Layer;

pub(crate) use limit::in_limiter;

/// What a sound stack of attributes says.
pub(crate) struct Stack {
    /// The outermost first.
    pub(crate) limits: Vec<Limit>,
    pub(crate) wait: Option<Wait>,
    pub(crate) fallback: Option<Fallback>,
    pub(crate) permit: Option<Ident>,
}

impl Stack {
    /// A store is waited for, and not only for its turn.
    pub(crate) fn asks_store(&self) -> bool {
        self.limits.iter().any(|limit| limit.source.is_in_store())
    }

    /// A store may be: only its `limiter!` knows.
    pub(crate) fn may_ask_store(&self) -> bool {
        self.asks_store() || self.limits.iter().any(|limit| matches!(limit.source, Source::Shared(_)))
    }
}

/// One limit, and what a call asks of it.
pub(crate) struct Limit {
    pub(crate) source: Source,
    pub(crate) ask: Ask,
}

pub(crate) enum Source {
    Own(Box<Declaration>),
    /// A `static` made by `limiter!`.
    Shared(ExprPath),
}

impl Source {
    fn is_in_store(&self) -> bool {
        matches!(self, Self::Own(declaration) if declaration.store.is_some())
    }
}

/// What a limit is made of.
pub(crate) struct Declaration {
    pub(crate) max: DeclaredMax,
    pub(crate) window: Window,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) buckets: Option<u32>,
    pub(crate) burst: Option<Burst>,
    pub(crate) initial: Option<u32>,
    pub(crate) keyed: bool,
    pub(crate) max_keys: Option<u64>,
    pub(crate) mode: Option<Mode>,
    pub(crate) name: Option<LitStr>,
    /// Another than this process.
    pub(crate) store: Option<LitStr>,
    /// Where it is declared, for its file and line.
    pub(crate) site: TokenStream,
    /// 1 for the first unnamed limit of a stack, 2 for the second.
    pub(crate) nth_unnamed: u32,
}

/// `max`, as far as it is known when compiling.
pub(crate) enum DeclaredMax {
    Literal(u32),
    Constant(ExprConst),
    /// Each call brings its own.
    PerCall,
}

/// What each call evaluates.
pub(crate) struct Ask {
    pub(crate) when: Option<Argument<Expr>>,
    pub(crate) key: Option<Argument<Expr>>,
    pub(crate) cost: Option<Argument<Cost>>,
    pub(crate) max: Option<Argument<Expr>>,
    pub(crate) share: Option<Argument<Share>>,
}

pub(crate) struct Wait {
    /// `None`: without end.
    pub(crate) at_most: Option<Duration>,
    pub(crate) max_waiters: Option<u32>,
    /// Nothing can deny the call.
    pub(crate) surely: bool,
}

/// What is left of a stack with mistakes.
pub(crate) struct Refused {
    /// What could be read of each limit's expressions.
    pub(crate) asks: Vec<Ask>,
    pub(crate) permit: Option<Ident>,
}

/// Checks the stack on a function. Refuses it if there was any mistake, here or before.
pub(crate) fn stack(
    layers: Vec<Layer>,
    signature: &Signature,
    errors: &mut Errors,
) -> Result<Stack, Refused> {
    whole_stack::check(&layers, signature, errors);
    let mut unnamed = 0;
    let (mut limits, mut refused) = (Vec::new(), Vec::new());
    let (mut wait, mut max_waiters, mut fallback, mut permit) = (None, None, None, None);
    for Layer { mut args, site } in layers {
        wait = wait.or_else(|| args.wait.take());
        max_waiters = max_waiters.or_else(|| args.max_waiters.take());
        fallback = fallback.or_else(|| args.fallback.take());
        permit = permit.or_else(|| args.permit.take());
        match limit::on_function(args, site, &mut unnamed, errors) {
            (Some(source), ask) => limits.push(Limit { source, ask }),
            (None, ask) => refused.push(ask),
        }
    }
    let permit = permit.and_then(|permit| permit.value);
    if !errors.is_empty() {
        refused.extend(limits.into_iter().map(|limit| limit.ask));
        return Err(Refused { asks: refused, permit });
    }
    let max_waiters = value(max_waiters.as_ref()).copied();
    let wait = wait.and_then(|wait| wait.value).map(|at_most| {
        let surely =
            at_most.is_none() && max_waiters.is_none() && limits.iter().all(limit::always_admits_in_the_end);
        Wait { at_most, max_waiters, surely }
    });
    Ok(Stack { limits, wait, fallback: fallback.and_then(|fallback| fallback.value), permit })
}
