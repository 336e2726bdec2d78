//! What the repository says of itself is true: versions, names of files, links, headings.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES_OF_CODE: usize = 500;

#[test]
fn the_architecture_names_only_files_that_exist() {
    let text = read("ARCHITECTURE.md");
    let files = files();
    let missing: Vec<&str> = file_names(&text).filter(|name| !exists(name, &files)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
}

#[test]
fn the_architecture_stays_short_and_tells_of_every_package() {
    let text = read("ARCHITECTURE.md");
    assert!(text.lines().count() <= 150, "ARCHITECTURE.md is to be read in one go: at most 150 lines");
    for member in members() {
        assert!(text.contains(&member), "ARCHITECTURE.md does not tell what `{member}` is for");
    }
}

#[test]
fn every_test_that_the_architecture_names_exists() {
    let tests: String = files().iter().filter(|file| is(file, "rs")).map(|file| read(file)).collect();
    let text = read("ARCHITECTURE.md");
    let missing: Vec<&str> = code_spans(&text)
        .filter(|span| is_claim(span))
        .filter(|name| !tests.contains(&format!("fn {name}(")))
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names tests that are not there: {missing:?}");
}

#[test]
fn version_pins_agree() {
    let manifest = toml("Cargo.toml");
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    let dependencies = &manifest["workspace"]["dependencies"];
    let pins = [
        ("ratelimit-spec", "="),
        ("ratelimit-macros", "="),
        ("ratelimit-runtime", ""),
        ("ratelimit-redis", ""),
    ];
    for (package, pin) in pins {
        let pinned = dependencies[package]["version"].as_str().unwrap();
        assert_eq!(pinned, format!("{pin}{version}"), "the pin of {package} in Cargo.toml");
    }
}

#[test]
fn the_readme_names_the_least_rust_that_cargo_asks_for() {
    let manifest = toml("Cargo.toml");
    let least = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert!(read("README.md").contains(&format!("Rust {least}")), "README.md does not say `Rust {least}`");
}

#[test]
fn the_readme_names_the_axum_that_the_runtime_fits() {
    let manifest = toml("Cargo.toml");
    let axum = manifest["workspace"]["dependencies"]["axum"]["version"].as_str().unwrap();
    let series = axum.rsplit_once('.').unwrap().0;
    let readme = read("README.md");
    for text in [format!("axum = \"{series}\""), format!("axum {series}")] {
        assert!(readme.contains(&text), "README.md does not say `{text}`");
    }
}

#[test]
fn the_readmes_examples_have_no_lines_that_only_rustdoc_hides() {
    let readme = read("README.md");
    let examples = readme.split("\n```").filter(|block| block.starts_with("rust"));
    let hidden: Vec<&str> =
        examples.flat_map(str::lines).filter(|line| *line == "#" || line.starts_with("# ")).collect();
    assert!(hidden.is_empty(), "readers of README.md see {hidden:?}");
}

#[test]
fn every_package_has_a_description_and_the_common_lints() {
    for member in members() {
        let manifest = toml(&format!("{member}/Cargo.toml"));
        assert!(manifest["package"].get("description").is_some(), "{member} has no description");
        assert!(manifest["lints"]["workspace"].as_bool().unwrap(), "{member} has lints of its own");
    }
}

#[test]
fn the_changelog_has_a_heading_for_what_is_in_the_tree() {
    let manifest = toml("Cargo.toml");
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    let headings = read("CHANGELOG.md");
    let current = headings.lines().find_map(|line| line.strip_prefix("## ")).unwrap();
    assert!(
        current == "Unreleased" || current.split(' ').next() == Some(version),
        "the first heading of CHANGELOG.md is `{current}`, neither `Unreleased` nor `{version}`"
    );
}

#[test]
fn relative_links_resolve() {
    let mut broken = Vec::new();
    for file in files().iter().filter(|file| is(file, "md")) {
        let text = read(file);
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => root().join(file),
                path => root().join(file).parent().unwrap().join(path),
            };
            let found = target.exists() && (anchor.is_empty() || has_anchor(&target, anchor));
            if !found {
                broken.push(format!("{file}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn algorithms_read_no_clock_and_know_no_key() {
    let inside = "ratelimit-runtime/src/algorithm";
    let forbidden = ["Instant", "SystemTime", "crate::clock", "crate::key", "crate::registry", "crate::sync"];
    for file in files().iter().filter(|file| is(file, "rs") && file.starts_with(inside)) {
        let text = read(file);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            assert!(!forbidden.iter().any(|name| line.contains(name)), "{file} is to be pure: {line}");
        }
    }
}

#[test]
fn no_message_shows_the_source_of_the_standard_library() {
    for file in files().iter().filter(|file| is(file, "stderr")) {
        assert!(
            !read(file).contains("$RUST"),
            "{file} differs between toolchains with and without `rust-src`"
        );
    }
}

#[test]
fn no_source_file_is_too_long() {
    let long: Vec<String> = files()
        .into_iter()
        .filter(|file| is(file, "rs") && format!("/{file}").contains("/src/"))
        .map(|file| (lines_of_code(&read(&file)), file))
        .filter(|(lines, _)| *lines > MOST_LINES_OF_CODE)
        .map(|(lines, file)| format!("{file}: {lines}"))
        .collect();
    assert!(long.is_empty(), "files of more than {MOST_LINES_OF_CODE} lines of code: {long:#?}");
}

// The tree.

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn toml(file: &str) -> toml::Table {
    read(file).parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn members() -> Vec<String> {
    let manifest = toml("Cargo.toml");
    let members = manifest["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

/// All files, relative to the root and with `/`; neither what cargo builds nor what git keeps.
fn files() -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if !path.is_dir() {
                let relative = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                files.push(relative.replace('\\', "/"));
            } else if entry.file_name() != "target" && entry.file_name() != ".git" {
                folders.push(path);
            }
        }
    }
    files.sort();
    files
}

fn is(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

/// A file or folder, named by its whole path or by the end of it; `*` stands for any name.
fn exists(name: &str, files: &[String]) -> bool {
    if let Some(folder) = name.strip_suffix('/') {
        return files.iter().any(|file| format!("/{file}").contains(&format!("/{folder}/")));
    }
    let (start, end) = name.split_once('*').unwrap_or((name, ""));
    files.iter().any(|file| {
        let file = format!("/{file}");
        file.ends_with(end)
            && file.rfind(&format!("/{start}")).is_some_and(|at| {
                let rest = &file[at + 1 + start.len()..];
                if name.contains('*') { !rest.contains('/') } else { rest.is_empty() }
            })
    })
}

fn lines_of_code(source: &str) -> usize {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

// Markdown.

/// What stands between single backticks in prose.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The lines outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The words that look like a file or folder, in prose and in drawings alike.
fn file_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "/._-*".contains(c)))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| {
            ["rs", "toml", "md", "lock"].iter().any(|extension| is(word, extension))
                || (word.len() > 1 && word.ends_with('/'))
        })
}

/// A test's name, as ours are: a sentence.
fn is_claim(span: &str) -> bool {
    span.matches('_').count() >= 3 && span.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// The targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
}

/// Whether a heading of the file becomes this anchor, by GitHub's rule.
fn has_anchor(file: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    prose(&text).filter(|line| line.starts_with('#')).any(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).eq(anchor.chars())
    })
}
