//! Looking at what stands where.

use super::{Group, is_good, is_scheduled};
use crate::dead::Letter;
use crate::id::Id;
use crate::lane::Entry;
use crate::outcome::State;
use crate::record::{Place as Standing, Record};
use crate::segment::SCHEDULED;
use crate::store::{Hint, Store, Stored};

impl Group {
    /// The record of a message, where it has one.
    pub(crate) fn record(&self, message: &Stored<'_>) -> Option<&Record> {
        self.records.get(message.record)
    }

    /// The letter of a dead message's record.
    pub(crate) fn letter(&self, record: &Record) -> Option<&Letter> {
        let dead = record.place == Standing::Dead;
        dead.then(|| self.letters.get(record.number())).flatten()
    }

    pub(crate) fn state(&self, message: &Stored<'_>) -> State {
        match (
            message.record,
            self.record(message).map(|record| record.place),
        ) {
            (SCHEDULED, _) | (_, Some(Standing::Retry)) => State::Scheduled,
            (_, Some(Standing::Delivered)) => State::Delivered,
            (_, Some(Standing::Dead)) => State::Dead,
            _ => State::Waiting,
        }
    }

    /// Plain messages from the `start`-th on.
    fn iter_plain<'a>(
        &self,
        store: &'a Store,
        start: u64,
    ) -> impl Iterator<Item = Stored<'a>> + use<'a> {
        let mut hint = self.pop_hint;
        let mut place = store.seek(self.cursor, &mut hint);
        let mut skip = start;
        // Segments are passed over by their counts.
        while let Some(here) = place {
            let plain = store.plain_in_segment(here) as u64;
            if skip < plain {
                break;
            }
            skip -= plain;
            place = store.next_segment(here);
        }
        std::iter::successors(place.and_then(|p| store.plain_from(p)), move |&p| {
            store.plain_from(store.after(p)?)
        })
        .skip(usize::try_from(skip).unwrap_or(usize::MAX))
        .filter_map(move |p| store.get(p))
    }

    /// What came in order at a priority, from the head on.
    fn iter_line<'a>(&'a self, store: &'a Store, priority: u8) -> impl Iterator<Item = Stored<'a>> {
        let line = self
            .lanes
            .get(priority)
            .map(|lane| lane.line.iter())
            .into_iter()
            .flatten();
        let good = |entry: &&Entry| is_good(store, &self.records, entry.ordinal, entry.redriven);
        let mut line = line.filter(good).peekable();
        let mut plain = (priority == 0)
            .then(|| self.iter_plain(store, 0))
            .into_iter()
            .flatten()
            .peekable();
        std::iter::from_fn(move || {
            let plain_first = match (line.peek(), plain.peek()) {
                (Some(entry), Some(message)) => message.ordinal < entry.barrier,
                (entry, _) => entry.is_none(),
            };
            if plain_first {
                plain.next()
            } else {
                line.next().and_then(|entry| store.of(entry.ordinal))
            }
        })
    }

    pub(super) fn iter_front<'a>(
        &'a self,
        store: &'a Store,
        priority: u8,
    ) -> impl DoubleEndedIterator<Item = Stored<'a>> {
        let front = self
            .lanes
            .get(priority)
            .map(|lane| lane.front.iter())
            .into_iter()
            .flatten();
        front
            .filter(|&&ordinal| is_good(store, &self.records, ordinal, false))
            .filter_map(|&ordinal| store.of(ordinal))
    }

    pub(super) fn iter_returned<'a>(
        &'a self,
        store: &'a Store,
        priority: u8,
    ) -> impl Iterator<Item = Stored<'a>> {
        let returned = self
            .lanes
            .get(priority)
            .map(|lane| lane.returned.iter())
            .into_iter()
            .flatten();
        returned.filter_map(|&ordinal| store.of(ordinal))
    }

    /// Waiting messages from position `start` on, in the order of delivery.
    pub(crate) fn iter_waiting<'a>(
        &'a self,
        store: &'a Store,
        start: u64,
    ) -> Box<dyn Iterator<Item = Stored<'a>> + 'a> {
        if self.lanes.live() == 0 {
            return Box::new(self.iter_plain(store, start));
        }
        let all = self.lanes.iter().flat_map(move |(priority, _)| {
            self.iter_returned(store, priority)
                .chain(self.iter_front(store, priority).rev())
                .chain(self.iter_line(store, priority))
        });
        Box::new(all.skip(usize::try_from(start).unwrap_or(usize::MAX)))
    }

    /// Waiting messages in the order in which a cap drops them.
    pub(crate) fn iter_dropped<'a>(&'a self, store: &'a Store) -> impl Iterator<Item = Stored<'a>> {
        let mut priorities: Vec<u8> = self.lanes.iter().map(|(priority, _)| priority).collect();
        priorities.reverse();
        priorities.into_iter().flat_map(move |priority| {
            self.iter_line(store, priority)
                .chain(self.iter_front(store, priority))
                .chain(self.iter_returned(store, priority))
        })
    }

    /// Delivered messages from position `start` on, in the order of last delivery. Walks from the
    /// nearer end.
    pub(crate) fn iter_delivered<'a>(
        &'a self,
        store: &'a Store,
        start: u64,
    ) -> impl Iterator<Item = (Stored<'a>, u32)> {
        let mut hint = Hint::default();
        self.numbers_from(start).filter_map(move |n| {
            let record = self.records.get(n)?;
            let place = store.seek(record.ordinal(), &mut hint)?;
            Some((store.get(place)?, n))
        })
    }

    fn numbers_from(&self, start: u64) -> Box<dyn Iterator<Item = u32> + '_> {
        let total = self.delivered();
        let walked = usize::try_from(start).unwrap_or(usize::MAX);
        if start >= total {
            return Box::new(std::iter::empty());
        }
        if start <= total / 2 {
            return Box::new(self.delivered.iter(&self.records).skip(walked));
        }
        let behind = usize::try_from(total - start).unwrap_or(usize::MAX);
        let mut numbers: Vec<u32> = self
            .delivered
            .iter_back(&self.records)
            .take(behind)
            .collect();
        numbers.reverse();
        Box::new(numbers.into_iter())
    }

    /// The ID of the message that the next pop delivers.
    pub(crate) fn first_waiting(&mut self, store: &Store) -> Option<Id> {
        self.peek(store).map(|message| message.id)
    }

    /// Times and ordinals of scheduled messages, in their order.
    pub(crate) fn scheduled_pairs<'a>(
        &'a self,
        store: &'a Store,
    ) -> impl Iterator<Item = (u64, u64)> + 'a {
        let good = move |&(time, ordinal): &(u64, u64)| {
            self.stale == 0 || is_scheduled(store, &self.records, time, ordinal)
        };
        self.schedule.iter().filter(good)
    }

    /// Scheduled messages with their due times, in their order.
    pub(crate) fn iter_scheduled<'a>(
        &'a self,
        store: &'a Store,
    ) -> impl Iterator<Item = (u64, Stored<'a>)> {
        let pairs = self.scheduled_pairs(store);
        pairs.filter_map(|(time, ordinal)| Some((time, store.of(ordinal)?)))
    }

    /// Whether the entry of a lane is good; see `lane`.
    pub(crate) fn is_good(&self, store: &Store, ordinal: u64, redriven: bool) -> bool {
        is_good(store, &self.records, ordinal, redriven)
    }
}
