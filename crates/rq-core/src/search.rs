//! Finding messages by who holds them, for how long, and by their IDs.
//!
//! What is asked for is found by an index where there is one: the list of its state, in its order; that of a consumer;
//! the store, in the order of IDs. Of a list and the store, the one with less to look at is walked. Where neither helps, a
//! search ends after a number of messages with an error, since whoever searches keeps all others waiting.

use std::ops::Range;

use crate::dead::Letter;
use crate::error::Error;
use crate::id::Id;
use crate::look;
use crate::outcome::{Dead, Pending, Scheduled, Waiting};
use crate::queue::Queue;
use crate::record::{Place, Record};
use crate::segment::{LINED, NONE};
use crate::store::{Hint, Stored};

/// Messages that a search looks at, at most: some milliseconds.
const LOOKS: u64 = 1_000_000;

/// Which messages of a state are searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Delivered so many milliseconds ago, at least.
    pub idle: u64,
    /// Held by this consumer, or by it last; none: by anybody.
    pub consumer: Option<&'a [u8]>,
    /// With IDs from the first to the second, both included. They come in the order of IDs then.
    pub between: Option<(Id, Id)>,
}

/// The part of what is found that is shown: from a position on, from the end when negative, at most so many.
pub type Window = (i64, u64);

impl Queue {
    /// Waiting messages between two IDs, in the order of IDs.
    ///
    /// # Errors
    /// [`Error::Unbounded`]
    pub fn find_waiting(
        &self,
        (low, high): (Id, Id),
        window: Window,
    ) -> Result<Vec<Waiting<'_>>, Error> {
        let waits = |number: u32| match self.group.records.get(number) {
            Some(record) => matches!(record.place, Place::Returned | Place::Redriven),
            None => number == NONE || number == LINED,
        };
        let ordinals = self.search_store(self.store.ordinals(low, high), waits, window)?;
        let messages = self.messages(ordinals);
        let rows = messages.map(|message| Waiting {
            id: message.id,
            payload: message.payload,
        });
        Ok(rows.collect())
    }

    /// Delivered messages, in the order of last delivery, or of IDs.
    ///
    /// # Errors
    /// [`Error::Unbounded`]
    pub fn find_pending(
        &self,
        now: u64,
        filter: &Filter<'_>,
        window: Window,
    ) -> Result<Vec<Pending<'_>>, Error> {
        let (group, records, now) = (&self.group, &self.group.records, self.time(now));
        let Some(until) = now.checked_sub(filter.idle) else {
            return Ok(Vec::new());
        };
        let (numbers, length): (Box<dyn Iterator<Item = u32> + '_>, u64) = match filter.consumer {
            Some(name) => (
                Box::new(group.consumers.records(records, name)),
                group.consumers.pending(name),
            ),
            None => (Box::new(group.delivered.iter(records)), group.delivered()),
        };
        // In the order of time: what was delivered later ends the list.
        let list = numbers
            .filter_map(|number| records.get(number))
            .take_while(|record| record.time() <= until)
            .map(Record::ordinal);
        let ordinals = match filter.between {
            None => search(list, |_| true, window)?,
            Some((low, high)) => {
                let span = self.store.ordinals(low, high);
                if length <= span.end - span.start {
                    sorted(search(list, |ordinal| span.contains(ordinal), ALL)?, window)
                } else {
                    let of = |number| {
                        let holder = group.consumers.holder(records, number);
                        filter.consumer.is_none_or(|name| *holder == *name)
                    };
                    let fits = |record: &&Record| {
                        record.place == Place::Delivered && record.time() <= until
                    };
                    let fits = |number| records.get(number).filter(fits).is_some() && of(number);
                    self.search_store(span, fits, window)?
                }
            }
        };
        let messages = self.messages(ordinals);
        let rows = messages.map(|message| self.pending(now, &message, message.record));
        Ok(rows.collect())
    }

    /// Dead letters, in the order of their deaths, or of IDs.
    ///
    /// # Errors
    /// [`Error::Unbounded`]
    pub fn find_dead(&self, filter: &Filter<'_>, window: Window) -> Result<Vec<Dead<'_>>, Error> {
        let (letters, records) = (&self.group.letters, &self.group.records);
        let of = |letter: &Letter| (filter.consumer).is_none_or(|name| *letter.consumer == *name);
        let ordinal = |letter: &Letter| letter.ordinal;
        let ordinals = match filter.between {
            None if filter.consumer.is_none() => {
                let part = part(letters.iter().map(ordinal), letters.len(), window);
                part.collect()
            }
            None => {
                let found = search(letters.iter(), |letter| of(letter), window)?;
                found.into_iter().map(ordinal).collect()
            }
            Some((low, high)) => {
                let span = self.store.ordinals(low, high);
                if letters.len() <= span.end - span.start {
                    let fits = |letter: &&Letter| span.contains(&letter.ordinal) && of(letter);
                    let found = search(letters.iter(), fits, ALL)?;
                    sorted(found.into_iter().map(ordinal).collect(), window)
                } else {
                    let dead = |record: &&Record| record.place == Place::Dead;
                    let letter = |record: &Record| letters.get(record.number());
                    let fits = |number| {
                        let record = records.get(number).filter(dead);
                        record.and_then(letter).is_some_and(of)
                    };
                    self.search_store(span, fits, window)?
                }
            }
        };
        let messages = self.messages(ordinals);
        let rows = messages.filter_map(|message| self.dead_letter(&message));
        Ok(rows.collect())
    }

    /// Messages that are due later, in the order of their times, or of IDs.
    ///
    /// # Errors
    /// [`Error::Unbounded`]
    pub fn find_scheduled(
        &self,
        between: Option<(Id, Id)>,
        window: Window,
    ) -> Result<Vec<Scheduled<'_>>, Error> {
        let group = &self.group;
        let pairs = group.scheduled_pairs(&self.store);
        let found: Vec<(u64, u64)> = match between {
            None => part(pairs, group.scheduled(), window).collect(),
            Some((low, high)) => {
                // Only the pairs know when a message is due.
                let span = self.store.ordinals(low, high);
                let found = search(pairs, |(_, ordinal)| span.contains(ordinal), ALL)?;
                let found = found.into_iter().map(|(due, ordinal)| (ordinal, due));
                let found = sorted(found.collect(), window).into_iter();
                found.map(|(ordinal, due)| (due, ordinal)).collect()
            }
        };
        let row = |(due, ordinal)| {
            let message = self.store.of(ordinal)?;
            Some(Scheduled {
                id: message.id,
                payload: message.payload,
                due,
            })
        };
        Ok(found.into_iter().filter_map(row).collect())
    }

    /// Ordinals of messages whose record or mark fits, in the order of IDs.
    fn search_store(
        &self,
        span: Range<u64>,
        fits: impl Fn(u32) -> bool,
        window: Window,
    ) -> Result<Vec<u64>, Error> {
        let found = search(
            self.store.records(span),
            |&(_, number)| fits(number),
            window,
        )?;
        Ok(found.into_iter().map(|(ordinal, _)| ordinal).collect())
    }

    fn messages(&self, ordinals: Vec<u64>) -> impl Iterator<Item = Stored<'_>> {
        let mut hint = Hint::default();
        ordinals.into_iter().filter_map(move |ordinal| {
            let place = self.store.at(ordinal, &mut hint)?;
            self.store.get(place)
        })
    }
}

/// All that is found.
const ALL: Window = (0, u64::MAX);

/// A window of a list whose length is known.
fn part<T>(
    list: impl Iterator<Item = T>,
    length: u64,
    (start, count): Window,
) -> impl Iterator<Item = T> {
    let (start, count) = look::window(length, start, count);
    list.skip(usize::try_from(start).unwrap_or(usize::MAX))
        .take(count)
}

/// A window of what fits in a list.
fn search<T>(
    list: impl Iterator<Item = T>,
    fits: impl Fn(&T) -> bool,
    (start, count): Window,
) -> Result<Vec<T>, Error> {
    let mut skip = u64::try_from(start).unwrap_or(0);
    let most = if start < 0 { u64::MAX } else { count };
    let (mut looks, mut found) = (0, Vec::new());
    for each in list {
        if found.len() as u64 >= most {
            break;
        }
        looks += 1;
        if looks > LOOKS {
            return Err(Error::Unbounded(LOOKS));
        }
        if fits(&each) {
            match skip.checked_sub(1) {
                Some(left) => skip = left,
                None => found.push(each),
            }
        }
    }
    if start < 0 {
        let length = found.len() as u64;
        return Ok(part(found.into_iter(), length, (start, count)).collect());
    }
    Ok(found)
}

/// A window of these in their order.
fn sorted<T: Ord>(mut all: Vec<T>, window: Window) -> Vec<T> {
    all.sort_unstable();
    let length = all.len() as u64;
    part(all.into_iter(), length, window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_where_no_index_helps() {
        let last = |&n: &u64| n == LOOKS - 1;
        assert_eq!(search(0.., last, (0, 1)), Ok(vec![LOOKS - 1]));
        assert_eq!(search(0.., |_| true, (3, 2)), Ok(vec![3, 4]));
        assert_eq!(
            search(0..LOOKS, |n| n % 2 == 0, (-1, 9)),
            Ok(vec![LOOKS - 2])
        );
        for window in [(0, 2), (-1, 1), (1, 1)] {
            assert_eq!(search(0.., last, window), Err(Error::Unbounded(LOOKS)));
        }
    }
}
