//! One budget for several processes with several threads each: never one call over the bound.

use super::*;

use std::{
    env,
    process::{Child, Command, Stdio},
    thread,
};

use ratelimit_runtime::Algorithm;

const PROCESSES: usize = 4;
const THREADS: usize = 4;

/// Tells a process that is one of many where the server is.
const SERVER: &str = "RATELIMIT_TEST_SERVER";

/// How long each thread asks at least.
const ASKS_FOR: Duration = Duration::from_millis(800);

/// What the processes share: budgets that do not come back, and then such as do.
fn limits() -> impl Iterator<Item = (String, LimitSpec)> {
    Algorithm::ALL.into_iter().flat_map(|algorithm| {
        let used_up = LimitSpec::new(200, Duration::from_secs(3600)).with_algorithm(algorithm);
        let comes_back = LimitSpec::new(20, Duration::from_millis(200)).with_algorithm(algorithm);
        [(format!("{algorithm} used up"), used_up), (format!("{algorithm} comes back"), comes_back)]
    })
}

fn start(server: &Server) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::one_of_many", "--ignored", "--nocapture"])
        .env(SERVER, server.url())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How often all have been admitted together, by each limit.
fn admitted(processes: Vec<Child>) -> Vec<u32> {
    let mut admitted = vec![0; limits().count()];
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let counts = said.lines().find_map(|line| line.split_once("admitted: "));
        let (_, counts) = counts.unwrap_or_else(|| panic!("{said}"));
        for (sum, count) in admitted.iter_mut().zip(counts.split(' ')) {
            *sum += count.parse::<u32>().unwrap();
        }
    }
    admitted
}

#[test]
fn many_threads_of_many_processes_are_admitted_exactly_as_often_as_one() {
    with_servers(&[], |server| {
        let began = Instant::now();
        let admitted = admitted((0..PROCESSES).map(|_| start(&server)).collect());
        let took = began.elapsed();
        for ((name, spec), admitted) in limits().zip(admitted) {
            let (least, most) = bounds(spec, took);
            assert!((least..=most).contains(&admitted), "{name}: {admitted} instead of {least} to {most}");
        }
    });
}

#[test]
fn what_a_process_was_charged_that_is_killed_nobody_gets_again() {
    with_servers(&[], |server| {
        let began = Instant::now();
        let processes = (0..PROCESSES).map(|_| start(&server)).collect();
        let mut killed = start(&server);
        thread::sleep(ASKS_FOR / 2);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let admitted = admitted(processes);
        let took = began.elapsed();
        for ((name, spec), admitted) in limits().zip(admitted) {
            let (_, most) = bounds(spec, took);
            assert!(admitted <= most, "{name}: {admitted} instead of {most}");
        }
    });
}

/// How often may be admitted in such a time, and how often has to be if everybody asks all the time.
fn bounds(spec: LimitSpec, time: Duration) -> (u32, u32) {
    let windows = u32::try_from(time.as_nanos() / spec.window().as_nanos()).unwrap();
    let is_steady =
        matches!(spec.algorithm(), Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra);
    let refilled =
        u32::try_from(u128::from(spec.max()) * time.as_nanos() / spec.window().as_nanos()).unwrap();
    let more = if is_steady { refilled } else { spec.max() * windows };
    (spec.max(), spec.max() + more)
}

/// Not a test by itself: what each of the processes does.
#[test]
#[ignore = "is started by another test, as a process"]
fn one_of_many() {
    let Some(server) = env::var_os(SERVER) else { return };
    let store = patient(server.to_str().unwrap());
    let limits: Vec<_> = limits().collect();
    let ask = || {
        let (mut admitted, began) = (vec![0_u32; limits.len()], Instant::now());
        while began.elapsed() < ASKS_FOR {
            for ((name, spec), admitted) in limits.iter().zip(&mut admitted) {
                let answer = block_on(store.charge(&StoreCall::new(name, *spec, b"key"))).unwrap();
                *admitted += u32::from(matches!(answer, StoreVerdict::Admitted { .. }));
            }
        }
        admitted
    };
    let admitted = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(
            vec![0; limits.len()],
            |mut sums, counts| {
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                sums
            },
        )
    });
    let admitted: Vec<_> = admitted.iter().map(u32::to_string).collect();
    println!("admitted: {}", admitted.join(" "));
}
