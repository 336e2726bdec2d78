//! What the expressions of an attribute may be, and that they borrow, are evaluated once, and leave nothing behind.

#![expect(
    clippy::cast_possible_truncation,
    clippy::deref_addrof,
    clippy::match_bool,
    clippy::redundant_closure_call,
    clippy::unnecessary_wraps,
    reason = "expressions as they are written somewhere"
)]

use std::cell::RefCell;
use std::future::ready;
use std::net::IpAddr;
use std::sync::Mutex;

use ratelimit_runtime::{RateLimitKey, RateLimited, rate_limit};

use crate::{Bodies, at_once, is_send};

#[derive(Clone, RateLimitKey)]
struct User {
    id: u64,
    name: String,
    tags: Vec<String>,
}

fn user(id: u64) -> User {
    User { id, name: format!("user {id}"), tags: vec!["new".to_owned()] }
}

impl User {
    fn net(&self) -> Option<IpAddr> {
        Some([10, 0, 0, self.id.to_le_bytes()[0]].into())
    }

    #[rate_limit(key = (self.name, self.tags), max = 1, window = "1h")]
    fn rename(&mut self, name: String) -> Option<String> {
        Some(std::mem::replace(&mut self.name, name))
    }

    #[rate_limit(key = (self.name, self.tags), max = 1, window = "1h")]
    fn into_tags(self) -> Option<(String, Vec<String>)> {
        Some((self.name, self.tags))
    }
}

/// Calls twice with a user, then with another, once for each key: the second call is denied.
macro_rules! are_keys {
    ($user:ident, $ids:ident, $id:ident, $admin:ident: $([$($key:tt)*])*) => {$({
        #[rate_limit(key = $($key)*, max = 1, window = "1h")]
        fn call($user: User, $ids: [u64; 2], $id: &u64, $admin: bool) -> Result<(User, [u64; 2]), RateLimited> {
            let _ = ($id, $admin);
            Ok(($user, $ids))
        }

        let call = |id| call(user(id), [id, 9], &id, false);
        assert_eq!(call(1).unwrap().0.name, "user 1");
        assert!(call(1).is_err(), "{}", stringify!($($key)*));
        assert!(call(2).is_ok(), "{}", stringify!($($key)*));
    })*};
}

#[test]
fn a_key_may_be_a_part_of_an_argument_which_is_not_moved() {
    are_keys! { user, ids, id, admin:
        [user]
        [&user]
        [user.id]
        [user.name]
        [&user.name]
        [*user.name]
        [(user.name, user.tags, user.id)]
        [(user.name,)]
        [(user.id, (user.name, (&user.tags, [user.id, *id])))]
        [&(&user.name, &(user.tags, user))]
        [[user.name, user.name]]
        [((((user.name))))]
        ["user.name"]
        [r#"user.name"#]
        ["(user.name, &[ids[0], 7])"]
        [ids]
        [ids[0]]
        [&ids[..]]
        [ids[..]]
        [id]
        [*id]
        [**&id]
    }
}

#[test]
fn a_key_may_be_any_expression() {
    are_keys! { user, ids, id, admin:
        [user.name.as_str()]
        [user.name.clone()]
        [user.net()]
        [user.net().unwrap_or([0, 0, 0, 0].into())]
        [user.name.bytes().rev().map(u64::from).sum::<u64>()]
        [!*id]
        [-i128::from(*id)]
        [*id as u8]
        [id % 5]
        [id + 1]
        [*id > 1]
        [format!("{id}")]
        [u64::max(*id, 0)]
        [if admin { &0 } else { id }]
        [match admin { true => None, false => Some(&user.name) }]
        [{
            let name = &user.name;
            name.len() + usize::from(name.ends_with('1'))
        }]
        [User { id: *id, name: String::new(), tags: Vec::new() }]
        [(|id: &u64| *id)(id)]
        [&mut { *id }]
        ["if admin { None } else { Some(id) }"]
        ["User { id: *id, name: user.name.clone(), tags: vec![] }"]
    }
}

#[test]
fn a_field_of_self_is_borrowed_from_a_method_that_changes_or_consumes_it() {
    let mut ada = user(1);
    assert_eq!(ada.rename("ada".to_owned()).unwrap(), "user 1");
    assert_eq!(user(1).rename(String::new()), None);
    assert_eq!(ada.into_tags().unwrap().0, "ada");
}

#[test]
fn a_lock_taken_by_one_expression_is_free_in_the_next() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(
        when = state.lock().unwrap().id > 0,
        key = state.lock().unwrap().name,
        cost = state.lock().unwrap().tags.len() as u32,
        max = "u32::try_from(state.lock().unwrap().id).unwrap()",
        share = f64::from(state.lock().unwrap().id > 0),
        window = "1h"
    )]
    #[rate_limit(key = (state.lock().unwrap().id, 1), max = 1, window = "1h")]
    fn decides(state: &Mutex<User>) -> Option<u64> {
        BODIES.run();
        Some(state.lock().unwrap().id)
    }

    #[rate_limit(key = state.lock().unwrap().name, when = "state.lock().unwrap().id > 0", max = 1, window = "1h", wait = "1ms")]
    async fn awaits(state: &Mutex<User>) -> Option<u64> {
        BODIES.run();
        ready(()).await;
        Some(state.lock().unwrap().id)
    }

    let state = Mutex::new(user(1));
    assert_eq!([decides(&state), decides(&state)], [Some(1), None]);
    assert_eq!([at_once(is_send(awaits(&state))), at_once(awaits(&state))], [Some(1), None]);
    assert_eq!(BODIES.count(), 2);
}

#[test]
fn an_expression_may_leave_the_function_and_then_nothing_is_charged() {
    static BODIES: Bodies = Bodies::new();

    #[derive(Debug, PartialEq)]
    enum AppError {
        Busy,
        NoNumber,
        Empty,
    }

    impl From<RateLimited> for AppError {
        fn from(_: RateLimited) -> Self {
            Self::Busy
        }
    }

    impl From<std::num::ParseIntError> for AppError {
        fn from(_: std::num::ParseIntError) -> Self {
            Self::NoNumber
        }
    }

    #[rate_limit(key = text.trim().parse::<u32>()?, max = 1, window = "1h")]
    #[rate_limit(key = match text { "" => return Err(AppError::Empty), text => text.len() }, max = 1, window = "1h")]
    fn decides(text: &str) -> Result<(), AppError> {
        BODIES.run();
        Ok(())
    }

    #[rate_limit(when = !text.is_empty(), key = text.parse::<u32>()?, max = 1, window = "1h", wait = "1ms")]
    async fn awaits(text: &str) -> Result<(), AppError> {
        BODIES.run();
        Ok(())
    }

    let texts = ["x", "7", "7", ""];
    assert_eq!(
        texts.map(decides),
        [Err(AppError::NoNumber), Ok(()), Err(AppError::Busy), Err(AppError::NoNumber)]
    );
    assert_eq!(
        texts.map(|text| at_once(awaits(text))),
        [Err(AppError::NoNumber), Ok(()), Err(AppError::Busy), Ok(())]
    );
    assert_eq!(BODIES.count(), 3);
}

#[test]
fn an_expression_of_an_async_function_may_await() {
    async fn owner(token: &str) -> Result<String, RateLimited> {
        ready(Ok(token.to_lowercase())).await
    }

    #[rate_limit(key = owner(token).await?, cost = ready(1).await, when = ready(true).await, max = "ready(1).await", window = "1h")]
    async fn call(token: &str) -> Result<usize, RateLimited> {
        Ok(token.len())
    }

    assert_eq!(at_once(is_send(call("Tea"))).unwrap(), 3);
    assert!(at_once(call("tea")).is_err());
}

#[test]
fn expressions_are_evaluated_once_when_first_and_the_outer_limit_before_the_inner() {
    thread_local!(static SEEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

    fn saw<T>(what: &'static str, value: T) -> T {
        SEEN.with_borrow_mut(|seen| seen.push(what));
        value
    }

    #[rate_limit(share = saw("share", 1.0), key = saw("key", 1), when = saw("when", outer), max = 9, window = "1h")]
    #[rate_limit(cost = saw("inner cost", 1), key = saw("inner key", 1), when = saw("inner when", inner), max = 9, window = "1h", permit = _permit)]
    fn call(outer: bool, inner: bool) -> Result<(), RateLimited> {
        saw("body", Ok(()))
    }

    let mut calls = [(true, true), (false, true), (true, false), (false, false)].map(|(outer, inner)| {
        call(outer, inner).unwrap();
        SEEN.take()
    });
    calls[0][1..3].sort_unstable();
    calls[0][4..6].sort_unstable();
    assert_eq!(calls[0], ["when", "key", "share", "inner when", "inner cost", "inner key", "body"]);
    assert_eq!(calls[2][3..], ["inner when", "body"]);
    assert_eq!(calls[3], ["when", "inner when", "body"]);
}
