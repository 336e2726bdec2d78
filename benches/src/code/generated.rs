//! A crate of a hundred functions, of which so many are annotated.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::size::Size;

pub(super) const FUNCTIONS: usize = 100;

/// What a function is like; they take turns.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Unkeyed,
    ByNumber,
    ByText,
    Asynchronous,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Unkeyed, Self::ByNumber, Self::ByText, Self::Asynchronous];

    pub(super) fn of(number: usize) -> Self {
        Self::ALL[number % Self::ALL.len()]
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Unkeyed => "`fn` without a key",
            Self::ByNumber => "`fn` with a `u64` key",
            Self::ByText => "`fn` with a `&str` key",
            Self::Asynchronous => "`async fn` with a `u64` key",
        }
    }

    /// A name that no other function's begins with.
    pub(super) fn function(self, number: usize) -> String {
        let kind = match self {
            Self::Unkeyed => "unkeyed",
            Self::ByNumber => "by_number",
            Self::ByText => "by_text",
            Self::Asynchronous => "asynchronous",
        };
        format!("{kind}_{number:03}")
    }

    fn key(self) -> &'static str {
        match self {
            Self::Unkeyed => "",
            Self::ByNumber | Self::Asynchronous => "key = \"number\", ",
            Self::ByText => "key = \"text\", ",
        }
    }

    /// The function; no two are alike, or the compiler would keep only one. The future of an asynchronous one is polled
    /// in another function, of which the compiler makes its code a part.
    fn item(self, number: usize) -> String {
        let name = self.function(number);
        let word = if self == Self::Asynchronous { "async " } else { "" };
        let item = format!(
            "#[inline(never)]\n{word}fn {name}(number: u64, text: &str) -> Result<u64, RateLimited> {{\n    \
             Ok(black_box(number) + text.len() as u64 + {number})\n}}\n\n"
        );
        if self != Self::Asynchronous {
            return item;
        }
        item + &format!(
            "#[inline(never)]\nfn poll_{name}(number: u64, text: &str) -> Poll<Result<u64, RateLimited>> {{\n    \
             pin!({name}(number, text)).poll(&mut Context::from_waker(Waker::noop()))\n}}\n\n"
        )
    }

    fn call(self, number: usize) -> String {
        let prefix = if self == Self::Asynchronous { "poll_" } else { "" };
        let name = self.function(number);
        format!("    let _ = black_box({prefix}{name}(black_box(7), black_box(\"seven\")));\n")
    }
}

pub(super) struct Generated {
    folder: PathBuf,
    source: String,
}

impl Generated {
    /// Writes the crate, with the workspace's own `Cargo.lock`, so that it builds with what we build with.
    pub(super) fn write(name: &str, annotated: usize) -> Result<Self, String> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
        let folder = target(workspace).join("tmp/benches").join(name);
        let generated = Self { folder, source: source(annotated) };
        let lock = fs::read_to_string(workspace.join("Cargo.lock"))
            .map_err(|error| format!("Cargo.lock: {error}"))?;
        generated.put("Cargo.toml", &manifest(name, &workspace.join("ratelimit-runtime")))?;
        generated.put("Cargo.lock", &lock)?;
        generated.put("src/main.rs", &generated.source)?;
        Ok(generated)
    }

    /// How long a check of this crate alone takes, in milliseconds; the first one checks what it depends on as well.
    pub(super) fn check(&self) -> Result<f64, String> {
        // A new date is all that makes cargo check it again.
        self.put("src/main.rs", &self.source)?;
        let begun = Instant::now();
        self.cargo(&["check"])?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    /// The size of the program, optimised as users do it.
    pub(super) fn size(&self) -> Result<Size, String> {
        self.cargo(&["build", "--release"])?;
        let name = self.folder.file_name().ok_or("the crate has no name")?;
        Size::of(&self.target().join("release").join(name))
    }

    fn cargo(&self, arguments: &[&str]) -> Result<(), String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(arguments)
            .arg("--quiet")
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.target())
            .env("CARGO_INCREMENTAL", "0")
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
    }

    /// The generated crates share what they depend on.
    fn target(&self) -> PathBuf {
        self.folder.with_file_name("target")
    }

    fn put(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Where cargo builds the workspace.
fn target(workspace: &Path) -> PathBuf {
    workspace.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The `[workspace]` keeps cargo from looking for one above, in ours.
fn manifest(name: &str, runtime: &Path) -> String {
    format!(
        r#"[package]
name = "{name}"
version = "0.0.0"
edition = "2024"

[dependencies]
ratelimit-runtime = {{ path = "{}" }}

[workspace]
"#,
        runtime.display()
    )
}

fn source(annotated: usize) -> String {
    let mut items = String::new();
    let mut calls = String::new();
    for number in 0..FUNCTIONS {
        let kind = Kind::of(number);
        if number < annotated {
            let _ = writeln!(items, "#[rate_limit({}max = 100, window = \"1s\")]", kind.key());
        }
        items += &kind.item(number);
        calls += &kind.call(number);
    }
    format!(
        "#![allow(unused_imports, clippy::all)]\n\nuse std::hint::black_box;\nuse std::pin::pin;\n\
         use std::task::{{Context, Poll, Waker}};\n\nuse ratelimit_runtime::{{RateLimited, rate_limit}};\n\n\
         {items}fn main() {{\n{calls}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_functions_are_annotated_as_asked() {
        for annotated in [0, 4, FUNCTIONS] {
            let source = source(annotated);
            assert_eq!(source.matches("#[rate_limit(").count(), annotated);
            assert_eq!(source.matches("#[inline(never)]\nfn ").count(), FUNCTIONS);
        }
    }
}
