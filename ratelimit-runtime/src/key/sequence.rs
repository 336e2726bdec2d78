//! Several values that make one key together: tuples, arrays, slices and `Vec`. The same values are the same key in each.

use super::{KeyEncoder, RateLimitKey};

impl<T: RateLimitKey> RateLimitKey for [T] {
    fn encode(&self, encoder: &mut KeyEncoder) {
        let mut parts = encoder.tuple();
        for part in self {
            parts.part(part);
        }
    }
}

impl<T: RateLimitKey, const N: usize> RateLimitKey for [T; N] {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        self.as_slice().encode(encoder);
    }
}

impl<T: RateLimitKey> RateLimitKey for Vec<T> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        self.as_slice().encode(encoder);
    }
}

impl RateLimitKey for () {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.tuple();
    }
}

macro_rules! tuples {
    ($($type:ident $index:tt),*) => {
        impl<$($type: RateLimitKey),*> RateLimitKey for ($($type,)*) {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.tuple()$(.part(&self.$index))*;
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
