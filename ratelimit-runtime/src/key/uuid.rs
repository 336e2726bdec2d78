//! `Uuid` as a key.

use uuid::Uuid;

use super::encoder::tag;
use super::{KeyEncoder, RateLimitKey};

impl RateLimitKey for Uuid {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.fixed(tag::UUID, *self.as_bytes());
    }
}
