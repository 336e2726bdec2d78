//! Servers that answer what nobody has asked for: it costs neither time nor room.

use super::*;

use std::sync::atomic::Ordering::Relaxed;

use hostile::{From, Hostile};

/// How many megabytes this process has ever had in use at once.
#[cfg(target_os = "linux")]
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

#[cfg(not(target_os = "linux"))]
fn most_memory() -> u64 {
    0
}

#[test]
fn an_answer_that_no_script_gives_ends_the_link_at_once() {
    const ONES: &[u8] = b":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n";
    let (long, nested) =
        ([&b"*4000000\r\n"[..], &ONES.repeat(2000)].concat(), b"*9000000000000000000\r\n".repeat(7));
    let answers: [(Vec<u8>, &'static [u8]); 6] = [
        (long, b""),
        (b"*2000000000\r\n".to_vec(), ONES),
        (nested, ONES),
        (b"$9223372036854775807\r\n".to_vec(), b"xxxxxxxxxxxxxxxx"),
        (b"$100000\r\nx".to_vec(), b""),
        (b"+".to_vec(), b"xxxxxxxxxxxxxxxx"),
    ];
    until_in_time(|| {
        for (number, (begins, goes_on)) in answers.iter().enumerate() {
            let server = Hostile::start(From::TheFirstDecision, begins.clone(), goes_on);
            let store = up(&server.url());
            let before = most_memory();
            let (answer, took) = timed(|| charge(&store, hour(10)));
            let failure = answer.unwrap_err();
            in_time(took, TIMEOUT);
            // Not a timeout: the link was dropped, and there is another.
            punctual(failure.on_failure() == OnFailure::Closed, format_args!("{number}: {failure}"));
            assert!(eventually(LIVELY, || server.visits.load(Relaxed) > 1), "{number}");
            assert!(most_memory() < before + 64, "{number}: {} MB after {before} MB", most_memory());
        }
    });
}

#[test]
fn what_is_said_before_the_first_answer_has_an_end() {
    for begins in [&b"*2000000000\r\n"[..], b"$9000000000\r\n"] {
        let before = most_memory();
        let server = Hostile::start(From::TheFirstCommand, begins.to_vec(), b":1\r\n:1\r\n:1\r\n:1\r\n");
        let store = builder(&server.url()).connect_lazy().unwrap();
        // It is not the time that ends an attempt.
        let is_told = || store.last_error().is_some_and(|error| error.contains("too long"));
        assert!(eventually(LIVELY, is_told), "{:?}", store.last_error());
        assert!(most_memory() < before + 64, "{} MB after {before} MB", most_memory());
        assert_ne!(store.state(), LinkState::Up);
    }
}
