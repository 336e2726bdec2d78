//! What a limit is called.

use std::{borrow::Cow, sync::Arc};

/// A limit's name. Copying it allocates nothing.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    Fixed(&'static Text),
    Shared(Arc<Text>),
}

#[derive(Debug)]
pub(crate) struct Text {
    text: Cow<'static, str>,
    /// Chosen by the user, and not the path of a function.
    explicit: bool,
}

impl Name {
    /// Of a limiter that is given none.
    pub(crate) const UNNAMED: Self = Self::Fixed(&Text { text: Cow::Borrowed("limiter"), explicit: false });

    /// One that is kept for ever: for limits that are.
    pub(crate) fn leaked(text: impl Into<Cow<'static, str>>, explicit: bool) -> Self {
        Self::Fixed(Box::leak(Box::new(Text { text: text.into(), explicit })))
    }

    pub(crate) fn shared(text: &str, explicit: bool) -> Self {
        Self::Shared(Arc::new(Text { text: Cow::Owned(text.to_owned()), explicit }))
    }

    fn text(&self) -> &Text {
        match self {
            Self::Fixed(text) => text,
            Self::Shared(text) => text,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text().text
    }

    pub(crate) fn is_explicit(&self) -> bool {
        self.text().explicit
    }
}
