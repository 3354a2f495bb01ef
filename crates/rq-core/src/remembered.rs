//! What is remembered by name, some of it only for a while: numbers of producers, and tokens of messages.
//!
//! A producer numbers its elements, so that a push which is sent again, because its answer was lost, is stored once. What is
//! remembered of it: its highest number, and the IDs of its latest push. It is forgotten some time after that push.
//! A token is remembered as long as its message is there, and some time after it has left. As long as anything is
//! remembered, so is the queue.
//!
//! Invariants: what has a time is in both maps, everything in the first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::id::Id;
use crate::invariants::ensure;

/// What is remembered of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Producer {
    /// Number of its last element.
    pub(crate) highest: u64,
    /// ID of the first element of its latest push.
    pub(crate) first: Id,
    /// Number of elements of its latest push.
    pub(crate) count: u64,
}

impl Producer {
    /// The ID that the element with this number got, if it was in the latest push.
    pub(crate) fn id_of(&self, number: u64) -> Option<Id> {
        let before = self.highest.checked_sub(self.count)?;
        (number > before && number <= self.highest).then(|| self.first.plus(number - before - 1))
    }

    /// Whether its numbers and IDs can be.
    pub(crate) fn is_sound(&self) -> bool {
        let ids = self.first.milliseconds < Id::MILLISECONDS_END
            && (self.first.sequence)
                .checked_add(self.count.saturating_sub(1))
                .is_some();
        ids && self.count > 0 && self.count <= self.highest
    }
}

/// Values by name; those with a time are forgotten some time after it.
#[derive(Debug, Clone)]
pub(crate) struct Remembered<V> {
    by_name: BTreeMap<Arc<[u8]>, (V, Option<u64>)>,
    by_time: BTreeSet<(u64, Arc<[u8]>)>,
    /// Bytes of the names.
    names: usize,
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
            by_time: BTreeSet::new(),
            names: 0,
        }
    }
}

impl<V: Copy> Remembered<V> {
    pub(crate) fn len(&self) -> u64 {
        self.by_name.len() as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Bytes allocated, roughly: nodes of two trees, and the names.
    pub(crate) fn heap(&self) -> usize {
        const TIMED: usize = 2 * size_of::<(u64, Arc<[u8]>)>();
        let named = 3 * (size_of::<(V, Option<u64>)>() + size_of::<Arc<[u8]>>()) / 2;
        self.by_name.len() * named + self.by_time.len() * TIMED + self.names
    }

    /// The value of a name, and its time.
    pub(crate) fn get(&self, name: &[u8]) -> Option<(V, Option<u64>)> {
        self.by_name.get(name).copied()
    }

    /// Remembers a value, from a time on only for a while.
    pub(crate) fn set(&mut self, name: &[u8], value: V, time: Option<u64>) {
        let key = match self.by_name.get_key_value(name) {
            Some((key, (_, old))) => {
                let key = key.clone();
                if let Some(old) = *old {
                    self.by_time.remove(&(old, key.clone()));
                }
                key
            }
            None => {
                self.names += name.len() + 16;
                name.into()
            }
        };
        if let Some(time) = time {
            self.by_time.insert((time, key.clone()));
        }
        self.by_name.insert(key, (value, time));
    }

    /// Forgets a name; false when it is not known.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        let Some((key, (_, time))) = self.by_name.remove_entry(name) else {
            return false;
        };
        if let Some(time) = time {
            self.by_time.remove(&(time, key));
        }
        self.names -= name.len() + 16;
        true
    }

    /// When the next one is to be forgotten.
    pub(crate) fn next_due(&self, window: u64) -> Option<u64> {
        let first = self.by_time.first();
        first.map(|(time, _)| time.saturating_add(window))
    }

    /// Those that are to be forgotten by now, the longest known first.
    pub(crate) fn due(&self, now: u64, window: u64) -> impl Iterator<Item = &[u8]> {
        (self.by_time.iter())
            .take_while(move |(time, _)| time.saturating_add(window) <= now)
            .map(|(_, name)| &**name)
    }

    /// All of them, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], V, Option<u64>)> {
        let all = self.by_name.iter();
        all.map(|(name, &(value, time))| (&**name, value, time))
    }

    /// The last by name.
    pub(crate) fn last_name(&self) -> Option<&[u8]> {
        self.by_name.last_key_value().map(|(name, _)| &**name)
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let timed = self
            .by_name
            .iter()
            .filter_map(|(name, (_, time))| Some(((*time)?, name)));
        let found = timed
            .clone()
            .all(|(time, name)| self.by_time.contains(&(time, name.clone())));
        ensure(found, "a name is not found by its time")?;
        ensure(self.by_time.len() == timed.count(), "names do not add up")
    }
}
