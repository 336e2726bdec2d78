//! Crates of other editions, and crates that know the runtime under another name: packages under `tests/fixtures`.

use ratelimit_edition_2021 as edition_2021;
use ratelimit_edition_2024 as edition_2024;
use ratelimit_facade as facade;
use ratelimit_through_facade as through_facade;

use crate::at_once;

/// Calls all functions of `every_edition.rs`, which two crates share.
macro_rules! limits_in {
    ($edition:ident) => {
        use $edition::every_edition::{self, Caller, SHARED, SHARED_BY_KEY, User};

        let user = |name: &str| Caller::User(User { id: 7, name: name.to_owned() });
        assert_eq!(every_edition::decides(&Caller::Anonymous { by: "ada" }), Some(7));
        assert_eq!(every_edition::decides(&user("ada")), Some(8));
        assert_eq!(every_edition::decides(&user("bob")), None);
        assert_eq!([every_edition::shares(1).ok(), every_edition::shares(1).ok()], [Some(1), None]);
        assert_eq!((SHARED.remaining(), SHARED_BY_KEY.remaining(&1)), (0, 0));
        assert_eq!([every_edition::falls_back(7), every_edition::falls_back(7)], [0, 7]);
        assert_eq!([every_edition::blocks(7).ok(), every_edition::blocks(7).ok()], [Some(7), None]);
        assert_eq!([7, 7].map(|number| at_once(every_edition::awaits(number)).ok()), [Some(7), None]);
        assert_eq!(at_once(every_edition::awaits_surely(&7)), &7);
        assert_eq!([7, 7].map(|number| at_once(every_edition::boxes(number))), [Some(7), None]);
        assert_eq!([7, 7].map(|number| at_once(every_edition::boxes_as_async_trait(number))), [7, 0]);
        assert_eq!(every_edition::opaque("tea").unwrap().as_ref(), "tea");
        assert!(every_edition::opaque("tea").is_none());
    };
}

#[test]
fn functions_of_edition_2021_without_the_prelude_are_limited() {
    limits_in!(edition_2021);
    assert_eq!([7, 7].map(edition_2021::keyword_of_a_later_edition), [Some(7), None]);
}

#[test]
fn functions_of_edition_2024_without_the_prelude_are_limited() {
    limits_in!(edition_2024);
}

#[test]
fn a_crate_may_depend_on_the_runtime_under_another_name() {
    assert_eq!([(); 2].map(|()| facade::renamed(facade::User(7)).ok()), [Some(7), None]);
    assert_eq!([(); 2].map(|()| at_once(facade::renamed_and_waiting(facade::User(7))).ok()), [Some(7), None]);
    assert!(facade::SHARED.try_acquire(&7).is_ok());
    assert!(facade::SHARED.try_acquire(&facade::User(7)).is_err());
}

#[test]
fn a_crate_may_know_the_runtime_only_as_another_hands_it_on() {
    use through_facade::User;

    let by_path = |id| through_facade::by_path(&User::Id(id)).map_err(|limited| limited.name().to_owned());
    assert_eq!(by_path(7), Ok(7));
    assert_eq!(by_path(8), Err("ratelimit_through_facade::SHARED".to_owned()));
    assert_eq!([(); 2].map(|()| at_once(through_facade::by_macro(User::Id(7)))), [Some(7), None]);
}
