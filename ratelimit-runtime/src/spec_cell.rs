//! The limit in force, to be read while it changes: denials carry it, and take no lock.

use ratelimit_spec::LimitSpec;

use crate::sync::{
    atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
        fence,
    },
    race_point,
};

/// Words and their version, which is odd while they are written.
///
/// A reader that finds the same even version before and after has read words of one writing: had it read a later one's,
/// the fence would have shown it that one's version. Writers take turns by a lock of their own.
pub(crate) struct SpecCell {
    version: AtomicU64,
    words: [AtomicU64; 3],
}

impl SpecCell {
    pub(crate) fn new(spec: LimitSpec) -> Self {
        Self { version: AtomicU64::new(0), words: spec.pack().map(AtomicU64::new) }
    }

    pub(crate) fn get(&self) -> LimitSpec {
        loop {
            // Acquire: pairs with the Release at the end of `set`.
            let version = self.version.load(Acquire);
            let [one, two, three] = &self.words;
            let words = [one.load(Relaxed), two.load(Relaxed), three.load(Relaxed)];
            race_point();
            // Acquire: pairs with the fence in `set`, if one of the words is of that writing.
            fence(Acquire);
            if version.is_multiple_of(2) && self.version.load(Relaxed) == version {
                return LimitSpec::unpack(words);
            }
            crate::sync::spin();
        }
    }

    /// To be called by one thread at a time.
    pub(crate) fn set(&self, spec: LimitSpec) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        // Release: whoever reads one of the words below also finds that the version has changed.
        fence(Release);
        race_point();
        for (word, packed) in self.words.iter().zip(spec.pack()) {
            word.store(packed, Relaxed);
        }
        self.version.store(version + 2, Release);
    }
}
