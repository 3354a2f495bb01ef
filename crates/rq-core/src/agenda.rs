//! When to look at which queue.
//!
//! A queue knows when it has something to do ([`Queue::next_due`](crate::Queue::next_due)). Whoever keeps queues notes
//! these times here, at most one a place. A note is a hint: a queue that is looked at too early does
//! nothing, and is noted again.

use std::collections::{BTreeMap, BTreeSet};

/// Notes, by their times. `P` says where a queue is.
#[derive(Debug)]
pub struct Agenda<P> {
    by_time: BTreeSet<(u64, P)>,
    by_place: BTreeMap<P, u64>,
}

impl<P: Ord + Clone> Default for Agenda<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> Agenda<P> {
    /// Without notes.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            by_time: BTreeSet::new(),
            by_place: BTreeMap::new(),
        }
    }
}

impl<P: Ord + Clone> Agenda<P> {
    /// Notes a time, unless an earlier one is noted: then the place is seen in time anyway.
    pub fn note(&mut self, time: u64, place: P) {
        match self.by_place.get_mut(&place) {
            Some(noted) if *noted <= time => {}
            Some(noted) => {
                self.by_time.remove(&(*noted, place.clone()));
                *noted = time;
                self.by_time.insert((time, place));
            }
            None => {
                self.by_place.insert(place.clone(), time);
                self.by_time.insert((time, place));
            }
        }
    }

    /// The earliest time noted.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes the first note whose time has come.
    pub fn take(&mut self, now: u64) -> Option<P> {
        if self.first()? > now {
            return None;
        }
        let (_, place) = self.by_time.pop_first()?;
        self.by_place.remove(&place);
        Some(place)
    }

    /// Has every place looked at at once.
    pub fn hasten(&mut self) {
        for (_, place) in std::mem::take(&mut self.by_time) {
            self.by_time.insert((0, place));
        }
        self.by_place.values_mut().for_each(|time| *time = 0);
    }

    /// Gives every place another name.
    pub fn rename(&mut self, renamed: impl Fn(P) -> P) {
        for (time, place) in std::mem::take(&mut self.by_time) {
            self.by_time.insert((time, renamed(place)));
        }
        self.by_place = (self.by_time.iter())
            .map(|(time, place)| (place.clone(), *time))
            .collect();
    }
}
