//! A future that may be shared, though what it waits for may not.

use std::{
    future::Future,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};

use crate::sync::unpoisoned;

/// Boxed, so that the futures of those who never meet a store stay small. The mutex is never locked: it makes shareable
/// what is only ever reached by one, as a future is that is polled.
pub(crate) struct Exclusive<'a, T>(Mutex<Pin<Box<dyn Future<Output = T> + Send + 'a>>>);

impl<'a, T> Exclusive<'a, T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(Mutex::new(Box::pin(future)))
    }
}

impl<T> Future for Exclusive<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        unpoisoned(self.0.get_mut()).as_mut().poll(context)
    }
}
