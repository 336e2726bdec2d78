//! What the compiler says. `ui/fail` is the catalogue of messages, a theme a file; `ui/pass` compiles without a warning.
//!
//! `TRYBUILD=overwrite cargo test -p ratelimit-tests --test ui` writes the messages down anew.

#[test]
fn every_message_is_as_written_down() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/fail/*.rs");
    cases.pass("ui/pass/*.rs");
}
