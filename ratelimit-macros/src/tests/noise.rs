//! Whatever the tokens, the macro answers with tokens.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::args::ARGUMENTS;

const VALID: [&str; 8] = [
    "key = \"user_id\", window = \"1s\", max = 100, buckets = 10",
    "max = const { 5 }, window = const { Duration::from_secs(1) }, mode = \"shadow\", name = \"a\"",
    "rate = \"100/s\", wait = \"1s\", max_waiters = 3, permit = permit, fallback = |limited| Err(limited)",
    "key = (user.id, [ip, &(a, b)]), max = \"user.plan.max()\", window = \"1m 30s\", share = 0.5",
    "limiter = crate::LOGIN, cost = n + 1, when = a < b, key = f::<A, B>(|a, b| a == b)",
    "rate = \"5/10s\", algorithm = \"token_bucket\", burst = 5, initial = 0, store = \"redis\"",
    "keyed, rate = \"5/10s\", max_keys = 10, crate = ::runtime",
    "max = 5, window = \"1h\", wait, cost = \"2\"",
];

const ITEMS: [&str; 5] = [
    "fn f() {}",
    "#[doc = \"d\"] #[rate_limit(rate = \"1/s\")] pub async unsafe fn f<T: A<B>>(&self, (a, b): (u8, u8)) -> Result<T, E> where T: C { x? }",
    "fn f<'async_trait>(self: Arc<Self>) -> Pin<Box<dyn Future<Output = u8> + Send + 'async_trait>> { Box::pin(async move {}) }",
    "extern \"C\" fn f() -> BoxFuture<'_, u8> { #![allow(x)] return y!() }",
    "struct S { a: u8 }",
];

/// A small generator (splitmix64), so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn token(&mut self, depth: u32) -> TokenTree {
        let span = Span::call_site();
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 | 1 => Ident::new(self.pick(&ARGUMENTS).0, span).into(),
            2 => Ident::new(
                self.pick(&["fn", "const", "r#if", "_", "async", "impl", "self", "x", "rate_limit"])
                    .trim_start_matches("r#"),
                span,
            )
            .into(),
            3 => Literal::string(self.pick(&[
                "1s",
                "100/s",
                "",
                "a.b",
                "(",
                "gcra",
                "\u{1F980}",
                "shadow",
                "0",
            ]))
            .into(),
            4 => self
                .pick(&["0", "1", "4294967296", "1.5", "'a'", "b\"x\"", "99999999999999999999", "1u8"])
                .parse::<Literal>()
                .expect("a literal")
                .into(),
            5 => Punct::new(
                self.pick(&['=', ',', '|', '<', '>', '-', '!', '#', ':', '&', '.', ';', '?']),
                self.pick(&[Spacing::Alone, Spacing::Joint]),
            )
            .into(),
            _ => {
                let delimiter = self.pick(&[
                    Delimiter::Parenthesis,
                    Delimiter::Brace,
                    Delimiter::Bracket,
                    Delimiter::None,
                ]);
                Group::new(delimiter, self.tokens(depth - 1)).into()
            }
        }
    }

    fn tokens(&mut self, depth: u32) -> TokenStream {
        (0..self.below(12)).map(|_| self.token(depth)).collect()
    }

    /// The tokens with a few of them lost, doubled, swapped or replaced, at any depth.
    fn mutated(&mut self, tokens: TokenStream) -> TokenStream {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(tokens.len());
            match self.below(6) {
                0 if !tokens.is_empty() => drop(tokens.remove(at)),
                1 if !tokens.is_empty() => tokens.insert(at, tokens[at].clone()),
                2 if !tokens.is_empty() => {
                    let other = self.below(tokens.len());
                    tokens.swap(at, other);
                }
                3 if !tokens.is_empty() => tokens[at] = self.token(2),
                4 if !tokens.is_empty() => {
                    if let TokenTree::Group(group) = &tokens[at] {
                        tokens[at] = Group::new(group.delimiter(), self.mutated(group.stream())).into();
                    }
                }
                _ => {
                    let token = self.token(2);
                    tokens.insert(at, token);
                }
            }
        }
        tokens.into_iter().collect()
    }
}

/// Expands everywhere where arguments may stand. A panic fails the test.
fn expand(arguments: &TokenStream, item: &TokenStream) {
    crate::attribute::expand(arguments.clone(), item.clone());
    crate::limiter::expand(arguments.clone());
}

#[test]
fn random_arguments_never_panic() {
    let mut random = Random(1);
    for _ in 0..2_000 {
        let item = random.pick(&ITEMS).parse().expect("an item");
        expand(&random.tokens(3), &item);
    }
}

#[test]
fn mutated_arguments_never_panic() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let valid = random.pick(&VALID).parse().expect("arguments");
        let item = random.pick(&ITEMS).parse().expect("an item");
        expand(&random.mutated(valid), &item);
    }
}

#[test]
fn mutated_items_never_panic() {
    let mut random = Random(3);
    for _ in 0..2_000 {
        let valid = random.pick(&VALID).parse().expect("arguments");
        let item = random.pick(&ITEMS).parse().expect("an item");
        expand(&valid, &random.mutated(item));
    }
}

#[test]
fn mutated_types_never_panic_in_the_derive() {
    const TYPES: [&str; 3] = [
        "#[rate_limit_key(crate = ::runtime)] pub struct S<'a, T: A<B>, const N: usize>(T, #[rate_limit_key(skip)] u8) where T: C;",
        "enum E<T> { A, B(T, u8), C { r#type: T, #[rate_limit_key(skip)] b: [u8; 3] } }",
        "union U { a: u8 }",
    ];
    let mut random = Random(4);
    for _ in 0..2_000 {
        let item = random.pick(&TYPES).parse().expect("a type");
        let item = random.mutated(item);
        crate::derive::expand(item);
    }
}
