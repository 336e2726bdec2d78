//! Where a budget is kept: `{prefix}:v1:{limit}:{key}`.
//!
//! The parameters of the limit are no part of it, so that a change of them keeps what has been used. There is one key to a
//! decision, and no braces in it: so the servers of a Cluster share the keys of a limit evenly.

/// The longest text that is kept as it is.
const LONGEST: usize = 128;

/// That of the processes that use the store. In a Cluster each master has one, with a number in braces: that alone decides
/// which slot the key falls into.
pub(crate) fn nodes(prefix: &str, number: Option<u32>) -> Vec<u8> {
    let mut full = Vec::new();
    append_prefix(&mut full, prefix);
    full.extend_from_slice(b":v1-nodes");
    if let Some(number) = number {
        full.extend_from_slice(format!("-{{{number}}}").as_bytes());
    }
    full
}

/// That of when a limit was first used. No budget has so many parts.
pub(crate) fn first_use(prefix: &str, limit: &str) -> Vec<u8> {
    let mut full = budget(prefix, limit, b"");
    full.extend_from_slice(b":first-use");
    full
}

pub(crate) fn budget(prefix: &str, limit: &str, key: &[u8]) -> Vec<u8> {
    // With room for what is asked of it.
    let mut full = Vec::with_capacity(prefix.len() + limit.len() + key.len() + 96);
    append_prefix(&mut full, prefix);
    // The layout of what is kept. Another one is another number, and begins anew.
    full.extend_from_slice(b":v1:");
    append(&mut full, limit.as_bytes());
    full.push(b':');
    append(&mut full, key);
    full
}

/// It may be of several parts: their number tells it from what follows.
fn append_prefix(full: &mut Vec<u8>, prefix: &str) {
    for (number, part) in prefix.split(':').enumerate() {
        if number > 0 {
            full.push(b':');
        }
        append(full, part.as_bytes());
    }
}

/// Letters, digits and a few signs stand for themselves, any other byte as `%` and two digits. What would be too long is
/// told by its digest, which begins with a sign that nothing else begins with.
fn append(full: &mut Vec<u8>, part: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    if part.len() > LONGEST {
        full.push(b'#');
        for byte in hmac_sha256::Hash::hash(part) {
            full.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        return;
    }
    let stands_for_itself =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    let (plain, rest) = part.split_at(part.iter().take_while(|byte| stands_for_itself(byte)).count());
    full.extend_from_slice(plain);
    for byte in rest {
        if stands_for_itself(byte) {
            full.push(*byte);
        } else {
            full.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_budgets_share_a_key_whatever_is_in_them() {
        let long = "x".repeat(64 * 1024);
        let longer = format!("{long}x");
        let hostile = [
            "", "{}", "}", "{", "a:b", "a", "a:v1", "v1:a", ":", "%", "%7b", "#", "\0", "é", "\n", "v1",
            &long, &longer,
        ];
        let mut keys = HashSet::new();
        for (limit, prefix) in hostile.into_iter().flat_map(|limit| hostile.map(|prefix| (limit, prefix))) {
            for part in hostile.iter().map(|text| text.as_bytes()).chain([&b"\xff\xfe"[..]]) {
                let key = budget(prefix, limit, part);
                assert!(key.len() < 1024 && !key.contains(&b'{') && !key.contains(&b'}'));
                assert!(keys.insert(key), "{prefix:?} {limit:?} {part:?}");
            }
        }
    }

    #[test]
    fn a_plain_key_can_be_read() {
        assert_eq!(budget("shop", "login", b"alice@example.com"), b"shop:v1:login:alice%40example.com");
        assert_eq!(budget("shop:prod", "a:b", b""), b"shop:prod:v1:a%3ab:");
    }
}
