//! What the README shows.

/// The README's first Rust example, as it stands there.
pub(crate) fn first_example(readme: &str) -> Option<&str> {
    let fence = "\n```rust\n";
    let start = readme.find(fence)? + fence.len();
    let length = readme[start..].find("\n```")? + 1;
    Some(&readme[start..start + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rust_block_is_taken_whole() {
        let readme = "# Title\n\n```sh\nls\n```\n\n```rust\nfn main() {\n}\n```\n\n```rust\nmore\n```\n";
        assert_eq!(first_example(readme), Some("fn main() {\n}\n"));
        assert_eq!(first_example("no code"), None);
    }
}
