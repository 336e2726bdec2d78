//! Generics and lifetimes, and which budget belongs to whom.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use ratelimit_runtime::{RateLimitKey, RateLimited, rate_limit};

use crate::{Bodies, at_once, handle};

#[test]
fn a_generic_function_may_be_limited_by_what_is_generic() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = (key, N), cost = COST, max = u32::try_from(N).unwrap(), window = "1h")]
    fn take<'a, K, V, const N: usize, const COST: u32>(
        from: &'a HashMap<K, [V; N]>,
        key: &K,
    ) -> Result<&'a [V], RateLimited>
    where
        K: RateLimitKey + Hash + Eq,
        V: Debug,
    {
        BODIES.run();
        Ok(from.get(key).map_or(&[], |values| values.as_slice()))
    }

    let shelf = HashMap::from([("tea", [1, 2]), ("pot", [3, 4])]);
    assert_eq!(take::<_, _, 2, 2>(&shelf, &"tea").unwrap(), [1, 2]);
    assert!(take::<_, _, 2, 1>(&shelf, &"tea").is_err());
    assert_eq!(take::<_, _, 2, 1>(&shelf, &"pot").unwrap(), [3, 4]);
    assert_eq!(take::<_, _, 2, 1>(&shelf, &"pot").unwrap(), [3, 4]);
    assert!(
        take::<_, char, 3, 3>(&HashMap::new(), &"tea").unwrap().is_empty(),
        "another key: N is a part of it"
    );
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn all_instantiations_share_one_budget() {
    struct Shelf<T>(PhantomData<T>);

    impl<T: Default> Shelf<T> {
        #[rate_limit(max = 1, window = "1h")]
        fn method<U: Into<T>>(&self, value: Option<U>) -> Option<T> {
            Some(value.map_or_else(T::default, Into::into))
        }

        #[rate_limit(max = 1, window = "1h")]
        async fn asynchronous<const N: usize>(&self, _: [T; N]) -> Option<usize> {
            Some(N)
        }
    }

    trait Double: Sized + Clone {
        #[rate_limit(max = 1, window = "1h")]
        fn double(&self) -> Option<[Self; 2]> {
            Some([self.clone(), self.clone()])
        }
    }

    impl Double for u8 {}
    impl Double for char {}

    assert_eq!(Shelf::<u64>(PhantomData).method(Some(7_u32)), Some(7));
    assert_eq!(Shelf::<String>(PhantomData).method(Some("tea")), None);
    assert_eq!(at_once(Shelf(PhantomData).asynchronous([1, 2])), Some(2));
    assert_eq!(at_once(Shelf(PhantomData).asynchronous(["tea"])), None);
    assert_eq!(7.double(), Some([7, 7]));
    assert_eq!('t'.double(), None);
    assert!(ratelimit_runtime::limits().any(|limit| limit.name().ends_with("Shelf::method")));
}

#[test]
fn methods_of_one_name_on_two_types_or_traits_do_not_share() {
    trait Count<T> {
        fn count(&self) -> Option<u8>;
    }

    struct Tea;
    struct Pot;

    macro_rules! count {
        ($what:ty, $of:ty, $number:literal) => {
            impl Count<$of> for $what {
                #[rate_limit(max = 1, window = "1h")]
                fn count(&self) -> Option<u8> {
                    Some($number)
                }
            }
        };
    }

    count!(Tea, u8, 1);
    count!(Tea, u16, 2);
    count!(Pot, u8, 3);

    assert_eq!(
        [<Tea as Count<u8>>::count(&Tea), <Tea as Count<u16>>::count(&Tea), Pot.count()],
        [Some(1), Some(2), Some(3)]
    );
    assert_eq!([<Tea as Count<u8>>::count(&Tea), <Tea as Count<u16>>::count(&Tea), Pot.count()], [None; 3]);
}

#[test]
fn references_go_in_and_out() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = words.len(), max = 1, window = "1h")]
    fn first_mut(words: &mut Vec<String>) -> Option<&mut String> {
        BODIES.run();
        words.push(String::new());
        words.first_mut()
    }

    #[rate_limit(key = number, max = 1, window = "1h")]
    async fn two<'short, 'long: 'short>(
        number: &'short mut u32,
        word: &'long str,
    ) -> Option<(&'short mut u32, &'long str)> {
        BODIES.run();
        *number += 1;
        Some((number, word))
    }

    #[rate_limit(max = 1, window = "1h")]
    fn elided<'a>(words: &'a [&str], pick: impl for<'b> Fn(&'b [&'b str]) -> &'b str) -> Option<&'a str> {
        BODIES.run();
        let _ = pick(words);
        Some("static")
    }

    let mut words = vec!["tea".to_owned()];
    first_mut(&mut words).unwrap().push_str("pot");
    assert_eq!(words, ["teapot", ""]);
    assert!(first_mut(&mut vec!["tea".to_owned()]).is_none());

    let mut number = 7;
    let (eight, tea) = at_once(two(&mut number, "tea")).unwrap();
    *eight += 1;
    assert_eq!((number, tea), (9, "tea"));
    assert!(at_once(two(&mut 7, "tea")).is_none());

    assert_eq!(elided(&["tea"], |words| words[0]), Some("static"));
    assert_eq!(elided(&["tea"], |words| words[0]), None);
    assert_eq!(BODIES.count(), 3);
}

#[test]
fn closures_are_called_and_kept() {
    #[rate_limit(max = 3, window = "1h")]
    fn twice<F: FnMut() -> u32>(mut function: F) -> Option<u32> {
        Some(function() + function())
    }

    #[rate_limit(max = 1, window = "1h")]
    fn keep<'a, T>(function: impl Fn(T) -> T + 'a) -> Option<Box<dyn Fn(T) -> T + 'a>> {
        Some(Box::new(function))
    }

    #[rate_limit(max = 1, window = "1h", wait)]
    fn call(function: &mut dyn FnMut(u32), number: u32) {
        function(number);
    }

    let mut calls = 0;
    let mut count = || {
        calls += 1;
        calls
    };
    assert_eq!([twice(&mut count), twice(&mut count)], [Some(3), Some(7)]);
    assert_eq!(keep(|number| number + 1).unwrap()(7), 8);
    assert!(keep(|word: &str| word).is_none());
    call(&mut |number| calls += number, 7);
    assert_eq!(calls, 11);
}

#[test]
fn a_limit_in_a_generic_type_is_listed_without_its_parameters() {
    struct Store<T>(T);

    impl<T: Copy> Store<T> {
        #[rate_limit(max = 1, window = "1h")]
        fn get(&self) -> Option<T> {
            Some(self.0)
        }
    }

    assert_eq!(Store(7).get(), Some(7));
    let name = "shapes::generics::a_limit_in_a_generic_type_is_listed_without_its_parameters::Store::get";
    assert_eq!(handle(name).stats().allowed, 1);
}
