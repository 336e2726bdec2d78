//! A process that may make none.

use std::{
    env,
    process::{Command, Stdio, exit},
};

use ratelimit_runtime::{RateLimited, rate_limit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

/// Set for the process that may make no system calls.
const CONFINED: &str = "RATELIMIT_TESTS_CONFINED";

const DECIDED: &str = "all calls were decided";

macro_rules! limited {
    ($($name:ident($user:ident: $($arguments:tt)*)),* $(,)?) => {
        $(
            #[rate_limit($($arguments)*)]
            fn $name($user: u64) -> Result<(), RateLimited> {
                std::hint::black_box($user);
                Ok(())
            }
        )*
    };
}

limited! {
    without_key(user: max = 1_000, window = "1h"),
    precise(user: max = 1_000, window = "100ms"),
    fixed_window(user: max = 1_000, window = "1h", algorithm = "fixed_window"),
    gcra(user: max = 1_000, window = "1h", algorithm = "gcra"),
    token_bucket(user: max = 1_000, window = "1h", algorithm = "token_bucket"),
    leaky_bucket(user: max = 1_000, window = "1h", algorithm = "leaky_bucket"),
    with_key(user: key = user, max = 1_000, window = "1h"),
    gcra_with_key(user: key = user, max = 1_000, window = "1h", algorithm = "gcra"),
    shadow(user: key = user, max = 1_000, window = "1h", mode = "shadow"),
}

#[rate_limit(key = user, max = 1_000, window = "1h")]
#[rate_limit(max = 10_000, window = "1h")]
fn stacked(user: u64) -> Result<(), RateLimited> {
    std::hint::black_box(user);
    Ok(())
}

/// Often enough that every limit also denies.
fn call_all() {
    for call in 0..20_000 {
        let user = call % 4;
        for limited in [
            without_key,
            precise,
            fixed_window,
            gcra,
            token_bucket,
            leaky_bucket,
            with_key,
            gcra_with_key,
            shadow,
            stacked,
        ] {
            drop(limited(user));
        }
    }
}

/// From here on, any system call kills the process but to write and to end.
fn confine() {
    let allowed = [libc::SYS_write, libc::SYS_exit_group].map(|call| (call, Vec::new()));
    let architecture = env::consts::ARCH.try_into().unwrap();
    let (others, these) = (SeccompAction::KillProcess, SeccompAction::Allow);
    let filter = SeccompFilter::new(allowed.into(), others, these, architecture).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

pub(crate) fn no_call_of_a_known_key_makes_a_system_call() {
    if env::var_os(CONFINED).is_some() {
        // Limiters, keys and the thread's own places are made.
        call_all();
        confine();
        call_all();
        println!("{DECIDED}");
        exit(0);
    }
    let mut confined = Command::new(env::current_exe().unwrap());
    let confined = confined.env(CONFINED, "").stderr(Stdio::inherit()).output().unwrap();
    let output = String::from_utf8_lossy(&confined.stdout);
    assert!(output.contains(DECIDED), "a call was killed for a system call: {}", confined.status);
    println!("test result: ok. 1 passed; 0 failed; 0 ignored");
}
