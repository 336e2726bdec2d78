//! Rules about what describes a limit, on the attribute and in `limiter!` alike.

use proc_macro2::TokenStream;
use ratelimit_spec::{Algorithm, AlgorithmOption, LimitSpec, rules};

use crate::args::{Args, Argument, Burst, Max, Window, value};
use crate::errors::Errors;

pub(super) fn check(args: &Args, site: &TokenStream, errors: &mut Errors) {
    rate_excludes_max_and_window(args, errors);
    limit_is_complete(args, site, errors);
    options_fit_algorithm(args, errors);
    window_holds_buckets(args, errors);
    burst_holds_initial(args, errors);
    store_needs_name(args, errors);
}

fn rate_excludes_max_and_window(args: &Args, errors: &mut Errors) {
    let Some(rate) = &args.rate else { return };
    let max = args.max.as_ref().map(|max| (&max.name, max.place));
    let window = args.window.as_ref().map(|window| (&window.name, window.place));
    let Some((name, place)) = [max, window].into_iter().flatten().min_by_key(|(_, place)| *place) else {
        return;
    };
    let message =
        format!("`rate` is `max` and `window` in one, so `{name}` does not go with it; leave one out");
    errors.push(if rate.place > place { &rate.name } else { name }, message);
}

fn limit_is_complete(args: &Args, site: &TokenStream, errors: &mut Errors) {
    if args.rate.is_some() || args.limiter.is_some() || args.has_nameless {
        return;
    }
    let message = match (&args.max, &args.window) {
        (Some(_), Some(_)) => return,
        (Some(_), None) => "`window` is missing; write it beside `max`, such as `window = \"1s\"`",
        (None, Some(_)) => "`max` is missing; write it beside `window`, such as `max = 100`",
        (None, None) => "the limit is missing; write `max = 100, window = \"1s\"` or `rate = \"100/s\"`",
    };
    errors.push(site, message);
}

fn options_fit_algorithm(args: &Args, errors: &mut Errors) {
    let max_per_call = match &args.max {
        Some(max @ Argument { value: Some(Max::PerCall(_)), .. }) => Some((&max.name, max.place)),
        _ => None,
    };
    let options = [
        (AlgorithmOption::Buckets, args.buckets.as_ref().map(|buckets| (&buckets.name, buckets.place))),
        (AlgorithmOption::Burst, args.burst.as_ref().map(|burst| (&burst.name, burst.place))),
        (AlgorithmOption::Initial, args.initial.as_ref().map(|initial| (&initial.name, initial.place))),
        (AlgorithmOption::MaxPerCall, max_per_call),
    ];
    let Some(algorithm) = algorithm(args) else { return };
    for (option, written) in options {
        let (Some((name, place)), Err(error)) = (written, rules::option_fits(option, algorithm)) else {
            continue;
        };
        match &args.algorithm {
            Some(argument) if argument.place > place => errors.push(argument, error),
            _ => errors.push(name, error),
        }
    }
}

/// The algorithm, unless the one that is written was refused.
fn algorithm(args: &Args) -> Option<Algorithm> {
    args.algorithm.as_ref().map_or(Some(Algorithm::default()), |argument| argument.value)
}

fn window_holds_buckets(args: &Args, errors: &mut Errors) {
    let (window, written) = if let Some(rate) = &args.rate {
        let Some((_, window)) = &rate.value else { return };
        (*window, &rate.written)
    } else if let Some(Argument { value: Some(Window::Literal(window)), written, .. }) = &args.window {
        (*window, written)
    } else {
        return;
    };
    let buckets = match &args.buckets {
        Some(Argument { value: Some(buckets), .. }) => *buckets,
        Some(_) => return,
        None => LimitSpec::new(1, window).buckets(),
    };
    if algorithm(args).is_some_and(Algorithm::takes_buckets)
        && let Err(error) = rules::window_holds_buckets(window, buckets)
    {
        errors.push(written, error);
    }
}

fn burst_holds_initial(args: &Args, errors: &mut Errors) {
    let Some(Argument { value: Some(initial), written, .. }) = &args.initial else { return };
    // Else that is the mistake.
    let takes_initial = algorithm(args).is_some_and(Algorithm::takes_initial);
    let Some(burst) = literal_burst(args).filter(|_| takes_initial) else { return };
    if let Err(error) = rules::initial((*initial).into(), burst) {
        errors.push(written, error);
    }
}

/// The burst, which is `max` where it is not set. `None` if only the compiler knows it, or if it was refused.
fn literal_burst(args: &Args) -> Option<u32> {
    if let Some(burst) = &args.burst {
        let Some(Burst::Literal(burst)) = burst.value else { return None };
        return Some(burst);
    }
    if let Some((max, _)) = value(args.rate.as_ref()) {
        return Some(*max);
    }
    let Some(Max::Literal(max)) = value(args.max.as_ref()) else { return None };
    Some(*max)
}

fn store_needs_name(args: &Args, errors: &mut Errors) {
    let elsewhere = value(args.store.as_ref()).is_some_and(|store| store.value() != "local");
    if let (Some(store), None, true) = (&args.store, &args.name, elsewhere) {
        errors.push(
            store,
            "`store` goes only with `name`, since a budget in a store outlives the function's path; add `name`, such as `name = \"login\"`",
        );
    }
}
