//! A group: a cursor over the store, and what it knows of the messages it was given.
//!
//! A queue has one group, the default one. Everything about waiting and delivery is here and
//! takes the store as an argument, so that further groups over the same store are more of these.
//! (The record numbers of the default group lie in the segments, where finding them costs
//! nothing; those of further groups will lie beside.)
//!
//! Invariants: a message without record whose ordinal is at or above the cursor is waiting;
//! below the cursor every message has a record; the delivered list holds each record once, its
//! times never fall, and each record is the one that its message's slot names.

use crate::delivered::Delivered;
use crate::id::Id;
use crate::invariants::ensure;
use crate::record::{Record, Records};
use crate::segment::{GONE, NONE};
use crate::store::{Hint, Place, Store, Stored};

#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// Ordinal at or above which messages may be waiting.
    cursor: u64,
    waiting: u64,
    records: Records,
    delivered: Delivered,
    /// Where pops go on.
    pop_hint: Hint,
    /// Where acknowledgements go on.
    settle_hint: Hint,
    /// The ID settled last: its segment is compacted, where that pays, once another one is
    /// turned to. A segment that is drained in order is so never copied.
    settled: Id,
}

impl Group {
    /// Makes a group without messages as a new one is.
    pub(crate) fn renew(&mut self) {
        let records = std::mem::take(&mut self.records).renewed();
        *self = Self {
            records,
            ..Self::default()
        };
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.records.live() as u64
    }

    pub(crate) fn heap(&self) -> usize {
        self.records.heap()
    }

    /// Messages were appended to the store.
    pub(crate) fn appended(&mut self, count: u64) {
        self.waiting += count;
    }

    // ---- delivering ----

    /// Delivers the next `count` waiting messages, which exist.
    pub(crate) fn pop(
        &mut self,
        store: &mut Store,
        time: u64,
        count: u64,
        mut visit: impl FnMut(Stored<'_>),
    ) {
        let mut place = store.seek(self.cursor, &mut self.pop_hint);
        let mut previous = None;
        let mut left = count;
        while let (Some(here), true) = (place, left > 0) {
            if store.record(here) == NONE
                && let Some(message) = store.get_after(here, previous)
            {
                let record = Record::new(message.ordinal, time, 1, 0);
                self.cursor = message.ordinal + 1;
                previous = Some((here, message.id));
                visit(message);
                let number = self.delivered.push(&mut self.records, record);
                store.set_record(here, number);
                left -= 1;
            }
            place = store.after(here);
        }
        self.waiting -= count - left;
    }

    /// The first `count` delivered messages, if each was last delivered at `until` or before.
    pub(crate) fn due(&self, until: u64, count: u64) -> u64 {
        let records = (self.delivered.iter(&self.records))
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .take_while(|&n| self.records.get(n).is_some_and(|r| r.time() <= until));
        records.count() as u64
    }

    /// Delivers the first `count` delivered messages again, which exist: they move to the tail.
    pub(crate) fn redeliver(
        &mut self,
        store: &Store,
        time: u64,
        count: u64,
        mut visit: impl FnMut(Stored<'_>, u32),
    ) {
        let mut hint = Hint::default();
        for _ in 0..count {
            let Some(number) = self.delivered.head() else {
                return;
            };
            self.delivered.move_to_tail(&mut self.records, number);
            if let Some(record) = self.records.get_mut(number) {
                record.set_time(time);
                record.deliveries = record.deliveries.saturating_add(1);
                record.failures = record.failures.saturating_add(1);
                let (ordinal, deliveries) = (record.ordinal(), record.deliveries);
                if let Some(message) = store.seek(ordinal, &mut hint).and_then(|p| store.get(p)) {
                    visit(message, deliveries);
                }
            }
        }
    }

    // ---- settling ----

    /// The place and the record number of a delivered message.
    pub(crate) fn held(&mut self, store: &Store, id: Id) -> Option<(Place, u32)> {
        let place = store.find(id, &mut self.settle_hint)?;
        let record = store.record(place);
        (record != NONE && record != GONE).then_some((place, record))
    }

    /// Lets go of a delivered message; false when it is none.
    pub(crate) fn acknowledge(&mut self, store: &mut Store, id: Id) -> bool {
        let before = self.settle_hint;
        let Some((place, number)) = self.held(store, id) else {
            return false;
        };
        self.delivered.unlink(&mut self.records, number);
        self.records.remove(number);
        store.remove(place);
        if let Some(moved) = self.records.relocation() {
            let record = moved.record;
            self.delivered
                .link(&mut self.records, record.previous, record.next, moved.to);
            if let Some(place) = store.seek(record.ordinal(), &mut Hint::default()) {
                store.set_record(place, moved.to);
            }
        }
        self.turned_to(store, id, before);
        true
    }

    /// Lets go of a message, whatever its state; false when it is not there.
    pub(crate) fn remove(&mut self, store: &mut Store, id: Id) -> bool {
        let before = self.settle_hint;
        let Some(place) = store.find(id, &mut self.settle_hint) else {
            return false;
        };
        if store.record(place) == NONE {
            store.remove(place);
            self.waiting -= 1;
            self.turned_to(store, id, before);
            return true;
        }
        self.settle_hint = before;
        self.acknowledge(store, id)
    }

    /// A message was settled: compacts the segment of the last one when it is another.
    fn turned_to(&mut self, store: &mut Store, id: Id, before: Hint) {
        if before != self.settle_hint {
            store.compact(self.settled, before);
        }
        self.settled = id;
    }

    // ---- loading ----

    /// Makes a waiting message a delivered one, behind all others; false when it does not wait.
    pub(crate) fn load_delivery(
        &mut self,
        store: &mut Store,
        ordinal: u64,
        record: Record,
    ) -> bool {
        let Some(place) = store.seek(ordinal, &mut self.pop_hint) else {
            return false;
        };
        let number = self.delivered.push(&mut self.records, record);
        store.set_record(place, number);
        self.waiting -= 1;
        true
    }

    /// Whether the message with this ordinal is there and was never delivered.
    pub(crate) fn is_waiting(&self, store: &Store, ordinal: u64) -> bool {
        let mut hint = self.pop_hint;
        (store.seek(ordinal, &mut hint).and_then(|p| store.get(p)))
            .is_some_and(|m| m.ordinal == ordinal && m.record == NONE)
    }

    /// The time of the latest delivery.
    pub(crate) fn last_time(&self) -> u64 {
        let last = self.delivered.iter_back(&self.records).next();
        last.and_then(|n| self.records.get(n))
            .map_or(0, Record::time)
    }

    /// Moves the cursor over messages that do not wait. Linear in what it passes.
    pub(crate) fn settle_cursor(&mut self, store: &Store) {
        let mut place = store.seek(self.cursor, &mut self.pop_hint);
        while let Some(here) = place {
            if store.record(here) == NONE {
                break;
            }
            place = store.after(here);
        }
        self.cursor =
            (place.and_then(|p| store.get(p))).map_or(store.next_ordinal(), |m| m.ordinal);
    }

    // ---- looking ----

    /// Waiting messages from position `start` on.
    pub(crate) fn iter_waiting<'a>(
        &self,
        store: &'a Store,
        start: u64,
    ) -> impl Iterator<Item = Stored<'a>> + use<'a> {
        let mut hint = self.pop_hint;
        let mut place = store.seek(self.cursor, &mut hint);
        let mut skip = start;
        // Segments that the cursor has not reached are passed over by their count.
        while let Some(here) = place {
            let (slots, untouched) = store.rest_of_segment(here);
            let waiting = if untouched {
                slots as u64
            } else {
                Self::waiting_in_segment(store, here, slots)
            };
            if skip < waiting {
                break;
            }
            skip -= waiting;
            place = store.next_segment(here);
        }
        std::iter::successors(place, move |&p| store.after(p))
            .filter(move |&p| store.record(p) == NONE)
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
            .filter_map(move |p| store.get(p))
    }

    fn waiting_in_segment(store: &Store, from: Place, slots: usize) -> u64 {
        std::iter::successors(Some(from), |&p| store.after(p))
            .take(slots)
            .filter(|&p| store.record(p) == NONE)
            .count() as u64
    }

    /// Delivered messages from position `start` on, in the order of last delivery. Walks from the
    /// nearer end.
    pub(crate) fn iter_delivered<'a>(
        &'a self,
        store: &'a Store,
        start: u64,
    ) -> impl Iterator<Item = (Stored<'a>, &'a Record)> {
        let total = self.delivered();
        let number = if start >= total {
            None
        } else if start <= total / 2 {
            self.delivered.iter(&self.records).nth(start as usize)
        } else {
            (self.delivered.iter_back(&self.records)).nth((total - 1 - start) as usize)
        };
        let mut hint = Hint::default();
        number
            .into_iter()
            .flat_map(|n| Delivered::iter_from(&self.records, n))
            .filter_map(move |n| {
                let record = self.records.get(n)?;
                let place = store.seek(record.ordinal(), &mut hint)?;
                Some((store.get(place)?, record))
            })
    }

    /// The record of a message, where it has one.
    pub(crate) fn record(&self, message: &Stored<'_>) -> Option<&Record> {
        self.records.get(message.record)
    }

    /// The longest delivered message.
    pub(crate) fn first_delivered(&self, store: &Store) -> Option<Id> {
        self.iter_delivered(store, 0).next().map(|(m, _)| m.id)
    }

    /// The ID of the message that the next pop delivers.
    pub(crate) fn first_waiting(&self, store: &Store) -> Option<Id> {
        self.iter_waiting(store, 0).next().map(|m| m.id)
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self, store: &Store) -> Result<(), String> {
        self.records.check()?;
        let (mut length, mut time) = (0u64, 0);
        for number in self.delivered.iter(&self.records) {
            length += 1;
            ensure(
                length <= self.delivered(),
                "the delivered list does not end",
            )?;
            let record = self.records.get(number).ok_or("a record is missing")?;
            ensure(record.time() >= time, "times of delivery fall")?;
            time = record.time();
            let place = store.seek(record.ordinal(), &mut Hint::default());
            let message = place
                .and_then(|p| store.get(p))
                .ok_or("a delivered message is missing")?;
            ensure(
                message.ordinal == record.ordinal(),
                "a record's message is another",
            )?;
            ensure(message.record == number, "a message's record is another")?;
            let end = self
                .records
                .get(record.next)
                .map_or(number, |next| next.previous);
            ensure(end == number, "the delivered list is torn")?;
        }
        ensure(length == self.delivered(), "the delivered list is short")?;
        let mut count = 0;
        for message in store.messages().filter(|m| m.record == NONE) {
            ensure(
                message.ordinal >= self.cursor,
                "a message waits below the cursor",
            )?;
            count += 1;
        }
        ensure(count == self.waiting, "waiting messages do not add up")?;
        ensure(
            self.waiting + self.delivered() == store.live(),
            "states do not add up",
        )
    }
}
