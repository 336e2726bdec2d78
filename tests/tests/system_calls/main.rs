//! A call is decided without a system call: nothing sleeps, and the clock is read from memory.
//!
//! Without a test harness, since it confines its whole process.

#[cfg(target_os = "linux")]
mod confined;

fn main() {
    #[cfg(target_os = "linux")]
    confined::no_call_of_a_known_key_makes_a_system_call();
}
