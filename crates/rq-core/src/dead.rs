//! Dead letters, in the order of their deaths.
//!
//! The message stays in the store, its record keeps the counts and names the letter. Times never fall.

use std::collections::BTreeMap;

use crate::invariants::ensure;

/// What is known of a death.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) ordinal: u64,
    /// Milliseconds of the death.
    pub(crate) died: u64,
    pub(crate) reason: Box<[u8]>,
    /// The last consumer that held the message; empty for none.
    pub(crate) consumer: Box<[u8]>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Letters {
    by_number: BTreeMap<u64, Letter>,
    next: u64,
    /// Bytes of texts.
    texts: usize,
}

impl Letters {
    pub(crate) fn len(&self) -> u64 {
        self.by_number.len() as u64
    }

    pub(crate) fn heap(&self) -> usize {
        self.by_number.len() * (size_of::<Letter>() + 16) * 3 / 2 + self.texts
    }

    /// Adds a letter behind all others; its number.
    pub(crate) fn push(&mut self, letter: Letter) -> u64 {
        let number = self.next;
        self.next += 1;
        self.texts += letter.reason.len() + letter.consumer.len();
        self.by_number.insert(number, letter);
        number
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Letter> {
        self.by_number.get(&number)
    }

    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(letter) = self.by_number.remove(&number) {
            self.texts -= letter.reason.len() + letter.consumer.len();
        }
    }

    pub(crate) fn first(&self) -> Option<&Letter> {
        self.by_number.values().next()
    }

    pub(crate) fn last(&self) -> Option<&Letter> {
        self.by_number.values().next_back()
    }

    /// All of them, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Letter> {
        self.by_number.values()
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let times = self.iter().map(|letter| letter.died);
        ensure(times.is_sorted(), "deaths are not in order")?;
        let texts = self.iter().map(|l| l.reason.len() + l.consumer.len()).sum();
        ensure(self.texts == texts, "texts of dead letters do not add up")
    }
}
