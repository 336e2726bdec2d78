//! Single values as keys, and what is transparent to the value in it.

use std::borrow::Cow;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8, NonZeroU16,
    NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::rc::Rc;
use std::sync::Arc;

use super::encoder::tag;
use super::{KeyEncoder, RateLimitKey};

macro_rules! unsigned {
    ($($type:ty),*) => {$(
        impl RateLimitKey for $type {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.unsigned(u128::from(*self));
            }
        }
    )*};
}
unsigned!(u8, u16, u32, u64, u128);

macro_rules! signed {
    ($($type:ty),*) => {$(
        impl RateLimitKey for $type {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.signed(i128::from(*self));
            }
        }
    )*};
}
signed!(i8, i16, i32, i64, i128);

macro_rules! same_as {
    ($($type:ty: |$value:ident| $same:expr),* $(,)?) => {$(
        impl RateLimitKey for $type {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder) {
                let $value = *self;
                $same.encode(encoder);
            }
        }
    )*};
}
// No platform has wider ones than these.
same_as!(usize: |number| number as u64, isize: |number| number as i64);
same_as!(
    NonZeroU8: |number| number.get(), NonZeroU16: |number| number.get(), NonZeroU32: |number| number.get(),
    NonZeroU64: |number| number.get(), NonZeroU128: |number| number.get(), NonZeroUsize: |number| number.get(),
    NonZeroI8: |number| number.get(), NonZeroI16: |number| number.get(), NonZeroI32: |number| number.get(),
    NonZeroI64: |number| number.get(), NonZeroI128: |number| number.get(), NonZeroIsize: |number| number.get(),
);

impl RateLimitKey for bool {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.byte(if *self { tag::TRUE } else { tag::FALSE });
    }
}

impl RateLimitKey for char {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.fixed(tag::CHAR, u32::from(*self).to_be_bytes());
    }
}

impl<T: RateLimitKey> RateLimitKey for Option<T> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            None => encoder.byte(tag::NONE),
            Some(value) => {
                encoder.byte(tag::SOME);
                value.encode(encoder);
            }
        }
    }
}

impl<T: RateLimitKey, E: RateLimitKey> RateLimitKey for Result<T, E> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            Ok(value) => {
                encoder.byte(tag::OK);
                value.encode(encoder);
            }
            Err(error) => {
                encoder.byte(tag::ERR);
                error.encode(encoder);
            }
        }
    }
}

macro_rules! transparent {
    ($($pointer:ty),*) => {$(
        impl<T: RateLimitKey + ?Sized> RateLimitKey for $pointer {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder) {
                T::encode(self, encoder);
            }
        }
    )*};
}
transparent!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

impl<T: RateLimitKey + ToOwned + ?Sized> RateLimitKey for Cow<'_, T> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        T::encode(self, encoder);
    }
}
