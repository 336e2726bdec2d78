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

/// The compiler writes `_` for a generic parameter and `'_` for a lifetime.
fn without_parameters(path: &str) -> String {
    const SHORTER: [(&str, &str); 6] =
        [("<'_, ", "<"), ("<_, ", "<"), (", _>", ">"), (", _, ", ", "), ("<'_>", ""), ("<_>", "")];
    let mut path = path.to_owned();
    while let Some((longer, shorter)) = SHORTER.iter().find(|(longer, _)| path.contains(longer)) {
        path = path.replace(longer, shorter);
    }
    path
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
