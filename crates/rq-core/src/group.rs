//! A group: a cursor over the store, and where each message stands.
//!
//! A queue has one group, the default one. Everything about waiting and delivery is here and
//! takes the store as an argument, so that further groups over the same store are more of these.
//! (The record numbers of the default group lie in the segments, where finding them costs
//! nothing; those of further groups will lie beside.)
//!
//! Invariants: a message without record or mark whose ordinal is at or above the cursor is waiting, and below the cursor
//! there is none; a marked message is in the schedule or in a lane, by its mark; a record's place says which of delivered lists,
//! lanes, schedule and letters knows the message, and it is the record that its message's slot names; `expiring`
//! holds the messages with a time to live that were never delivered and are not dead.

mod check;
mod load;
mod look;

pub(crate) use load::UNSEEN;

use crate::consumer::Consumers;
use crate::dead::{Letter, Letters};
use crate::delivered::{Class, Delivered};
use crate::id::Id;
use crate::index::Index;
use crate::lane::{Entry, Lanes, Part};
use crate::record::{HELD, PREFETCHED, Place as Standing, Record, Records};
use crate::segment::{GONE, LINED, NONE, SCHEDULED, is_record};
use crate::store::{Hint, Place, Store, Stored};

#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// Ordinal at or above which plain messages may be waiting.
    cursor: u64,
    /// Messages that wait in the order of their IDs.
    plain: u64,
    pub(crate) lanes: Lanes,
    /// What is due later, by time. Messages that were cancelled before their first delivery leave their pair behind.
    pub(crate) schedule: Index,
    /// Such pairs.
    stale: usize,
    /// When times to live are over.
    pub(crate) expiring: Index,
    pub(crate) records: Records,
    pub(crate) delivered: Delivered,
    pub(crate) consumers: Consumers,
    pub(crate) letters: Letters,
    /// Where pops go on.
    pop_hint: Hint,
    /// Where acknowledgements go on.
    settle_hint: Hint,
    /// The ID settled last: its segment is compacted, where that pays, once another one is
    /// turned to. A segment that is drained in order is so never copied.
    settled: Id,
}

/// How messages are delivered.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner<'a> {
    pub(crate) time: u64,
    /// Milliseconds of the lease; 0: without end.
    pub(crate) lease: u64,
    /// Who takes them; empty for nobody by name.
    pub(crate) consumer: &'a [u8],
    pub(crate) prefetched: bool,
    /// They are let go at once.
    pub(crate) no_ack: bool,
}

/// Where a message that is given back goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Waiting,
    Dead,
    /// It waits until then.
    Due(u64),
}

/// What waits next.
#[derive(Debug, Clone, Copy)]
enum Next {
    Plain(Place),
    Lane(u8, Part, u64),
}

/// Whether the entry of a lane is good; see `lane`.
fn is_good(store: &Store, records: &Records, ordinal: u64, redriven: bool) -> bool {
    let Some(place) = store.at(ordinal, &mut Hint::default()) else {
        return false;
    };
    let number = store.record(place);
    if redriven {
        records
            .get(number)
            .is_some_and(|record| record.place == Standing::Redriven)
    } else {
        number == LINED
    }
}

impl Group {
    /// Makes a group without messages as a new one is. All that is in it then are pairs that were left behind.
    pub(crate) fn renew(&mut self) {
        if self.stale > 0 {
            (self.schedule, self.stale) = (Index::default(), 0);
        }
        self.delivered.renew();
        (self.cursor, self.settled) = (0, Id::default());
        (self.pop_hint, self.settle_hint) = (Hint::default(), Hint::default());
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.plain + self.lanes.live()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.count()
    }

    pub(crate) fn scheduled(&self) -> u64 {
        (self.schedule.len() - self.stale) as u64
    }

    pub(crate) fn heap(&self) -> usize {
        self.records.heap()
            + self.lanes.heap()
            + self.schedule.heap()
            + self.expiring.heap()
            + self.delivered.heap()
            + self.consumers.heap()
            + self.letters.heap()
    }

    // ---- arriving ----

    /// Plain messages were appended to the store.
    pub(crate) fn appended(&mut self, count: u64) {
        self.plain += count;
    }

    /// A message that was appended with the mark [`SCHEDULED`] is due at a time.
    pub(crate) fn schedule(&mut self, ordinal: u64, due: u64) {
        self.schedule.insert(due, ordinal);
    }

    /// A message joins the tail of its lane, which [`LINED`] or its record says.
    fn join(&mut self, store: &Store, priority: u8, ordinal: u64, redriven: bool) {
        let barrier = if priority == 0 {
            store.next_ordinal()
        } else {
            0
        };
        self.lanes.push_line(
            priority,
            Entry {
                ordinal,
                barrier,
                redriven,
            },
        );
    }

    /// A message that was appended with the mark [`LINED`] goes to the tail of its lane.
    pub(crate) fn line_up(&mut self, store: &Store, priority: u8, ordinal: u64) {
        self.join(store, priority, ordinal, false);
    }

    // ---- delivering ----

    /// The first plain message.
    fn next_plain(&mut self, store: &Store) -> Option<Place> {
        if self.plain == 0 {
            return None;
        }
        let place = store.seek(self.cursor, &mut self.pop_hint)?;
        store.plain_from(place)
    }

    fn next(&mut self, store: &Store) -> Option<Next> {
        if self.lanes.live() == 0 {
            return self.next_plain(store).map(Next::Plain);
        }
        let (records, lanes) = (&self.records, &mut self.lanes);
        let good = |ordinal, redriven| is_good(store, records, ordinal, redriven);
        if let Some(priority) = lanes.highest()
            && let Some((part, entry)) = lanes.next(priority, good)
        {
            return Some(Next::Lane(priority, part, entry.ordinal));
        }
        let Some((part, entry)) = lanes.next(0, good) else {
            return self.next_plain(store).map(Next::Plain);
        };
        let lane = Next::Lane(0, part, entry.ordinal);
        if part != Part::Line {
            return Some(lane);
        }
        let plain = self.next_plain(store);
        let ordinal = plain.and_then(|place| store.get(place)).map(|m| m.ordinal);
        match (plain, ordinal) {
            (Some(place), Some(ordinal)) if ordinal < entry.barrier => Some(Next::Plain(place)),
            _ => Some(lane),
        }
    }

    /// The message that is delivered next.
    pub(crate) fn peek<'a>(&mut self, store: &'a Store) -> Option<Stored<'a>> {
        match self.next(store)? {
            Next::Plain(place) => store.get(place),
            Next::Lane(_, _, ordinal) => store.of(ordinal),
        }
    }

    /// Delivers waiting messages in their order, up to `count`, as long as `wanted` says so of each before, and tells how many.
    pub(crate) fn deliver(
        &mut self,
        store: &mut Store,
        count: u64,
        manner: &Manner<'_>,
        mut wanted: impl FnMut(&Stored<'_>) -> bool,
        mut visit: impl FnMut(&Stored<'_>, &Record),
    ) -> u64 {
        let manner = (manner, self.delivered.class(manner.lease));
        let (mut done, mut goes_on) = (0, true);
        while goes_on && done < count {
            // One by one only where that is needed.
            if self.lanes.live() > 0 || manner.0.no_ack {
                goes_on = self.deliver_next(store, manner, &mut wanted, &mut visit);
                done += u64::from(goes_on);
            } else {
                let delivered;
                (delivered, goes_on) =
                    self.deliver_plain(store, count - done, manner, &mut wanted, &mut visit);
                done += delivered;
            }
        }
        done
    }

    /// Delivers plain messages of one page, as [`Group::deliver`] does, when nothing else waits; how many, and whether to
    /// go on.
    fn deliver_plain(
        &mut self,
        store: &mut Store,
        most: u64,
        (manner, class): (&Manner<'_>, Class),
        wanted: &mut impl FnMut(&Stored<'_>) -> bool,
        visit: &mut impl FnMut(&Stored<'_>, &Record),
    ) -> (u64, bool) {
        let Some(place) = self.next_plain(store) else {
            return (0, false);
        };
        let (mut done, mut goes_on) = (0, true);
        store.enlist(place, |message| {
            goes_on = done < most && wanted(message);
            if !goes_on {
                return None;
            }
            if !message.prefix.is_empty() {
                self.forget_expiry(message);
            }
            let mut record = Record::new(message.ordinal, manner.time, 1, 0);
            record.set(PREFETCHED, manner.prefetched);
            visit(message, &record);
            let number = self.delivered.push(&mut self.records, record, class);
            self.take(number, manner);
            self.cursor = message.ordinal + 1;
            done += 1;
            Some(number)
        });
        self.plain -= done;
        (done, goes_on)
    }

    /// Delivers the next message, if there is one and it is wanted; whether it did.
    fn deliver_next(
        &mut self,
        store: &mut Store,
        (manner, class): (&Manner<'_>, Class),
        wanted: &mut impl FnMut(&Stored<'_>) -> bool,
        visit: &mut impl FnMut(&Stored<'_>, &Record),
    ) -> bool {
        let Some(next) = self.next(store) else {
            return false;
        };
        let place = match next {
            Next::Plain(place) => Some(place),
            Next::Lane(_, _, ordinal) => store.at(ordinal, &mut self.pop_hint),
        };
        let message = place.and_then(|place| Some((place, store.get(place)?)));
        let Some((place, message)) = message.filter(|(_, message)| wanted(message)) else {
            return false;
        };
        let first = !is_record(message.record);
        if first && !message.prefix.is_empty() {
            self.forget_expiry(&message);
        }
        let record = self.next_record(&message, manner);
        visit(&message, &record);
        match next {
            Next::Plain(_) => {
                self.cursor = message.ordinal + 1;
                self.plain -= 1;
            }
            Next::Lane(priority, part, _) => self.lanes.take(priority, part),
        }
        let (id, number) = (message.id, message.record);
        if manner.no_ack {
            if !first {
                self.drop_record(store, number);
            }
            self.settle(store, place, id);
        } else {
            self.hold(store, place, number, record, (manner, class));
        }
        true
    }

    /// The record of a message as it is after its next delivery.
    fn next_record(&self, message: &Stored<'_>, manner: &Manner<'_>) -> Record {
        let mut record = match self.records.get(message.record) {
            Some(&record) => record,
            None => Record::new(message.ordinal, manner.time, 0, 0),
        };
        record.set_time(manner.time);
        record.deliveries = record.deliveries.saturating_add(1);
        record.place = Standing::Delivered;
        record.set(PREFETCHED, manner.prefetched);
        record
    }

    /// Puts a message into the delivered lists.
    fn hold(
        &mut self,
        store: &mut Store,
        place: Place,
        number: u32,
        record: Record,
        (manner, class): (&Manner<'_>, Class),
    ) {
        let number = match self.records.get_mut(number) {
            Some(known) => {
                *known = record;
                self.delivered.append(&mut self.records, number, class);
                number
            }
            None => {
                let number = self.delivered.push(&mut self.records, record, class);
                store.set_record(place, number);
                number
            }
        };
        self.take(number, manner);
    }

    /// Notes who holds a message.
    fn take(&mut self, number: u32, manner: &Manner<'_>) {
        if !manner.consumer.is_empty() {
            self.consumers
                .take(&mut self.records, number, manner.consumer, manner.time);
        }
    }

    /// Delivers a held message again.
    pub(crate) fn deliver_again(
        &mut self,
        store: &mut Store,
        id: Id,
        failed: bool,
        manner: &Manner<'_>,
        visit: impl FnOnce(&Stored<'_>, &Record),
    ) {
        let Some((place, number)) = self.held(store, id) else {
            return;
        };
        self.let_go(number, failed);
        if let Some(message) = store.get(place) {
            let record = self.next_record(&message, manner);
            visit(&message, &record);
            let class = self.delivered.class(manner.lease);
            self.hold(store, place, number, record, (manner, class));
        }
    }

    /// Takes a held record out of the delivered lists, with a failure or without.
    fn let_go(&mut self, number: u32, failed: bool) {
        self.delivered.unlink(&mut self.records, number);
        self.consumers.release(&mut self.records, number);
        if let Some(record) = self.records.get_mut(number) {
            record.failures = record.failures.saturating_add(u16::from(failed));
            record.set(PREFETCHED, false);
        }
    }

    fn forget_expiry(&mut self, message: &Stored<'_>) {
        let expiry = message.fields().expiry;
        if expiry > 0 {
            self.expiring.remove(expiry, message.ordinal);
        }
    }

    // ---- settling ----

    /// The place and the record number of a delivered message.
    pub(crate) fn held(&mut self, store: &Store, id: Id) -> Option<(Place, u32)> {
        let place = store.find(id, &mut self.settle_hint)?;
        let number = store.record(place);
        // Marks are no numbers of records.
        let record = self.records.get(number)?;
        (record.place == Standing::Delivered).then_some((place, number))
    }

    /// The place of a message, whatever its state.
    pub(crate) fn find(&mut self, store: &Store, id: Id) -> Option<Place> {
        let place = store.find(id, &mut self.settle_hint)?;
        (store.record(place) != GONE).then_some(place)
    }

    /// Gives a record back.
    fn drop_record(&mut self, store: &mut Store, number: u32) {
        self.records.remove(number);
        if let Some(moved) = self.records.relocation() {
            let record = moved.record;
            if record.place == Standing::Delivered {
                self.delivered
                    .renumber(&mut self.records, &record, moved.from, moved.to);
            }
            if record.has(HELD) {
                self.consumers.renumber(&mut self.records, moved.to);
            }
            if let Some(place) = store.seek(record.ordinal(), &mut Hint::default()) {
                store.set_record(place, moved.to);
            }
        }
    }

    /// Lets go of a message in the store, and compacts the segment of the last one when it is another.
    fn settle(&mut self, store: &mut Store, place: Place, id: Id) {
        let before = std::mem::replace(&mut self.settle_hint, place.hint());
        store.remove(place);
        self.turned_to(store, id, before);
    }

    fn turned_to(&mut self, store: &mut Store, id: Id, before: Hint) {
        if before != self.settle_hint {
            store.compact(self.settled, before);
        }
        self.settled = id;
    }

    /// Lets go of a held message, whose place and record were found with the hint of before; the bytes of its fields and
    /// payload.
    pub(crate) fn acknowledge(
        &mut self,
        store: &mut Store,
        id: Id,
        before: Hint,
        (place, number): (Place, u32),
    ) -> u64 {
        self.delivered.unlink(&mut self.records, number);
        if self.consumers.held() > 0 {
            self.consumers.release(&mut self.records, number);
        }
        // The place first: giving the record back moves no message.
        let stored = store.remove(place);
        self.drop_record(store, number);
        self.turned_to(store, id, before);
        stored
    }

    pub(crate) fn settle_hint(&self) -> Hint {
        self.settle_hint
    }

    /// Lets go of a message, whatever its state; false when it is not there.
    pub(crate) fn remove(&mut self, store: &mut Store, id: Id) -> bool {
        let before = self.settle_hint;
        let Some(place) = self.find(store, id) else {
            return false;
        };
        let Some(message) = store.get(place) else {
            return false;
        };
        let (number, ordinal, priority) =
            (message.record, message.ordinal, message.fields().priority);
        if !is_record(number) {
            self.forget_expiry(&message);
        }
        store.remove(place);
        match number {
            NONE => self.plain -= 1,
            LINED => self.abandon(store, priority),
            SCHEDULED => self.unschedule(store),
            _ => {
                self.displace(store, number, ordinal, priority);
                self.drop_record(store, number);
            }
        }
        self.turned_to(store, id, before);
        true
    }

    /// Takes a record out of where its message stands.
    fn displace(&mut self, store: &Store, number: u32, ordinal: u64, priority: u8) {
        let Some(&record) = self.records.get(number) else {
            return;
        };
        match record.place {
            Standing::Free => {}
            Standing::Delivered => self.let_go(number, false),
            Standing::Returned => self.lanes.take_returned(priority, ordinal),
            Standing::Retry => {
                self.schedule.remove(self.records.deadline(number), ordinal);
                self.records.set_deadline(number, 0);
            }
            Standing::Redriven => {
                if let Some(record) = self.records.get_mut(number) {
                    record.place = Standing::Dead;
                }
                self.abandon(store, priority);
            }
            Standing::Dead => self.letters.remove(record.number()),
        }
    }

    fn abandon(&mut self, store: &Store, priority: u8) {
        let records = &self.records;
        let good = |ordinal, redriven| is_good(store, records, ordinal, redriven);
        self.lanes.abandon(priority, good);
    }

    /// A message that was due later is not any more.
    fn unschedule(&mut self, store: &Store) {
        self.stale += 1;
        if self.stale > 64 && self.stale * 2 > self.schedule.len() {
            let records = &self.records;
            (self.schedule).retain(|time, ordinal| is_scheduled(store, records, time, ordinal));
            self.stale = 0;
        }
    }

    /// Gives a held message back. `reason` is of a death.
    pub(crate) fn give_back(
        &mut self,
        store: &mut Store,
        id: Id,
        (time, fate, failed): (u64, Fate, bool),
        reason: &[u8],
    ) {
        let Some((place, number)) = self.held(store, id) else {
            return;
        };
        let Some(message) = store.get(place) else {
            return;
        };
        let (priority, ordinal) = (message.fields().priority, message.ordinal);
        let consumer: Box<[u8]> = match fate {
            Fate::Dead => self.consumers.holder(&self.records, number).into(),
            _ => Box::default(),
        };
        self.let_go(number, failed);
        match fate {
            Fate::Waiting => {
                self.stand(number, Standing::Returned);
                self.lanes.push_returned(priority, ordinal);
            }
            Fate::Due(due) => {
                self.stand(number, Standing::Retry);
                self.records.set_deadline(number, due);
                self.schedule.insert(due, ordinal);
            }
            Fate::Dead => self.bury(number, ordinal, time, reason, consumer),
        }
    }

    fn stand(&mut self, number: u32, place: Standing) {
        if let Some(record) = self.records.get_mut(number) {
            record.place = place;
        }
    }

    fn bury(&mut self, number: u32, ordinal: u64, died: u64, reason: &[u8], consumer: Box<[u8]>) {
        let letter = self.letters.push(Letter {
            ordinal,
            died,
            reason: reason.into(),
            consumer,
        });
        if let Some(record) = self.records.get_mut(number) {
            record.place = Standing::Dead;
            record.set_number(letter);
        }
    }

    /// A message that was never delivered, and waits, is dead.
    pub(crate) fn bury_waiting(&mut self, store: &mut Store, id: Id, time: u64, reason: &[u8]) {
        let Some(place) = self.find(store, id) else {
            return;
        };
        let Some(message) = store.get(place) else {
            return;
        };
        let (mark, ordinal, priority) =
            (message.record, message.ordinal, message.fields().priority);
        if mark != NONE && mark != LINED {
            return;
        }
        self.forget_expiry(&message);
        let number = self.records.insert(Record::new(ordinal, 0, 0, 0));
        self.bury(number, ordinal, time, reason, Box::default());
        store.set_record(place, number);
        if mark == NONE {
            self.plain -= 1;
        } else {
            self.abandon(store, priority);
        }
    }

    /// A dead message waits again, at the tail.
    pub(crate) fn redrive(&mut self, store: &mut Store, id: Id) {
        let Some(place) = self.find(store, id) else {
            return;
        };
        let Some(message) = store.get(place) else {
            return;
        };
        let (number, ordinal, priority) =
            (message.record, message.ordinal, message.fields().priority);
        let Some(record) = self.records.get_mut(number) else {
            return;
        };
        let letter = record.number();
        record.failures = 0;
        record.place = Standing::Redriven;
        record.set_number(0);
        self.letters.remove(letter);
        self.join(store, priority, ordinal, true);
    }

    // ---- due work ----

    /// Forgets pairs of cancelled messages at the front of the schedule.
    fn skip_stale(&mut self, store: &Store) {
        while self.stale > 0
            && let Some((time, ordinal)) = self.schedule.first()
            && !is_scheduled(store, &self.records, time, ordinal)
        {
            self.schedule.pop_first();
            self.stale -= 1;
        }
    }

    /// How many messages are due by now, at most `limit`.
    pub(crate) fn fallen_due(&mut self, store: &Store, now: u64, limit: usize) -> u64 {
        self.skip_stale(store);
        let due = self.schedule.iter().take_while(|&(time, _)| time <= now);
        let good = |&(time, ordinal): &(u64, u64)| {
            self.stale == 0 || is_scheduled(store, &self.records, time, ordinal)
        };
        due.take(limit).filter(good).count() as u64
    }

    /// The first `count` of the schedule wait, or are returned.
    pub(crate) fn fall_due(&mut self, store: &mut Store, count: u64) {
        let (mut hint, mut left) = (Hint::default(), count);
        while left > 0 {
            let Some((time, ordinal)) = self.schedule.pop_first() else {
                return;
            };
            if !is_scheduled(store, &self.records, time, ordinal) {
                self.stale -= 1;
                continue;
            }
            left -= 1;
            let Some(place) = store.at(ordinal, &mut hint) else {
                continue;
            };
            let Some(message) = store.get(place) else {
                continue;
            };
            let (number, priority) = (message.record, message.fields().priority);
            if number == SCHEDULED {
                store.set_record(place, LINED);
                self.join(store, priority, ordinal, false);
            } else {
                self.stand(number, Standing::Returned);
                self.records.set_deadline(number, 0);
                self.lanes.push_returned(priority, ordinal);
            }
        }
    }
}

/// Whether a pair of the schedule stands for a message that is due then.
fn is_scheduled(store: &Store, records: &Records, time: u64, ordinal: u64) -> bool {
    let Some(place) = store.at(ordinal, &mut Hint::default()) else {
        return false;
    };
    let number = store.record(place);
    let retried =
        |record: &Record| record.place == Standing::Retry && records.deadline(number) == time;
    number == SCHEDULED || records.get(number).is_some_and(retried)
}
