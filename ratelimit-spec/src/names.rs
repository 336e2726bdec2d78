//! Algorithms and modes, read by their names.

use std::str::FromStr;

use crate::algorithm::Algorithm;
use crate::error::ParseError;
use crate::mode::Mode;
use crate::suggest::unknown;

impl FromStr for Algorithm {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        named("algorithm", text, &Self::ALL, Self::name)
    }
}

impl FromStr for Mode {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        named("mode", text, &Self::ALL, Self::name)
    }
}

fn named<T: Copy>(kind: &str, text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, ParseError> {
    all.iter().copied().find(|&one| name(one) == text).ok_or_else(|| {
        let names: Vec<_> = all.iter().copied().map(name).collect();
        ParseError::text(unknown(kind, text, &names))
    })
}
