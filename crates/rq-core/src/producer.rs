//! Producers, and the numbers of their pushes.
//!
//! A producer numbers its elements, so that a push which is sent again, because its answer was
//! lost, is stored once. What is remembered of it: its highest number, and the IDs of its latest
//! push. It is forgotten [`WINDOW`] after that push; as long as a producer is remembered, so is
//! the queue.
//!
//! Invariants: both maps hold the same producers; a producer's latest push has at least one
//! element, and its highest number is at least that count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::id::Id;
use crate::invariants::ensure;

/// Milliseconds for which a producer is remembered after its last push.
pub(crate) const WINDOW: u64 = 600_000;

/// What is remembered of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Producer {
    /// Number of its last element.
    pub(crate) highest: u64,
    /// ID of the first element of its latest push.
    pub(crate) first: Id,
    /// Number of elements of its latest push.
    pub(crate) count: u64,
    /// Milliseconds of its latest push.
    pub(crate) time: u64,
}

impl Producer {
    /// The ID that the element with this number got, if it was in the latest push.
    pub(crate) fn id_of(&self, number: u64) -> Option<Id> {
        let before = self.highest - self.count;
        (number > before && number <= self.highest).then(|| self.first.plus(number - before - 1))
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Producers {
    by_name: BTreeMap<Arc<[u8]>, Producer>,
    by_time: BTreeSet<(u64, Arc<[u8]>)>,
    /// Bytes of the names.
    names: usize,
}

impl Producers {
    pub(crate) fn len(&self) -> u64 {
        self.by_name.len() as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Bytes allocated, roughly: nodes of two trees, and the names.
    pub(crate) fn heap(&self) -> usize {
        const NODES: usize = 2 * (size_of::<(u64, Arc<[u8]>)>() + size_of::<Producer>());
        self.by_name.len() * NODES + self.names
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&Producer> {
        self.by_name.get(name)
    }

    /// Remembers a push.
    pub(crate) fn set(&mut self, name: &[u8], producer: Producer) {
        let key = match self.by_name.get_key_value(name) {
            Some((key, old)) => {
                let key = key.clone();
                self.by_time.remove(&(old.time, key.clone()));
                key
            }
            None => {
                self.names += name.len() + 16;
                name.into()
            }
        };
        self.by_time.insert((producer.time, key.clone()));
        self.by_name.insert(key, producer);
    }

    /// Forgets a producer; false when it is not known.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        let Some((key, producer)) = self.by_name.remove_entry(name) else {
            return false;
        };
        self.by_time.remove(&(producer.time, key));
        self.names -= name.len() + 16;
        true
    }

    /// When the next one is to be forgotten.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.by_time
            .first()
            .map(|(time, _)| time.saturating_add(WINDOW))
    }

    /// Those that are to be forgotten by now, the longest known first.
    pub(crate) fn due(&self, now: u64) -> impl Iterator<Item = &[u8]> {
        (self.by_time.iter())
            .take_while(move |(time, _)| time.saturating_add(WINDOW) <= now)
            .map(|(_, name)| &**name)
    }

    /// All of them, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &Producer)> {
        self.by_name
            .iter()
            .map(|(name, producer)| (&**name, producer))
    }

    /// The last by name.
    pub(crate) fn last_name(&self) -> Option<&[u8]> {
        self.by_name.last_key_value().map(|(name, _)| &**name)
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        ensure(
            self.by_time.len() == self.by_name.len(),
            "producers do not add up",
        )?;
        for (name, producer) in &self.by_name {
            let timed = self.by_time.contains(&(producer.time, name.clone()));
            ensure(timed, "a producer is not found by its time")?;
            let counts = producer.count > 0 && producer.count <= producer.highest;
            ensure(counts, "a producer's numbers do not add up")?;
        }
        Ok(())
    }
}
