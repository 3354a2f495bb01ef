//! Putting the messages of a snapshot in their places.

use super::Group;
use crate::dead::Letter;
use crate::lane::Entry;
use crate::record::{Place as Standing, Record};
use crate::segment::{LINED, NONE, SCHEDULED, is_record};
use crate::store::{Place, Store, Stored};

/// In place of a letter's number, in a redriven record of a snapshot: it was not seen in a lane yet.
pub(crate) const UNSEEN: u64 = u64::MAX;

impl Group {
    /// Makes a waiting message a delivered one, behind all others.
    pub(crate) fn load_delivery(
        &mut self,
        store: &mut Store,
        record: Record,
        lease: u64,
        deadline: Option<u64>,
        consumer: &[u8],
    ) {
        let Some(place) = store.seek(record.ordinal(), &mut self.pop_hint) else {
            return;
        };
        self.unexpire(store, place);
        let class = self.delivered.class(lease);
        let number = self.delivered.push(&mut self.records, record, class);
        store.set_record(place, number);
        if let Some(deadline) = deadline {
            self.delivered.extend(&mut self.records, number, deadline);
        }
        if !consumer.is_empty() {
            self.consumers
                .take(&mut self.records, number, consumer, record.time());
        }
        self.plain -= 1;
    }

    /// Makes a waiting message one that stands elsewhere: its time is that of a retry.
    pub(crate) fn load_resting(&mut self, store: &mut Store, record: Record, due: u64) {
        let Some(place) = store.seek(record.ordinal(), &mut self.pop_hint) else {
            return;
        };
        self.unexpire(store, place);
        let priority = store.get(place).map_or(0, |m| m.fields().priority);
        let (ordinal, number) = (record.ordinal(), self.records.insert(record));
        store.set_record(place, number);
        self.plain -= 1;
        match record.place {
            Standing::Returned => self.lanes.push_returned(priority, ordinal),
            Standing::Retry => {
                self.records.set_deadline(number, due);
                self.schedule.insert(due, ordinal);
            }
            _ => {}
        }
    }

    /// Makes a waiting message a dead one, behind all others.
    pub(crate) fn load_letter(&mut self, store: &mut Store, record: Record, letter: Letter) {
        let Some(place) = store.seek(letter.ordinal, &mut self.pop_hint) else {
            return;
        };
        self.unexpire(store, place);
        let number = self.records.insert(record);
        store.set_record(place, number);
        self.plain -= 1;
        let letter = self.letters.push(letter);
        if let Some(record) = self.records.get_mut(number) {
            record.place = Standing::Dead;
            record.set_number(letter);
        }
    }

    /// Makes a waiting message one that is due later.
    pub(crate) fn load_scheduled(&mut self, store: &mut Store, ordinal: u64, due: u64) {
        if let Some(place) = store.seek(ordinal, &mut self.pop_hint) {
            store.set_record(place, SCHEDULED);
            self.plain -= 1;
            self.schedule.insert(due, ordinal);
        }
    }

    /// Puts a waiting or redriven message into a lane; false when it is neither, or there already.
    pub(crate) fn load_lined(
        &mut self,
        store: &mut Store,
        priority: u8,
        front: bool,
        ordinal: u64,
        barrier: u64,
    ) -> bool {
        let Some(place) = store.at(ordinal, &mut self.pop_hint) else {
            return false;
        };
        let number = store.record(place);
        let redriven = is_record(number);
        if redriven {
            // Nothing else uses the links of a redriven record: they tell that it was seen.
            match self.records.get_mut(number) {
                Some(record)
                    if record.place == Standing::Redriven
                        && record.number() == UNSEEN
                        && !front =>
                {
                    record.set_number(0);
                }
                _ => return false,
            }
        } else if number == NONE {
            store.set_record(place, LINED);
            self.plain -= 1;
        } else {
            return false;
        }
        if front {
            self.lanes.push_front(priority, ordinal);
        } else {
            self.lanes.push_line(
                priority,
                Entry {
                    ordinal,
                    barrier,
                    redriven,
                },
            );
        }
        true
    }

    fn unexpire(&mut self, store: &Store, place: Place) {
        if let Some(message) = store
            .get(place)
            .filter(|message| !message.prefix.is_empty())
        {
            self.forget_expiry(&message);
        }
    }

    /// Whether the message with this ordinal is there and neither has a record nor a mark.
    pub(crate) fn is_plain(&self, store: &Store, ordinal: u64) -> bool {
        let mut hint = self.pop_hint;
        (store.at(ordinal, &mut hint)).is_some_and(|place| store.record(place) == NONE)
    }

    /// The time of the latest delivery.
    pub(crate) fn last_time(&self) -> u64 {
        let last = self.delivered.iter_back(&self.records).next();
        last.and_then(|n| self.records.get(n))
            .map_or(0, Record::time)
    }

    /// Moves the cursor over messages that do not wait. Linear in what it passes.
    pub(crate) fn settle_cursor(&mut self, store: &Store) {
        let place = store.seek(self.cursor, &mut self.pop_hint);
        let plain = place.and_then(|place| store.plain_from(place));
        self.cursor =
            (plain.and_then(|p| store.get(p))).map_or(store.next_ordinal(), |m| m.ordinal);
    }

    /// Whether a message of a snapshot may come into a lane.
    pub(crate) fn may_line_up(&self, message: &Stored<'_>, front: bool) -> bool {
        match self.record(message) {
            Some(record) => {
                record.place == Standing::Redriven && record.number() == UNSEEN && !front
            }
            None => message.record == NONE,
        }
    }

    /// The last barrier at priority 0.
    pub(crate) fn last_barrier(&self) -> u64 {
        let base = self.lanes.get(0).and_then(|lane| lane.line.back());
        base.map_or(0, |entry| entry.barrier)
    }

    /// Whether a message of a snapshot waits, and must be in a lane, but is in none.
    fn is_unseen(&self, message: &Stored<'_>) -> bool {
        match self.record(message) {
            Some(record) => record.place == Standing::Redriven && record.number() == UNSEEN,
            None => message.record == NONE && message.fields().priority > 0,
        }
    }

    /// Whether all messages of a snapshot came into lanes that must be in one.
    pub(crate) fn all_seen(&self, store: &Store) -> bool {
        !store.messages().any(|message| self.is_unseen(&message))
    }

    /// Has messages wait whose lane is missing from a snapshot.
    pub(crate) fn line_up_unseen(&mut self, store: &mut Store) {
        let unseen = store.messages().filter(|message| self.is_unseen(message));
        let unseen: Vec<(u8, u64)> = unseen.map(|m| (m.fields().priority, m.ordinal)).collect();
        for (priority, ordinal) in unseen {
            let barrier = if priority == 0 {
                store.next_ordinal()
            } else {
                0
            };
            self.load_lined(store, priority, false, ordinal, barrier);
        }
    }
}
