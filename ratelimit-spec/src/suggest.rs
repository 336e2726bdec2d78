/// The one of `known` that `word` most likely means: within one edit for every three letters, case and `-` aside.
///
/// ```
/// use ratelimit_spec::did_you_mean;
///
/// assert_eq!(did_you_mean("windw", &["max", "window"]), Some("window"));
/// assert_eq!(did_you_mean("colour", &["max", "window"]), None);
/// ```
#[must_use]
pub fn did_you_mean<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = normalized(word);
    known
        .iter()
        .filter_map(|&name| {
            let candidate = normalized(name);
            let longer = word.len().max(candidate.len());
            let allowed = longer / 3;
            // Also keeps a very long word from being compared letter by letter.
            if longer - word.len().min(candidate.len()) > allowed {
                return None;
            }
            let distance = edit_distance(&word, &candidate);
            (distance <= allowed).then_some((distance, name))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// The message for a `word` that is not among the `known` names of its `kind`: the likely one, else all of them.
///
/// ```
/// use ratelimit_spec::unknown;
///
/// assert_eq!(unknown("argument", "windw", &["max", "window"]), "unknown argument `windw`; did you mean `window`?");
/// assert_eq!(unknown("mode", "loud", &["enforce", "off"]), "unknown mode `loud`; write `enforce` or `off`");
/// ```
#[must_use]
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    let word_quoted = quoted(word);
    match did_you_mean(word, known) {
        Some(name) => format!("unknown {kind} {word_quoted}; did you mean `{name}`?"),
        None => format!("unknown {kind} {word_quoted}; write {}", joined(known, "or")),
    }
}

/// `` `a`, `b` and `c` ``
pub(crate) fn list(names: &[&str]) -> String {
    joined(names, "and")
}

fn joined(names: &[&str], conjunction: &str) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {conjunction} {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// What the user wrote, in backticks, on one line and not endless.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown = String::new();
    for letter in text.chars().take(SHOWN) {
        if letter.is_control() { shown.extend(letter.escape_debug()) } else { shown.push(letter) }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn normalized(word: &str) -> Vec<char> {
    word.chars().map(|letter| if letter == '-' { '_' } else { letter.to_ascii_lowercase() }).collect()
}

/// Letters inserted, deleted, replaced, or swapped with their neighbour, to make `from` into `to`.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    // Three rows of the usual table: what `from` without its last one or two letters costs, and with all of them.
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = Vec::with_capacity(to.len() + 1);
        row.push(i);
        for j in 1..=to.len() {
            let replaced = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}
