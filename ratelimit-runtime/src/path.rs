//! A limit's name from the path of a function inside the item that declares it.

/// `shop::Orders::create` of `shop::Orders<_>::create::{{closure}}::marker`.
///
/// Left out are the marker itself, closures (an async function's body is one), generic parameters, and where an `impl`
/// stands; what tells two methods apart stays: `<shop::A as shop::Tr<u8>>::get`. Of several unnamed limits of one stack,
/// the `nth` ends in `#nth` from the second on.
pub(crate) fn name_of(marker: &str, nth: u32) -> String {
    let path = marker.rsplit_once("::").map_or(marker, |(path, _)| path);
    let path = without_parameters(&at_its_type(&path.replace("::{{closure}}", "")));
    if nth > 1 { format!("{path}#{nth}") } else { path }
}

/// Whether the marker is inside an item that no user has named: `shop::__check_create::create::marker`.
///
/// Attributes that check a function compile a copy of it in such an item, with all of its own attributes.
pub(crate) fn is_in_generated_item(marker: &str) -> bool {
    marker.rsplit("::").skip(1).any(|segment| segment.starts_with("__"))
}

/// `shop::Orders::create` of `shop::admin::<impl shop::Orders>::create`, an `impl` in another module than its type.
fn at_its_type(path: &str) -> String {
    const IMPL: &str = "<impl ";
    let Some(start) = path.find(IMPL) else { return path.to_owned() };
    let inner = &path[start + IMPL.len()..];
    match end_of_brackets(inner) {
        Some(end) => format!("{}{}", &inner[..end], &inner[end + 1..]),
        None => path.to_owned(),
    }
}

/// Where the bracket that was open before `text` closes.
fn end_of_brackets(text: &str) -> Option<usize> {
    let mut open = 1;
    for (place, character) in text.char_indices() {
        match character {
            '<' => open += 1,
            // Not the arrow of a function's type.
            '>' if !text[..place].ends_with('-') => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(place);
        }
    }
    None
}

/// The path with only those arguments of its types that are no generic parameters of the item.
fn without_parameters(path: &str) -> String {
    let mut shorter = String::new();
    let mut rest = path;
    while let Some(open) = rest.find('<') {
        let (before, arguments) = (&rest[..open], &rest[open + 1..]);
        shorter.push_str(before);
        let Some(end) = end_of_brackets(arguments) else { break };
        let inside = &arguments[..end];
        rest = &arguments[end + 1..];
        // Behind a name they are arguments; else it is `<Type as Trait>`.
        if before.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
            let kept: Vec<_> = arguments_of(inside).filter(|argument| !is_parameter(argument)).collect();
            if !kept.is_empty() {
                let kept: Vec<_> = kept.into_iter().map(without_parameters).collect();
                shorter.extend(["<", &kept.join(", "), ">"]);
            }
        } else {
            shorter.extend(["<", &without_parameters(inside), ">"]);
        }
    }
    shorter.push_str(rest);
    shorter
}

/// Splits at the commas that are in no bracket.
fn arguments_of(arguments: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    arguments
        .split(move |character| {
            match character {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        })
        .map(str::trim)
}

/// The compiler writes `_` for a type, `'_` for a lifetime, and the name of a constant: a word, where types have paths.
fn is_parameter(argument: &str) -> bool {
    const PRIMITIVES: [&str; 17] = [
        "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
        "u64", "u128", "usize",
    ];
    let is_word = argument.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && argument.chars().all(|character| character.is_alphanumeric() || character == '_');
    argument.starts_with('\'')
        || is_word && !PRIMITIVES.contains(&argument) && argument != "true" && argument != "false"
}

#[cfg(test)]
mod tests {
    use super::{is_in_generated_item, name_of};

    #[test]
    fn names_a_function_by_its_path_and_a_method_by_its_type() {
        assert_eq!(name_of("shop::orders::create::marker", 1), "shop::orders::create");
        assert_eq!(name_of("shop::Orders::create::marker", 1), "shop::Orders::create");
        assert_eq!(name_of("shop::admin::<impl shop::Orders>::create::marker", 1), "shop::Orders::create");
    }

    #[test]
    fn leaves_out_closures_and_generic_parameters() {
        assert_eq!(name_of("shop::Orders::create::{{closure}}::marker", 1), "shop::Orders::create");
        assert_eq!(name_of("shop::Orders<_>::create::marker", 1), "shop::Orders::create");
        assert_eq!(name_of("shop::Orders<'_, _, u8, _>::create::marker", 1), "shop::Orders<u8>::create");
        assert_eq!(
            name_of("<shop::Orders<_> as shop::Tr<_>>::get::marker", 1),
            "<shop::Orders as shop::Tr>::get"
        );
    }

    #[test]
    fn keeps_what_tells_two_methods_apart() {
        assert_eq!(name_of("<shop::A as shop::Tr<u8>>::get::marker", 1), "<shop::A as shop::Tr<u8>>::get");
        assert_eq!(
            name_of("shop::x::<impl shop::Of<fn(u8) -> u8>>::get::marker", 1),
            "shop::Of<fn(u8) -> u8>::get"
        );
    }

    #[test]
    fn tells_a_copy_in_generated_code_by_its_path() {
        assert!(is_in_generated_item(
            "shop::__axum_macros_check_create::create::{{closure}}::__rate_limit_path"
        ));
        assert!(!is_in_generated_item("shop::create::{{closure}}::__rate_limit_path"));
    }

    #[test]
    fn numbers_further_limits_of_a_stack() {
        assert_eq!(name_of("shop::login::marker", 2), "shop::login#2");
    }
}
