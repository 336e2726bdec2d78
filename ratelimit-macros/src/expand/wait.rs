//! How a call waits: `__private::Wait::new().at_most(..).max_waiters(..)`.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;

use super::declared::duration;
use crate::check::Wait;
use crate::runtime::Runtime;

pub(super) fn policy(wait: Option<&Wait>, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let Some(wait) = wait else { return quote_spanned!(span=> #runtime::__private::Wait::not()) };
    let mut policy = quote_spanned!(span=> #runtime::__private::Wait::new());
    if let Some(at_most) = wait.at_most {
        let at_most = duration(at_most);
        policy.extend(quote_spanned!(span=> .at_most(#at_most)));
    }
    if let Some(max_waiters) = wait.max_waiters {
        let max_waiters = Literal::u32_unsuffixed(max_waiters);
        policy.extend(quote_spanned!(span=> .max_waiters(#max_waiters)));
    }
    policy
}
