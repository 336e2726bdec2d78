//! The encoding of keys.
//!
//! Every value is a tag byte and what belongs to it, and tells by itself where it ends: no encoding is the beginning of
//! another. So values can stand side by side in a tuple without a separator, and equal encodings mean equal values.
//!
//! | value | bytes |
//! | --- | --- |
//! | integer from 0 | tag by length (0 to 8, or 16 bytes), then the number, little endian, without its leading zeros |
//! | integer below 0 | likewise under tags of its own: the number's complement (-1 is 0, -2 is 1) |
//! | text | tag, UTF-8, `0xFF` (which UTF-8 never contains, so text can be streamed) |
//! | tuple, slice | tag, the parts, the end tag |
//! | variant | tag, the name in UTF-8, `0xFF`, the parts, the end tag |
//! | the rest | tag, then as many bytes as the tag says |

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Write};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use siphasher::sip128::{Hasher128, SipHasher13};

use super::{Key, LAST, RateLimitKey};

/// The first byte of each value. Stores keep keys encoded so: a tag may be added, never given another meaning.
pub(super) mod tag {
    pub(crate) const END: u8 = 0x01;
    pub(crate) const TUPLE: u8 = 0x02;
    pub(crate) const VARIANT: u8 = 0x03;
    pub(crate) const NONE: u8 = 0x04;
    pub(crate) const SOME: u8 = 0x05;
    pub(crate) const OK: u8 = 0x06;
    pub(crate) const ERR: u8 = 0x07;
    pub(crate) const FALSE: u8 = 0x08;
    pub(crate) const TRUE: u8 = 0x09;
    pub(crate) const CHAR: u8 = 0x0A;
    pub(crate) const TEXT: u8 = 0x0B;
    pub(crate) const IPV4: u8 = 0x0C;
    pub(crate) const IPV6: u8 = 0x0D;
    pub(crate) const IPV6_NET_64: u8 = 0x0E;
    pub(crate) const SOCKET_V4: u8 = 0x0F;
    pub(crate) const SOCKET_V6: u8 = 0x10;
    pub(crate) const SOCKET_V6_SCOPED: u8 = 0x11;
    #[cfg(feature = "uuid")]
    pub(crate) const UUID: u8 = 0x12;
    /// The first of ten: one for each length.
    pub(crate) const UNSIGNED: u8 = 0x20;
    /// The first of ten: one for each length.
    pub(crate) const NEGATIVE: u8 = 0x30;
}

/// No byte of UTF-8.
const END_OF_TEXT: u8 = 0xFF;

/// The length that marks a digest.
pub(super) const DIGEST: u64 = 0xFF;

/// Encodings up to this length are kept as they are.
const INLINE: usize = 23;

/// Takes in one key.
///
/// An implementation of [`RateLimitKey`] hands it exactly one value: a part of its own by [`RateLimitKey::encode`], or
/// several together by [`tuple`](Self::tuple), or [`variant`](Self::variant) for one case of an enum.
#[derive(Debug)]
pub struct KeyEncoder {
    sink: Sink,
    /// The digest, if it comes to that, is to be the same in every process.
    for_store: bool,
}

#[derive(Debug)]
enum Sink {
    /// The first byte lowest in the first word. Words, not bytes: a key is made at every call, and to read as a word what
    /// was just written as bytes stalls the processor for longer than all the rest takes.
    Inline {
        words: [u64; 3],
        length: usize,
    },
    Digest(SipHasher13),
    Stored(ForStore),
}

/// The digest of keys that leave the process. Boxed, since an encoder is made for every key and this is large; and not
/// dropped but by [`KeyEncoder::finish`], as then there is nothing to drop in an encoder without it.
struct ForStore(ManuallyDrop<Box<hmac_sha256::Hash>>);

impl fmt::Debug for ForStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForStore")
    }
}

impl KeyEncoder {
    /// Several parts that make one key together. They may be of different types, and may be none.
    ///
    /// ```
    /// # use ratelimit_runtime::{KeyEncoder, RateLimitKey};
    /// # struct Cell { row: u32, column: u32 }
    /// impl RateLimitKey for Cell {
    ///     fn encode(&self, encoder: &mut KeyEncoder) {
    ///         encoder.tuple().part(&self.row).part(&self.column);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn tuple(&mut self) -> KeyParts<'_> {
        self.byte(tag::TUPLE);
        KeyParts { encoder: self }
    }

    /// One case of an enum, by its name, and the parts it has. The same name with other parts is another key.
    ///
    /// ```
    /// # use ratelimit_runtime::{KeyEncoder, RateLimitKey};
    /// # enum Plan { Free, Paid { seats: u32 } }
    /// impl RateLimitKey for Plan {
    ///     fn encode(&self, encoder: &mut KeyEncoder) {
    ///         match self {
    ///             Plan::Free => {
    ///                 encoder.variant("Free");
    ///             }
    ///             Plan::Paid { seats } => {
    ///                 encoder.variant("Paid").part(seats);
    ///             }
    ///         }
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn variant(&mut self, name: &str) -> KeyParts<'_> {
        self.byte(tag::VARIANT);
        self.bytes(name.as_bytes());
        self.byte(END_OF_TEXT);
        KeyParts { encoder: self }
    }

    pub(super) const fn new() -> Self {
        Self { sink: Sink::Inline { words: [0; 3], length: 0 }, for_store: false }
    }

    pub(super) const fn for_store() -> Self {
        Self { for_store: true, ..Self::new() }
    }

    /// In line, so that a short key never leaves the registers.
    #[inline(always)]
    pub(super) fn finish(self) -> Key {
        match self.sink {
            Sink::Inline { words: [first, second, third], length } => {
                let last = (length as u64) << LAST;
                if length < 16 { Key([first, second | last, 0]) } else { Key([first, second, third | last]) }
            }
            digest => Self::finish_digest(digest),
        }
    }

    #[inline(never)]
    fn finish_digest(sink: Sink) -> Key {
        match sink {
            Sink::Inline { words, .. } => Key(words),
            Sink::Digest(hasher) => {
                let digest = hasher.finish128();
                Key([digest.h1, digest.h2, DIGEST << LAST])
            }
            Sink::Stored(ForStore(hasher)) => {
                let digest = ManuallyDrop::into_inner(hasher).finalize();
                let (words, _) = digest.as_chunks::<8>();
                let word = |number: usize| u64::from_le_bytes(words[number]);
                Key([word(0), word(1), word(2) | DIGEST << LAST])
            }
        }
    }

    #[inline]
    pub(super) fn unsigned(&mut self, number: u128) {
        self.integer(tag::UNSIGNED, number);
    }

    #[inline]
    pub(super) fn signed(&mut self, number: i128) {
        match u128::try_from(number) {
            Ok(number) => self.integer(tag::UNSIGNED, number),
            Err(_) => self.integer(tag::NEGATIVE, (!number).cast_unsigned()),
        }
    }

    /// An integer without its leading zeros, so that each has one encoding.
    #[inline(always)]
    fn integer(&mut self, first_tag: u8, number: u128) {
        if let Ok(number) = u64::try_from(number) {
            let length = (u64::BITS - number.leading_zeros()).div_ceil(8);
            self.append(u64::from(first_tag) + u64::from(length), 1);
            self.append(number, length as usize);
        } else {
            self.fixed(first_tag + 9, number.to_le_bytes());
        }
    }

    /// A value whose length the tag tells.
    #[inline]
    pub(super) fn fixed<const N: usize>(&mut self, tag: u8, bytes: [u8; N]) {
        self.byte(tag);
        self.bytes(&bytes);
    }

    /// More bytes of the value, also told by its tag.
    #[inline]
    pub(super) fn more<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes(&bytes);
    }

    /// One byte: a tag, or an end.
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.append(u64::from(byte), 1);
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        match (&mut self.sink, short_text(text)) {
            (Sink::Inline { words, length: length @ 0 }, Some(encoded)) => {
                [words[0], words[1]] = encoded;
                *length = text.len() + 2;
            }
            _ => self.any_text(text),
        }
    }

    #[inline(never)]
    fn any_text(&mut self, text: &str) {
        self.byte(tag::TEXT);
        self.bytes(text.as_bytes());
        self.byte(END_OF_TEXT);
    }

    /// The text that a value prints, without a buffer for it.
    pub(super) fn printed(&mut self, value: impl Display) {
        self.byte(tag::TEXT);
        // The encoder refuses nothing, so an error is the value's own: what it has printed until then is the text.
        let _ = write!(TextEncoder { encoder: self }, "{value}");
        self.byte(END_OF_TEXT);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        if let Sink::Inline { length, .. } = &self.sink
            && length + bytes.len() <= INLINE
        {
            let (words, rest) = bytes.as_chunks();
            for word in words {
                self.append(u64::from_le_bytes(*word), 8);
            }
            self.append(word(rest), rest.len());
        } else {
            self.digest(bytes);
        }
    }

    /// The lowest `count` bytes of a word whose others are 0.
    #[inline(always)]
    fn append(&mut self, word: u64, count: usize) {
        if let Sink::Inline { words, length } = &mut self.sink
            && *length + count <= INLINE
        {
            let (index, shift) = (*length / 8, *length % 8 * 8);
            words[index] |= word << shift;
            if shift + count * 8 > 64 {
                words[index + 1] |= word >> (64 - shift);
            }
            *length += count;
        } else {
            self.digest(&word.to_le_bytes()[..count]);
        }
    }

    #[inline(never)]
    fn digest(&mut self, bytes: &[u8]) {
        match &mut self.sink {
            Sink::Digest(hasher) => hasher.write(bytes),
            Sink::Stored(ForStore(hasher)) => hasher.update(bytes),
            Sink::Inline { words, length } if self.for_store => {
                let mut hasher = hmac_sha256::Hash::new();
                hasher.update(&words.map(u64::to_le_bytes).as_flattened()[..*length]);
                hasher.update(bytes);
                self.sink = Sink::Stored(ForStore(ManuallyDrop::new(Box::new(hasher))));
            }
            Sink::Inline { words, length } => {
                let mut hasher = digest();
                hasher.write(&words.map(u64::to_le_bytes).as_flattened()[..*length]);
                hasher.write(bytes);
                self.sink = Sink::Digest(hasher);
            }
        }
    }
}

/// The parts of a [tuple](KeyEncoder::tuple) or [variant](KeyEncoder::variant), which ends when this is dropped.
#[derive(Debug)]
pub struct KeyParts<'a> {
    encoder: &'a mut KeyEncoder,
}

impl KeyParts<'_> {
    /// The next part.
    #[inline]
    pub fn part<K: RateLimitKey + ?Sized>(&mut self, part: &K) -> &mut Self {
        part.encode(self.encoder);
        self
    }
}

impl Drop for KeyParts<'_> {
    #[inline]
    fn drop(&mut self) {
        self.encoder.byte(tag::END);
    }
}

/// The inside of a text.
struct TextEncoder<'a> {
    encoder: &'a mut KeyEncoder,
}

impl fmt::Write for TextEncoder<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.encoder.bytes(text.as_bytes());
        Ok(())
    }
}

/// The encoding of a text, if that leaves room for the length in two words. Most keys of users and services are such.
#[inline]
fn short_text(text: &str) -> Option<[u64; 2]> {
    let (bytes, length) = (text.as_bytes(), text.len());
    let words = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(start), Some(end)) if length <= 13 => {
            // Where the two overlap they are the same.
            u128::from(u64::from_le_bytes(*start))
                | u128::from(u64::from_le_bytes(*end)) << ((length - 8) * 8)
        }
        (None, None) => u128::from(word(bytes)),
        _ => return None,
    };
    let encoded = u128::from(tag::TEXT) | words << 8 | u128::from(END_OF_TEXT) << ((length + 1) * 8);
    #[expect(clippy::cast_possible_truncation, reason = "the halves")]
    Some([encoded as u64, (encoded >> 64) as u64])
}

/// Up to seven bytes as a word, the first lowest.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if let (Some(start), Some(end)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Where the two overlap they are the same.
        u64::from(u32::from_le_bytes(*start)) | u64::from(u32::from_le_bytes(*end)) << ((length - 4) * 8)
    } else {
        bytes.iter().rfold(0, |word, byte| word << 8 | u64::from(*byte))
    }
}

/// Seeded once per process, so that nobody outside can look for two keys of one digest.
fn digest() -> SipHasher13 {
    static SEED: OnceLock<(u64, u64)> = OnceLock::new();
    let &(first, second) = SEED.get_or_init(|| {
        let random = RandomState::new();
        (random.hash_one(1), random.hash_one(2))
    });
    SipHasher13::new_with_keys(first, second)
}
