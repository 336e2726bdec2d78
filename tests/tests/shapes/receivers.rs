//! Every receiver, with a key that looks into it.

#![expect(clippy::boxed_local, reason = "a box is a receiver too")]

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{Bodies, at_once};

static BODIES: Bodies = Bodies::new();

#[derive(Clone)]
struct Account {
    owner: String,
    balance: u32,
}

impl Account {
    fn of(owner: &str) -> Self {
        Self { owner: owner.to_owned(), balance: 1 }
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_reference(&self) -> Option<u32> {
        Some(self.balance)
    }

    #[rate_limit(key = "self.owner", max = 1, window = "1h")]
    fn by_mutable_reference(&mut self) -> Option<&mut u32> {
        self.balance += 1;
        Some(&mut self.balance)
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_value(self) -> Option<String> {
        Some(self.owner)
    }

    #[rate_limit(key = (self.owner, self.balance), max = 1, window = "1h")]
    fn by_mutable_value(mut self) -> Option<u32> {
        self.balance += 1;
        Some(self.balance)
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_lifetime<'a>(&'a self, or: &'a str) -> Option<&'a str> {
        Some(if or.is_empty() { &self.owner } else { or })
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_box(self: Box<Self>) -> Option<String> {
        Some(self.owner)
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_rc(self: Rc<Self>) -> Option<usize> {
        Some(Rc::strong_count(&self))
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_arc(self: Arc<Self>) -> Option<usize> {
        Some(Arc::strong_count(&self))
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_reference_to_arc(self: &Arc<Self>) -> Option<Arc<Self>> {
        Some(Arc::clone(self))
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    fn by_pin(mut self: Pin<&mut Self>) -> Option<u32> {
        self.balance += 1;
        Some(self.balance)
    }

    #[rate_limit(key = owner, max = 1, window = "1h")]
    fn by_none(owner: &str) -> Option<Self> {
        Some(Self::of(owner))
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h")]
    async fn asynchronously(&mut self, by: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        self.balance += by;
        Ok(self.balance)
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h", wait = "1s", fallback = |_| self)]
    async fn asynchronously_by_arc(self: Arc<Self>) -> Arc<Self> {
        BODIES.run();
        Arc::new(Self { balance: 7, ..(*self).clone() })
    }

    #[rate_limit(key = self.owner, max = 1, window = "1h", wait = "1s", fallback = |_| self.balance)]
    async fn asynchronously_by_pin(mut self: Pin<&mut Self>) -> u32 {
        BODIES.run();
        self.balance += 1;
        self.balance
    }
}

#[test]
fn by_reference() {
    let [mut ada, bob] = ["ada", "bob"].map(Account::of);
    assert_eq!([ada.by_reference(), bob.by_reference(), ada.by_reference()], [Some(1), Some(1), None]);
    *ada.by_mutable_reference().unwrap() += 1;
    assert!(ada.by_mutable_reference().is_none());
    assert_eq!(ada.balance, 3);
    assert_eq!([ada.by_lifetime(""), ada.by_lifetime("")], [Some("ada"), None]);
}

#[test]
fn by_value() {
    let ada = || Account::of("ada");
    assert_eq!([ada().by_value(), ada().by_value()], [Some("ada".to_owned()), None]);
    assert_eq!([ada().by_mutable_value(), ada().by_mutable_value()], [Some(2), None]);
    let [made, denied] = [(); 2].map(|()| Account::by_none("ada"));
    assert_eq!((made.unwrap().owner.as_str(), denied.is_none()), ("ada", true));
}

#[test]
fn by_pointer() {
    let ada = || Account::of("ada");
    assert_eq!([Box::new(ada()).by_box(), Box::new(ada()).by_box()], [Some("ada".to_owned()), None]);
    assert_eq!([Rc::new(ada()).by_rc(), Rc::new(ada()).by_rc()], [Some(1), None]);

    let shared = Arc::new(ada());
    assert_eq!([shared.clone().by_arc(), shared.clone().by_arc()], [Some(2), None]);
    assert!(Arc::ptr_eq(&shared.by_reference_to_arc().unwrap(), &shared));
    assert!(shared.by_reference_to_arc().is_none());

    let mut pinned = ada();
    assert_eq!([Pin::new(&mut pinned).by_pin(), Pin::new(&mut pinned).by_pin()], [Some(2), None]);
    assert_eq!(pinned.balance, 2, "a denied call has changed nothing");
}

#[test]
fn asynchronously() {
    let mut ada = Account::of("ada");
    assert_eq!(at_once(ada.asynchronously(6)).unwrap(), 7);
    assert!(at_once(ada.asynchronously(6)).is_err());
    assert_eq!(ada.balance, 7);

    let shared = Arc::new(Account::of("ada"));
    assert_eq!(at_once(shared.clone().asynchronously_by_arc()).balance, 7);
    assert!(Arc::ptr_eq(&at_once(shared.clone().asynchronously_by_arc()), &shared));

    assert_eq!([(); 2].map(|()| at_once(Pin::new(&mut ada).asynchronously_by_pin())), [8, 8]);
    assert_eq!(BODIES.count(), 3);
}
