//! Looking at a queue, which changes nothing.

use crate::id::Id;
use crate::outcome::{Dead, Held, Holder, Info, Meta, Pending, Scheduled, State, Waiting};
use crate::queue::Queue;
use crate::receipt::Receipt;
use crate::record::Record;
use crate::segment::GONE;
use crate::store::{Hint, Stored};

impl Queue {
    /// Waiting messages from a position on, in the order of delivery, with their number. A
    /// negative position counts from the end.
    pub fn inspect_waiting(
        &self,
        start: i64,
        count: u64,
    ) -> impl ExactSizeIterator<Item = Waiting<'_>> {
        let (start, count) = window(self.group.waiting(), start, count);
        let messages = self.group.iter_waiting(&self.store, start);
        Counted(
            messages.map(|m| Waiting {
                id: m.id,
                payload: m.payload,
            }),
            count,
        )
    }

    /// Delivered messages from a position on, in the order of last delivery. A negative position
    /// counts from the end.
    pub fn inspect_pending(
        &self,
        now: u64,
        start: i64,
        count: u64,
    ) -> impl ExactSizeIterator<Item = Pending<'_>> {
        let (start, count) = window(self.group.delivered(), start, count);
        let now = self.time(now);
        let messages = self.group.iter_delivered(&self.store, start);
        Counted(messages.map(move |(m, n)| self.pending(now, &m, n)), count)
    }

    pub(crate) fn pending<'a>(&self, now: u64, message: &Stored<'a>, number: u32) -> Pending<'a> {
        let record = self.group.records.get(number);
        let time = record.map_or(0, Record::time);
        Pending {
            id: message.id,
            payload: message.payload,
            last_delivery: time,
            elapsed: now.saturating_sub(time),
            deliveries: record.map_or(0, |record| record.deliveries),
        }
    }

    /// Dead letters, the oldest first.
    pub fn dead(&self) -> impl Iterator<Item = Dead<'_>> {
        let letters = self.group.letters.iter();
        letters.filter_map(|letter| self.dead_letter(&self.store.of(letter.ordinal)?))
    }

    /// The dead letter with an ID, where there is one.
    #[must_use]
    pub fn get_dead(&self, id: Id) -> Option<Dead<'_>> {
        let place = self.store.find(id, &mut Hint::default())?;
        self.dead_letter(&self.store.get(place)?)
    }

    pub(crate) fn dead_letter<'a>(&'a self, message: &Stored<'a>) -> Option<Dead<'a>> {
        let record = self.group.record(message)?;
        let letter = self.group.letter(record)?;
        Some(Dead {
            id: message.id,
            payload: message.payload,
            died: letter.died,
            deliveries: record.deliveries,
            failures: record.failures.into(),
            reason: &letter.reason,
            consumer: &letter.consumer,
        })
    }

    /// Messages that are due later, in the order of their times.
    pub fn due_later(&self) -> impl Iterator<Item = Scheduled<'_>> {
        let scheduled = self.group.iter_scheduled(&self.store);
        scheduled.map(|(due, message)| Scheduled {
            id: message.id,
            payload: message.payload,
            due,
        })
    }

    /// Consumers that hold messages, by name.
    pub fn consumers(&self, now: u64) -> impl Iterator<Item = Holder<'_>> {
        let now = self.time(now);
        let all = self.group.consumers.iter();
        all.map(move |(name, pending, last_seen)| Holder {
            name,
            pending,
            idle: now.saturating_sub(last_seen),
            last_seen,
        })
    }

    /// Messages from one ID to another, both included, in ID order whatever their state, or in
    /// the reverse order.
    pub fn range(&self, from: Id, to: Id, reverse: bool) -> impl Iterator<Item = Held<'_>> {
        let store = &self.store;
        let start = if !reverse {
            store.seek_id(from)
        } else if let Some(above) = to.successor() {
            (store.seek_id(above)).map_or_else(|| store.last(), |place| store.before(place))
        } else {
            store.last()
        };
        let step = move |&place: &_| {
            if reverse {
                store.before(place)
            } else {
                store.after(place)
            }
        };
        std::iter::successors(start, step)
            .filter_map(move |place| store.get(place))
            .take_while(move |message| from <= message.id && message.id <= to)
            .filter(|message| message.record != GONE)
            .map(|message| self.held(&message))
    }

    /// The message with an ID, whatever its state, where there is one.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<Held<'_>> {
        let place = self.store.find(id, &mut Hint::default())?;
        let message = self
            .store
            .get(place)
            .filter(|message| message.record != GONE)?;
        Some(self.held(&message))
    }

    /// The message that a receipt means: any delivery of it, or the very one.
    #[must_use]
    pub fn get_by(&self, receipt: Receipt) -> Option<Held<'_>> {
        let held = self.get(receipt.id)?;
        receipt.is_of(held.meta.deliveries).then_some(held)
    }

    /// The message in the queue that has a token.
    #[must_use]
    pub fn by_token(&self, token: &[u8]) -> Option<Id> {
        match self.tokens.get(token)? {
            (id, None) => Some(id),
            (_, Some(_)) => None,
        }
    }

    /// The message that is delivered next, or with `back` the one that is delivered last of those that
    /// wait now.
    #[must_use]
    pub fn peek(&self, back: bool) -> Option<Held<'_>> {
        let waiting = self.inspect_waiting(if back { -1 } else { 0 }, 1).next()?;
        self.get(waiting.id)
    }

    fn held<'a>(&'a self, message: &Stored<'a>) -> Held<'a> {
        Held {
            id: message.id,
            payload: message.payload,
            meta: self.meta(message),
        }
    }

    fn meta<'a>(&'a self, message: &Stored<'a>) -> Meta<'a> {
        let (group, state) = (&self.group, self.group.state(message));
        let record = group.record(message);
        let delivered = state == State::Delivered;
        let letter = record.and_then(|record| group.letter(record));
        Meta {
            state,
            deliveries: record.map_or(0, |record| record.deliveries),
            failures: record.map_or(0, |record| record.failures.into()),
            enqueued: message.id.milliseconds,
            last_delivery: record.map_or(0, Record::time),
            deadline: if delivered {
                group.delivered.deadline(&group.records, message.record)
            } else {
                0
            },
            consumer: match letter {
                Some(letter) => &letter.consumer,
                None if delivered => group.consumers.holder(&group.records, message.record),
                None => &[],
            },
            died: letter.map_or(0, |letter| letter.died),
            reason: letter.map_or(&[], |letter| &letter.reason),
            fields: message.fields(),
        }
    }

    /// Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts: each is the
    /// first of its part. Costs a look at each page, and none at payloads.
    #[must_use]
    pub fn split(&self, parts: u64) -> Vec<Id> {
        self.store.split(parts)
    }

    /// The queue in numbers.
    #[must_use]
    pub fn info(&self, now: u64) -> Info {
        let first = (self.store.seek(0, &mut Hint::default()))
            .map(|first| self.store.live_from(first))
            .and_then(|place| self.store.get(place?));
        let first_id = first.map(|message| message.id);
        Info {
            waiting: self.group.waiting(),
            delivered: self.group.delivered(),
            scheduled: self.group.scheduled(),
            dead_letters: self.group.letters.len(),
            consumers: self.group.consumers.len(),
            bytes: self.bytes,
            paused: self.paused,
            counters: self.counters,
            memory: self.memory(),
            first_id,
            last_id: self.last_id,
            age: first_id.map_or(0, |id| now.saturating_sub(id.milliseconds)),
        }
    }
}

/// The part of a list of `total` that starts at a position, from the end when negative.
pub(crate) fn window(total: u64, start: i64, count: u64) -> (u64, usize) {
    let start = match u64::try_from(start) {
        Ok(start) => start.min(total),
        Err(_) => total.saturating_sub(start.unsigned_abs()),
    };
    let count = count.min(total - start);
    (start, usize::try_from(count).unwrap_or(usize::MAX))
}

/// An iterator that is known to give at least so many, and is asked for no more.
struct Counted<I>(I, usize);

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.1 = self.1.checked_sub(1)?;
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}
