use crate::error::ParseError;
use crate::suggest::quoted;

/// Digits and nothing else: no sign, no `_`, no unit.
pub(crate) fn whole_number(name: &str, text: &str) -> Result<u64, ParseError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::text(format!(
            "`{name}` must be a whole number, not {}; write digits only",
            quoted(text)
        )));
    }
    text.parse()
        .map_err(|_| ParseError::text(format!("`{name}` is too large; write less than {}", quoted(text))))
}
